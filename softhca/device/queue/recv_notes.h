/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recv_notes.h - what a strict adapter has seen of the posted receive WQEs of an SRQ or a queue of
 * frames. A WQE that the doorbell record covers is complete: it has the same bytes when the adapter
 * takes it. PRM: Doorbell Record. Decision: docs/adr/0037.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_RECV_NOTES_H
#define SOFTHCA_DEVICE_QUEUE_RECV_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct dma_map;
struct hca;

struct recv_note {
	bool is_set;
	uint16_t next; /* index of the WQE to take behind this one */
	uint64_t digest;
};

/* OF has one note for each WQE of the ring; NULL before the first look. recv_notes_free() frees
 * it. */
struct recv_notes {
	struct recv_note *of;
};

struct recv_ring {
	const struct dma_map *map;
	uint32_t stride, log_size;
	uint32_t skip; /* bytes at the start of a WQE that software may change at any time */
	/* Returns the index of the WQE behind the one at INDEX, whose bytes are RAW. */
	uint16_t (*next)(const struct hca *hca, const void *queue, uint16_t index,
			 const uint8_t *raw);
	const void *queue;
};

/* Notes the COUNT posted WQEs from INDEX on, as far as they have no note yet. */
void recv_notes_look(struct hca *hca, struct recv_notes *notes, const struct recv_ring *ring,
		     uint16_t index, uint16_t count);
/* Returns whether the WQE at INDEX, now RAW, differs from its note; true only once for each
 * note. */
bool recv_notes_differ(struct hca *hca, struct recv_notes *notes, const struct recv_ring *ring,
		       uint16_t index, const uint8_t *raw);
void recv_notes_drop(struct recv_notes *notes, uint16_t index);
void recv_notes_free(struct recv_notes *notes);

#endif
