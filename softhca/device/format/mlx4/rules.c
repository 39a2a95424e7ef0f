/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.c - checks of a strict mlx4 adapter beyond execution: the space behind the last WQE, which
 * adapters prefetch, must be free and have nothing that looks like a WQE; reserved bits are 0;
 * doorbells name existing QPs.
 *
 * Sources: see prm/mlx4/wqe.h. That the ownership bit marks posted WQEs, and that prefetched WQEs
 * need stamps, is known from Linux' drivers and libraries. Decision: docs/adr/0037.
 */
#include "prm/mlx4/uar.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

#define say(hca, rule, ...) \
	strict_report((hca)->config.strict, (hca)->config.trace, rule, __VA_ARGS__)

struct ring {
	const struct qp *qp;
	const struct eth_sq *sq;
	uint32_t n, block, log_size;
	uint16_t pi, ci;
};

static struct ring ring_of_qp(const struct qp *qp)
{
	return (struct ring){ .qp = qp,
			      .n = qp->n,
			      .block = qp->sq.block,
			      .log_size = qp->sq.log_size,
			      .pi = qp->sq.pi,
			      .ci = qp->sq.ci };
}

static struct ring ring_of_frames(const struct eth_sq *sq)
{
	return (struct ring){ .sq = sq,
			      .n = sq->n,
			      .block = sq->wq.stride,
			      .log_size = sq->wq.log_size,
			      .pi = sq->pi,
			      .ci = sq->ci };
}

static int ring_copy(struct hca *hca, const struct ring *ring, uint16_t index, uint32_t bbs,
		     uint8_t *raw)
{
	return ring->qp ? sq_copy(hca, ring->qp, index, bbs, raw)
			: eth_sq_copy(hca, ring->sq, index, bbs, raw);
}

/* Finds the ring that a doorbell on this page names; reports and returns false if there is none. */
static bool find_ring(struct hca *hca, uint32_t uar, uint32_t qpn, struct ring *ring)
{
	const struct qp *qp = res_get(&hca->qps, qpn);
	const struct eth_sq *sq = res_get(&hca->eth->sqs, qpn);
	bool is_here = qp ? qp->uar && qp->uar->n == uar : sq && sq->uar->n == uar;

	if (is_here)
		*ring = qp ? ring_of_qp(qp) : ring_of_frames(sq);
	else
		say(hca, "doorbell.value", "UAR page 0x%x: the register of sends says 0x%x, %s",
		    uar, qpn, qp || sq ? "a QP of another page" : "which is no QP");
	return is_here;
}

/* Checks a BlueFlame write, which has the first words of a WQE as they are in the ring. */
static void check_push(struct hca *hca, uint32_t uar, const uint8_t *words)
{
	uint16_t index = fld_get(words, M4_CTRL_INDEX);
	uint8_t raw[WQE_BYTES_MAX];
	struct ring ring;

	if (!find_ring(hca, uar, fld_get(words, M4_CTRL_QPN), &ring) ||
	    (int16_t)(index - ring.ci) < 0 || ring_copy(hca, &ring, index, 1, raw) ||
	    fld_get64(raw, 0) == fld_get64(words, 0))
		return;
	say(hca, "doorbell.value",
	    "UAR page 0x%x: BlueFlame says 0x%llx, QP 0x%06x, WQE %u has 0x%llx", uar,
	    (unsigned long long)fld_get64(words, 0), ring.n, index,
	    (unsigned long long)fld_get64(raw, 0));
}

/* Clears the fields for BlueFlame, as the distribution's library writes them after the ownership
 * bit. A VLAN tag uses the place of the number. */
void mlx4_wqe_clear_bell(uint8_t *raw)
{
	fld_set(raw, M4_CTRL_INDEX, 0);
	fld_set(raw, M4_CTRL_QPN, 0);
}

bool mlx4_judge_write(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
		      size_t len)
{
	struct ring ring;

	return offset != M4_UAR_SEND || len < sizeof(uint32_t) ||
	       find_ring(hca, uar, fld_get(bytes, M4_SEND_QPN), &ring);
}

/* Checks a register of a front that polls: it finds the last value, in steps of 8 bytes, so earlier
 * values and their order are unknown. */
void mlx4_judge_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	const uint8_t *bytes = (const uint8_t *)&value_be;
	struct ring ring;

	if (offset == (M4_UAR_SEND & ~7u))
		find_ring(hca, uar, fld_get(bytes + M4_UAR_SEND % 8, M4_SEND_QPN), &ring);
	else
		check_push(hca, uar, bytes);
}

static const struct {
	uint32_t field;
	const char *name;
} reserved[] = {
	{ FLD(0x0, 30, 24), "bits 30:24 beside the opcode" },
	{ FLD(0x0, 7, 7), "bit 7 beside the opcode" },
	{ FLD(0x0, 5, 5), "bit 5 beside the opcode" },
	{ FLD(0x4, 7, 7), "bit 7 beside the size" },
};

static void check_reserved(struct hca *hca, uint32_t n, uint16_t index, const uint8_t *raw)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (fld_get(raw, reserved[i].field))
			say(hca, "wqe.reserved", "QP 0x%06x, WQE %u (%s): control %s are 0x%llx", n,
			    index, mlx4_opcode_name(mlx4_wqe_opcode(raw)), reserved[i].name,
			    (unsigned long long)fld_get(raw, reserved[i].field));
	if (fld_get(raw, M4_CTRL_LONG_HEADER) && mlx4_wqe_opcode(raw) != M4_LSO)
		say(hca, "wqe.reserved", "QP 0x%06x, WQE %u (%s): it has no headers to be long", n,
		    index, mlx4_opcode_name(mlx4_wqe_opcode(raw)));
}

void mlx4_judge_send(struct hca *hca, const struct qp *qp, uint16_t index, const uint8_t *raw)
{
	check_reserved(hca, qp->n, index, raw);
}

/* Checks that the WQE is sent as a frame, not as an InfiniBand message. */
void mlx4_judge_frame(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw)
{
	check_reserved(hca, sq->n, sq->ci, raw);
	if (mlx4_wqe_opcode(raw) != M4_NOP && !fld_get(raw, M4_CTRL_SOLICITED))
		say(hca, "wqe.icrc", "QP 0x%06x, WQE %u: an ICRC is put behind the frame", sq->n,
		    sq->ci);
}

static bool is_posted(struct hca *hca, const struct ring *ring, uint16_t index)
{
	uint8_t raw[WQE_BYTES_MAX];

	return !ring_copy(hca, ring, index, 1, raw) &&
	       mlx4_send_is_posted(raw, index >> ring->log_size & 1);
}

/* Checks that old WQEs in a slot are stamped. The first 64-byte piece of a slot has the ownership
 * bit; each further piece of the slot's last WQE must begin with the stamp. */
static void check_stamps(struct hca *hca, const struct ring *ring, uint16_t index,
			 const uint8_t *raw)
{
	uint32_t len = mlx4_wqe_size(raw);

	for (uint32_t at = M4_PIECE; at < len && at < ring->block; at += M4_PIECE)
		if (fld_get(raw + at, FLD(0x0, 31, 0)) != M4_STAMP) {
			say(hca, "wqe.stamp",
			    "QP 0x%06x, WQE %u: what is read ahead has no stamp at byte %u",
			    ring->n, index, at);
			return;
		}
}

/* Checks the space that the adapter prefetches, from the producer index on: it must be stamped.
 * Skips the first slot, which software may be writing, and the last, which software stamps only
 * after the doorbell. If the first slot is posted by now, software has gone on, and all are
 * skipped. */
static void judge_ring(struct hca *hca, const struct ring *ring)
{
	uint16_t pi = ring->pi, ahead = M4_READ_AHEAD / ring->block, size = 1u << ring->log_size;
	uint8_t raw[M4_READ_AHEAD];

	if ((uint16_t)(pi - ring->ci) + ahead + 1u > size) {
		say(hca, "wqe.headroom",
		    "QP 0x%06x: %u WQEs are posted in a ring of %u, %u are to be free", ring->n,
		    (uint16_t)(pi - ring->ci), size, ahead + 1u);
		return;
	}
	if (ring->block == M4_PIECE || ring_copy(hca, ring, pi + 1, ahead - 1, raw) ||
	    is_posted(hca, ring, pi))
		return;
	for (uint16_t i = 0; i < ahead - 1; i++)
		check_stamps(hca, ring, pi + 1 + i, raw + (size_t)i * ring->block);
}

void mlx4_judge_posted(struct hca *hca, const struct qp *qp)
{
	struct ring ring = ring_of_qp(qp);

	judge_ring(hca, &ring);
}

void mlx4_judge_frames_posted(struct hca *hca, const struct eth_sq *sq)
{
	struct ring ring = ring_of_frames(sq);

	judge_ring(hca, &ring);
}
