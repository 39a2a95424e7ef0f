/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.c - gives a CQ a ring of another size while completions are in it.
 *
 * How CQEs move, providers/common/cq_ring.h says.
 *
 * A poller may look at the ring for something pending without the lock (cqe_peek()): it must find
 * memory there, whatever mixture of old and new it sees. So rings never shrink as memory, a larger
 * ring is published before the mask that needs it, and old ones stay until the CQ goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "prm/mlx4/cqe.h"
#include "providers/common/cq_ring.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/doorbell.h"
#include "util/alloc.h"

static const struct cqe_marks marks = {
	.owner = FLD_BITS(M4_CQE_OWNER),
	.opcode = FLD_BITS(M4_CQE_OPCODE),
	.none = M4_CQE_NEW & FLD_BITS(M4_CQE_OPCODE),
	.resize = M4_CQE_RESIZE,
};

static struct cq_ring ring_in(const struct mlx4_cq *cq, const struct queue_mem *mem,
			      uint32_t count_log)
{
	return (struct cq_ring){ (uint8_t *)mem->addr + (1u << cq->entry_log) - 1, cq->entry_log,
				 count_log };
}

static void ring_publish(struct mlx4_cq *cq, struct cq_old_ring *old, const struct queue_mem *mem,
			 const struct cq_ring *to)
{
	provider_cq_ring_keep(&cq->old_rings, old, &cq->buf);
	cq->buf = *mem;
	__atomic_store_n(&cq->ring, to->last + 1 - M4_CQE_SIZE, __ATOMIC_RELEASE);
	__atomic_store_n(&cq->mask, (1u << to->count_log) - 1, __ATOMIC_RELEASE);
	cq->count_log = to->count_log;
	__atomic_store_n(&cq->ci, cq->ci + 1, __ATOMIC_RELEASE);
	doorbell_cq_consumed(cq->dbrec, cq->ci);
}

static int cq_run_resize(struct mlx4_cq *cq, struct cq_old_ring *old, const struct queue_mem *mem,
			 const struct cq_ring *to)
{
	const struct mlx4_ib_resize_cq req = { .buf_addr = (uintptr_t)mem->addr };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	const struct cq_ring from = ring_in(cq, &cq->buf, cq->count_log);
	const int cqe = cq->vcq.cq.cqe;
	int ret;

	if (!provider_cq_ring_fits(&marks, &from, to, cq->ci)) {
		verbs_warn("resize_cq: cq 0x%x: more completions wait to be polled than cqe, %u",
			   cq->cqn, (1u << to->count_log) - 1);
		return EINVAL;
	}
	provider_cq_ring_init(&marks, to, cq->ci + 1);
	ret = verbs_cmd_resize_cq(&cq->vcq.cq, (1u << to->count_log) - 1, &udata);
	if (ret)
		return ret;
	if (!provider_cq_ring_move(&marks, &from, to, cq->ci)) {
		verbs_warn("resize_cq: cq 0x%x: the adapter has not marked the end of the old ring",
			   cq->cqn);
		/* The adapter may write to either. */
		provider_cq_ring_keep(&cq->old_rings, old, mem);
		cq->vcq.cq.cqe = cqe;
		return EIO;
	}
	ring_publish(cq, old, mem, to);
	cq->vcq.cq.cqe = (int)cq->mask;
	return 0;
}

static int cq_check_size(struct mlx4_cq *cq, int cqe)
{
	const struct ibv_device_attr *device;
	int ret = provider_device_attr_get(&to_mctx(cq->vcq.cq.context)->device, &device);

	if (ret || (cqe > 0 && cqe <= device->max_cqe))
		return ret;
	verbs_warn("resize_cq: cqe is %d, must be 1 to %d", cqe, device->max_cqe);
	return EINVAL;
}

static int cq_check_reader(const struct mlx4_cq *cq)
{
	if (!cq->taken)
		return 0;
	verbs_warn("resize_cq: cq 0x%x: the program reads the ring by itself (mlx4dv_init_obj): it "
		   "cannot be replaced",
		   cq->cqn);
	return EINVAL;
}

/* The function copies what the ring is now, as another thread may be giving the CQ a new one, and
 * returns the logarithm of its entries. */
static uint32_t ring_now(struct mlx4_cq *cq, struct queue_mem *buf)
{
	uint32_t count_log;

	qlock_enter(&cq->lock);
	*buf = cq->buf;
	count_log = cq->count_log;
	qlock_leave(&cq->lock);
	return count_log;
}

static int new_ring_alloc(struct mlx4_cq *cq, const struct queue_mem *now, uint32_t count_log,
			  struct queue_mem *mem)
{
	size_t size = max_of((size_t)1 << (count_log + cq->entry_log), now->size);
	struct ibv_pd *pd = now->owner ? &now->owner->pd : NULL;

	return mlx4_cq_alloc_ring(to_mctx(cq->vcq.cq.context), pd, size, mem);
}

static int cq_resize_to(struct mlx4_cq *cq, const struct queue_mem *now, uint32_t count_log)
{
	struct cq_old_ring *old = calloc_for("resize_cq", 1, sizeof(*old));
	struct queue_mem mem;
	int ret = old ? new_ring_alloc(cq, now, count_log, &mem) : ENOMEM;
	struct cq_ring to;
	bool is_kept;

	if (ret) {
		free(old);
		return ret;
	}
	to = ring_in(cq, &mem, count_log);
	qlock_enter(&cq->lock);
	ret = cq_check_reader(cq);
	/* Another thread may have been first, and the kernel does nothing for the same size. */
	if (!ret && count_log != cq->count_log)
		ret = cq_run_resize(cq, old, &mem, &to);
	is_kept = cq->old_rings == old;
	qlock_leave(&cq->lock);
	if (!is_kept) {
		provider_queue_mem_free(&mem);
		free(old);
	}
	return ret;
}

int mlx4_cq_resize(struct ibv_cq *ibcq, int cqe)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct queue_mem now;
	int ret = cq_check_size(cq, cqe);
	uint32_t count_log;

	if (ret)
		return ret;
	count_log = log2_ceil((uint64_t)cqe + 1);
	return count_log == ring_now(cq, &now) ? 0 : cq_resize_to(cq, &now, count_log);
}
