/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring.h - the two rings of a stream, as numbers: which bytes wait, and which may be written. No
 * memory is touched here.
 *
 * The receive ring is announced to the other side by halves. The other side writes one half after
 * the other, each from its front, so what has arrived is a run of bytes, and a half may be
 * announced again when all of it was read. The send ring holds what was posted until its
 * completion.
 */
#ifndef RSOCKET_RING_H
#define RSOCKET_RING_H

#include <stdbool.h>
#include <stdint.h>

struct rx_ring {
	uint32_t size;  /* even */
	uint32_t head;  /* offset of the next byte to read */
	uint32_t ready; /* bytes that wait to be read */
	uint32_t read;  /* bytes read of the half that was announced longest ago */
	uint32_t due;   /* halves that may be announced */
	uint32_t next;  /* the half that is announced next: 0 or 1 */
};

/* The hello announces the first half, so the second one is due. */
static inline void rx_ring_init(struct rx_ring *ring, uint32_t size)
{
	*ring = (struct rx_ring){ .size = size, .due = 1, .next = 1 };
}

/* Returns false if the other side has written more than it was granted. */
static inline bool rx_ring_arrived(struct rx_ring *ring, uint32_t bytes)
{
	if (bytes > ring->size - ring->ready)
		return false;
	ring->ready += bytes;
	return true;
}

/* Returns how many bytes from HEAD on lie together. */
static inline uint32_t rx_ring_run(const struct rx_ring *ring, uint32_t head)
{
	return ring->size - head;
}

/* Returns how many bytes are to be read until a half may be announced again. */
static inline uint32_t rx_ring_rest(const struct rx_ring *ring)
{
	return ring->size / 2 - ring->read;
}

static inline void rx_ring_take(struct rx_ring *ring, uint32_t bytes)
{
	uint32_t half = ring->size / 2;

	ring->head = (ring->head + bytes) % ring->size;
	ring->ready -= bytes;
	ring->read += bytes;
	while (ring->read >= half) {
		ring->read -= half;
		ring->due++;
	}
}

/* Returns the offset of the half to announce now. One must be due. */
static inline uint32_t rx_ring_tell(struct rx_ring *ring)
{
	uint32_t offset = ring->next * (ring->size / 2);

	ring->next ^= 1;
	ring->due--;
	return offset;
}

struct tx_ring {
	uint32_t size;
	uint32_t head;   /* offset of the next byte to write */
	uint32_t put;    /* bytes put in so far; wraps */
	uint32_t done;   /* how many of those were completed */
	uint32_t marked; /* how many of those a completion was asked for */
};

static inline uint32_t tx_ring_free(const struct tx_ring *ring)
{
	return ring->size - (ring->put - ring->done);
}

/* Returns the room that lies together from head on. */
static inline uint32_t tx_ring_room(const struct tx_ring *ring)
{
	uint32_t room = tx_ring_free(ring);
	uint32_t run = ring->size - ring->head;

	return room < run ? room : run;
}

static inline void tx_ring_put(struct tx_ring *ring, uint32_t bytes)
{
	ring->head = (ring->head + bytes) % ring->size;
	ring->put += bytes;
}

/* Completions are asked for so that room comes back by quarters. */
static inline bool tx_ring_wants_mark(const struct tx_ring *ring)
{
	return ring->put - ring->marked >= ring->size / 4 || ring->put - ring->done == ring->size;
}

#endif
