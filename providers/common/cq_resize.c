/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.c - implements cq_resize.h.
 */
#include "providers/common/cq_resize.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/common/memory/allocators.h"
#include "providers/common/pd.h"
#include "util/alloc.h"
#include "util/bits.h"

struct new_ring {
	struct queue_mem mem;
	uint32_t count_log;
	bool is_outgrown; /* another thread has already installed a larger ring */
	bool is_used;     /* the memory was an earlier ring of this CQ */
	struct cq_old_ring *keeper;
};

static struct cq_ring ring_in(const struct cq_resize_kind *kind, const struct cq_parts *parts,
			      const struct queue_mem *mem, uint32_t count_log)
{
	const uint32_t front = parts->cqe_at + kind->cqe_size - 1;

	return (struct cq_ring){ (uint8_t *)mem->addr + front, front, parts->entry_log, count_log };
}

static void ring_publish(const struct cq_resize_kind *kind, const struct cq_parts *parts,
			 const struct new_ring *new)
{
	uint8_t *ring = (uint8_t *)new->mem.addr + parts->cqe_at;

	provider_cq_ring_keep(parts->old_rings, new->keeper, parts->buf);
	*parts->buf = new->mem;
	__atomic_store_n(parts->is_moving, true, __ATOMIC_RELAXED);
	__atomic_store_n(parts->ring, ring, __ATOMIC_RELEASE);
	__atomic_store_n(parts->mask, (1u << new->count_log) - 1, __ATOMIC_RELEASE);
	__atomic_store_n(parts->count_log, new->count_log, __ATOMIC_RELEASE);
	__atomic_store_n(parts->ci, *parts->ci + 1, __ATOMIC_RELEASE);
	__atomic_store_n(parts->is_moving, false, __ATOMIC_RELEASE);
	kind->consumed(parts->cq, *parts->ci);
}

static int cq_run_resize(const struct cq_resize_kind *kind, const struct cq_parts *parts,
			 const struct new_ring *new)
{
	const struct cq_ring from = ring_in(kind, parts, parts->buf, *parts->count_log),
			     to = ring_in(kind, parts, &new->mem, new->count_log);
	const int cqe = parts->cq->cqe, new_cqe = (int)((1u << new->count_log) - 1);
	int ret;

	if (!provider_cq_ring_fits(&kind->marks, &from, &to, *parts->ci)) {
		verbs_warn("resize_cq: cq 0x%x: more completions wait to be polled than cqe, %d",
			   parts->cqn, new_cqe);
		return EINVAL;
	}
	provider_cq_ring_init(&kind->marks, &to, *parts->ci + 1);
	ret = kind->command(parts->cq, (uint32_t)new_cqe, new->mem.addr);
	if (ret)
		return ret;
	if (!provider_cq_ring_move(&kind->marks, &from, &to, *parts->ci)) {
		verbs_warn("resize_cq: cq 0x%x: more completions came meanwhile than cqe, %d, or "
			   "the adapter has not marked the end of the old ring: it cannot be used "
			   "any more",
			   parts->cqn, new_cqe);
		/* The adapter may write to either ring, so both must stay mapped. */
		new->keeper->is_lost = true;
		provider_cq_ring_keep(parts->old_rings, new->keeper, &new->mem);
		parts->cq->cqe = cqe;
		return EIO;
	}
	ring_publish(kind, parts, new);
	parts->cq->cqe = new_cqe;
	return 0;
}

static int cq_check_size(struct device_facts *facts, int cqe)
{
	const struct ibv_device_attr *device;
	int ret = provider_device_attr_get(facts, &device);

	if (ret || (cqe > 0 && cqe <= device->max_cqe))
		return ret;
	verbs_warn("resize_cq: cqe is %d, must be 1 to %d", cqe, device->max_cqe);
	return EINVAL;
}

/* Copies the current ring under the lock, because another thread may be replacing it. Returns log2
 * of its entries. */
static uint32_t ring_now(const struct cq_parts *parts, struct queue_mem *buf)
{
	uint32_t count_log;

	qlock_enter(parts->lock);
	*buf = *parts->buf;
	count_log = *parts->count_log;
	qlock_leave(parts->lock);
	return count_log;
}

static int new_ring_alloc(const struct cq_resize_kind *kind, const struct cq_parts *parts,
			  const struct queue_mem *now, struct new_ring *new)
{
	size_t size = max_of((size_t)1 << (new->count_log + parts->entry_log), now->size);
	/* The context's allocator may have changed since. */
	struct ibv_pd *pd =
		now->owner && !provider_allocators_have(now->owner) ? &now->owner->pd : NULL;

	new->is_outgrown = false;
	qlock_enter(parts->lock);
	new->keeper = provider_cq_ring_take_kept(parts->old_rings, size);
	qlock_leave(parts->lock);
	new->is_used = new->keeper;
	if (new->is_used) {
		new->mem = new->keeper->buf;
		return 0;
	}
	new->keeper = calloc_for("resize_cq", 1, sizeof(*new->keeper));
	return new->keeper ? kind->ring_alloc(parts->cq, pd, size, &new->mem) : ENOMEM;
}

/* Replaces the ring unless another thread has been faster. If that thread's ring is larger, NEW is
 * too small for pollers without the lock, and new->is_outgrown is set. For the same size, the
 * kernel does nothing. */
static int cq_replace_ring(const struct cq_resize_kind *kind, const struct cq_parts *parts,
			   struct new_ring *new)
{
	int ret = kind->check(parts->cq);

	if (ret || new->count_log == *parts->count_log)
		return ret;
	new->is_outgrown = new->mem.size < parts->buf->size;
	return new->is_outgrown ? 0 : cq_run_resize(kind, parts, new);
}

static int cq_resize_from(const struct cq_resize_kind *kind, const struct cq_parts *parts,
			  const struct queue_mem *now, struct new_ring *new)
{
	int ret = new_ring_alloc(kind, parts, now, new);
	bool is_kept;

	if (ret) {
		free(new->keeper);
		return ret;
	}
	qlock_enter(parts->lock);
	ret = cq_replace_ring(kind, parts, new);
	if (new->is_used && * parts->old_rings != new->keeper)
		provider_cq_ring_keep(parts->old_rings, new->keeper, &new->mem);
	is_kept = *parts->old_rings == new->keeper;
	qlock_leave(parts->lock);
	if (!is_kept) {
		provider_queue_mem_free(&new->mem);
		free(new->keeper);
	}
	return ret;
}

int provider_cq_resize(struct device_facts *device, const struct cq_resize_kind *kind,
		       const struct cq_parts *parts, int cqe)
{
	struct new_ring new = { 0 };
	struct queue_mem now;
	int ret = cq_check_size(device, cqe);

	if (ret)
		return ret;
	new.count_log = log2_ceil((uint64_t)cqe + 1);
	do {
		if (new.count_log == ring_now(parts, &now))
			return 0;
		ret = cq_resize_from(kind, parts, &now, &new);
	} while (new.is_outgrown);
	return ret;
}
