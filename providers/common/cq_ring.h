/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.h - moves CQEs from a ring to one of another size.
 *
 * The last byte of a CQE has its owner, a bit that flips with each lap of the ring, and its opcode.
 * The adapter switches to the new ring at once; the last CQE in the old ring marks the end, and
 * occupies an index. Unread CQEs move to the new ring by one index up, so that the gap of the end
 * mark comes first. PRM: Resize CQ
 */
#ifndef PROVIDERS_COMMON_CQ_RING_H
#define PROVIDERS_COMMON_CQ_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/common/memory/queue_mem.h"

struct cqe_marks {
	uint8_t owner;
	uint8_t opcode;
	uint8_t none, resize; /* opcodes of an entry without a CQE yet, and of the end mark */
};

struct cq_ring {
	uint8_t *last;  /* last byte of entry 0's CQE */
	uint32_t front; /* number of bytes before that byte in the entry */
	uint32_t entry_log, count_log;
};

void provider_cq_ring_init(const struct cqe_marks *marks, const struct cq_ring *ring,
			   uint32_t first);
/* Moves unread CQEs, from CI on, to a new ring. Returns false if the adapter has not marked the
 * end, or if more CQEs than fit were written since provider_cq_ring_fits(). */
bool provider_cq_ring_move(const struct cqe_marks *marks, const struct cq_ring *from,
			   const struct cq_ring *to, uint32_t ci);

bool provider_cq_ring_fits(const struct cqe_marks *marks, const struct cq_ring *from,
			   const struct cq_ring *to, uint32_t ci);

/* A former ring of a CQ, kept until the CQ is destroyed, because a poller may still read it, or the
 * adapter write to it. */
struct cq_old_ring {
	struct cq_old_ring *next;
	struct queue_mem buf;
	bool is_lost; /* the adapter may still write to it, so it is never reused */
};

/* Adds OLD, which the caller has allocated, with the memory BUF to *RINGS. */
void provider_cq_ring_keep(struct cq_old_ring **rings, struct cq_old_ring *old,
			   const struct queue_mem *buf);
/* Removes a kept ring of at least SIZE bytes, for reuse. Returns NULL if there is none. */
struct cq_old_ring *provider_cq_ring_take_kept(struct cq_old_ring **rings, size_t size);
void provider_cq_ring_free_kept(struct cq_old_ring **rings);

#endif
