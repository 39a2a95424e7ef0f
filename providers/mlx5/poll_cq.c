/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq(): copies completions to ibv_wc.
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

/* Of tag matching */
static void __attribute__((noinline))
wc_fill_tagged(struct ibv_wc *wc, const struct completion *comp)
{
	wc_fill_message(wc, comp->cqe, MLX5_CQE_RESP_SEND, 0);
	wc->opcode = comp->extra & WQ_DONE_OPCODE_MASK;
	wc->wc_flags = comp->extra >> WQ_DONE_FLAGS_SHIFT;
	wc->byte_len = cqe_byte_len(comp->cqe);
	wc->qp_num = cqe_qpn(comp->cqe);
}

CQE_INLINE void wc_fill_start(struct ibv_wc *wc, const struct completion *comp)
{
	wc->wr_id = comp->wr_id;
	wc->status = comp->status;
	wc->vendor_err = 0;
}

CQE_INLINE void wc_fill(struct ibv_wc *wc, const struct completion *comp)
{
	wc_fill_start(wc, comp);
	if (comp->opcode == MLX5_CQE_REQ)
		wc_fill_request(wc, comp->cqe, comp->extra);
	else if (likely(comp->opcode <= MLX5_CQE_RESP_SEND_INV))
		wc_fill_receive(wc, comp->cqe, comp->opcode, comp->extra);
	else if (comp->opcode == MLX5_CQE_NO_PACKET)
		wc_fill_tagged(wc, comp);
	else
		wc_fill_error(wc, comp->cqe, comp->opcode, comp->extra);
}

CQE_INLINE void poll_request(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, struct ibv_wc *wc)
{
	struct completion comp = { .status = IBV_WC_SUCCESS };

	cqe_complete_request(cq->rsn_rq, cqe, &comp);
	wc_fill_start(wc, &comp);
	wc_fill_request(wc, cqe, comp.extra);
}

/* false: not one of the usual completions, and nothing has been done. */
CQE_INLINE bool poll_message(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, struct ibv_wc *wc)
{
	struct completion comp = { .status = IBV_WC_SUCCESS };

	if (unlikely(!cqe_take_message(cq->rsn_rq, cqe, cqe->op_own, &comp)))
		return false;
	wc_fill_start(wc, &comp);
	wc_fill_receive(wc, cqe, comp.opcode, 0);
	return true;
}

/* The next functions go on where another stopped: BASE completions are in front of WC already, and
 * count in what they return. They hold the lock, if there is one, and drop it. */
static int __attribute__((noinline))
poll_rest(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc, int base)
{
	uint32_t ci = cq->ci;
	struct completion comp;
	int n = 0;

	while (n < num_entries && cqe_take(cq, &ci, &comp)) {
		wc_fill(&wc[n], &comp);
		n++;
	}
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
	doorbell_cq_consumed(cq->dbrec, ci);
	qlock_leave(&cq->lock);
	return base + n;
}

static int __attribute__((noinline))
wait_and_poll(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc)
{
	qlock_take(&cq->lock);
	return poll_rest(cq, num_entries, wc, 0);
}

static int poll_any(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc,
		    const struct mlx5_cqe64 *cqe, uint32_t ci, int base);

/* The usual completions are taken here, the first from CQE at index CI; from the first that is not,
 * poll_rest() goes on. Requests need fewer registers than messages, so there is an instance for them
 * alone (MESSAGES is a constant), after which poll_any() goes on. */
CQE_INLINE int poll_usual(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc,
			  const struct mlx5_cqe64 *cqe, uint32_t ci, int base, bool messages)
{
	int n = 0;

	do {
		bool is_request;

		/* The ownership bit is written last: what we read from here on belongs to it. */
		dma_load_barrier();
		is_request = op_own_is_request(cqe->op_own);
		if (!messages && unlikely(!is_request))
			return poll_any(cq, num_entries - n, wc + n, cqe, ci, n);
		if (unlikely(!cqe_find_rq(cq, cqe)))
			goto rest;
		if (is_request)
			poll_request(cq, cqe, &wc[n]);
		else if (unlikely(!poll_message(cq, cqe, &wc[n])))
			goto rest;
		ci++;
		if (++n == num_entries)
			break;
		cqe = cqe_at(cq, ci);
	} while (cqe_is_sw_owned(cq, cqe, ci));
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
	doorbell_cq_consumed(cq->dbrec, ci);
	qlock_leave(&cq->lock);
	return base + n;
rest:
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
	return poll_rest(cq, num_entries - n, wc + n, base + n);
}

static int __attribute__((noinline))
poll_any(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
	 uint32_t ci, int base)
{
	return poll_usual(cq, num_entries, wc, cqe, ci, base, true);
}

static int __attribute__((noinline))
poll_requests(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
	      uint32_t ci)
{
	return poll_usual(cq, num_entries, wc, cqe, ci, 0, false);
}

CQE_INLINE int poll_found(struct mlx5_cq *cq, int num_entries, struct ibv_wc *wc,
			  const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	if (unlikely(num_entries <= 0))
		return 0;
	if (cq->lock.shared) {
		if (unlikely(!qlock_try(&cq->lock)))
			return wait_and_poll(cq, num_entries, wc);
		if (unlikely(cq->ci != ci))
			return poll_rest(cq, num_entries, wc, 0);
	}
	if (op_own_is_request(cqe->op_own))
		return poll_requests(cq, num_entries, wc, cqe, ci);
	return poll_any(cq, num_entries, wc, cqe, ci, 0);
}

/* context->ops.poll_cq. Programs poll far more often than there is something: that answer needs no
 * lock. */
int mlx5_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct mlx5_cq *mcq = to_mcq(cq);
	const struct mlx5_cqe64 *cqe;
	uint32_t ci;

	return cqe_peek(mcq, &cqe, &ci) ? poll_found(mcq, num_entries, wc, cqe, ci) : 0;
}
