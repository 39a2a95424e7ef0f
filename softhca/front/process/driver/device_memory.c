/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_memory.c - allocates memory on the adapter, as mlx5_ib does.
 *
 * The driver tracks pages, and the device bytes: the driver gives it a range of free pages, and the
 * device chooses a place there.
 */
#include <errno.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/memic.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/device_memory.h"

enum { LOG_UNIT = 6 };

static uint64_t bar_start(const struct adapter *adapter)
{
	return fld_get(adapter->memory_caps, MEM_CAP_MEMIC_BAR_START_ADDR);
}

static uint32_t pages_of(uint64_t bytes)
{
	return (bytes + UAR_PAGE_SIZE - 1) / UAR_PAGE_SIZE;
}

static void mark_pages(struct adapter *adapter, uint32_t first, uint32_t pages, bool used)
{
	for (uint32_t i = 0; i < pages; i++)
		adapter->device_page_used[first + i] = used;
}

static bool find_pages(const struct adapter *adapter, uint32_t pages, uint32_t *first)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < DEVICE_MEMORY_PAGES; i++) {
		run = adapter->device_page_used[i] ? 0 : run + 1;
		if (run == pages) {
			*first = i + 1 - pages;
			return true;
		}
	}
	return false;
}

static int run_alloc(struct adapter *adapter, uint32_t first, uint64_t size, uint32_t log_align,
		     uint64_t *addr)
{
	uint8_t in[PRM_ALLOC_MEMIC_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MEMIC);
	fld_set(in, ALLOC_MEMIC_IN_RANGE_START_ADDR,
		bar_start(adapter) + (uint64_t)first * UAR_PAGE_SIZE);
	fld_set(in, ALLOC_MEMIC_IN_RANGE_SIZE, (uint64_t)pages_of(size) * UAR_PAGE_SIZE);
	fld_set(in, ALLOC_MEMIC_IN_MEMIC_SIZE, size);
	fld_set(in, ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT,
		log_align < LOG_UNIT ? 0 : log_align - LOG_UNIT);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*addr = fld_get(out, ALLOC_MEMIC_OUT_MEMIC_START_ADDR);
	return ret == EAGAIN ? ENOMEM : ret;
}

int device_memory_alloc(struct adapter *adapter, uint64_t length, uint32_t log_align,
			uint64_t *addr, uint64_t *size)
{
	uint32_t first;
	int ret;

	if (!fld_get(adapter->memory_caps, MEM_CAP_MEMIC))
		return EOPNOTSUPP;
	if (!length || (log_align > LOG_UNIT &&
			log_align - LOG_UNIT > fld_get(adapter->memory_caps,
						       MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT)))
		return EINVAL;
	if (length > fld_get(adapter->memory_caps, MEM_CAP_MEMIC_BAR_SIZE))
		return ENOMEM;
	*size = (length + (1u << LOG_UNIT) - 1) >> LOG_UNIT << LOG_UNIT;
	if (!find_pages(adapter, pages_of(*size), &first))
		return ENOMEM;
	ret = run_alloc(adapter, first, *size, log_align, addr);
	if (!ret)
		mark_pages(adapter, first, pages_of(*size), true);
	return ret;
}

int device_memory_free(struct adapter *adapter, uint64_t addr, uint64_t size)
{
	uint8_t in[PRM_DEALLOC_MEMIC_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret = 0;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DEALLOC_MEMIC);
	fld_set(in, DEALLOC_MEMIC_IN_MEMIC_START_ADDR, addr);
	fld_set(in, DEALLOC_MEMIC_IN_MEMIC_SIZE, size);
	if (!adapter->dead)
		ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		mark_pages(adapter, (addr - bar_start(adapter)) / UAR_PAGE_SIZE, pages_of(size),
			   false);
	return ret;
}
