/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ex.c - ibv_start_poll(), ibv_next_poll(), ibv_end_poll() and the readers of the current
 * completion, which programs call through struct ibv_cq_ex. cqe.h decodes the CQEs.
 *
 * The CQ's lock, where it has one, is held from a successful start_poll to end_poll. Readers read
 * the CQE in the ring: it belongs to software until end_poll publishes the consumer index.
 * PRM: CQE ownership
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/mlx5/clock.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/cq/poll.h"

/* Makes COMP the current completion. CI is the index of the next CQE; the release store keeps the
 * loads that cqe_is_none() relies on before it. */
CQE_INLINE int cq_ex_keep(struct mlx5_cq *cq, const struct completion *comp, uint32_t ci)
{
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELEASE);
	cq->cqe = comp->cqe;
	cq->cqe_opcode = comp->opcode;
	cq->cqe_extra = comp->extra;
	cq->vcq.cq_ex.wr_id = comp->wr_id;
	cq->vcq.cq_ex.status = comp->status;
	return 0;
}

#define OUT_OF_LINE static int __attribute__((noinline))

/* Takes the next completion of any kind. Publishes the consumer index even if there is none:
 * start_poll then returns ENOENT and no end_poll follows, so skipped CQEs would otherwise block the
 * adapter. */
OUT_OF_LINE next_of_any_kind(struct mlx5_cq *cq)
{
	uint32_t ci = cq->ci;
	struct completion comp;

	if (cqe_take(cq, &ci, &comp))
		return cq_ex_keep(cq, &comp, ci);
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELEASE);
	doorbell_cq_consumed(cq->dbrec, ci);
	return ENOENT;
}

/* Takes the first completion of a poll under the lock, and drops the lock if there is none: a
 * program must not call ibv_end_poll() after ENOENT. */
OUT_OF_LINE start_of_any_kind(struct mlx5_cq *cq)
{
	int ret = next_of_any_kind(cq);

	if (ret)
		qlock_drop(&cq->lock);
	return ret;
}

/* STARTS is a constant: true for start_poll, false for next_poll. */
CQE_INLINE int take_any(struct mlx5_cq *cq, bool starts)
{
	return starts ? start_of_any_kind(cq) : next_of_any_kind(cq);
}

CQE_INLINE int take_message(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t ci,
			    bool starts)
{
	struct completion comp = { .cqe = cqe };

	if (unlikely(!cqe_take_message(cq, cq->rsn_rq, cqe, cqe->op_own, &comp)) &&
	    !cqe_take_frame(cq, cqe, &comp))
		return take_any(cq, starts);
	return cq_ex_keep(cq, &comp, ci + 1);
}

OUT_OF_LINE start_of_message(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return take_message(cq, cqe, ci, true);
}

OUT_OF_LINE next_of_message(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return take_message(cq, cqe, ci, false);
}

OUT_OF_LINE take_request(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct completion comp = { .cqe = cqe, .opcode = MLX5_CQE_REQ };

	cqe_complete_request(cq->rsn_rq, cqe, &comp);
	return cq_ex_keep(cq, &comp, ci + 1);
}

/* Takes the completion in CQE at index CI, which software owns. Handles the most common message
 * inline. Other kinds have their own routines, because a routine for all of them would make each
 * save registers. */
CQE_INLINE int cq_ex_take(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t ci,
			  bool starts)
{
	struct completion comp = { .cqe = cqe, .opcode = MLX5_CQE_RESP_SEND };
	const uint8_t op_own = cqe->op_own;

	if (unlikely(!cqe_find_rq(cq, cqe)))
		return take_any(cq, starts);
	if (op_own_is_request(op_own))
		return take_request(cq, cqe, ci);
	if (!cqe_is_common_message(cq->rsn_rq, op_own))
		return starts ? start_of_message(cq, cqe, ci) : next_of_message(cq, cqe, ci);
	if (unlikely(!cqe_take_from_rq(cq, cq->rsn_rq, cqe, MLX5_INLINE_SCATTER_32, &comp)))
		return take_any(cq, starts);
	return cq_ex_keep(cq, &comp, ci + 1);
}

OUT_OF_LINE wait_and_start(struct mlx5_cq *cq)
{
	qlock_take(&cq->lock);
	return start_of_any_kind(cq);
}

static int start_poll_locked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);
	const struct mlx5_cqe64 *cqe;
	uint32_t ci;

	if (unlikely(attr->comp_mask)) {
		provider_report_poll(cq->cqn, attr);
		return EINVAL;
	}
	if (!cqe_peek(cq, &cqe, &ci))
		return cqe_is_none(cq, ci) ? ENOENT : wait_and_start(cq);
	if (unlikely(!qlock_try(&cq->lock)))
		return wait_and_start(cq);
	/* The adapter writes the ownership bit last: a load of the rest before the check may return
	 * bytes of the previous lap. */
	dma_load_barrier();
	return likely(cq->ci == ci) ? cq_ex_take(cq, cqe, ci, true) : start_of_any_kind(cq);
}

static int next_poll(struct ibv_cq_ex *cqx)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);
	const struct mlx5_cqe64 *cqe = cqe_at(cq, cq->ci);

	if (!cqe_is_sw_owned(cq, cqe, cq->ci))
		return ENOENT;
	dma_load_barrier();
	return cq_ex_take(cq, cqe, cq->ci, false);
}

static int start_poll_unlocked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	if (unlikely(attr->comp_mask)) {
		provider_report_poll(to_mcq_ex(cqx)->cqn, attr);
		return EINVAL;
	}
	return next_poll(cqx);
}

/* Copies the conversion factors of the clock before polling, because the wall-clock reader cannot
 * report an error. On failure no lock is held, as START has not run. */
CQE_INLINE int start_poll_clocked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr,
				  int (*start)(struct ibv_cq_ex *, struct ibv_poll_cq_attr *))
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);
	struct mlx5_ib_clock_info now;
	int ret = clock_snapshot(cq->clock, &now);

	if (unlikely(ret)) {
		if (!__atomic_exchange_n(&cq->clock_reported, true, __ATOMIC_RELAXED))
			verbs_warn("start_poll: cq 0x%x: the kernel's page of the clock is being "
				   "updated all the time",
				   cq->cqn);
		return ret;
	}
	ret = start(cqx, attr);
	if (!ret)
		cq->clock_now = now;
	return ret;
}

static int start_poll_locked_clocked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	return start_poll_clocked(cqx, attr, start_poll_locked);
}

static int start_poll_unlocked_clocked(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	return start_poll_clocked(cqx, attr, start_poll_unlocked);
}

static void end_poll_locked(struct ibv_cq_ex *cqx)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);

	doorbell_cq_consumed(cq->dbrec, cq->ci);
	qlock_drop(&cq->lock);
}

static void end_poll_unlocked(struct ibv_cq_ex *cqx)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);

	doorbell_cq_consumed(cq->dbrec, cq->ci);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	return cqe_wc_opcode(cq->cqe_opcode, cq->cqe_extra);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	return cq->cqe_opcode >= MLX5_CQE_REQ_ERR ? cqe_vendor_err(cq->cqe) : 0;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cqx)
{
	return cqe_byte_len(to_mcq_ex(cqx)->cqe);
}

static __be32 read_imm_data(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	return cqe_imm(cq->cqe, cq->cqe_opcode);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cqx)
{
	return cqe_qpn(to_mcq_ex(cqx)->cqe);
}

static uint32_t read_src_qp(struct ibv_cq_ex *cqx)
{
	return cqe_src_qp(to_mcq_ex(cqx)->cqe);
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	if (cq->cqe_opcode < MLX5_CQE_RESP_WR_IMM || cq->cqe_opcode > MLX5_CQE_RESP_SEND_INV)
		return 0;
	return cqe_recv_flags(cq->cqe, cq->cqe_opcode) | cq->cqe_extra;
}

static uint32_t read_slid(struct ibv_cq_ex *cqx)
{
	return cqe_slid(to_mcq_ex(cqx)->cqe);
}

static uint8_t read_sl(struct ibv_cq_ex *cqx)
{
	return cqe_sl(to_mcq_ex(cqx)->cqe);
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cqx)
{
	return cqe_path_bits(to_mcq_ex(cqx)->cqe);
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cqx)
{
	return be64toh(to_mcq_ex(cqx)->cqe->timestamp);
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	return clock_to_ns(&cq->clock_now, be64toh(cq->cqe->timestamp));
}

static uint64_t read_completion_real_time_ns(struct ibv_cq_ex *cqx)
{
	return clock_real_to_ns(be64toh(to_mcq_ex(cqx)->cqe->timestamp));
}

static uint16_t read_cvlan(struct ibv_cq_ex *cqx)
{
	return be16toh(to_mcq_ex(cqx)->cqe->vlan_info);
}

static uint32_t read_flow_tag(struct ibv_cq_ex *cqx)
{
	/* Receives of raw packet queues have the tag in the field of the QPN. */
	return cqe_qpn(to_mcq_ex(cqx)->cqe);
}

static void read_tm_info(struct ibv_cq_ex *cqx, struct ibv_wc_tm_info *info)
{
	const struct mlx5_cqe64 *cqe = to_mcq_ex(cqx)->cqe;

	info->tag = be64toh(cqe->tmh.tag);
	info->priv = be32toh(cqe->tmh.app_ctx);
}

static enum ibv_wc_opcode read_opcode_tagged(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	return cq->cqe_opcode == MLX5_CQE_NO_PACKET ? cq->cqe_extra & WQ_DONE_OPCODE_MASK
						    : read_opcode(cqx);
}

static unsigned int read_wc_flags_tagged(struct ibv_cq_ex *cqx)
{
	const struct mlx5_cq *cq = to_mcq_ex(cqx);

	return cq->cqe_opcode == MLX5_CQE_NO_PACKET ? cq->cqe_extra >> WQ_DONE_FLAGS_SHIFT
						    : read_wc_flags(cqx);
}

void mlx5_cq_ex_read_tags(struct mlx5_cq *cq)
{
	cq->vcq.cq_ex.read_opcode = read_opcode_tagged;
	cq->vcq.cq_ex.read_wc_flags = read_wc_flags_tagged;
}

/* Chooses the wall-clock reader. Timestamps in real time need no conversion; those in ticks of the
 * adapter need the factors of the kernel's clock page. */
static void cq_ex_tell_time(struct mlx5_cq *cq)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;

	if (cq->kernel_flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS) {
		cqx->read_completion_wallclock_ns = read_completion_real_time_ns;
		return;
	}
	cqx->read_completion_wallclock_ns = read_completion_wallclock_ns;
	cqx->start_poll = cq->lock.shared ? start_poll_locked_clocked : start_poll_unlocked_clocked;
}

/* Sets the readers. Readers that cost nothing are always set, the others only if the program asked
 * for them. */
void mlx5_cq_ex_fill(struct mlx5_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;
	bool shared = cq->lock.shared;

	cq->poll = mlx5_cq_poll_any;
	cqx->start_poll = shared ? start_poll_locked : start_poll_unlocked;
	cqx->next_poll = next_poll;
	cqx->end_poll = shared ? end_poll_locked : end_poll_unlocked;
	cqx->read_opcode = read_opcode;
	cqx->read_vendor_err = read_vendor_err;
	cqx->read_wc_flags = read_wc_flags;
	cqx->read_byte_len = read_byte_len;
	cqx->read_imm_data = read_imm_data;
	cqx->read_qp_num = read_qp_num;
	cqx->read_src_qp = read_src_qp;
	cqx->read_slid = read_slid;
	cqx->read_sl = read_sl;
	cqx->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cqx->read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq_ex_tell_time(cq);
	if (wc_flags & IBV_WC_EX_WITH_CVLAN)
		cqx->read_cvlan = read_cvlan;
	if (wc_flags & IBV_WC_EX_WITH_FLOW_TAG)
		cqx->read_flow_tag = read_flow_tag;
	if (wc_flags & IBV_WC_EX_WITH_TM_INFO)
		cqx->read_tm_info = read_tm_info;
}
