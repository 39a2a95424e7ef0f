/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * single_umr.h - fast path for a request on a memory key: binding a window, or invalidating a key.
 * post_send.c and bind_mw.c use it for a single request, on connected QPs with an exclusive
 * register; send_wr_umr.c builds the requests of a batch with it.
 *
 * The WQE does not wrap, so all its segments are at constant offsets, and none of the special cases
 * of umr.c applies. Both paths build the same bytes, with the same functions of umr.h.
 * PRM: UMR control segment
 */
#ifndef PROVIDERS_MLX5_DATA_SINGLE_UMR_H
#define PROVIDERS_MLX5_DATA_SINGLE_UMR_H

#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/umr.h"

enum {
	BIND_BLOCKS = (WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE + UMR_KLM_BLOCK) / WQE_BB,
	INVAL_BLOCKS = (WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE) / WQE_BB,
};

WQE_INLINE bool on_key_fits(const struct mlx5_qp *qp, struct send_wqe *wqe, enum ibv_wr_opcode op,
			    unsigned int send_flags, uint32_t blocks)
{
	const struct mlx5_sq *sq = &qp->sq;

	wqe_place(sq, wqe, sq->pi);
	return qp->opcodes & 1u << op && sq->wq.head != sq->wq.limit &&
	       !(send_flags & IBV_SEND_INLINE) && wqe->ctrl + (size_t)blocks * WQE_BB <= sq->end;
}

WQE_INLINE bool inval_is_usual(const struct mlx5_qp *qp, struct send_wqe *wqe,
			       unsigned int send_flags)
{
	return on_key_fits(qp, wqe, IBV_WR_LOCAL_INV, send_flags, INVAL_BLOCKS);
}

/* Returns whether the binding can take the fast path. PDs are compared by address, so a parent
 * domain differs from its own domain; umr.c handles that case. */
WQE_INLINE bool bind_is_usual(const struct mlx5_qp *qp, struct send_wqe *wqe,
			      const struct ibv_mw *mw, const struct ibv_mw_bind_info *bind,
			      unsigned int send_flags)
{
	const struct ibv_pd *pd = qp->vqp.qp.pd;

	return on_key_fits(qp, wqe, IBV_WR_BIND_MW, send_flags, BIND_BLOCKS) && bind->mr &&
	       bind->length - 1 < UMR_BIND_MAX && bind->mw_access_flags <= ACCESS_KNOWN &&
	       mw->pd == pd && bind->mr->pd == pd &&
	       !(to_vmr(bind->mr)->access & IBV_ACCESS_ZERO_BASED);
}

WQE_INLINE void put_bind(const struct mlx5_qp *qp, uint8_t *ctrl, enum ibv_mw_type type,
			 uint32_t rkey, const struct ibv_mw_bind_info *bind)
{
	umr_fill_bind_control(wqe_second(ctrl), type, 1);
	umr_fill_bound_key(ctrl + WQE_BB, qp, type, rkey, bind);
	umr_fill_translation(ctrl + (size_t)2 * WQE_BB, bind);
}

WQE_INLINE void put_inval(uint8_t *ctrl)
{
	umr_fill_free_control(wqe_second(ctrl));
	umr_fill_free_key(ctrl + WQE_BB, 0);
}

/* Writes the control segment of a request on KEY, enters it into the queue, and shuts the gate.
 * The caller holds the lock, if there is one. Returns the queue's next WQEBB. */
WQE_INLINE uint32_t enter_on_key(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t key,
				 uint64_t wr_id, unsigned int send_flags, uint32_t blocks,
				 enum ibv_wc_opcode done_as)
{
	struct mlx5_sq *sq = &qp->sq;
	const uint32_t pi = sq->pi, head = sq->wq.head;
	const uint32_t flags = send_flags % ARRAY_SIZE(sq->ctrl_flags) | sq->fence_next;

	wqe_begin_with(sq, wqe, pi, MLX5_OPCODE_UMR, ctrl_word(sq->umr_flags[flags]), htobe32(key));
	wqe->ds = blocks * (WQE_BB / WQE_SEG);
	wqe_finish(wqe);
	sq->wq.head = head + 1;
	wq_slot_set(wqe->slot, head, wr_id, done_as);
	gate_shut(qp);
	sq->pi = pi + blocks;
	return pi + blocks;
}

WQE_INLINE void post_on_key(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t key, uint64_t wr_id,
			    unsigned int send_flags, uint32_t blocks, enum ibv_wc_opcode done_as)
{
	uint32_t pi = enter_on_key(qp, wqe, key, wr_id, send_flags, blocks, done_as);

	doorbell_send_blocks(&qp->sq, pi, wqe->ctrl, blocks);
}

WQE_INLINE void post_bind(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t key, uint64_t wr_id,
			  unsigned int send_flags)
{
	post_on_key(qp, wqe, key, wr_id, send_flags, BIND_BLOCKS, IBV_WC_BIND_MW);
}

WQE_INLINE void post_inval(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t key, uint64_t wr_id,
			   unsigned int send_flags)
{
	post_on_key(qp, wqe, key, wr_id, send_flags, INVAL_BLOCKS, IBV_WC_LOCAL_INV);
}

#endif
