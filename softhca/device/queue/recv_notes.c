/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recv_notes.c - see recv_notes.h. The queue of the notes decides in which order its WQEs are
 * taken. Without memory for notes, nothing is noted and nothing differs.
 */
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/queue/recv_notes.h"

static struct recv_note note_of(struct hca *hca, const struct recv_ring *ring, uint16_t index,
				const uint8_t *raw)
{
	struct recv_note note = { true, ring->next(hca, ring->queue, index, raw), 0 };
	uint64_t rest = rules_digest(raw + ring->skip, ring->stride - ring->skip);

	note.digest = rest ^ note.next;
	return note;
}

static bool note_take(struct hca *hca, struct recv_notes *notes, const struct recv_ring *ring,
		      uint16_t index)
{
	uint8_t raw[RECV_WQE_MAX];
	struct dma_batch batch;

	dma_begin_read(&batch, hca, raw);
	if (dma_add_map(&batch, ring->map, (uint64_t)index * ring->stride, ring->stride) ||
	    dma_finish(&batch))
		return false;
	notes->of[index] = note_of(hca, ring, index, raw);
	return true;
}

void recv_notes_look(struct hca *hca, struct recv_notes *notes, const struct recv_ring *ring,
		     uint16_t index, uint16_t count)
{
	uint32_t size = 1u << ring->log_size;

	if (count > size || ring->stride > RECV_WQE_MAX)
		return;
	if (count && !notes->of)
		notes->of = calloc(size, sizeof(*notes->of));
	if (!notes->of)
		return;
	for (; count && index < size; count--) {
		if (!notes->of[index].is_set && !note_take(hca, notes, ring, index))
			return;
		index = notes->of[index].next;
	}
}

bool recv_notes_differ(struct hca *hca, struct recv_notes *notes, const struct recv_ring *ring,
		       uint16_t index, const uint8_t *raw)
{
	struct recv_note *note;

	if (!notes->of || !notes->of[index].is_set)
		return false;
	note = &notes->of[index];
	if (note_of(hca, ring, index, raw).digest == note->digest)
		return false;
	note->is_set = false;
	return true;
}

void recv_notes_drop(struct recv_notes *notes, uint16_t index)
{
	if (notes->of)
		notes->of[index].is_set = false;
}

void recv_notes_free(struct recv_notes *notes)
{
	free(notes->of);
	notes->of = NULL;
}
