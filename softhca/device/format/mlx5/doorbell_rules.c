/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell_rules.c - checks of doorbells by a strict adapter. A send register gets the first 8
 * bytes of the newest WQE of a queue of that page, after its doorbell record covers the WQE; behind
 * them nothing, or by BlueFlame the whole WQE in blocks of 64 bytes. Writes alternate between the
 * two halves of a register.
 *
 * A front that traps writes sees all bytes. One that polls sees the last value; the other bytes of
 * a BlueFlame write are in the page, and are complete once the queue has rung the other half. PRM:
 * Doorbells, BlueFlame. Decision: docs/adr/0037.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/queue/wqe.h"

enum { HALVES = 2, WORD = sizeof(uint64_t), BLOCK_WORDS = WQE_BB / sizeof(uint64_t) };

struct bell {
	uint32_t written; /* a bit for each 8 bytes; 0: never rung */
	uint32_t len;     /* of the WQE in whole blocks; 0: unknown */
	bool follows_own; /* the previous write went to this half too */
	/* For a front that polls. found: the bytes in the page are to be checked. missed: they were
	 * overwritten before the check. seen: the bytes at the last check. behind: the front found
	 * the other half first, though both were written. */
	bool found, missed, behind;
	uint64_t value_be;
	uint64_t seen[PRM_UAR_SQ_SIZE / sizeof(uint64_t)];
	uint8_t wqe[PRM_UAR_SQ_SIZE];
};

struct mlx5_bells {
	struct bell half[PRM_UAR_SQS][HALVES];
	int newest[PRM_UAR_SQS]; /* half that was rung last, or -1 */
};

static void report_value(struct hca *hca, const char *rule, uint32_t uar, uint32_t offset,
			 const char *what, uint64_t value, uint64_t expected)
{
	strict_report(hca->config.strict, hca->config.trace, rule,
		      "UAR page 0x%x, register 0x%x: %s is 0x%llx, but 0x%llx is expected", uar,
		      offset, what, (unsigned long long)value, (unsigned long long)expected);
}

void mlx5_bells_create(struct uar *uar)
{
	uar->bells = calloc(1, sizeof(*uar->bells));
	for (unsigned int i = 0; uar->bells && i < PRM_UAR_SQS; i++)
		uar->bells->newest[i] = -1;
}

static bool check_sq(struct hca *hca, uint32_t uar, uint32_t offset, uint32_t n)
{
	struct eth_sq *sq = res_get(&hca->eth->sqs, n);

	if (!sq) {
		strict_report(hca->config.strict, hca->config.trace, "doorbell.value",
			      "UAR page 0x%x, register 0x%x: the value names QP or SQ 0x%06x, "
			      "which does not exist",
			      uar, offset, n);
		return false;
	}
	if (sq->uar->n == uar)
		return true;
	report_value(hca, "doorbell.uar", uar, offset, "the page of an SQ", uar, sq->uar->n);
	return false;
}

/* Checks that the doorbell record covers the WQE: software writes the record first, as the adapter
 * may read it right after the register is written. */
static bool check_record(struct hca *hca, struct qp *qp, uint32_t uar, uint32_t offset,
			 uint16_t index, uint16_t *posted)
{
	uint32_t word;

	if (dma_read(hca, qp->dbr + hca->format->dbrec_send, &word, sizeof(word)))
		return true; /* fine here, as another check reports this */
	*posted = be32toh(word) - index;
	if (*posted)
		return true;
	strict_report(hca->config.strict, hca->config.trace, "doorbell.early",
		      "UAR page 0x%x, register 0x%x: QP 0x%06x, WQE %u: the record says %u", uar,
		      offset, qp->n, index, be32toh(word));
	return false;
}

/* Copies the WQE from the ring to WQE, which has PRM_UAR_SQ_SIZE bytes. Returns its size in whole
 * blocks, or 0. */
static uint32_t copy_wqe(struct hca *hca, struct qp *qp, uint16_t index, uint8_t *wqe)
{
	enum { BBS_MAX = PRM_UAR_SQ_SIZE / WQE_BB };
	uint32_t bbs = 0;

	if (!sq_copy(hca, qp, index, 1, wqe))
		bbs = mlx5_wqe_bbs(wqe);
	if (!bbs || bbs > sq_mask(qp) + 1u)
		return 0;
	if (sq_copy(hca, qp, index, bbs < BBS_MAX ? bbs : BBS_MAX, wqe))
		return 0;
	return bbs * WQE_BB;
}

/* Returns whether software has turned the WQE into a NOP after the doorbell, which it may. */
static bool was_taken_back(const uint8_t *wqe, uint64_t value_be)
{
	uint8_t rung[WQE_BB];

	memcpy(rung, wqe, sizeof(rung));
	memcpy(rung, &value_be, sizeof(value_be));
	fld_set(rung, CTRL_OPCODE, WQE_NOP);
	fld_set(rung, CTRL_OPMOD, 0);
	return !memcmp(rung, wqe, sizeof(value_be));
}

/* Checks a doorbell's value. Returns whether an adapter would find the WQE. The value may arrive
 * late (polling, socket, bus): the record may have advanced since, and software may have
 * overwritten WQEs that are complete. */
static bool check_value(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be,
			struct bell *bell)
{
	uint32_t n = fld_get(&value_be, CTRL_QPN);
	uint16_t index = fld_get(&value_be, CTRL_INDEX), posted = 0;
	struct qp *qp = res_get(&hca->qps, n);
	uint64_t in_ring;

	bell->len = 0;
	if (!qp)
		return check_sq(hca, uar, offset, n);
	if (!qp->uar || qp->uar->n != uar) {
		report_value(hca, "doorbell.uar", uar, offset, "the page of a QP", uar,
			     qp->uar ? qp->uar->n : 0);
		return false;
	}
	if (qp->state == PRM_QP_STATE_RST || qp->offload)
		return true;
	if (!check_record(hca, qp, uar, offset, index, &posted))
		return false;
	if ((int16_t)(index - qp->sq.ci) < 0)
		return true;
	if (posted > sq_mask(qp) + 1u)
		return true; /* fine here, as rules_sq_record() reports this */
	bell->len = copy_wqe(hca, qp, index, bell->wqe);
	memcpy(&in_ring, bell->wqe, sizeof(in_ring));
	if (!bell->len || in_ring == value_be || was_taken_back(bell->wqe, value_be))
		return true;
	/* Report but accept the value, as an adapter uses only the QP number: some programs leave
	 * out opcode and length, or name the first WQE of a list. */
	report_value(hca, "doorbell.value", uar, offset, "the value", be64toh(value_be),
		     be64toh(in_ring));
	return true;
}

static void bell_end(struct hca *hca, uint32_t uar, uint32_t offset, struct bell *bell)
{
	unsigned int words = __builtin_popcount(bell->written);
	bool whole = bell->written == (uint32_t)((1ull << words) - 1) && words % BLOCK_WORDS == 0;

	if (words > 1 && (!whole || (bell->len && words * WORD != bell->len)))
		report_value(hca, "bf.size", uar, offset, "the number of bytes", words * WORD,
			     bell->len);
}

static void bells_end(struct hca *hca, struct uar *uar, unsigned int reg)
{
	int half = uar->bells->newest[reg];

	if (half >= 0)
		bell_end(hca, uar->n, PRM_UAR_SQ + (reg * HALVES + half) * PRM_UAR_SQ_SIZE,
			 &uar->bells->half[reg][half]);
}

void mlx5_bells_free(struct hca *hca, struct uar *uar)
{
	for (unsigned int reg = 0; uar->bells && reg < PRM_UAR_SQS; reg++)
		bells_end(hca, uar, reg);
	free(uar->bells);
}

static uint32_t half_offset(unsigned int reg, unsigned int half)
{
	return PRM_UAR_SQ + (reg * HALVES + half) * PRM_UAR_SQ_SIZE;
}

/* Checks that the first doorbell in a register goes to its first half. A front that polls may see
 * the second half before an earlier write to the first. */
static void check_first(struct hca *hca, const struct uar *uar, unsigned int reg, unsigned int half)
{
	uint32_t first = half_offset(reg, 0);

	if (uar->bells->newest[reg] >= 0 || !half || (uar->page && uar->page[first / WORD]))
		return;
	report_value(hca, "bf.first", uar->n, half_offset(reg, half), "the half that is rung first",
		     half_offset(reg, half), first);
}

static struct bell *bell_begin(struct hca *hca, struct uar *uar, unsigned int reg,
			       unsigned int half)
{
	struct mlx5_bells *bells = uar->bells;
	struct bell *bell = &bells->half[reg][half];
	bool follows_own = bells->newest[reg] == (int)half && bell->written > 1;

	check_first(hca, uar, reg, half);
	bells_end(hca, uar, reg);
	bell->follows_own = follows_own;
	bell->written = 1;
	bells->newest[reg] = half;
	return bell;
}

/* Returns whether the WQE may differ from the ring's, as Linux tests write combining with NOPs that
 * request a completion only in the register. */
static bool bell_may_differ(const struct bell *bell)
{
	return !bell->len || mlx5_wqe_opcode(bell->wqe) == WQE_NOP;
}

/* Takes LEN bytes of a BlueFlame write at OFFSET of the page. They never cross the end of a
 * half. */
static void bell_push(struct hca *hca, struct bell *bell, uint32_t uar, uint32_t offset,
		      const uint8_t *bytes, size_t len)
{
	uint32_t at = offset % PRM_UAR_SQ_SIZE, start = offset - at;
	uint32_t bits = (1u << (len + WORD - 1) / WORD) - 1;

	if (at % WORD || len % WORD || !(bell->written & 1)) {
		report_value(hca, "bf.size", uar, offset, "the number of bytes", len, WORD);
		return;
	}
	if (bell->written == 1 && bell->follows_own)
		report_value(hca, "bf.halves", uar, start, "the half of a register", start,
			     start ^ PRM_UAR_SQ_SIZE);
	bell->written |= bits << at / WORD;
	if (at < bell->len && !bell_may_differ(bell) && memcmp(bytes, bell->wqe + at, len))
		report_value(hca, "bf.bytes", uar, offset, "the bytes", fld_get64(bytes, 0),
			     fld_get64(bell->wqe, at));
}

static bool is_register_of_sends(uint32_t offset)
{
	return offset >= PRM_UAR_SQ && offset < PRM_UAR_SQ + PRM_UAR_SQS * HALVES * PRM_UAR_SQ_SIZE;
}

bool mlx5_judge_write(struct hca *hca, uint32_t uar_n, uint32_t offset, const uint8_t *bytes,
		      size_t len)
{
	uint32_t half = (offset - PRM_UAR_SQ) / PRM_UAR_SQ_SIZE, at = offset % PRM_UAR_SQ_SIZE;
	struct uar *uar = res_get(&hca->uars, uar_n);
	struct bell unknown = { 0 }, *bell = &unknown;
	uint64_t value_be;
	bool found = true;

	if (!is_register_of_sends(offset))
		return true;
	if (len < sizeof(value_be) || at + len > PRM_UAR_SQ_SIZE) {
		report_value(hca, "doorbell.size", uar_n, offset, "the number of bytes", len, WORD);
		return false;
	}
	if (uar && uar->bells)
		bell = at ? &uar->bells->half[half / HALVES][half % HALVES]
			  : bell_begin(hca, uar, half / HALVES, half % HALVES);
	if (!at) {
		memcpy(&value_be, bytes, sizeof(value_be));
		found = check_value(hca, uar_n, offset, value_be, bell);
		bytes += sizeof(value_be);
		offset += sizeof(value_be);
		len -= sizeof(value_be);
	}
	if (len)
		bell_push(hca, bell, uar_n, offset, bytes, len);
	return found;
}

/* Returns whether AFTER is a later doorbell of the same queue than BEFORE. */
static bool rings_later(uint64_t before_be, uint64_t after_be)
{
	uint16_t step = fld_get(&after_be, CTRL_INDEX) - fld_get(&before_be, CTRL_INDEX);

	return fld_get(&before_be, CTRL_QPN) == fld_get(&after_be, CTRL_QPN) && (int16_t)step > 0;
}

/* Copies the bytes behind the value, unless software is writing that half again. */
static bool half_copy(const volatile uint64_t *half, uint64_t bytes[PRM_UAR_SQ_SIZE / WORD])
{
	if (half[0])
		return false;
	for (unsigned int i = 1; i < PRM_UAR_SQ_SIZE / WORD; i++)
		bytes[i] = half[i];
	return !half[0];
}

/* Checks the bytes of a half. Bytes that have not changed were not written, so this was a plain
 * doorbell. */
static void half_judge(struct hca *hca, const struct uar *uar, uint32_t offset, struct bell *bell)
{
	uint64_t bytes[PRM_UAR_SQ_SIZE / WORD] = { 0 };
	bool known = !bell->missed, pushed;
	unsigned int i = 1;

	if (!bell->found || !half_copy(uar->page + offset / WORD, bytes))
		return;
	bell->found = bell->missed = false;
	pushed = memcmp(bytes, bell->seen, sizeof(bytes));
	memcpy(bell->seen, bytes, sizeof(bytes));
	if (!known || !pushed || bell_may_differ(bell) || bell->len > PRM_UAR_SQ_SIZE)
		return;
	while (i < bell->len / WORD && be64toh(bytes[i]) == fld_get64(bell->wqe, i * WORD))
		i++;
	if (i < bell->len / WORD)
		report_value(hca, "bf.bytes", uar->n, offset + i * WORD, "a word of a push",
			     be64toh(bytes[i]), fld_get64(bell->wqe, i * WORD));
}

/* Notes what may have been missed. Software alternates between the halves. While a front finds one
 * half written, it has seen each doorbell; if it finds both, it knows neither how many there were
 * nor what bytes earlier ones wrote. */
static void note_behind(const struct uar *uar, unsigned int reg, unsigned int half)
{
	struct bell *bells = uar->bells->half[reg];
	bool both = uar->page && uar->page[half_offset(reg, !half) / WORD];

	bells[half].missed |= bells[half].found || bells[half].behind || both;
	bells[half].behind = false;
	bells[!half].behind |= both;
}

static void bell_found(struct hca *hca, struct uar *uar, uint32_t offset, uint64_t value_be)
{
	unsigned int at = (offset - PRM_UAR_SQ) / PRM_UAR_SQ_SIZE;
	unsigned int reg = at / HALVES, half = at % HALVES;
	struct bell *bell = &uar->bells->half[reg][half];
	struct bell *other = &uar->bells->half[reg][!half];

	check_first(hca, uar, reg, half);
	uar->bells->newest[reg] = half;
	if (uar->page && rings_later(other->value_be, value_be))
		half_judge(hca, uar, half_offset(reg, !half), other);
	note_behind(uar, reg, half);
	check_value(hca, uar->n, offset, value_be, bell);
	bell->value_be = value_be;
	bell->found = true;
}

void mlx5_judge_found(struct hca *hca, uint32_t uar_n, uint32_t offset, uint64_t value_be)
{
	struct uar *uar = res_get(&hca->uars, uar_n);
	struct bell unknown;

	if (uar && uar->bells && is_register_of_sends(offset))
		bell_found(hca, uar, offset, value_be);
	else
		check_value(hca, uar_n, offset, value_be, &unknown);
}
