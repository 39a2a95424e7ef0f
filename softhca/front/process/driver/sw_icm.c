/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sw_icm.c - allocates memory for table entries that programs write themselves, as mlx5_core does.
 *
 * The driver chooses a block's place in the area that the adapter reports, and tells the adapter.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/sw_icm.h"
#include "util/bits.h"

static bool sw_icm_exists(const struct adapter *adapter)
{
	return fld_get(fld_at(adapter->flow_caps, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE),
		       FT_PROP_SW_OWNER_V2);
}

/* Capability fields with the start and size of each area. */
static const struct {
	uint32_t start, log_size;
} areas[] = {
	[SW_ICM_ENTRIES] = { MEM_CAP_STEERING_ICM_START, MEM_CAP_LOG_STEERING_ICM_SIZE },
	[SW_ICM_CHANGES] = { MEM_CAP_CHANGE_ICM_START, MEM_CAP_LOG_CHANGE_ICM_SIZE },
	[SW_ICM_PATTERNS] = { MEM_CAP_PATTERN_ICM_START, MEM_CAP_LOG_PATTERN_ICM_SIZE },
};

static uint64_t room_of(const struct adapter *adapter, enum sw_icm_area area)
{
	return 1ull << fld_get(adapter->memory_caps, areas[area].log_size);
}

static uint64_t unit_of(const struct adapter *adapter)
{
	return 1ull << fld_get(adapter->memory_caps, MEM_CAP_LOG_SW_ICM_ALLOC_GRANULARITY);
}

/* Returns the block nearest to the area's start that overlaps these bytes, or NULL. */
static const struct sw_icm *block_in(const struct adapter *adapter, uint64_t addr, uint64_t size)
{
	const struct sw_icm *block, *first = NULL;

	LIST_FOREACH(block, &adapter->icm_blocks, entry)
		if (addr < block->addr + block->size && block->addr < addr + size &&
		    (!first || block->addr < first->addr))
			first = block;
	return first;
}

static bool find_place(const struct adapter *adapter, enum sw_icm_area area, uint64_t size,
		       uint64_t align, uint64_t *addr)
{
	const uint64_t start = fld_get(adapter->memory_caps, areas[area].start);
	const uint64_t room = room_of(adapter, area);
	const struct sw_icm *block;
	uint64_t at = 0;

	while (size <= room && at <= room - size) {
		block = block_in(adapter, start + at, size);
		if (!block) {
			*addr = start + at;
			return true;
		}
		at = (block->addr + block->size - start + align - 1) & ~(align - 1);
	}
	return false;
}

static int run_create(struct adapter *adapter, struct sw_icm *block)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_SW_ICM_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *object = fld_at(in, GENERAL_OBJ_OBJECT);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, CMD_IN_UID, adapter->user);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SW_ICM);
	fld_set(object, SW_ICM_LOG_SW_ICM_SIZE, log2_floor(block->size));
	fld_set(object, SW_ICM_SW_ICM_START_ADDR, block->addr);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		block->number = fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
	return ret;
}

/* Chooses the address of a block, whose size is set, and creates the block on the device. */
static int block_make(struct adapter *adapter, enum sw_icm_area area, uint64_t align,
		      struct sw_icm *block)
{
	if (!find_place(adapter, area, block->size, align, &block->addr))
		return ENOMEM;
	return run_create(adapter, block);
}

int sw_icm_alloc(struct adapter *adapter, enum sw_icm_area area, uint64_t length,
		 uint32_t log_align, struct sw_icm **out)
{
	uint64_t align = unit_of(adapter);
	struct sw_icm *block;
	int ret;

	if (!sw_icm_exists(adapter))
		return EOPNOTSUPP;
	if (!length || log_align > 63)
		return EINVAL;
	if (length > room_of(adapter, area))
		return ENOMEM;
	block = calloc(1, sizeof(*block));
	if (!block)
		return ENOMEM;
	for (block->size = align; block->size < length;)
		block->size <<= 1;
	if (align < 1ull << log_align)
		align = 1ull << log_align;
	ret = block_make(adapter, area, align, block);
	if (ret) {
		free(block);
		return ret;
	}
	LIST_INSERT_HEAD(&adapter->icm_blocks, block, entry);
	*out = block;
	return 0;
}

static void block_forget(struct sw_icm *block)
{
	LIST_REMOVE(block, entry);
	free(block);
}

void sw_icm_release(struct adapter *adapter, struct sw_icm *block)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SW_ICM);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, block->number);
	if (adapter->dead || !adapter_command(adapter, in, sizeof(in), out, sizeof(out)))
		block_forget(block);
}

void sw_icm_free(struct adapter *adapter)
{
	while (!LIST_EMPTY(&adapter->icm_blocks))
		block_forget(LIST_FIRST(&adapter->icm_blocks));
}
