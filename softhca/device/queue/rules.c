/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.c - checks of rings and doorbell records by a strict adapter.
 *
 * PRM: Doorbell Record, Work Queue; IBTA vol 1, 10.8.3: a WQE belongs to the adapter from its post
 * to its completion. Decision: docs/adr/0037.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"

/* Time that software has between the doorbell record and the doorbell: long, as the program may be
 * preempted in between. */
#define PATIENCE (1000 * NS_PER_MS)
enum { LOOKS_A_PATIENCE = 4, ARM_NUMBERS = 4 };
/* Bit OF_PADDING of a digest: the WQE is padding. The value PADDING_READ replaces such a digest
 * when the adapter has read the padding. 0: no digest. */
enum { OF_PADDING = 1, PADDING_READ = 2 };

#define say(hca, rule, ...) \
	strict_report((hca)->config.strict, (hca)->config.trace, rule, __VA_ARGS__)

/* Returns whether the WQE is a NOP without completion. DPDK's crypto driver pads a request with one
 * and rewrites the NOP's blocks when that request completes, so the adapter is assumed to have read
 * the NOP by then. */
static bool is_padding(const struct hca *hca, const struct qp *qp, const uint8_t *raw,
		       uint16_t index, uint32_t bbs)
{
	struct send_wqe wqe = { 0 };

	return hca->format->wqe_opcode(raw) == WQE_NOP &&
	       !hca->format->decode_send(raw, index, bbs, qp->n, qp->service, &wqe) &&
	       !wqe.signaled;
}

/* Returns the digest of the WQE of SIZE bytes at RAW. RAW is a copy, in which the function clears
 * the bits that the driver changes when it rings: their change is no fault. */
static uint64_t wqe_digest(const struct hca *hca, uint8_t *raw, uint32_t size)
{
	if (hca->format->wqe_clear_bell)
		hca->format->wqe_clear_bell(raw);
	return rules_digest(raw, size) | OF_PADDING;
}

/* Notes the digest of the WQE at INDEX, from where LEFT posted blocks follow. Returns how many
 * blocks the WQE has. */
static uint16_t note_wqe(struct hca *hca, struct qp *qp, uint16_t index, uint16_t left)
{
	uint8_t wqe[WQE_BYTES_MAX];
	uint64_t *digest = &qp->sq.digest[index & sq_mask(qp)];
	uint32_t bbs, max = WQE_BYTES_MAX / qp->sq.block;
	bool padding;

	if (max > left)
		max = left;
	*digest = 0;
	if (sq_copy(hca, qp, index, max, wqe))
		return left;
	bbs = wqe_bbs(hca, qp, wqe);
	if (!bbs || bbs > max)
		return left; /* not a valid WQE, so the start of the next one is unknown */
	padding = is_padding(hca, qp, wqe, index, bbs);
	*digest = wqe_digest(hca, wqe, hca->format->wqe_size(wqe));
	if (!padding)
		*digest ^= OF_PADDING;
	return bbs;
}

static void compare_wqe(struct hca *hca, const struct qp *qp, uint16_t index, uint16_t bbs)
{
	uint8_t wqe[WQE_BYTES_MAX];
	uint64_t digest = qp->sq.digest[index & sq_mask(qp)];
	uint32_t size;

	if (!digest || digest == PADDING_READ || sq_copy(hca, qp, index, bbs, wqe))
		return;
	size = hca->format->wqe_size(wqe);
	if (size > bbs * qp->sq.block || wqe_digest(hca, wqe, size) != (digest | OF_PADDING))
		say(hca, "wqe.changed",
		    "QP 0x%06x, WQE %u: its bytes changed between doorbell and completion", qp->n,
		    index);
}

static void read_padding(struct hca *hca, struct qp *qp, uint16_t index)
{
	uint8_t wqe[WQE_BYTES_MAX];
	uint16_t bbs, left = qp->sq.pi - index;

	if (!left || !(qp->sq.digest[index & sq_mask(qp)] & OF_PADDING) ||
	    sq_copy(hca, qp, index, 1, wqe))
		return;
	bbs = wqe_bbs(hca, qp, wqe);
	if (!bbs || bbs > left)
		bbs = 1;
	compare_wqe(hca, qp, index, bbs);
	for (uint16_t i = 0; i < bbs; i++)
		qp->sq.digest[(index + i) & sq_mask(qp)] = PADDING_READ;
}

/* Returns how many blocks of padding that was read follow the last completed WQE. */
static uint16_t padding_ahead(const struct qp *qp)
{
	uint16_t at = qp->sq.ci;

	while (qp->sq.digest && at != qp->sq.pi && qp->sq.digest[at & sq_mask(qp)] == PADDING_READ)
		at++;
	return at - qp->sq.ci;
}

/* Notes a WQE as note_wqe() does. If an earlier look found it covered by the record, its bytes had
 * to be complete then; reports a change. PRM: Doorbell Record */
static uint16_t check_ahead(struct hca *hca, struct qp *qp, uint16_t index, uint16_t pi)
{
	uint64_t *digest = &qp->sq.digest[index & sq_mask(qp)], was = *digest;
	uint16_t bbs = note_wqe(hca, qp, index, pi - index);

	if (!qp->sq.is_ahead || (int16_t)(qp->sq.ahead_pi - index) <= 0 || *digest == was)
		return bbs;
	qp->sq.is_ahead = false; /* false, as the starts of the next WQEs are unknown */
	say(hca, "record.early",
	    "QP 0x%06x, WQE %u: its bytes changed after the record of sends said %u", qp->n, index,
	    qp->sq.ahead_pi);
	return bbs;
}

static void note_wqes(struct hca *hca, struct qp *qp, uint16_t pi)
{
	if (!qp->sq.digest)
		qp->sq.digest = calloc(1u << qp->sq.log_size, sizeof(*qp->sq.digest));
	if (!qp->sq.digest)
		return;
	for (uint16_t at = qp->sq.pi; at != pi;)
		at += check_ahead(hca, qp, at, pi);
	qp->sq.is_ahead = false;
}

/* Notes the WQEs that the record covers before their doorbell, up to PI. */
static void note_ahead(struct hca *hca, struct qp *qp, uint16_t pi)
{
	uint16_t covered = pi - qp->sq.ci, noted = qp->sq.pi - qp->sq.ci;

	if (covered > sq_mask(qp) + 1u || covered < noted)
		return; /* nothing more, as rules_sq_record() judges the record */
	note_wqes(hca, qp, pi);
	qp->sq.ahead_pi = pi;
	qp->sq.is_ahead = qp->sq.digest;
}

void rules_sq_again(struct hca *hca, struct qp *qp)
{
	uint16_t pi = qp->sq.pi;

	qp->sq.is_ahead = false; /* false, as software may have rewritten waiting WQEs */
	qp->sq.pi = qp->sq.ci;
	note_wqes(hca, qp, pi);
	qp->sq.pi = pi;
}

bool rules_sq_record(struct hca *hca, struct qp *qp, uint16_t pi)
{
	if ((uint16_t)(pi - qp->sq.ci) > sq_mask(qp) + 1u + padding_ahead(qp)) {
		say(hca, "record.beyond",
		    "QP 0x%06x: the record of sends says %u, the ring of %u holds %u up to %u",
		    qp->n, pi, sq_mask(qp) + 1u, qp->sq.ci, qp->sq.pi);
		return false;
	}
	if ((uint16_t)(pi - qp->sq.ci) < (uint16_t)(qp->sq.pi - qp->sq.ci)) {
		say(hca, "record.backwards", "QP 0x%06x: the record of sends says %u after %u",
		    qp->n, pi, qp->sq.pi);
		return false;
	}
	note_wqes(hca, qp, pi);
	return true;
}

void rules_sq_done(struct hca *hca, struct qp *qp, uint16_t bbs)
{
	if (!qp->sq.digest)
		return;
	compare_wqe(hca, qp, qp->sq.ci, bbs);
	read_padding(hca, qp, qp->sq.ci + bbs);
}

void rules_rq_record(struct hca *hca, struct qp *qp)
{
	uint32_t size = 1u << qp->rq.log_size;

	if ((uint16_t)(qp->rq.pi - qp->rq.ci) > size)
		say(hca, "record.beyond",
		    "QP 0x%06x: the record of receives says %u, the ring of %u is at %u", qp->n,
		    qp->rq.pi, size, qp->rq.ci);
	if ((uint16_t)(qp->rq.noted_pi - qp->rq.ci) > size)
		/* all, as the device has taken those that were noted */
		qp->rq.noted_pi = qp->rq.ci;
}

static uint64_t *recv_digest(const struct qp *qp, uint16_t index)
{
	return &qp->rq.digest[index & ((1u << qp->rq.log_size) - 1)];
}

void rules_rq_fetched(struct hca *hca, const struct qp *qp, const uint8_t *raw)
{
	uint32_t noted = (uint16_t)(qp->rq.noted_pi - qp->rq.ci);

	if (!qp->rq.digest || !noted || noted > 1u << qp->rq.log_size ||
	    rules_digest(raw, qp->rq.stride) == *recv_digest(qp, qp->rq.ci))
		return;
	say(hca, "record.early",
	    "QP 0x%06x, receive WQE %u: its bytes changed after the record of receives said %u",
	    qp->n, qp->rq.ci, qp->rq.noted_pi);
}

static int note_recv(struct hca *hca, const struct qp *qp, uint16_t index)
{
	uint32_t slot = index & ((1u << qp->rq.log_size) - 1);
	uint8_t raw[RQ_CACHE_BYTES];
	struct dma_batch batch;
	int ret;

	dma_begin_read(&batch, hca, raw);
	ret = dma_add_map(&batch, &qp->map, qp->rq.offset + (uint64_t)slot * qp->rq.stride,
			  qp->rq.stride);
	if (!ret)
		ret = dma_finish(&batch);
	if (!ret)
		*recv_digest(qp, index) = rules_digest(raw, qp->rq.stride);
	return ret;
}

/* Notes the WQEs up to PI that the record covers since the last look. */
static void note_recvs(struct hca *hca, struct qp *qp, uint16_t pi)
{
	uint16_t posted = pi - qp->rq.ci, at = qp->rq.noted_pi;

	if (posted > 1u << qp->rq.log_size || qp->rq.stride > RQ_CACHE_BYTES)
		return;
	if (!qp->rq.digest)
		qp->rq.digest = calloc(1u << qp->rq.log_size, sizeof(*qp->rq.digest));
	if (!qp->rq.digest)
		return;
	while ((int16_t)(pi - at) > 0 && !note_recv(hca, qp, at))
		at++;
	qp->rq.noted_pi = at;
}

void rules_srq_record(struct hca *hca, struct srq *srq)
{
	uint32_t size = 1u << srq->log_size;

	if ((uint16_t)(srq->pi - srq->taken) > size)
		say(hca, "record.beyond", "SRQ 0x%06x: the record says %u, the ring of %u is at %u",
		    srq->n, srq->pi, size, srq->taken);
}

void rules_recv_early(struct hca *hca, const char *queue, uint32_t n, uint16_t index)
{
	say(hca, "record.early",
	    "%s 0x%06x, receive WQE %u: its bytes changed after the record covered it", queue, n,
	    index);
}

void rules_srq_waited(struct hca *hca, const struct srq *srq, uint16_t index, uint64_t digest,
		      const uint8_t *raw, size_t len)
{
	if (rules_digest(raw, len) != digest)
		say(hca, "srq.waiting",
		    "SRQ 0x%06x, WQE %u: its bytes changed before the driver brought its pages",
		    srq->n, index);
}

/* Checks that the ring is aligned to its WQEs. The pages of a ring need not be contiguous, so a WQE
 * that crosses a page would be in two pieces. */
void rules_recv_ring(struct hca *hca, const char *queue, uint32_t n, const struct dma_map *map,
		     uint32_t stride)
{
	if (stride && map->count && map->extent[0].addr % stride)
		say(hca, "recv.page",
		    "%s 0x%06x: the ring is at 0x%llx, not aligned to WQEs of %u bytes", queue, n,
		    (unsigned long long)map->extent[0].addr, stride);
}

/* Checks that the new consumer index is not behind the old one nor ahead of the producer. */
void rules_cq_consumer(struct hca *hca, struct cq *cq, uint32_t ci)
{
	uint32_t behind = (cq->pi - ci) & PRM_CI_MASK, was = cq->pi - cq->ci;
	bool back = ((cq->ci - ci) & PRM_CI_MASK) <= PRM_CI_MASK / 2;

	if (behind <= was || cq->ignore_overrun)
		return;
	say(hca, back ? "cq.backwards" : "cq.ahead",
	    "CQ 0x%06x: the record's consumer index says %u after %u, and %u was produced", cq->n,
	    ci & PRM_CI_MASK, cq->ci & PRM_CI_MASK, cq->pi & PRM_CI_MASK);
}

/* Checks that the entry does not look like a new CQE before the device writes it. Skips rings in
 * user memory (DEVX), as a program may tell new CQEs by other means there. */
void rules_cq_slot(struct hca *hca, struct cq *cq, uint32_t index)
{
	uint64_t slot = index & (cq_entries(cq) - 1);
	uint8_t cqe[CQE_MAX];

	if (cq->umems.ring || cq_copy(hca, cq, slot, cqe) ||
	    !hca->format->is_software_cqe(cqe, index >> cq->log_size & 1))
		return;
	say(hca, "cq.owner",
	    "CQ 0x%06x, CQE %u: its ownership bit is that of software before it is written", cq->n,
	    index & PRM_CI_MASK);
}

/* Checks an arm word. Events are numbered, and an arm names the next number. An arm with the number
 * of the newest event crossed that event: a program may arm before it has read the event, and an
 * adapter ignores such an arm. PRM: CQ Doorbell Record, cmd_sn */
bool rules_cq_arm(struct hca *hca, const struct cq *cq, const struct cq_arm *arm)
{
	uint32_t behind = (cq->pi - arm->ci) & PRM_CI_MASK;
	uint32_t next = cq->events + hca->format->first_arm;

	if (arm->reserved)
		say(hca, "arm.reserved", "CQ 0x%06x: reserved bits 0x%x of the arm word", cq->n,
		    arm->reserved);
	if (behind > 2u << cq->log_size)
		say(hca, "arm.ci", "CQ 0x%06x: the arm's consumer index is %u, and %u was produced",
		    cq->n, arm->ci, cq->pi & PRM_CI_MASK);
	if ((arm->sn + 1u) % ARM_NUMBERS == next % ARM_NUMBERS)
		return false;
	if (arm->sn != next % ARM_NUMBERS)
		say(hca, "arm.sn",
		    "CQ 0x%06x: the arm's sequence number is %u, and %u events were raised", cq->n,
		    arm->sn, cq->events);
	return true;
}

/* Returns whether the record has said PI for longer than PATIENCE without a doorbell, as software
 * writes the doorbell right after the record, unless it was preempted. Returns true only once for
 * each PI. */
static bool is_overdue(const struct hca *hca, struct sq *sq, uint16_t pi)
{
	if (!sq->unrung_since || sq->unrung_pi != pi)
		sq->unrung_since = hca->now;
	sq->unrung_pi = pi;
	if (sq->unrung_since == HCA_IDLE || hca->now - sq->unrung_since < PATIENCE)
		return false;
	sq->unrung_since = HCA_IDLE;
	return true;
}

/* Looks for a record without a doorbell. WQEs in the ring that the record does not cover are fine,
 * as software may have cancelled a batch. */
static void look_at_sq(struct hca *hca, struct qp *qp)
{
	uint32_t word;
	uint16_t pi;

	if (dma_read(hca, qp->dbr + hca->format->dbrec_send, &word, sizeof(word)))
		return;
	pi = be32toh(word);
	if (pi == qp->sq.pi) {
		qp->sq.unrung_since = 0;
		return;
	}
	note_ahead(hca, qp, pi);
	if (is_overdue(hca, &qp->sq, pi))
		say(hca, "doorbell.missing",
		    "QP 0x%06x: the record of sends says %u, the last doorbell %u", qp->n, pi,
		    qp->sq.pi);
}

static void look_at_rq(struct hca *hca, struct qp *qp)
{
	uint32_t word;

	if (!dma_read(hca, qp->dbr + hca->format->dbrec_recv, &word, sizeof(word)))
		note_recvs(hca, qp, be32toh(word));
}

static void look_at_memory(struct hca *hca, const struct dma_map *map, uint64_t dbr, uint64_t *page,
			   const char *queue, uint32_t n)
{
	pins_check(hca, map, 0, map->len, queue, n);
	pins_check_page(hca, dbr, page, queue, n);
}

static void look_at_cq(struct hca *hca, struct cq *cq)
{
	look_at_memory(hca, &cq->map, cq->dbr, &cq->dbr_page, "CQ", cq->n);
	if (cq->status == PRM_CQC_STATUS_OK)
		cq_read_consumer(hca, cq);
}

static void look_at_qp(struct hca *hca, struct qp *qp)
{
	look_at_memory(hca, &qp->map, qp->dbr, &qp->dbr_page, "QP", qp->n);
	if (qp->state == PRM_QP_STATE_RTS && qp->sq.entry && !qp->offload &&
	    !hca->format->send_is_posted)
		look_at_sq(hca, qp);
	if ((qp->state == PRM_QP_STATE_RTR || qp->state == PRM_QP_STATE_RTS) && qp->rq.stride &&
	    !qp->offload)
		look_at_rq(hca, qp);
}

bool rules_look(struct hca *hca)
{
	struct srq *srq;
	struct cq *cq;
	struct qp *qp;

	if (hca->now < hca->next_look)
		return false;
	hca->next_look = hca->now + PATIENCE / LOOKS_A_PATIENCE;
	for (uint32_t i = 0; (qp = res_next(&hca->qps, &i)) != NULL;)
		look_at_qp(hca, qp);
	for (uint32_t i = 0; (cq = res_next(&hca->cqs, &i)) != NULL;)
		look_at_cq(hca, cq);
	for (uint32_t i = 0; (srq = res_next(&hca->srqs, &i)) != NULL;)
		look_at_memory(hca, &srq->map, srq->dbr, &srq->dbr_page, "SRQ", srq->n);
	return true;
}
