/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.c - resizes a CQ: the steps that are specific to mlx5. providers/common/cq_resize.h has
 * the common ones.
 */
#include <errno.h>
#include <stddef.h>

#include "providers/common/cq_resize.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/doorbell.h"

static int ring_alloc(struct ibv_cq *ibcq, struct ibv_pd *pd, size_t size, struct queue_mem *mem)
{
	return mlx5_queue_mem_alloc(to_mctx(ibcq->context), pd, MLX5DV_RES_TYPE_CQ, size,
				    (size_t)1 << to_mcq(ibcq)->entry_log, mem);
}

/* Refuses a CQ whose ring cannot be moved. If the program reads the ring by itself, only the
 * program knows which entries it has not read, and it would continue to read the old ring. Entries
 * of a compressed run cannot be moved one by one. */
static int cq_check_reader(struct ibv_cq *ibcq)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	if (cq->compressed) {
		verbs_warn("resize_cq: cq 0x%x: the ring has compressed CQEs: it cannot be "
			   "replaced",
			   cq->cqn);
		return EINVAL;
	}
	if (!mlx5_cq_is_taken(cq))
		return 0;
	verbs_warn("resize_cq: cq 0x%x: the program reads the ring by itself (mlx5dv_init_obj): it "
		   "cannot be replaced",
		   cq->cqn);
	return EINVAL;
}

static int run_resize(struct ibv_cq *ibcq, uint32_t cqe, const void *ring)
{
	struct mlx5_cq *cq = to_mcq(ibcq);
	const struct mlx5_ib_resize_cq req = {
		.buf_addr = (uintptr_t)ring,
		.cqe_size = (uint16_t)(1u << cq->entry_log),
	};
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };

	mlx5_cq_disown(cq); /* because orphans is indexed by slot, and slots change */
	return verbs_cmd_resize_cq(ibcq, cqe, &udata);
}

static void cq_consumed(struct ibv_cq *ibcq, uint32_t ci)
{
	doorbell_cq_consumed(to_mcq(ibcq)->dbrec, ci);
}

static const struct cq_resize_kind kind = {
	.marks = {
		.owner = MLX5_CQE_OWNER_MASK,
		.opcode = FLD_MASK(CQE_OPCODE) << FLD_SHIFT(CQE_OPCODE),
		.none = MLX5_CQE_INVALID << FLD_SHIFT(CQE_OPCODE),
		.resize = MLX5_CQE_RESIZE_CQ << FLD_SHIFT(CQE_OPCODE),
	},
	.cqe_size = sizeof(struct mlx5_cqe64),
	.ring_alloc = ring_alloc,
	.check = cq_check_reader,
	.command = run_resize,
	.consumed = cq_consumed,
};

static_assert(offsetof(struct mlx5_cqe64, op_own) == sizeof(struct mlx5_cqe64) - 1,
	      "PRM: CQE, what says whose it is");

int mlx5_cq_resize(struct ibv_cq *ibcq, int cqe)
{
	struct mlx5_cq *cq = to_mcq(ibcq);
	const struct cq_parts parts = {
		.cq = ibcq,
		.lock = &cq->lock,
		.cqn = cq->cqn,
		.entry_log = cq->entry_log,
		.cqe_at = (1u << cq->entry_log) - (uint32_t)sizeof(struct mlx5_cqe64),
		.ring = &cq->ring,
		.count_log = &cq->count_log,
		.mask = &cq->mask,
		.ci = &cq->ci,
		.is_moving = &cq->is_moving,
		.buf = &cq->buf,
		.old_rings = &cq->old_rings,
	};

	return provider_cq_resize(&to_mctx(ibcq->context)->common.device, &kind, &parts, cqe);
}
