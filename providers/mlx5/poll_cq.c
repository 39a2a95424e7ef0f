/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq(): copies completions to ibv_wc. A CQ holds one of two instances, with
 * and without the lock.
 */
#include "providers/mlx5/cqe.h"
#include "providers/mlx5/doorbell.h"

CQE_INLINE void wc_fill_request(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, uint32_t noted)
{
	wc->opcode = noted & WQ_DONE_OPCODE_MASK;
	wc->byte_len = cqe_byte_len(cqe);
	wc->qp_num = cqe_qpn(cqe);
	wc->wc_flags = noted >> WQ_DONE_FLAGS_SHIFT;
}

/* A SEND without anything is what most messages are: the fields that depend on the opcode are
 * simplest then. */
CQE_INLINE void wc_fill_message(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
				unsigned int opcode, uint32_t wc_flags)
{
	if (likely(opcode == MLX5_CQE_RESP_SEND)) {
		wc->opcode = IBV_WC_RECV;
		wc->imm_data = cqe->imm_inval_pkey;
		wc->wc_flags = cqe_grh_flag(cqe) | wc_flags;
		wc->pkey_index = (uint16_t)be32toh(cqe->imm_inval_pkey);
		return;
	}
	wc->opcode = cqe_recv_wc_opcode(opcode);
	wc->imm_data = cqe_imm(cqe, opcode);
	wc->wc_flags = cqe_recv_flags(cqe, opcode) | wc_flags;
	wc->pkey_index = 0;
}

CQE_INLINE void wc_fill_receive(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
				unsigned int opcode, uint32_t wc_flags)
{
	uint32_t flags_rqpn = be32toh(cqe->flags_rqpn);

	wc_fill_message(wc, cqe, opcode, wc_flags);
	wc->byte_len = cqe_byte_len(cqe);
	wc->qp_num = cqe_qpn(cqe);
	wc->src_qp = flags_rqpn & PRM_CQE_RQPN_MASK;
	wc->slid = cqe_slid(cqe);
	wc->sl = flags_rqpn >> PRM_CQE_SL_SHIFT & PRM_CQE_SL_MASK;
	wc->dlid_path_bits = cqe_path_bits(cqe);
}

CQE_INLINE void wc_fill_error(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, unsigned int opcode,
			      uint32_t extra)
{
	wc->opcode = cqe_wc_opcode(opcode, extra);
	wc->vendor_err = cqe_vendor_err(cqe);
	wc->byte_len = 0;
	wc->qp_num = cqe_qpn(cqe);
	wc->wc_flags = 0;
}

CQE_INLINE void wc_fill(struct ibv_wc *wc, const struct completion *comp)
{
	wc->wr_id = comp->wr_id;
	wc->status = comp->status;
	wc->vendor_err = 0;
	if (comp->opcode == MLX5_CQE_REQ)
		wc_fill_request(wc, comp->cqe, comp->extra);
	else if (likely(comp->opcode <= MLX5_CQE_RESP_SEND_INV))
		wc_fill_receive(wc, comp->cqe, comp->opcode, comp->extra);
	else
		wc_fill_error(wc, comp->cqe, comp->opcode, comp->extra);
}

CQE_INLINE int poll_many(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc)
{
	uint32_t ci = cq->ci;
	struct completion comp;
	int n = 0;

	while (n < num_entries && cqe_take(cq, &ci, &comp)) {
		wc_fill(&wc[n], &comp);
		n++;
	}
	if (likely(cq->ci != ci)) {
		__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
		doorbell_cq_consumed(cq->dbrec, ci);
	}
	return n;
}

static int __attribute__((noinline))
poll_under_lock(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int n;

	qlock_take(&cq->lock);
	n = poll_many(cq, num_entries, wc);
	qlock_drop(&cq->lock);
	return n;
}

/* Programs poll far more often than there is something: that answer needs no lock. */
int poll_cq_locked(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cqe_is_pending(cq) ? poll_under_lock(cq, num_entries, wc) : 0;
}

static int __attribute__((noinline))
poll_alone(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return poll_many(cq, num_entries, wc);
}

int poll_cq_unlocked(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cqe_is_pending(cq) ? poll_alone(cq, num_entries, wc) : 0;
}

/* context->ops.poll_cq */
int mlx5_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct mlx5_cq *mcq = to_mcq(cq);

	return mcq->poll(mcq, num_entries, wc);
}
