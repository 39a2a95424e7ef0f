/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sq_ring.c - initialises the send ring, and checks requests on memory keys, which are rare.
 */
#include <errno.h>
#include <string.h>

#include "providers/common/mw.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/send_wqe.h"

/* Stamps all pieces of each slot except the first, up to the longest WQE, so that the adapter takes
 * no prefetched piece for a written one. */
static void slots_stamp(const struct mlx4_sq *sq, uint32_t size)
{
	for (uint32_t i = 0; i <= sq->wq.mask; i++)
		for (uint32_t at = M4_PIECE; at < size; at += M4_PIECE)
			*(__be32 *)(sq_slot(sq, i) + at) = htobe32(M4_STAMP);
}

/* Gives each slot the ownership bit of the lap before the first, so that the adapter sees no WQE,
 * and the size of the longest WQE. */
void mlx4_sq_ring_init(struct mlx4_sq *sq)
{
	const size_t step = (size_t)1 << sq->slot_log;
	const uint32_t segs = min_of((uint32_t)step / M4_SEG, FLD_MASK(M4_CTRL_DS));
	const __be32 words[2] = { htobe32(FLD_BITS(M4_CTRL_OWNER)), htobe32(segs) };
	const uint8_t *end = sq->buf + ((size_t)sq->wq.mask + 1) * step;
	uint64_t head;

	memcpy(&head, words, sizeof(head));
	sq->last_long = sq->wq.head - sq->wq.mask - 1;
	for (uint8_t *slot = sq->buf; slot != end; slot += step)
		memcpy(slot, &head, sizeof(head));
	if (step > M4_PIECE)
		slots_stamp(sq, segs * M4_SEG);
}

static int __attribute__((cold))
refuse_bind(const struct mlx4_qp *qp, const struct ibv_mw *mw, int err, const char *why)
{
	verbs_warn("bind_mw: qp 0x%x, window 0x%x: %s", qp->vqp.qp.qp_num, mw->rkey, why);
	return verbs_result(err);
}

int mlx4_check_bind(const struct mlx4_qp *qp, const struct ibv_mw *mw,
		    const struct ibv_mw_bind_info *bind)
{
	if (mw_access_is_wrong(bind->mw_access_flags))
		return refuse_bind(qp, mw, EINVAL,
				   "mw_access_flags has rights that a window cannot have");
	if (!bind->mr)
		return bind->length || bind->addr
			       ? refuse_bind(qp, mw, EINVAL,
					     "addr or length is set, but mr is NULL")
			       : 0;
	if (!pd_is_same(mw->pd, qp->vqp.qp.pd))
		return refuse_bind(qp, mw, EPERM, "the window belongs to another PD than the QP");
	if (!pd_is_same(bind->mr->pd, mw->pd))
		return refuse_bind(qp, mw, EPERM,
				   "the window belongs to another PD than the region");
	if (to_vmr(bind->mr)->access & IBV_ACCESS_ZERO_BASED)
		return refuse_bind(qp, mw, EINVAL, "the region is zero based");
	return 0;
}
