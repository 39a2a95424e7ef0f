/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize.h - replaces a CQ's ring by one of another size while it has completions. cq_ring.h
 * moves the CQEs.
 *
 * A poller may read the ring without the lock, and must find valid memory whatever mixture of old
 * and new values it sees. So a ring's memory never shrinks, a larger ring is published before its
 * mask, and old rings stay allocated until the CQ is destroyed. A new ring reuses a large enough
 * old one, so a CQ keeps at most two rings of its largest size, and smaller ones that together are
 * no larger than one of them.
 */
#ifndef PROVIDERS_COMMON_CQ_RESIZE_H
#define PROVIDERS_COMMON_CQ_RESIZE_H

#include "providers/common/cq_ring.h"
#include "providers/common/device.h"
#include "providers/common/lock.h"
#include "util/barrier.h"

/* The parts specific to a provider. Functions return 0 or an errno. */
struct cq_resize_kind {
	struct cqe_marks marks;
	uint32_t cqe_size;
	int (*ring_alloc)(struct ibv_cq *cq, struct ibv_pd *pd, size_t size, struct queue_mem *mem);
	int (*check)(struct ibv_cq *cq);
	int (*command)(struct ibv_cq *cq, uint32_t cqe, const void *ring);
	/* Publishes that all CQEs before CI have been read. */
	void (*consumed)(struct ibv_cq *cq, uint32_t ci);
};

/* Returns whether a lockless poller that found nothing at index CI has seen a single ring: none was
 * replaced since it read the index. In a mixture of two rings, an entry may look empty, because
 * CQEs change their index. */
static inline bool provider_cq_saw_one_ring(const bool *is_moving, const uint32_t *now, uint32_t ci)
{
	/* acquire, because is_moving or ci must show it if values of a new ring were read */
	dma_load_barrier();
	return !__atomic_load_n(is_moving, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(now, __ATOMIC_RELAXED) == ci;
}

/* The parts of a CQ that a resize uses; the lock guards them. */
struct cq_parts {
	struct ibv_cq *cq;
	struct qlock *lock;
	uint32_t cqn, entry_log;
	uint32_t cqe_at;
	uint8_t **ring;
	uint32_t *count_log, *mask, *ci;
	bool *is_moving; /* set while the parts above are inconsistent */
	struct queue_mem *buf;
	struct cq_old_ring **old_rings;
};

int provider_cq_resize(struct device_facts *device, const struct cq_resize_kind *kind,
		       const struct cq_parts *parts, int cqe);

#endif
