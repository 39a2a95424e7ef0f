/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.c - implements cq_ring.h.
 */
#include "providers/common/cq_ring.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/barrier.h"
#include "util/bits.h"

static uint8_t *entry_last(const struct cq_ring *ring, uint32_t index)
{
	uint32_t mask = (1u << ring->count_log) - 1;

	return ring->last + ((size_t)(index & mask) << ring->entry_log);
}

static uint8_t entry_owner(const struct cqe_marks *marks, const struct cq_ring *ring,
			   uint32_t index)
{
	return index >> ring->count_log & 1 ? marks->owner : 0;
}

/* Writes VALUE to the last byte of COUNT entries, from slot FIRST on. Only this byte decides who
 * owns an entry, so the rest keeps its old contents. */
static void entries_mark(const struct cq_ring *ring, uint32_t first, uint32_t count, uint8_t value)
{
	const size_t step = (size_t)1 << ring->entry_log;
	uint8_t *last = ring->last + ((size_t)first << ring->entry_log);

#pragma GCC unroll 8 /* else half the instructions are the loop's */
	for (; count; count--, last += step)
		*last = value;
}

/* Marks all entries of a ring as unwritten; the next CQE has index FIRST. Its slot and the later
 * ones are written in the same lap, the slots before it in the next lap, so the owner bits of the
 * two parts differ. */
void provider_cq_ring_init(const struct cqe_marks *marks, const struct cq_ring *ring,
			   uint32_t first)
{
	const uint32_t count = 1u << ring->count_log, slot = first & (count - 1);
	const uint8_t lap = entry_owner(marks, ring, first) ^ marks->owner;

	entries_mark(ring, slot, count - slot, marks->none | lap);
	entries_mark(ring, 0, slot, marks->none | (lap ^ marks->owner));
}

static void entry_move(const struct cqe_marks *marks, const struct cq_ring *from,
		       const struct cq_ring *to, uint32_t index)
{
	uint8_t *dst = entry_last(to, index + 1);
	const uint8_t *src = entry_last(from, index);

	memcpy(dst - from->front, src - from->front, from->front);
	*dst = (uint8_t)(*src & ~marks->owner) | entry_owner(marks, to, index + 1);
}

bool provider_cq_ring_move(const struct cqe_marks *marks, const struct cq_ring *from,
			   const struct cq_ring *to, uint32_t ci)
{
	/* room for this many, plus the end mark, which the adapter writes at a resize */
	const uint32_t room = 1u << to->count_log;
	const uint32_t limit = min_of(1u << from->count_log, room + 1);

	for (uint32_t i = ci; i != ci + limit; i++) {
		uint8_t last = *(const volatile uint8_t *)entry_last(from, i);

		if ((last & marks->owner) != entry_owner(marks, from, i))
			return false;
		dma_load_barrier();
		if ((last & marks->opcode) == marks->resize)
			return true;
		if (i == ci + room)
			return false;
		entry_move(marks, from, to, i);
	}
	return false;
}

bool provider_cq_ring_fits(const struct cqe_marks *marks, const struct cq_ring *from,
			   const struct cq_ring *to, uint32_t ci)
{
	/* one more than the capacity reported by verbs, because the end mark needs an entry */
	const uint32_t last = 1u << to->count_log;

	if (to->count_log >= from->count_log)
		return true;
	/* CQEs arrive in order, so if this one has arrived, all before it have. */
	return ((*(const volatile uint8_t *)entry_last(from, ci + last - 1) ^
		 entry_owner(marks, from, ci + last - 1)) &
		marks->owner);
}

void provider_cq_ring_keep(struct cq_old_ring **rings, struct cq_old_ring *old,
			   const struct queue_mem *buf)
{
	old->buf = *buf;
	old->next = *rings;
	*rings = old;
}

struct cq_old_ring *provider_cq_ring_take_kept(struct cq_old_ring **rings, size_t size)
{
	struct cq_old_ring *old;

	for (; (old = *rings); rings = &old->next) {
		if (old->is_lost || old->buf.size < size)
			continue;
		*rings = old->next;
		return old;
	}
	return NULL;
}

void provider_cq_ring_free_kept(struct cq_old_ring **rings)
{
	struct cq_old_ring *old;

	while ((old = *rings)) {
		*rings = old->next;
		provider_queue_mem_free(&old->buf);
		free(old);
	}
}
