/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr.h - requests that change a memory key: binding a window, invalidating a key. They are WQEs of
 * the opcode UMR.
 *
 * PRM: a request behind a UMR that needs the key as changed waits by a small fence. Every next
 * request gets one, as nobody says which needs it. So that the data path need not look, a UMR shuts
 * the gate (post.h): sq.opcodes becomes 0, the next request finds its opcode missing, and the way
 * of exceptions (post_send.c, batch.h) opens the gate again and sets the fence. UMR opcodes
 * themselves never are in sq.opcodes and so always go that way.
 */
#ifndef PROVIDERS_MLX5_DATA_UMR_H
#define PROVIDERS_MLX5_DATA_UMR_H

#include "prm/mlx5/mkc.h"
#include "providers/mlx5/data/send_wqe.h"

#define UMR_OPCODES ((uint16_t)(1u << IBV_WR_LOCAL_INV | 1u << IBV_WR_BIND_MW))

/* The function tells whether anything may be posted, and opens the gate if so. */
static inline bool gate_open_for_any(struct mlx5_qp *qp)
{
	if (!qp->sq.sge_limit)
		return false;
	qp->sq.opcodes = qp->opcodes & (uint16_t)~UMR_OPCODES;
	return true;
}

/* The function tells whether OP may be posted, now that sq.opcodes does not have it, and opens the
 * gate if so. */
static inline bool gate_open(struct mlx5_qp *qp, unsigned int op)
{
	return op < 16 && qp->opcodes >> op & 1 && gate_open_for_any(qp);
}

static inline void gate_shut(struct mlx5_qp *qp)
{
	qp->sq.opcodes = 0;
	qp->sq.fence_next = FENCE_NEXT;
}

/* The request at START, just begun behind an opened gate, waits for a UMR before it. */
static inline void gate_fence(struct mlx5_qp *qp, uint8_t *start)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)start;

	if (qp->sq.fence_next && !(ctrl->fm_ce_se & MLX5_WQE_CTRL_FENCE))
		ctrl->fm_ce_se |= MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE;
	qp->sq.fence_next = 0;
}

/* The function starts and fills a WQE that binds MW, whose key becomes RKEY. It returns an errno,
 * logged, when the binding is not allowed; nothing has been written then. */
int mlx5_umr_bind(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, unsigned int flags,
		  const struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *bind);

#define UMR_ACCESS_WORD(access)                                                             \
	(((access) & (uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) << 11 | \
	 ((access) & (uint32_t)IBV_ACCESS_REMOTE_WRITE) << 12 |                             \
	 ((access) & (uint32_t)IBV_ACCESS_REMOTE_READ) << 10)

/* The function returns the first word of a key's context, with the rights of ACCESS, which has no
 * others than those of remote access and of local writing: each is a bit there, too. */
static inline uint32_t umr_access_word(uint32_t access)
{
	static_assert(IBV_ACCESS_LOCAL_WRITE << 11 == FLD_BITS(MKC_LW) &&
			      IBV_ACCESS_REMOTE_ATOMIC << 11 == FLD_BITS(MKC_A) &&
			      IBV_ACCESS_REMOTE_WRITE << 12 == FLD_BITS(MKC_RW) &&
			      IBV_ACCESS_REMOTE_READ << 10 == FLD_BITS(MKC_RR),
		      "PRM: Memory Key Context");
	return UMR_ACCESS_WORD(access);
}

/* The function starts and fills a WQE that makes RKEY free, which is of a window of type 2 or of a
 * region that allows it. */
void mlx5_umr_invalidate(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			 unsigned int flags, uint32_t rkey);

#endif
