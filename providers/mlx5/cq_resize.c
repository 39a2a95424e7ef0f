/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.c - gives a CQ a ring of another size while completions are in it.
 *
 * How CQEs move, providers/common/cq_ring.h says.
 *
 * A poller may look at the ring for something pending without the lock (cqe_peek()): it must
 * find memory there, whatever mixture of old and new it sees. So rings never shrink as memory, a
 * larger ring is published before the mask that needs it, and old ones stay until the CQ goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/common/cq_ring.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/cq_ring.h"
#include "providers/mlx5/data/cqe.h"
#include "providers/mlx5/data/doorbell.h"
#include "util/alloc.h"

struct new_ring {
	struct queue_mem buf;
	uint8_t *ring;
	uint32_t count_log;
};

static const struct cqe_marks marks = {
	.owner = MLX5_CQE_OWNER_MASK,
	.opcode = FLD_MASK(CQE_OPCODE) << FLD_SHIFT(CQE_OPCODE),
	.none = MLX5_CQE_INVALID << FLD_SHIFT(CQE_OPCODE),
	.resize = MLX5_CQE_RESIZE_CQ << FLD_SHIFT(CQE_OPCODE),
};

static struct cq_ring ring_at(const struct mlx5_cq *cq, uint8_t *ring, uint32_t count_log)
{
	return (struct cq_ring){ ring + offsetof(struct mlx5_cqe64, op_own), cq->entry_log,
				 count_log };
}

static void ring_publish(struct mlx5_cq *cq, struct cq_old_ring *old, const struct new_ring *to)
{
	provider_cq_ring_keep(&cq->old_rings, old, &cq->buf);
	cq->buf = to->buf;
	__atomic_store_n(&cq->ring, to->ring, __ATOMIC_RELEASE);
	__atomic_store_n(&cq->mask, (1u << to->count_log) - 1, __ATOMIC_RELEASE);
	cq->count_log = to->count_log;
	__atomic_store_n(&cq->ci, cq->ci + 1, __ATOMIC_RELEASE);
	doorbell_cq_consumed(cq->dbrec, cq->ci);
}

static int cq_run_resize(struct mlx5_cq *cq, struct cq_old_ring *old, const struct new_ring *to)
{
	const struct mlx5_ib_resize_cq req = {
		.buf_addr = (uintptr_t)to->buf.addr,
		.cqe_size = (uint16_t)(1u << cq->entry_log),
	};
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	const struct cq_ring from_ring = ring_at(cq, cq->ring, cq->count_log),
			     to_ring = ring_at(cq, to->ring, to->count_log);
	const int cqe = cq->vcq.cq.cqe;
	int ret;

	if (!provider_cq_ring_fits(&marks, &from_ring, &to_ring, cq->ci)) {
		verbs_warn("resize_cq: cq 0x%x: more completions wait to be polled than cqe, %u",
			   cq->cqn, (1u << to->count_log) - 1);
		return EINVAL;
	}
	provider_cq_ring_init(&marks, &to_ring, cq->ci + 1);
	ret = verbs_cmd_resize_cq(&cq->vcq.cq, (1u << to->count_log) - 1, &udata);
	if (ret)
		return ret;
	if (!provider_cq_ring_move(&marks, &from_ring, &to_ring, cq->ci)) {
		verbs_warn("resize_cq: cq 0x%x: the adapter has not marked the end of the old ring",
			   cq->cqn);
		/* The adapter may write to either. */
		provider_cq_ring_keep(&cq->old_rings, old, &to->buf);
		cq->vcq.cq.cqe = cqe;
		return EIO;
	}
	ring_publish(cq, old, to);
	cq->vcq.cq.cqe = (int)cq->mask;
	return 0;
}

/* The function copies what the ring is now, as another thread may be giving the CQ a new one, and
 * returns the logarithm of its entries. */
static uint32_t ring_now(struct mlx5_cq *cq, struct queue_mem *buf)
{
	uint32_t count_log;

	qlock_enter(&cq->lock);
	*buf = cq->buf;
	count_log = cq->count_log;
	qlock_leave(&cq->lock);
	return count_log;
}

static int new_ring_alloc(struct mlx5_cq *cq, const struct queue_mem *now, struct new_ring *to)
{
	size_t size = max_of((size_t)1 << (to->count_log + cq->entry_log), now->size);
	struct ibv_pd *pd = now->owner ? &now->owner->pd : NULL;
	int ret = mlx5_queue_mem_alloc(to_mctx(cq->vcq.cq.context), pd, MLX5DV_RES_TYPE_CQ, size,
				       (size_t)1 << cq->entry_log, &to->buf);

	if (!ret)
		to->ring =
			(uint8_t *)to->buf.addr + (1u << cq->entry_log) - sizeof(struct mlx5_cqe64);
	return ret;
}

static int cq_check_size(struct mlx5_cq *cq, int cqe)
{
	const struct ibv_device_attr *device;
	int ret = provider_device_attr_get(&to_mctx(cq->vcq.cq.context)->device, &device);

	if (ret || (cqe > 0 && cqe <= device->max_cqe))
		return ret;
	verbs_warn("resize_cq: cqe is %d, must be 1 to %d", cqe, device->max_cqe);
	return EINVAL;
}

/* What a program that reads by itself has not read yet, only that program knows, and the old ring
 * is what it would go on reading. The entries of a run cannot be moved one by one. */
static int cq_check_reader(struct mlx5_cq *cq)
{
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

static int cq_resize_to(struct mlx5_cq *cq, const struct queue_mem *now, struct new_ring *to)
{
	struct cq_old_ring *old = calloc_for("resize_cq", 1, sizeof(*old));
	int ret = old ? new_ring_alloc(cq, now, to) : ENOMEM;
	bool is_kept;

	if (ret) {
		free(old);
		return ret;
	}
	qlock_enter(&cq->lock);
	ret = cq_check_reader(cq);
	/* Another thread may have been first, and the kernel does nothing for the same size. */
	if (!ret && to->count_log != cq->count_log)
		ret = cq_run_resize(cq, old, to);
	is_kept = cq->old_rings == old;
	qlock_leave(&cq->lock);
	if (!is_kept) {
		provider_queue_mem_free(&to->buf);
		free(old);
	}
	return ret;
}

int mlx5_cq_resize(struct ibv_cq *ibcq, int cqe)
{
	struct mlx5_cq *cq = to_mcq(ibcq);
	struct new_ring to = { 0 };
	struct queue_mem now;
	int ret = cq_check_size(cq, cqe);

	if (ret)
		return ret;
	to.count_log = log2_ceil((uint64_t)cqe + 1);
	return to.count_log == ring_now(cq, &now) ? 0 : cq_resize_to(cq, &now, &to);
}
