/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.c - gives a CQ a ring of another size while completions are in it. Nobody looks at a
 * ring without its lock, so the old one goes at once, unless the adapter may still write to both.
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

struct cq_kept_ring {
	struct cq_kept_ring *next;
	struct queue_mem mem;
};

/* The memory is nobody's for anything else while the CQ lives. Where there is none to note that,
 * it stays for good. */
static void ring_keep(struct mlx4_cq *cq, struct queue_mem *mem)
{
	struct cq_kept_ring *kept = calloc_for("resize_cq", 1, sizeof(*kept));

	if (kept) {
		*kept = (struct cq_kept_ring){ cq->kept_rings, *mem };
		cq->kept_rings = kept;
	}
	*mem = (struct queue_mem){ 0 };
}

void mlx4_cq_free_kept_rings(struct mlx4_cq *cq)
{
	struct cq_kept_ring *kept;

	while ((kept = cq->kept_rings)) {
		cq->kept_rings = kept->next;
		provider_queue_mem_free(&kept->mem);
		free(kept);
	}
}

static int cq_run_resize(struct mlx4_cq *cq, const struct cq_ring *to, struct queue_mem *mem)
{
	const struct mlx4_ib_resize_cq req = { .buf_addr = (uintptr_t)mem->addr };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	const struct cq_ring from = ring_in(cq, &cq->buf, cq->count_log);
	struct queue_mem old = cq->buf;
	const int cqe = cq->vcq.cq.cqe;
	int ret;

	provider_cq_ring_init(&marks, to, cq->ci + 1);
	ret = verbs_cmd_resize_cq(&cq->vcq.cq, (1u << to->count_log) - 1, &udata);
	if (ret)
		return ret;
	if (!provider_cq_ring_move(&marks, &from, to, cq->ci)) {
		verbs_warn("resize_cq: cq 0x%x: the adapter has not marked the end of the old ring",
			   cq->cqn);
		ring_keep(cq, mem);
		cq->vcq.cq.cqe = cqe;
		return EIO;
	}
	cq->buf = *mem;
	*mem = old;
	cq->ring = to->last + 1 - M4_CQE_SIZE;
	cq->count_log = to->count_log;
	cq->mask = (1u << cq->count_log) - 1;
	cq->vcq.cq.cqe = (int)cq->mask;
	__atomic_store_n(&cq->ci, cq->ci + 1, __ATOMIC_RELAXED);
	doorbell_cq_consumed(cq->dbrec, cq->ci);
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

static int cq_resize_to(struct mlx4_cq *cq, const struct queue_mem *now, uint32_t count_log)
{
	struct ibv_pd *pd = now->owner ? &now->owner->pd : NULL;
	struct queue_mem mem;
	struct cq_ring to;
	int ret = mlx4_cq_alloc_ring(to_mctx(cq->vcq.cq.context), pd,
				     (size_t)1 << (count_log + cq->entry_log), &mem);

	if (ret)
		return ret;
	to = ring_in(cq, &mem, count_log);
	qlock_enter(&cq->lock);
	ret = cq_check_reader(cq);
	/* Another thread may have been first, and the kernel does nothing for the same size. */
	if (!ret && count_log != cq->count_log)
		ret = cq_run_resize(cq, &to, &mem);
	qlock_leave(&cq->lock);
	if (mem.addr)
		provider_queue_mem_free(&mem);
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
