/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ex.c - ibv_start_poll() and the readers, which look at the current CQE in place.
 */
#include <errno.h>

#include "providers/mlx4/data/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

static int next_poll(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	struct completion comp;
	uint32_t ci = cq->ci;

	if (!cqe_take(cq, &ci, &comp)) {
		__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
		return ENOENT;
	}
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
	cq->cqe = comp.cqe;
	cq->extra = comp.done_as;
	cqx->wr_id = comp.wr_id;
	cqx->status = comp.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);
	int ret;

	if (unlikely(attr->comp_mask)) {
		verbs_warn("start_poll: cq 0x%x: comp_mask of ibv_poll_cq_attr is %#x, must be 0",
			   cq->cqn, attr->comp_mask);
		return EINVAL;
	}
	qlock_enter(&cq->lock);
	ret = next_poll(cqx);
	if (!ret)
		return 0;
	doorbell_cq_consumed(cq->dbrec, cq->ci);
	qlock_leave(&cq->lock);
	return ret;
}

static void end_poll(struct ibv_cq_ex *cqx)
{
	struct mlx4_cq *cq = to_mcq_ex(cqx);

	doorbell_cq_consumed(cq->dbrec, cq->ci);
	qlock_leave(&cq->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cqx)
{
	const struct mlx4_cq *cq = to_mcq_ex(cqx);

	return cqe_is_request(cq->cqe) ? (enum ibv_wc_opcode)(cq->extra & WQ_DONE_OPCODE_MASK)
				       : cqe_recv_opcode(cq->cqe);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cqx)
{
	const struct mlx4_cq *cq = to_mcq_ex(cqx);

	return cqx->status ? (uint32_t)fld_get(cq->cqe, M4_CQE_VENDOR) : 0;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cqx)
{
	const struct mlx4_cq *cq = to_mcq_ex(cqx);

	return cqe_byte_len(cq->cqe, (uint32_t)cq->extra);
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
	return cqe_is_request(cq->cqe) ? (unsigned int)cq->extra >> WQ_DONE_FLAGS_SHIFT
				       : cqe_recv_flags(cq->qp && cq->qp->has_checksums, cq->cqe);
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

static uint64_t read_completion_ts(struct ibv_cq_ex *cqx)
{
	const uint8_t *cqe = to_mcq_ex(cqx)->cqe;

	return fld_get(cqe, M4_CQE_TIME_47_16) << 16 | fld_get(cqe, M4_CQE_TIME_15_0);
}

void mlx4_cq_ex_fill(struct mlx4_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;

	cqx->start_poll = start_poll;
	cqx->next_poll = next_poll;
	cqx->end_poll = end_poll;
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
