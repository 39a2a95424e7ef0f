/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.c - guest memory: what DMA_MAP gave us, and copies within it.
 *
 * An address is looked up for each access and no pointer outlives it, so that an unmap takes effect
 * at once. An access may cross regions that touch; a byte outside of all of them is a bus error.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "softhca/front/vfio-user/dma.h"

static bool overlaps(const struct dma_region *a, const struct dma_region *b)
{
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

static int check_new(const struct dma_table *table, const struct dma_region *region)
{
	unsigned int i;

	if (!region->size || region->addr + region->size < region->addr)
		return EINVAL;
	for (i = 0; i < table->count; i++)
		if (overlaps(&table->region[i], region))
			return EEXIST;
	return table->count < DMA_MAX_REGIONS ? 0 : ENOSPC;
}

int dma_table_map(struct dma_table *table, const struct dma_region *region, int prot, int fd,
		  uint64_t offset)
{
	struct dma_region *slot = &table->region[table->count];
	void *memory = NULL;
	int ret = check_new(table, region);

	if (ret)
		return ret;
	if (fd >= 0) {
		memory = mmap(NULL, region->size, prot, MAP_SHARED, fd, (off_t)offset);
		if (memory == MAP_FAILED)
			return errno;
	}
	*slot = *region;
	slot->memory = memory;
	slot->writable = prot & PROT_WRITE;
	table->count++;
	return 0;
}

static void drop(struct dma_table *table, unsigned int i)
{
	if (table->region[i].memory)
		munmap(table->region[i].memory, table->region[i].size);
	table->region[i] = table->region[--table->count];
}

int dma_table_unmap(struct dma_table *table, uint64_t addr, uint64_t size)
{
	unsigned int i;

	for (i = 0; i < table->count; i++)
		if (table->region[i].addr == addr && table->region[i].size == size) {
			drop(table, i);
			return 0;
		}
	return ENOENT;
}

void dma_table_clear(struct dma_table *table)
{
	while (table->count)
		drop(table, table->count - 1);
}

/* The memory at ADDR and how much of it follows, or NULL */
static uint8_t *find(const struct dma_table *table, uint64_t addr, bool write, uint64_t *room)
{
	unsigned int i;

	for (i = 0; i < table->count; i++) {
		const struct dma_region *region = &table->region[i];

		if (addr < region->addr || addr - region->addr >= region->size)
			continue;
		if (!region->memory || (write && !region->writable))
			return NULL;
		*room = region->size - (addr - region->addr);
		return region->memory + (addr - region->addr);
	}
	return NULL;
}

int dma_table_read(const struct dma_table *table, uint64_t addr, void *buf, uint64_t len)
{
	uint8_t *to = buf;
	uint64_t room;

	while (len) {
		const uint8_t *from = find(table, addr, false, &room);

		if (!from)
			return EFAULT;
		if (room > len)
			room = len;
		memcpy(to, from, room);
		to += room;
		addr += room;
		len -= room;
	}
	return 0;
}

/* Ownership sits in the last byte of CQEs and EQEs: it is stored after all the others. */
static void copy_last_byte_last(uint8_t *to, const uint8_t *from, uint64_t len)
{
	memcpy(to, from, len - 1);
	__atomic_store_n(to + len - 1, from[len - 1], __ATOMIC_RELEASE);
}

int dma_table_write(const struct dma_table *table, uint64_t addr, const void *buf, uint64_t len)
{
	const uint8_t *from = buf;
	uint64_t room;

	while (len) {
		uint8_t *to = find(table, addr, true, &room);

		if (!to)
			return EFAULT;
		if (room > len)
			room = len;
		copy_last_byte_last(to, from, room);
		from += room;
		addr += room;
		len -= room;
	}
	return 0;
}

static int bus_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	uint8_t *to = buf;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < nsegs; i++) {
		ret = dma_table_read(bus, segs[i].addr, to, segs[i].len);
		to += segs[i].len;
	}
	return ret;
}

static int bus_write(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, const void *buf)
{
	const uint8_t *from = buf;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < nsegs; i++) {
		ret = dma_table_write(bus, segs[i].addr, from, segs[i].len);
		from += segs[i].len;
	}
	return ret;
}

const struct hca_bus_ops dma_bus_ops = { bus_read, bus_write };
