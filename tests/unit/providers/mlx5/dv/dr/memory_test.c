/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory_test.c - blocks of entries: where they are, and the pools of the adapter's memory that
 * they come from. The adapter is the test's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dm.h"
#include "providers/mlx5/dv/dr/memory.h"

#include <rdma/mlx5_user_ioctl_verbs.h>

enum { POOL_SIZE = 64 << 20, POOLS = 2 };

static struct {
	struct verbs_context verbs;
	struct ibv_pd pd;
	struct dr_memory memory;
	struct ibv_dm dms[POOLS];
	struct ibv_mr mrs[POOLS];
	unsigned int allocated, registered;
	uint64_t misplaced; /* bytes after an aligned address */
	uint8_t *taken;     /* by entry */
	size_t pool_size;
	uint32_t type;
} it;

/* The kernel aligns to the requested size only. */
struct ibv_dm *mlx5_dm_alloc_of_type(struct ibv_context *context,
				     const struct ibv_alloc_dm_attr *attr, uint32_t type)
{
	assert_ptr_equal(context, &it.verbs.context);
	assert_int_equal(attr->length, it.pool_size);
	assert_int_equal(1u << attr->log_align_req, it.pool_size);
	assert_int_equal(type, it.type);
	if (it.allocated == POOLS) {
		errno = ENOMEM;
		return NULL;
	}
	return &it.dms[it.allocated++];
}

static unsigned int number_of(const struct ibv_dm *dm)
{
	return (unsigned int)(dm - it.dms);
}

void mlx5_dm_describe(struct ibv_dm *dm, struct mlx5dv_dm *out)
{
	assert_true(out->comp_mask & MLX5DV_DM_MASK_REMOTE_VA);
	out->remote_va = (number_of(dm) + 5ull) * POOL_SIZE + it.misplaced;
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				size_t length, unsigned int access)
{
	assert_ptr_equal(pd, &it.pd);
	assert_int_equal(offset, 0);
	assert_int_equal(length, it.pool_size);
	assert_true(access & IBV_ACCESS_ZERO_BASED);
	it.registered++;
	return &it.mrs[number_of(dm)];
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	assert_true(mr >= it.mrs && mr < it.mrs + POOLS);
	it.registered--;
	return 0;
}

static int free_dm(struct ibv_dm *dm)
{
	assert_true(number_of(dm) < POOLS);
	it.allocated--;
	return 0;
}

static int memory_begin(void **state)
{
	struct ibv_context *context = &it.verbs.context;

	(void)state;
	memset(&it, 0, sizeof(it));
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	it.verbs.sz = sizeof(it.verbs);
	it.verbs.reg_dm_mr = reg_dm_mr;
	it.verbs.free_dm = free_dm;
	it.pd.context = context;
	for (unsigned int i = 0; i < POOLS; i++)
		it.dms[i].context = context;
	it.taken = calloc(POOLS, (size_t)1 << DR_POOL_LOG);
	assert_non_null(it.taken);
	it.pool_size = POOL_SIZE;
	it.type = MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM;
	mlx5_dr_memory_init(&it.memory, context, &it.pd, it.type, DR_POOL_LOG);
	return 0;
}

static int memory_end(void **state)
{
	(void)state;
	mlx5_dr_memory_destroy(&it.memory);
	assert_int_equal(it.allocated, 0);
	assert_int_equal(it.registered, 0);
	free(it.taken);
	return 0;
}

/* Takes blocks of these sizes in turn until there is no more memory. Returns how many entries. */
static size_t take_all(const unsigned int *logs, size_t count)
{
	size_t entries = 0;

	for (size_t i = 0;; i++) {
		const unsigned int log = logs[i % count];
		uint32_t place;
		int ret = mlx5_dr_memory_alloc(&it.memory, log, &place);

		if (ret) {
			assert_int_equal(ret, ENOMEM);
			return entries;
		}
		assert_int_equal(place & ((1u << log) - 1), 0);
		assert_true(place >> DR_POOL_LOG < POOLS);
		for (uint32_t j = 0; j < 1u << log; j++)
			assert_int_equal(it.taken[place + j]++, 0);
		entries += (size_t)1 << log;
	}
}

static void blocks_are_aligned_and_apart(void **state)
{
	static const unsigned int logs[] = { 0, 6, 2, 18, 0, 4, 10 };

	(void)state;
	assert_true(take_all(logs, sizeof(logs) / sizeof(logs[0])) > 1 << DR_POOL_LOG);
}

static void all_entries_of_a_pool_are_used(void **state)
{
	static const unsigned int log = 6;

	(void)state;
	assert_int_equal(take_all(&log, 1), (size_t)POOLS << DR_POOL_LOG);
}

static void a_freed_block_is_used_again(void **state)
{
	static const unsigned int log = 18;
	uint32_t place;

	(void)state;
	take_all(&log, 1);
	mlx5_dr_memory_free(&it.memory, log, 3u << log);
	assert_int_equal(mlx5_dr_memory_alloc(&it.memory, log, &place), 0);
	assert_int_equal(place, 3u << log);
}

static void freed_entries_are_taken_together(void **state)
{
	static const unsigned int log = 18;
	struct dr_places places = { NULL, 0, 0 };

	(void)state;
	take_all(&log, 1);
	for (uint32_t place = 10; place < 15; place++)
		mlx5_dr_memory_free(&it.memory, 0, place);
	mlx5_dr_memory_free(&it.memory, 1, 20); /* stays whole */
	mlx5_dr_memory_take_singles(&it.memory, 3, &places);
	assert_int_equal(places.count, 3);
	mlx5_dr_memory_take_singles(&it.memory, 3, &places);
	assert_int_equal(places.count, 5);
	for (size_t i = 0; i < places.count; i++) {
		assert_in_range(places.blocks[i].place, 10, 14);
		assert_int_equal(it.taken[places.blocks[i].place]++, 1); /* once */
		assert_int_equal(places.blocks[i].log, 0);
	}
	dr_places_free(&places);
}

static void addresses_are_those_of_the_pool(void **state)
{
	static const unsigned int log = DR_POOL_LOG;

	(void)state;
	take_all(&log, 1);
	assert_int_equal(dr_place_address(&it.memory, 1), 5ull * POOL_SIZE + PRM_STE_SIZE);
	assert_int_equal(dr_place_address(&it.memory, (1u << DR_POOL_LOG) + 2),
			 6ull * POOL_SIZE + 2 * PRM_STE_SIZE);
}

/* Entries have the address of a table and its size in one field, so only bits that alignment leaves
 * 0 have room for the size. */
static void a_pool_at_an_odd_address_is_refused(void **state)
{
	uint32_t place;

	(void)state;
	it.misplaced = POOL_SIZE / 2;
	assert_int_equal(mlx5_dr_memory_alloc(&it.memory, 0, &place), EINVAL);
	assert_int_equal(it.allocated, 0);
}

/* An entry names a list by its number of units from the start of the adapter's memory for lists,
 * which need not be a multiple of a pool's size. */
static void a_pool_of_lists_begins_at_any_unit(void **state)
{
	enum { LIST_POOL_LOG = 9 };
	uint32_t place;

	(void)state;
	it.pool_size = (size_t)PRM_STE_SIZE << LIST_POOL_LOG;
	it.type = MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM;
	mlx5_dr_memory_destroy(&it.memory);
	mlx5_dr_memory_init(&it.memory, &it.verbs.context, &it.pd, it.type, LIST_POOL_LOG);
	it.misplaced = PRM_STE_LIST_UNIT / 2;
	assert_int_equal(mlx5_dr_memory_alloc(&it.memory, 0, &place), EINVAL);
	it.misplaced = PRM_STE_LIST_UNIT;
	assert_int_equal(mlx5_dr_memory_alloc(&it.memory, 0, &place), 0);
	assert_int_equal(it.allocated, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_begin, memory_end)
	const struct CMUnitTest tests[] = {
		CASE(blocks_are_aligned_and_apart),        CASE(all_entries_of_a_pool_are_used),
		CASE(a_freed_block_is_used_again),         CASE(addresses_are_those_of_the_pool),
		CASE(a_pool_at_an_odd_address_is_refused), CASE(a_pool_of_lists_begins_at_any_unit),
		CASE(freed_entries_are_taken_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
