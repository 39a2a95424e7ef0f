/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring.h - arithmetic of a stream's two rings: readable bytes and free room. It touches no memory.
 *
 * The receive ring is announced to the peer by halves. The peer fills one half after the other,
 * each from its start, so arrived data is contiguous modulo the ring, and a half may be announced
 * again when all of it was read. The send ring holds posted data until its completion.
 */
#ifndef RSOCKET_RING_H
#define RSOCKET_RING_H

#include <stdbool.h>
#include <stdint.h>

struct rx_ring {
	uint32_t size;  /* even */
	uint32_t head;  /* offset of the next byte to read */
	uint32_t ready; /* bytes that can be read */
	uint32_t read;  /* bytes read from the half that was announced first */
	uint32_t due;   /* number of halves to announce */
	uint32_t next;  /* half to announce next: 0 or 1 */
};

/* Initialises the ring. The hello announces the first half, so the second is due. */
static inline void rx_ring_init(struct rx_ring *ring, uint32_t size)
{
	*ring = (struct rx_ring){ .size = size, .due = 1, .next = 1 };
}

/* Adds received bytes. Returns false if the peer has exceeded its grant, and so has overwritten
 * bytes that were not read. */
static inline bool rx_ring_arrived(struct rx_ring *ring, uint32_t bytes)
{
	if (bytes > ring->size - ring->ready)
		return false;
	ring->ready += bytes;
	return true;
}

/* Returns the number of contiguous bytes from HEAD on. */
static inline uint32_t rx_ring_run(const struct rx_ring *ring, uint32_t head)
{
	return ring->size - head;
}

/* Returns the number of bytes to read before a half can be announced again. */
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

/* Returns the offset of the half to announce. One must be due. */
static inline uint32_t rx_ring_tell(struct rx_ring *ring)
{
	uint32_t offset = ring->next * (ring->size / 2);

	ring->next ^= 1;
	ring->due--;
	return offset;
}

struct tx_ring {
	uint32_t size;
	uint32_t head; /* offset of the next byte to write */
	uint32_t put;
	uint32_t done;
	uint32_t marked; /* bytes covered by requested completions */
};

static inline uint32_t tx_ring_free(const struct tx_ring *ring)
{
	return ring->size - (ring->put - ring->done);
}

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

/* Returns whether to request a completion, so that room is returned in quarters. */
static inline bool tx_ring_wants_mark(const struct tx_ring *ring)
{
	return ring->put - ring->marked >= ring->size / 4 || ring->put - ring->done == ring->size;
}

#endif
