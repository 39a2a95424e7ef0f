/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * operations.c - memory of the adapter with operation addresses: a write adds to its bytes, a read
 * returns and sets them. An adapter that cannot see single accesses has no such addresses.
 *
 * Covers: providers/mlx5/dv/dm.c, providers/mlx5/dm.c, softhca/device/memory/memic.c
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "dx.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/memic.h"
#include "tests/lib/say.h"

enum { THREADS = 4, ADDS = 40, MEMORY = 2 * DX_PAGE };

struct operated {
	struct ibv_dm *dm;
	volatile uint8_t *add, *set;
};

static uint32_t announced(struct ibv_context *ctx)
{
	static uint8_t out[16 + PRM_HCA_CAP_SIZE];
	struct dx_command cmd;

	dx_command(&cmd, PRM_OP_QUERY_HCA_CAP, 16);
	fld_set(cmd.in, CMD_IN_OP_MOD, PRM_CAP_DEV_MEM << 1 | 1);
	MUST(!mlx5dv_devx_general_cmd(ctx, cmd.in, 16, out, sizeof(out)));
	say("sizes of increments %#x, of sets %#x",
	    (unsigned int)fld_get(out + 16, MEM_CAP_MEMIC_INCREMENT_SIZES),
	    (unsigned int)fld_get(out + 16, MEM_CAP_MEMIC_TEST_AND_SET_SIZES));
	return fld_get(out + 16, MEM_CAP_MEMIC_OPERATIONS);
}

static volatile uint8_t *map_operation(struct ibv_dm *dm, uint8_t operation)
{
	return SAY_PTR(mlx5dv_dm_map_op_addr(dm, operation), "operation %u", operation);
}

static void unmap_operation(volatile uint8_t *at)
{
	uintptr_t skip = (uintptr_t)at & (DX_PAGE - 1);

	MUST(!munmap((void *)((uintptr_t)at - skip), MEMORY));
}

static void say_byte(const struct operated *memory, size_t at)
{
	uint32_t word = 0;

	MUST(!ibv_memcpy_from_dm(&word, memory->dm, at & ~(size_t)3, sizeof(word)));
	say("byte %zu: %u", at, ((uint8_t *)&word)[at & 3]);
}

static void operate_on(const struct operated *memory, size_t at)
{
	unsigned int first, second;

	memory->add[at] = 1;
	memory->add[at] = 1;
	say_byte(memory, at);
	memory->add[at] = 200;
	memory->add[at] = 100;
	first = memory->set[at];
	second = memory->set[at];
	say("read %u, and then %u", first, second);
	say_byte(memory, at);
	say_byte(memory, at ^ 1);
	memory->add[at] = 1;
	say_byte(memory, at);
}

static void *add_often(void *arg)
{
	const struct operated *memory = arg;

	for (int i = 0; i < ADDS; i++)
		memory->add[8] = 1;
	return NULL;
}

static void operate_at_once(struct operated *memory)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, add_often, memory));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(threads[i], NULL));
	say_check(memory->set[8] == THREADS * ADDS, "each of those that add at once");
}

static void memory_open(struct ibv_context *ctx, struct operated *memory)
{
	static const uint8_t zeros[MEMORY];
	struct ibv_alloc_dm_attr attr = { .length = MEMORY };

	memory->dm = ibv_alloc_dm(ctx, &attr);
	MUST(memory->dm);
	MUST(!ibv_memcpy_to_dm(memory->dm, 0, zeros, MEMORY));
}

/* Operation addresses keep the memory allocated after it is freed; once they are released, it is
 * free. The loop uses more than the whole, so none may be lost. */
static void give_back_often(struct ibv_context *ctx, size_t whole)
{
	struct operated memory;

	for (size_t given = 0; given <= 2 * whole; given += MEMORY) {
		memory_open(ctx, &memory);
		memory.add = mlx5dv_dm_map_op_addr(memory.dm, PRM_MEMIC_INCREMENT);
		memory.set = mlx5dv_dm_map_op_addr(memory.dm, PRM_MEMIC_TEST_AND_SET);
		MUST(memory.add && memory.set);
		MUST(!ibv_free_dm(memory.dm));
		unmap_operation(memory.add);
		unmap_operation(memory.set);
	}
}

void dx_operations(void)
{
	struct ibv_device_attr_ex attr;
	struct dx_device device;
	struct operated memory;
	uint32_t operations;

	dx_device_open(&device);
	MUST(!ibv_query_device_ex(device.ctx, NULL, &attr));
	operations = announced(device.ctx);
	say("operations %#x", operations);
	memory_open(device.ctx, &memory);
	memory.add = map_operation(memory.dm, PRM_MEMIC_INCREMENT);
	memory.set = map_operation(memory.dm, PRM_MEMIC_TEST_AND_SET);
	map_operation(memory.dm, 2);
	map_operation(memory.dm, 255);
	say_check(!memory.add == !(operations & 1 << PRM_MEMIC_INCREMENT), "adds as announced");
	say_check(!memory.set == !(operations & 1 << PRM_MEMIC_TEST_AND_SET), "sets as announced");
	if (memory.add && memory.set) {
		operate_on(&memory, 0);
		operate_on(&memory, DX_PAGE + 3);
		operate_on(&memory, MEMORY - 1);
		operate_at_once(&memory);
		unmap_operation(memory.add);
		unmap_operation(memory.set);
	}
	MUST(!ibv_free_dm(memory.dm));
	if (memory.add && memory.set)
		give_back_often(device.ctx, attr.max_dm_size);
	dx_device_close(&device);
}
