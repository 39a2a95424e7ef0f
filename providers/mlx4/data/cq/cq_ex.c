/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ex.c - ibv_start_poll() and the readers, which read the current CQE in the ring.
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/mlx4/data/cq/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

/* Makes the CQE the current completion; the next one is at index CI. EXTRA has ibv_wc_opcode and
 * flags, as in struct wq_slot. */
CQE_INLINE int cq_ex_keep(struct mlx4_cq *cq, const uint8_t *cqe, uint32_t ci, uint64_t wr_id,
			  uint32_t extra)
{
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELEASE);
	cq->cqe = cqe;
	cq->extra = extra;
	cq->vcq.cq_ex.wr_id = wr_id;
	cq->vcq.cq_ex.status = IBV_WC_SUCCESS;
	return 0;
}

#define OUT_OF_LINE static int __attribute__((noinline))

/* Fast path: returns whether the CQE is a SEND to the QP of the previous completion, which receives
 * by its own ring. A single compare of its first word with ring_word decides; ring_word is set when
 * such a CQE took the slow path. If the adapter sets other bits in that word, the slow path reads
 * them. */
CQE_INLINE bool cqe_is_as_before(const struct mlx4_cq *cq, const uint8_t *cqe)
{
	return cqe_first_word(cqe) == cq->ring_word;
}

CQE_INLINE bool cqe_is_common(const struct mlx4_cq *cq, const uint8_t *cqe, uint8_t last)
{
	return last == M4_RECV_SEND && cqe_is_as_before(cq, cqe);
}

CQE_INLINE int cq_ex_receive(struct mlx4_cq *cq, const uint8_t *cqe, uint32_t ci)
{
	return cq_ex_keep(cq, cqe, ci + 1, wq_complete_next(&cq->qp->rq.wq), IBV_WC_RECV);
}

CQE_INLINE void cq_ex_learn(struct mlx4_cq *cq, const struct completion *comp)
{
	if (comp->qp && !comp->qp->srq && !cqe_is_request(comp->cqe))
		cq->ring_word = cqe_first_word(comp->cqe);
}

/* Takes the next completion of any kind. Publishes the consumer index even if there is none:
 * start_poll then returns ENOENT and no end_poll follows, so skipped CQEs would otherwise block the
 * adapter. */
OUT_OF_LINE next_of_any_kind(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	uint32_t ci = cq->ci;
	struct completion comp;

	if (!cqe_take(cq, &ci, &comp)) {
		__atomic_store_n(&cq->ci, ci, __ATOMIC_RELEASE);
		doorbell_cq_consumed(cq->dbrec, ci);
		return ENOENT;
	}
	cq_ex_learn(cq, &comp);
	cq->qpn = cqe_qpn(comp.cqe);
	cq_ex_keep(cq, comp.cqe, ci, comp.wr_id,
		   cqe_is_request(comp.cqe) ? comp.done_as : cqe_extra_of(cqe_opcode(comp.cqe)));
	cq->vcq.cq_ex.status = comp.status;
	return 0;
}

/* Takes the first completion of a poll under the lock. Drops the lock if there is none, because
 * ibv_end_poll() is not called then. */
OUT_OF_LINE start_of_any_kind(struct ibv_cq_ex *cqx)
{
	int ret = next_of_any_kind(cqx);

	if (ret)
		qlock_leave(&to_mcq_ex(cqx)->lock);
	return ret;
}

OUT_OF_LINE take_request(struct ibv_cq_ex *cqx, const uint8_t *cqe, uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	uint32_t done_as;
	uint64_t wr_id = cqe_complete_request(cq->qp, cqe, &done_as);

	cq->qpn = be32toh(cq->qpn_be);
	return cq_ex_keep(cq, cqe, ci + 1, wr_id, done_as);
}

/* Takes the completion in CQE, at index CI, of a less common kind. LAST is its last byte. Each kind
 * has its own routine, because a routine for all of them would make each save registers. STARTS is
 * a constant: true for start_poll, false for next_poll. */
CQE_INLINE int cq_ex_take(struct ibv_cq_ex *cqx, const uint8_t *cqe, uint32_t ci, uint8_t last,
			  bool starts)
{
	if (likely(last_is_good_request(last) && cqe_qpn_be(cqe) == to_mcq_ex(cqx)->qpn_be))
		return take_request(cqx, cqe, ci);
	return starts ? start_of_any_kind(cqx) : next_of_any_kind(cqx);
}

/* Takes the next completion. It computes the CQE from the index instead of advancing the last one:
 * a QP may have been destroyed since, the ring replaced, or the entry returned to the adapter. */
static int next_poll(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint32_t ci = cq->ci;
	const uint8_t *cqe = cqe_at(cq, ci), last = cqe_last_at(cq, cqe, ci);

	if (likely(cqe_is_common(cq, cqe, last)))
		return cq_ex_receive(cq, cqe, ci);
	return last & FLD_BITS(M4_CQE_OWNER) ? ENOENT : cq_ex_take(cqx, cqe, ci, last, false);
}

OUT_OF_LINE start_exchanging(struct ibv_cq_ex *cqx, uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint8_t *cqe;
	uint8_t last;

	if (unlikely(!qlock_exchange(&cq->lock)))
		provider_qlock_wait(&cq->lock);
	if (unlikely(cq->ci != ci))
		return start_of_any_kind(cqx);
	cqe = cqe_at(cq, ci);
	last = cqe_last_at(cq, cqe, ci);
	if (likely(cqe_is_common(cq, cqe, last)))
		return cq_ex_receive(cq, cqe, ci);
	return cq_ex_take(cqx, cqe, ci, last, true);
}

OUT_OF_LINE start_other(struct ibv_cq_ex *cqx, const uint8_t *cqe, uint32_t ci, uint8_t last)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);

	if (unlikely(!qlock_is_idle(&cq->lock)))
		return start_exchanging(cqx, ci);
	cq->lock.taken = 1;
	return cq_ex_take(cqx, cqe, ci, last, true);
}

CQE_INLINE int start_at_none(struct ibv_cq_ex *cqx, uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);

	if (cqe_is_none(cq, ci))
		return ENOENT;
	qlock_take(&cq->lock);
	return start_of_any_kind(cqx);
}

/* Detects an empty CQ without the lock, because most polls find nothing. */
static int start_poll_locked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint8_t *cqe;
	uint8_t last;
	uint32_t ci;

	if (unlikely(attr->comp_mask)) {
		provider_report_poll(cq->cqn, attr);
		return EINVAL;
	}
	cqe = cqe_peek(cq, &ci);
	last = cqe_last_at(cq, cqe, ci);
	if (unlikely(last != M4_RECV_SEND || !qlock_is_idle(&cq->lock) ||
		     !cqe_is_as_before(cq, cqe)))
		return last & FLD_BITS(M4_CQE_OWNER) ? start_at_none(cqx, ci)
						     : start_other(cqx, cqe, ci, last);
	cq->lock.taken = 1;
	return cq_ex_receive(cq, cqe, ci);
}

static int start_poll_unlocked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint32_t ci = cq->ci;
	const uint8_t *cqe = cqe_at(cq, ci), last = cqe_last_at(cq, cqe, ci);

	if (unlikely(attr->comp_mask)) {
		provider_report_poll(cq->cqn, attr);
		return EINVAL;
	}
	if (likely(cqe_is_common(cq, cqe, last)))
		return cq_ex_receive(cq, cqe, ci);
	return last & FLD_BITS(M4_CQE_OWNER) ? ENOENT : cq_ex_take(cqx, cqe, ci, last, false);
}

static void end_poll_locked(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);

	doorbell_cq_consumed(cq->dbrec, cq->ci);
	qlock_drop(&cq->lock);
}

static void end_poll_unlocked(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);

	doorbell_cq_consumed(cq->dbrec, cq->ci);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cqx)
{
	return to_mcq_ex(cqx)->extra & WQ_DONE_OPCODE_MASK;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cqx)
{
	const struct mlx4_cq *cq = to_mcq_ex(cqx);

	return cqx->status ? (uint32_t)fld_get(cq->cqe, M4_CQE_VENDOR) : 0;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cqx)
{
	return cqe_byte_len(to_mcq_ex(cqx)->cqe);
}

static __be32 read_imm_data(struct ibv_cq_ex *cqx)
{
	return cqe_imm(to_mcq_ex(cqx)->cqe);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cqx)
{
	return to_mcq_ex(cqx)->qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cqx)
{
	return (uint32_t)fld_get(to_mcq_ex(cqx)->cqe, M4_CQE_RQPN);
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cqx)
{
	const struct mlx4_cq *cq = to_mcq_ex(cqx);

	if (cqx->status)
		return 0;
	if (cqe_is_request(cq->cqe))
		return cq->extra >> WQ_DONE_FLAGS_SHIFT;
	return cq->extra >> WQ_DONE_FLAGS_SHIFT |
	       cqe_recv_flags(cq->qp && cq->qp->has_checksums, cq->cqe);
}

static uint32_t read_slid(struct ibv_cq_ex *cqx)
{
	return (uint32_t)fld_get(to_mcq_ex(cqx)->cqe, M4_CQE_RLID);
}

static uint8_t read_sl(struct ibv_cq_ex *cqx)
{
	const struct mlx4_cq *cq = to_mcq_ex(cqx);

	return cqe_sl(cq->qp && cq->qp->is_ethernet, cq->cqe);
}

/* In a CQ with timestamps, the time overlays the LID and the service level, so their readers return
 * 0. */
static uint32_t read_no_slid(struct ibv_cq_ex *cqx)
{
	(void)cqx;
	return 0;
}

static uint8_t read_no_sl(struct ibv_cq_ex *cqx)
{
	(void)cqx;
	return 0;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cqx)
{
	return fld_get(to_mcq_ex(cqx)->cqe, M4_CQE_PATH_BITS);
}

/* Returns the timestamp. The adapter updates the upper part late: when the lower part is 0, the
 * upper one is still old. See mlx4_en_get_cqe_ts() in Linux' driver, so this adds 1 there. */
static uint64_t read_completion_ts(struct ibv_cq_ex *cqx)
{
	const uint8_t *cqe = to_mcq_ex(cqx)->cqe;
	const uint32_t low = (uint32_t)fld_get(cqe, M4_CQE_TIME_15_0);
	const uint32_t high = (uint32_t)fld_get(cqe, M4_CQE_TIME_47_16) + !low;

	return (uint64_t)high << 16 | low;
}

void mlx4_cq_ex_fill(struct mlx4_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;

	cq->poll = mlx4_cq_poll_any;
	cqx->start_poll = cq->lock.shared ? start_poll_locked : start_poll_unlocked;
	cqx->next_poll = next_poll;
	cqx->end_poll = cq->lock.shared ? end_poll_locked : end_poll_unlocked;
	cqx->read_opcode = read_opcode;
	cqx->read_vendor_err = read_vendor_err;
	cqx->read_wc_flags = read_wc_flags;
	cqx->read_byte_len = read_byte_len;
	cqx->read_imm_data = read_imm_data;
	cqx->read_qp_num = read_qp_num;
	cqx->read_src_qp = read_src_qp;
	cqx->read_slid = cq->has_time ? read_no_slid : read_slid;
	cqx->read_sl = cq->has_time ? read_no_sl : read_sl;
	cqx->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cqx->read_completion_ts = read_completion_ts;
}
