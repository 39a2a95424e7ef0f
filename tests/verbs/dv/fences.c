/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fences.c - fence bits in the ring of the request that follows a memory window's binding:
 * directly, or after changes from RTS to RTS.
 *
 * Covers: providers/mlx5/qp/, providers/mlx5/data/umr.h
 */
#include <endian.h>
#include <infiniband/mlx5dv.h>

#include "tests/verbs/dv/dv.h"

enum { WQEBB = 64, BIND_BLOCKS = 3, FENCE_SHIFT = 5, FENCE_MASK = 7 };

static void bind_window(struct rig_end *end, struct ibv_mw *mw)
{
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED,
				    .bind_info = { end->mr, (uintptr_t)end->buf, 64,
						   IBV_ACCESS_REMOTE_WRITE } };

	MUST(!ibv_bind_mw(end->qp, mw, &bind));
}

static void write_behind(struct rig_pair *pair, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)pair->end[0].buf, 8, pair->end[0].mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED | flags },
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)pair->end[1].buf;
	wr.wr.rdma.rkey = pair->end[1].mr->rkey;
	MUST(!ibv_post_send(pair->end[0].qp, &wr, &bad));
}

/* Returns the fence bits: the third word of the control segment ends with them and the completion
 * flags. */
static unsigned int fence_at(struct ibv_qp *ibqp, uint32_t block)
{
	struct mlx5dv_qp qp = { 0 };
	struct mlx5dv_obj obj = { .qp = { ibqp, &qp } };
	const __be32 *ctrl;

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	ctrl = (const __be32 *)((const uint8_t *)qp.sq.buf +
				(size_t)(block % qp.sq.wqe_cnt) * WQEBB);
	return be32toh(ctrl[2]) >> FENCE_SHIFT & FENCE_MASK;
}

static void stay_in_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

static void fence_behind(struct rig *rig, unsigned int changes, unsigned int flags)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_mw *mw;

	conf.mr_access |= IBV_ACCESS_MW_BIND;
	rig_pair_open(rig, &conf, &pair);
	MUST(mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_1));
	bind_window(&pair.end[0], mw);
	for (unsigned int i = 0; i < changes; i++)
		stay_in_rts(pair.end[0].qp);
	write_behind(&pair, flags);
	say("%u changes of state, flags %#x: fence %u", changes, flags,
	    fence_at(pair.end[0].qp, BIND_BLOCKS));
	write_behind(&pair, 0);
	say("and of the next: fence %u", fence_at(pair.end[0].qp, BIND_BLOCKS + 1));
	MUST(!ibv_dealloc_mw(mw));
	rig_pair_close(&pair);
}

void dv_fences(struct rig *rig)
{
	for (unsigned int changes = 0; changes < 3; changes++) {
		fence_behind(rig, changes, 0);
		fence_behind(rig, changes, IBV_SEND_FENCE);
	}
}
