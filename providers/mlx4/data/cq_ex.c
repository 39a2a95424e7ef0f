/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ex.c - ibv_start_poll() and the readers, which look at the current CQE in place.
 */
#include <errno.h>

#include "providers/mlx4/data/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

/* A completion that is found is what the readers read from now on, and the next one is at index CI.
 * ibv_wc_opcode and flags are known by what was posted, or by what came: EXTRA has them as struct
 * wq_slot does. */
CQE_INLINE int cq_ex_keep(struct mlx4_cq *cq, const uint8_t *cqe, uint32_t ci, uint64_t wr_id,
			  uint32_t extra)
{
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
	cq->cqe = cqe;
	cq->extra = extra;
	cq->vcq.cq_ex.wr_id = wr_id;
	cq->vcq.cq_ex.status = IBV_WC_SUCCESS;
	return 0;
}

#define OUT_OF_LINE static int __attribute__((noinline))

/* The index is published also where no completion was found, as start_poll says ENOENT then, and no
 * end_poll follows: what was skipped would stay in the adapter's way. */
OUT_OF_LINE next_of_any_kind(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	uint32_t ci = cq->ci;
	struct completion comp;

	if (!cqe_take(cq, &ci, &comp)) {
		__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
		doorbell_cq_consumed(cq->dbrec, ci);
		return ENOENT;
	}
	cq_ex_keep(cq, comp.cqe, ci, comp.wr_id,
		   cqe_is_request(comp.cqe) ? comp.done_as : cqe_extra_of(cqe_opcode(comp.cqe)));
	cq->vcq.cq_ex.status = comp.status;
	return 0;
}

/* The lock is held, and dropped when there is no completion. */
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

	return cq_ex_keep(cq, cqe, ci + 1, wr_id, done_as);
}

/* The function takes the completion in CQE, at index CI; LAST is its last byte. The
 * most common message is taken here, other kinds by routines of their own: together they would have
 * all of them save registers. The constant STARTS says whether start_poll or next_poll asks. */
CQE_INLINE int cq_ex_take(struct ibv_cq_ex *cqx, const uint8_t *cqe, uint32_t ci, uint8_t last,
			  bool starts)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	struct mlx4_qp *qp = cq->qp;

	if (unlikely(cqe_qpn_be(cqe) != cq->qpn_be))
		return starts ? start_of_any_kind(cqx) : next_of_any_kind(cqx);
	if (likely((last & LAST_MASK) == M4_RECV_SEND && !qp->srq))
		return cq_ex_keep(cq, cqe, ci + 1, wq_complete_next(&qp->rq.wq), IBV_WC_RECV);
	if (likely(last_is_good_request(last)))
		return take_request(cqx, cqe, ci);
	return starts ? start_of_any_kind(cqx) : next_of_any_kind(cqx);
}

static int __attribute__((cold))
refuse_attr(struct ibv_cq_ex *cqx, const struct ibv_poll_cq_attr *attr)
{
	verbs_warn("start_poll: cq 0x%x: comp_mask of ibv_poll_cq_attr is %#x, must be 0",
		   to_mcq_ex(cqx)->cqn, attr->comp_mask);
	return EINVAL;
}

/* The CQE is found by the index, and not from the one before: since that was taken, a QP may have
 * gone, the ring may be another one, and the adapter may have the entry. */
static int next_poll(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint32_t ci = cq->ci;
	const uint8_t *cqe = cqe_at(cq, ci), last = cqe_last_at(cq, cqe, ci);

	return last & FLD_BITS(M4_CQE_OWNER) ? ENOENT : cq_ex_take(cqx, cqe, ci, last, false);
}

OUT_OF_LINE start_exchanging(struct ibv_cq_ex *cqx, uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint8_t *cqe;

	if (unlikely(!qlock_exchange(&cq->lock)))
		provider_qlock_wait(&cq->lock);
	if (unlikely(cq->ci != ci))
		return start_of_any_kind(cqx);
	cqe = cqe_at(cq, ci);
	return cq_ex_take(cqx, cqe, ci, cqe_last_at(cq, cqe, ci), true);
}

/* An empty CQ is told without the lock. */
static int start_poll_locked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint8_t *cqe;
	uint8_t last;
	uint32_t ci;

	if (unlikely(attr->comp_mask))
		return refuse_attr(cqx, attr);
	cqe = cqe_peek(cq, &ci);
	last = cqe_last_at(cq, cqe, ci);
	if (last & FLD_BITS(M4_CQE_OWNER))
		return ENOENT;
	if (unlikely(!qlock_is_idle(&cq->lock)))
		return start_exchanging(cqx, ci);
	cq->lock.taken = 1;
	return cq_ex_take(cqx, cqe, ci, last, true);
}

static int start_poll_unlocked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	const uint32_t ci = cq->ci;
	const uint8_t *cqe = cqe_at(cq, ci), last = cqe_last_at(cq, cqe, ci);

	if (unlikely(attr->comp_mask))
		return refuse_attr(cqx, attr);
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
	return cqe_qpn(to_mcq_ex(cqx)->cqe);
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

/* A CQ with timestamps has them where others have the LID and the service level. */
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

/* The adapter carries late: with a lower part of 0, the upper one is still that of the time before.
 * mlx4_en_get_cqe_ts() in Linux' driver. */
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
