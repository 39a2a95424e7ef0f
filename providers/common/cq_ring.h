/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.h - from a ring of CQEs to one of another size.
 *
 * The last byte of a CQE says whose it is, by a bit that changes with each lap of the ring, and
 * what it is. The adapter switches to the new ring at once; the last CQE in the old one says so,
 * and takes an index. Unread CQEs move to the new ring, one index up, so that the one that is not
 * there is at the front. PRM: Resize CQ
 */
#ifndef PROVIDERS_COMMON_CQ_RING_H
#define PROVIDERS_COMMON_CQ_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/common/memory/queue_mem.h"

/* The parts of a CQE's last byte */
struct cqe_marks {
	uint8_t owner;        /* the bit */
	uint8_t opcode;       /* the bits of the opcode, */
	uint8_t none, resize; /* which are these where no CQE was yet, and where the ring ends */
};

struct cq_ring {
	uint8_t *last;  /* that byte of entry 0, */
	uint32_t front; /* and how many of the entry are before it */
	uint32_t entry_log, count_log;
};

/* Every entry of a ring becomes the adapter's; the next index is FIRST. */
void provider_cq_ring_init(const struct cqe_marks *marks, const struct cq_ring *ring,
			   uint32_t first);
/* The CQEs of a ring from CI on, which nobody has read, move to a new one. Returns false when the
 * adapter has not marked the end, or has written more of them, since somebody looked whether they
 * fit, than there are entries in the new ring. */
bool provider_cq_ring_move(const struct cqe_marks *marks, const struct cq_ring *from,
			   const struct cq_ring *to, uint32_t ci);

/* Returns whether the CQEs of FROM that nobody has read yet, from CI on, have a place in TO. */
bool provider_cq_ring_fits(const struct cqe_marks *marks, const struct cq_ring *from,
			   const struct cq_ring *to, uint32_t ci);

/* A former ring of a CQ. It is kept until the CQ is destroyed, as a poller may still read it or the
 * adapter still write to it. */
struct cq_old_ring {
	struct cq_old_ring *next;
	struct queue_mem buf;
	bool is_lost; /* the adapter may still write to it */
};

/* OLD, which is allocated, holds the memory from now on. */
void provider_cq_ring_keep(struct cq_old_ring **rings, struct cq_old_ring *old,
			   const struct queue_mem *buf);
/* Takes one of at least SIZE bytes out again, to be a ring once more. It returns NULL if there is
 * none. */
struct cq_old_ring *provider_cq_ring_take_kept(struct cq_old_ring **rings, size_t size);
void provider_cq_ring_free_kept(struct cq_old_ring **rings);

#endif
