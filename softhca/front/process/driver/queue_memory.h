/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_memory.h - describes a program's queue buffer to the device: a page list in a command.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_QUEUE_MEMORY_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_QUEUE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct client;

struct queue_memory {
	unsigned int log_page_size; /* in units of 4 KiB, as in contexts */
	unsigned int page_offset;   /* in 1/64 pages, as in contexts */
	uint64_t pages;
	uint64_t first;
};

/* Number of values of page_offset: 64 in most contexts, 32 in an RMP's. */
enum { QUEUE_MEMORY_OFFSETS = 64, QUEUE_MEMORY_RMP_OFFSETS = 32 };

/* Computes the page size and offset that describe LEN bytes at ADDR in a queue's context. OFFSETS
 * is the number of values of the context's page_offset. Returns EINVAL if ADDR is not 64-byte
 * aligned, or if its offset in the page is too large for page_offset. */
int queue_memory_describe(uint64_t addr, uint64_t len, unsigned int offsets,
			  struct queue_memory *memory);
void queue_memory_put(const struct queue_memory *memory, const struct client *client, void *pas);

static inline size_t queue_memory_bytes(const struct queue_memory *memory)
{
	return memory->pages * sizeof(uint64_t);
}

#endif
