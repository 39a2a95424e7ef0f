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
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "softhca/front/pci/dma.h"
#include "softhca/front/pci/vanishing.h"

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

/* Checks that the file is long enough. It can still shrink later: see vanishing.h. */
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

/* Checks a new region's range, and sets *AT to the index for it. Returns 0, EINVAL, EEXIST on
 * overlap, or ENOSPC. */
static int range_check(const struct dma_table *table, const struct dma_region *new,
		       unsigned int *at)
{
	const uint64_t last = new->addr + (new->size - 1);

	if (!new->size || last < new->addr)
		return EINVAL;
	*at = range_find(table, new->addr);
	if (*at < table->count && table->region[*at].addr <= last)
		return EEXIST;
	return table->count == DMA_MAX_REGIONS ? ENOSPC : 0;
}

static int table_grow(struct dma_table *table)
{
	unsigned int room = table->room ? table->room * 2 : 64;
	struct dma_region *region;

	if (table->count < table->room)
		return 0;
	region = realloc(table->region, room * sizeof(*region));
	if (!region)
		return ENOMEM;
	table->region = region;
	table->room = room;
	return 0;
}

static int range_insert(struct dma_table *table, const struct dma_region *new, unsigned int at)
{
	int ret;

	pthread_mutex_lock(&table->lock);
	ret = table_grow(table);
	if (!ret) {
		memmove(&table->region[at + 1], &table->region[at],
			(table->count - at) * sizeof(*new));
		table->region[at] = *new;
		table->count++;
	}
	pthread_mutex_unlock(&table->lock);
	return ret;
}

int dma_table_map(struct dma_table *table, uint64_t addr, uint64_t size, int prot, int fd,
		  uint64_t offset)
{
	struct dma_region new = { .addr = addr,
				  .size = size,
				  .readable = (prot & PROT_READ) != 0,
				  .writable = (prot & PROT_WRITE) != 0 };
	unsigned int at;
	int ret = range_check(table, &new, &at);

	if (!ret && fd >= 0)
		ret = map_file(&new, prot, fd, offset);
	if (ret)
		return ret;
	ret = range_insert(table, &new, at);
	if (ret && new.memory)
		munmap(new.memory, size);
	return ret;
}

int dma_table_map_remote(struct dma_table *table, uint64_t addr, uint64_t size, int prot,
			 const struct dma_remote_ops *ops, void *remote, uint64_t remote_addr)
{
	struct dma_region new = { .addr = addr,
				  .size = size,
				  .ops = ops,
				  .remote = remote,
				  .remote_addr = remote_addr,
				  .readable = (prot & PROT_READ) != 0,
				  .writable = (prot & PROT_WRITE) != 0 };
	unsigned int at;
	int ret = range_check(table, &new, &at);

	return ret ? ret : range_insert(table, &new, at);
}

static void ranges_drop(struct dma_table *table, unsigned int first, unsigned int end)
{
	pthread_mutex_lock(&table->lock);
	for (unsigned int i = first; i < end; i++) {
		const struct dma_region *old = &table->region[i];

		if (old->memory)
			munmap(old->memory, old->size);
		if (old->ops)
			old->ops->drop(old->remote);
	}
	if (end > first)
		memmove(&table->region[first], &table->region[end],
			(table->count - end) * sizeof(*table->region));
	table->count -= end - first;
	pthread_mutex_unlock(&table->lock);
}

int dma_table_unmap(struct dma_table *table, uint64_t addr, uint64_t size)
{
	unsigned int at = range_find(table, addr);

	if (at == table->count || table->region[at].addr != addr || table->region[at].size != size)
		return ENOENT;
	ranges_drop(table, at, at + 1);
	return 0;
}

int dma_table_unmap_range(struct dma_table *table, uint64_t addr, uint64_t size, uint64_t *unmapped)
{
	const uint64_t last = addr + (size - 1);
	unsigned int first, end;

	*unmapped = 0;
	if (!size || last < addr)
		return EINVAL;
	first = end = range_find(table, addr);
	for (; end < table->count && table->region[end].addr <= last; end++) {
		const struct dma_region *region = &table->region[end];

		if (region->addr < addr || region->addr + (region->size - 1) > last)
			return EINVAL;
	}
	for (unsigned int i = first; i < end; i++)
		*unmapped += table->region[i].size;
	ranges_drop(table, first, end);
	return 0;
}

void dma_table_clear(struct dma_table *table)
{
	ranges_drop(table, 0, table->count);
	free(table->region);
	table->region = NULL;
	table->room = 0;
}

/* Returns the region at ADDR, or NULL. Reduces *LEN to the bytes that follow in it. */
static const struct dma_region *range_reach(const struct dma_table *table, uint64_t addr,
					    bool write, uint64_t *len)
{
	const unsigned int at = range_find(table, addr);
	const struct dma_region *region;
	uint64_t skip;

	if (!table->enabled || at == table->count)
		return NULL;
	region = &table->region[at];
	if (addr < region->addr || !(write ? region->writable : region->readable))
		return NULL;
	skip = addr - region->addr;
	if (*len > region->size - skip)
		*len = region->size - skip;
	return region;
}

static int range_copy(const struct dma_region *region, uint64_t addr, uint8_t *buf, uint64_t len,
		      bool write)
{
	const uint64_t skip = addr - region->addr;

	if (region->ops)
		return region->ops->copy(region->remote, region->remote_addr + skip, buf, len,
					 write);
	if (!region->memory)
		return EFAULT;
	return vanishing_copy(write ? region->memory + skip : buf,
			      write ? buf : region->memory + skip, len);
}

static int dma_move_locked(const struct dma_table *table, uint64_t addr, uint8_t *buf, uint64_t len,
			   bool write)
{
	while (len) {
		uint64_t part = len;
		const struct dma_region *region = range_reach(table, addr, write, &part);

		if (!region || range_copy(region, addr, buf, part, write))
			return EFAULT;
		buf += part;
		addr += part;
		len -= part;
	}
	return 0;
}

static int dma_move(const struct dma_table *table, uint64_t addr, uint8_t *buf, uint64_t len,
		    bool write)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&table->lock;
	int ret;

	pthread_mutex_lock(lock);
	ret = dma_move_locked(table, addr, buf, len, write);
	pthread_mutex_unlock(lock);
	return ret;
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
