/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.h - gives a CQ a ring of another size while completions are in it. How CQEs move,
 * cq_ring.h says.
 *
 * A poller may look at the ring for something pending without the lock: it must find memory there,
 * whatever mixture of old and new it sees. So rings never shrink as memory, a larger ring is
 * published before the mask that needs it, and old ones stay until the CQ goes. The next ring takes
 * the memory of an old one that is large enough, so a CQ has two of its largest size, and smaller
 * ones that are together no more than one of them.
 */
#ifndef PROVIDERS_COMMON_CQ_RESIZE_H
#define PROVIDERS_COMMON_CQ_RESIZE_H

#include "providers/common/cq_ring.h"
#include "providers/common/device.h"
#include "providers/common/lock.h"
#include "util/barrier.h"

/* What is a provider's own of it. Functions return 0 or an errno. */
struct cq_resize_kind {
	struct cqe_marks marks;
	uint32_t cqe_size;
	/* The ring is in the memory of PD's allocator, if it has one; PD may be NULL. */
	int (*ring_alloc)(struct ibv_cq *cq, struct ibv_pd *pd, size_t size, struct queue_mem *mem);
	/* Returns whether the ring may be replaced. The lock is held. */
	int (*check)(struct ibv_cq *cq);
	int (*command)(struct ibv_cq *cq, uint32_t cqe, const void *ring);
	/* Tells the adapter that all before CI have been read. */
	void (*consumed)(struct ibv_cq *cq, uint32_t ci);
};

/* Returns whether a poller that found nothing at index CI, and had no lock, saw one ring: none was
 * replaced since it read the index. In a mixture of two rings an entry may look empty, as CQEs have
 * another index in a new one. */
static inline bool provider_cq_saw_one_ring(const bool *is_moving, const uint32_t *now, uint32_t ci)
{
	/* What was read of a new ring comes with the mark that was set before. */
	dma_load_barrier();
	return !__atomic_load_n(is_moving, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(now, __ATOMIC_RELAXED) == ci;
}

/* A CQ, as far as its ring is concerned: where its parts are, which the lock guards. */
struct cq_parts {
	struct ibv_cq *cq;
	struct qlock *lock;
	uint32_t cqn, entry_log; /* which do not change; */
	uint32_t cqe_at;         /* nor does where in an entry its CQE is */
	uint8_t **ring;          /* the CQE of entry 0 */
	uint32_t *count_log, *mask, *ci;
	bool *is_moving; /* set while the parts above are of two rings */
	struct queue_mem *buf;
	struct cq_old_ring **old_rings;
};

int provider_cq_resize(struct device_facts *device, const struct cq_resize_kind *kind,
		       const struct cq_parts *parts, int cqe);

#endif
