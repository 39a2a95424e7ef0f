/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_memory.c - describes a program's queue buffer to the device.
 *
 * A context has the buffer's offset in its first page in units of 1/64 page. So a page size fits an
 * address that is a multiple of 1/64 of it; 4 KiB pages fit every buffer that is aligned to 64
 * bytes.
 */
#include <errno.h>
#include <stdbool.h>

#include "util/fields.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/driver/queue_memory.h"

enum { BASE_SHIFT = 12, MAX_SHIFT = 31, OFFSET_BITS = 6 };

static bool is_expressible(uint64_t addr, unsigned int shift, unsigned int offsets)
{
	uint64_t unit = 1ull << (shift - OFFSET_BITS), offset = addr & ((1ull << shift) - 1);

	return offset % unit == 0 && offset / unit < offsets;
}

int queue_memory_describe(uint64_t addr, uint64_t len, unsigned int offsets,
			  struct queue_memory *memory)
{
	unsigned int shift = BASE_SHIFT;
	uint64_t last = (addr + len - 1);

	if (!len || !is_expressible(addr, shift, offsets))
		return EINVAL;
	/* Use the largest pages for which the offset fits, as the list is shortest then. */
	while (shift < MAX_SHIFT && addr >> shift != last >> shift &&
	       is_expressible(addr, shift + 1, offsets))
		shift++;
	memory->log_page_size = shift - BASE_SHIFT;
	memory->page_offset = (addr & ((1ull << shift) - 1)) >> (shift - OFFSET_BITS);
	memory->pages = (last >> shift) - (addr >> shift) + 1;
	memory->first = addr >> shift << shift;
	return 0;
}

void queue_memory_put(const struct queue_memory *memory, const struct client *client, void *pas)
{
	for (uint64_t i = 0; i < memory->pages; i++)
		fld_set64(pas, i * sizeof(uint64_t),
			  client_bus_addr(client, memory->first + (i << (memory->log_page_size +
									 BASE_SHIFT))));
}
