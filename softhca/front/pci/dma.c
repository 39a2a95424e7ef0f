/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.c - guest memory from DMA_MAP, and copies from and to it.
 *
 * Each access looks its address up and keeps no pointer, so an unmap takes effect at once. An
 * access may cross adjacent regions; a byte outside of all is a bus error. So is one in a region
 * without a file (mostly ROMs): reaching it would mean to ask the client and wait, for which the
 * loop must not block.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "softhca/front/pci/dma.h"
#include "softhca/front/pci/vanishing.h"

/* Returns the index of the first region that ends behind ADDR, or count. */
static unsigned int range_find(const struct dma_table *table, uint64_t addr)
{
	unsigned int low = 0, high = table->count;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;
		const struct dma_region *region = &table->region[mid];

		if (region->addr + (region->size - 1) < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Checks that the file is long enough now; see vanishing.h for later. */
static int check_file(int fd, uint64_t offset, uint64_t size)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return errno;
	if (!S_ISREG(stat.st_mode) || offset > (uint64_t)stat.st_size ||
	    size > (uint64_t)stat.st_size - offset)
		return EINVAL;
	return 0;
}

static int map_file(struct dma_region *region, int prot, int fd, uint64_t offset)
{
	int ret = check_file(fd, offset, region->size);
	void *memory;

	if (!ret)
		ret = vanishing_prepare();
	if (ret)
		return ret;
	memory = mmap(NULL, region->size, prot, MAP_SHARED, fd, (off_t)offset);
	if (memory == MAP_FAILED)
		return errno;
	region->memory = memory;
	return 0;
}

int dma_table_map(struct dma_table *table, uint64_t addr, uint64_t size, int prot, int fd,
		  uint64_t offset)
{
	struct dma_region new = { .addr = addr, .size = size };
	unsigned int at = range_find(table, addr);
	int ret = 0;

	if (!size || addr + (size - 1) < addr)
		return EINVAL;
	if (at < table->count && table->region[at].addr <= addr + (size - 1))
		return EEXIST;
	if (table->count == DMA_MAX_REGIONS)
		return ENOSPC;
	new.readable = (prot & PROT_READ) != 0;
	new.writable = (prot & PROT_WRITE) != 0;
	if (fd >= 0)
		ret = map_file(&new, prot, fd, offset);
	if (ret)
		return ret;
	memmove(&table->region[at + 1], &table->region[at], (table->count - at) * sizeof(new));
	table->region[at] = new;
	table->count++;
	return 0;
}

static void range_drop(struct dma_table *table, unsigned int at)
{
	struct dma_region *region = &table->region[at];

	if (region->memory)
		munmap(region->memory, region->size);
	table->count--;
	memmove(region, region + 1, (table->count - at) * sizeof(*region));
}

int dma_table_unmap(struct dma_table *table, uint64_t addr, uint64_t size)
{
	unsigned int at = range_find(table, addr);

	if (at == table->count || table->region[at].addr != addr || table->region[at].size != size)
		return ENOENT;
	range_drop(table, at);
	return 0;
}

void dma_table_clear(struct dma_table *table)
{
	while (table->count)
		range_drop(table, table->count - 1);
}

/* Returns the memory at ADDR, or NULL. Reduces *LEN to the bytes that follow there. */
static uint8_t *range_reach(const struct dma_table *table, uint64_t addr, bool write, uint64_t *len)
{
	const struct dma_region *region = &table->region[range_find(table, addr)];
	uint64_t skip;

	if (!table->enabled || region == &table->region[table->count] || addr < region->addr)
		return NULL;
	if (!region->memory || !(write ? region->writable : region->readable))
		return NULL;
	skip = addr - region->addr;
	if (*len > region->size - skip)
		*len = region->size - skip;
	return region->memory + skip;
}

static int dma_move(const struct dma_table *table, uint64_t addr, uint8_t *buf, uint64_t len,
		    bool write)
{
	while (len) {
		uint64_t part = len;
		uint8_t *memory = range_reach(table, addr, write, &part);

		if (!memory || vanishing_copy(write ? memory : buf, write ? buf : memory, part))
			return EFAULT;
		buf += part;
		addr += part;
		len -= part;
	}
	return 0;
}

int dma_table_read(const struct dma_table *table, uint64_t addr, void *buf, uint64_t len)
{
	return dma_move(table, addr, buf, len, false);
}

int dma_table_write(const struct dma_table *table, uint64_t addr, const void *buf, uint64_t len)
{
	return dma_move(table, addr, (uint8_t *)(uintptr_t)buf, len, true);
}

static int move_all(const struct dma_table *table, const struct hca_bus_seg *segs,
		    unsigned int nsegs, uint8_t *buf, bool write)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nsegs; i++) {
		ret = dma_move(table, segs[i].addr, buf, segs[i].len, write);
		buf += segs[i].len;
	}
	return ret;
}

static int bus_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	return move_all(bus, segs, nsegs, buf, false);
}

static int bus_write(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, const void *buf)
{
	return move_all(bus, segs, nsegs, (uint8_t *)(uintptr_t)buf, true);
}

const struct hca_bus_ops dma_bus_ops = { .read = bus_read, .write = bus_write };
