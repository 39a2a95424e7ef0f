/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr.h - requests that change a memory key: binding a window, invalidating a key. Their WQEs have
 * the opcode UMR.
 *
 * PRM: a request that needs the key as a previous UMR leaves it must wait by a small fence. No
 * argument tells which request needs it, so the next request always gets the fence. To spare the
 * data path a check, a UMR shuts the gate (post.h): sq.opcodes becomes 0, so the next request finds
 * its opcode missing and takes the slow path (post_send.c, batch.h), which opens the gate and sets
 * the fence. UMR opcodes are never in sq.opcodes, and so always take the slow path.
 */
#ifndef PROVIDERS_MLX5_DATA_UMR_H
#define PROVIDERS_MLX5_DATA_UMR_H

#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/send_wqe.h"

#define UMR_OPCODES ((uint16_t)(1u << IBV_WR_LOCAL_INV | 1u << IBV_WR_BIND_MW))

/* Returns whether the state permits posting, and if so opens the gate. */
static inline bool gate_open_for_any(struct mlx5_qp *qp)
{
	if (!qp->sq.sge_limit)
		return false;
	qp->sq.opcodes = qp->opcodes & (uint16_t)~UMR_OPCODES;
	return true;
}

/* Returns whether OP may be posted although sq.opcodes lacks it, and if so opens the gate. */
static inline bool gate_open(struct mlx5_qp *qp, unsigned int op)
{
	return op < 16 && qp->opcodes >> op & 1 && gate_open_for_any(qp);
}

/* Shuts the gate. Opcodes and fence_next lie together, so that one store sets both. */
static inline void gate_shut(struct mlx5_qp *qp)
{
	const uint16_t shut[] = { 0, FENCE_NEXT };

	static_assert(offsetof(struct mlx5_sq, fence_next) ==
			      offsetof(struct mlx5_sq, opcodes) + sizeof(shut[0]),
		      "sq.opcodes, then sq.fence_next");
	memcpy(&qp->sq.opcodes, shut, sizeof(shut));
}

/* Adds the fence to the request at START, which has just passed the opened gate. */
static inline void gate_fence(struct mlx5_qp *qp, uint8_t *start)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)start;

	if (qp->sq.fence_next && !(ctrl->fm_ce_se & MLX5_WQE_CTRL_FENCE))
		ctrl->fm_ce_se |= MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE;
	qp->sq.fence_next = 0;
}

/* Builds a WQE that binds MW and makes its key RKEY. Returns an errno, logged, with nothing
 * written, if the binding is not allowed. */
int mlx5_umr_bind(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, unsigned int flags,
		  const struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *bind);

#define UMR_ACCESS_WORD(access)                                                             \
	(((access) & (uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) << 11 | \
	 ((access) & (uint32_t)IBV_ACCESS_REMOTE_WRITE) << 12 |                             \
	 ((access) & (uint32_t)IBV_ACCESS_REMOTE_READ) << 10)

#define ACCESS_KNOWN                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* Returns the first word of a key's context with the access rights ACCESS, all of which are in
 * ACCESS_KNOWN; each right is one bit in both, so that a table of 16 words replaces the shifts. */
WQE_INLINE __be32 umr_access_word(uint32_t access)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WORD(access) __builtin_bswap32(UMR_ACCESS_WORD(access))
#else
#define WORD(access) UMR_ACCESS_WORD(access)
#endif
	static const __be32 words[] = {
		WORD(0), WORD(1), WORD(2),  WORD(3),  WORD(4),  WORD(5),  WORD(6),  WORD(7),
		WORD(8), WORD(9), WORD(10), WORD(11), WORD(12), WORD(13), WORD(14), WORD(15),
	};
#undef WORD

	static_assert(IBV_ACCESS_LOCAL_WRITE << 11 == FLD_BITS(MKC_LW) &&
			      IBV_ACCESS_REMOTE_ATOMIC << 11 == FLD_BITS(MKC_A) &&
			      IBV_ACCESS_REMOTE_WRITE << 12 == FLD_BITS(MKC_RW) &&
			      IBV_ACCESS_REMOTE_READ << 10 == FLD_BITS(MKC_RR),
		      "PRM: Memory Key Context");
	static_assert(sizeof(words) == (ACCESS_KNOWN + 1) * sizeof(words[0]),
		      "rights that there are");
	return words[access];
}

/* Adapters accept at most this length, though the translation's field has 32 bits. */
#define UMR_BIND_MAX (UINT64_C(1) << 31)

/* ---- segments of UMR WQEs; each function fills all bytes of one segment */

#define UMR_MASK_FREE (MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY | MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE)
#define UMR_MASK_BIND                                                                              \
	(UMR_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN |                                         \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_START_ADDR | MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE | \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ |                                          \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE |                                         \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC)

/* A window of type 2 belongs to the QP that bound it, and can be bound only while it is free; the
 * adapter checks both. */
#define UMR_ANY      (MLX5_WQE_UMR_CTRL_FLAG_INLINE | MLX5_WQE_UMR_CTRL_FLAG_TRNSLATION_OFFSET)
#define UMR_BIND_2   (UMR_ANY | MLX5_WQE_UMR_CTRL_FLAG_CHECK_FREE)
#define UMR_UNBIND_2 (UMR_ANY | MLX5_WQE_UMR_CTRL_FLAG_CHECK_QPN)

WQE_INLINE void umr_fill_control(uint8_t *seg, uint8_t flags, uint32_t klm_bytes, uint64_t mask)
{
	static_assert(offsetof(struct mlx5_wqe_umr_ctrl_seg, klm_octowords) == 4 &&
			      offsetof(struct mlx5_wqe_umr_ctrl_seg, mkey_mask) == 8 &&
			      sizeof(struct mlx5_wqe_umr_ctrl_seg) == UMR_CTRL_SIZE,
		      "PRM: UMR control segment");
	seg_put_pair(seg, (uint32_t)flags << 24, klm_bytes / WQE_SEG << 16);
	seg_put_be64(seg + 8, mask);
	clear_32(seg + 16);
}

WQE_INLINE void umr_fill_free_control(uint8_t *seg)
{
	umr_fill_control(seg, UMR_UNBIND_2, 0, UMR_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN);
}

WQE_INLINE void umr_fill_bind_control(uint8_t *seg, enum ibv_mw_type type, uint64_t length)
{
	const bool type2 = type == IBV_MW_TYPE_2;
	const uint64_t qpn_mask = type2 ? MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN : 0;

	if (likely(length))
		umr_fill_control(seg, type2 ? UMR_BIND_2 : UMR_ANY, UMR_KLM_BLOCK,
				 UMR_MASK_BIND | qpn_mask);
	else
		umr_fill_control(seg, type2 ? UMR_UNBIND_2 : UMR_ANY, 0, UMR_MASK_FREE | qpn_mask);
}

WQE_INLINE void umr_fill_key(uint8_t *seg, __be32 first, uint32_t qpn, uint32_t rkey,
			     uint64_t start, uint64_t length)
{
	static_assert(offsetof(struct mlx5_wqe_mkey_context_seg, access_flags) == 2 &&
			      offsetof(struct mlx5_wqe_mkey_context_seg, qpn_mkey) == 4 &&
			      offsetof(struct mlx5_wqe_mkey_context_seg, start_addr) == 16 &&
			      offsetof(struct mlx5_wqe_mkey_context_seg, len) == 24 &&
			      sizeof(struct mlx5_wqe_mkey_context_seg) == UMR_MKEY_SIZE,
		      "PRM: Memory Key Context");
	seg_put_raw_pair(
		seg, first,
		htobe32(qpn << FLD_SHIFT(MKC_QPN) | (rkey & (uint32_t)FLD_MASK(MKC_MKEY_7_0))));
	seg_put_raw(seg + 8, 0);
	seg_put_be64(seg + 16, start);
	seg_put_be64(seg + 24, length);
	clear_32(seg + 32);
}

WQE_INLINE void umr_fill_free_key(uint8_t *seg, uint32_t rkey)
{
	umr_fill_key(seg, htobe32((uint32_t)MLX5_WQE_MKEY_CONTEXT_FREE << 24), FLD_MASK(MKC_QPN),
		     rkey, 0, 0);
}

WQE_INLINE void umr_fill_bound_key(uint8_t *seg, const struct mlx5_qp *qp, enum ibv_mw_type type,
				   uint32_t rkey, const struct ibv_mw_bind_info *bind)
{
	const uint32_t qpn = type == IBV_MW_TYPE_2 ? qp->vqp.qp.qp_num : FLD_MASK(MKC_QPN);
	const bool zero_based = bind->mw_access_flags & IBV_ACCESS_ZERO_BASED;

	umr_fill_key(seg, umr_access_word(bind->mw_access_flags & ACCESS_KNOWN), qpn, rkey,
		     zero_based ? 0 : bind->addr, bind->length);
}

WQE_INLINE void umr_fill_translation(uint8_t *seg, const struct ibv_mw_bind_info *bind)
{
	seg_put_data(seg, (uint32_t)bind->length, bind->mr->lkey, bind->addr);
	memset(seg + 16, 0, 16);
	clear_32(seg + 32);
}

void mlx5_umr_invalidate(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			 unsigned int flags, uint32_t rkey);

#endif
