/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.c - resizes a CQ: the steps that are specific to mlx4. providers/common/cq_resize.h has
 * the common ones.
 */
#include <errno.h>

#include "prm/mlx4/cqe.h"
#include "providers/common/cq_resize.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/doorbell.h"

static int ring_alloc(struct ibv_cq *ibcq, struct ibv_pd *pd, size_t size, struct queue_mem *mem)
{
	return mlx4_cq_alloc_ring(to_mctx(ibcq->context), pd, size, mem);
}

static int cq_check_reader(struct ibv_cq *ibcq)
{
	const struct mlx4_cq *cq = to_mcq(ibcq);

	if (!__atomic_load_n(&cq->taken, __ATOMIC_ACQUIRE))
		return 0;
	verbs_warn("resize_cq: cq 0x%x: the program reads the ring by itself (mlx4dv_init_obj): it "
		   "cannot be replaced",
		   cq->cqn);
	return EINVAL;
}

static int run_resize(struct ibv_cq *ibcq, uint32_t cqe, const void *ring)
{
	const struct mlx4_ib_resize_cq req = { .buf_addr = (uintptr_t)ring };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };

	return verbs_cmd_resize_cq(ibcq, cqe, &udata);
}

static void cq_consumed(struct ibv_cq *ibcq, uint32_t ci)
{
	doorbell_cq_consumed(to_mcq(ibcq)->dbrec, ci);
}

static const struct cq_resize_kind kind = {
	.marks = {
		.owner = FLD_BITS(M4_CQE_OWNER),
		.opcode = FLD_BITS(M4_CQE_OPCODE),
		.none = M4_CQE_NEW & FLD_BITS(M4_CQE_OPCODE),
		.resize = M4_CQE_RESIZE,
	},
	.cqe_size = M4_CQE_SIZE,
	.ring_alloc = ring_alloc,
	.check = cq_check_reader,
	.command = run_resize,
	.consumed = cq_consumed,
};

int mlx4_cq_resize(struct ibv_cq *ibcq, int cqe)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	const struct cq_parts parts = {
		.cq = ibcq,
		.lock = &cq->lock,
		.cqn = cq->cqn,
		.entry_log = cq->entry_log,
		.cqe_at = cq_cqe_at(cq),
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
