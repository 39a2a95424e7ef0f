/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - pools of the adapter's memory for table entries. See memory.h.
 *
 * Blocks are split when a smaller one is needed, and not merged again: tables grow by factors of
 * 4, so that all smaller blocks of a table together are a third of its last one.
 */
#include "providers/mlx5/dv/dr/memory.h"

#include <assert.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "providers/mlx5/dm.h"
#include "providers/mlx5/dv/dv.h"

enum { ENTRY_LOG_SIZE = 6 };
static_assert(PRM_STE_SIZE == 1 << ENTRY_LOG_SIZE, "PRM: STE");

void mlx5_dr_memory_init(struct dr_memory *memory, struct ibv_context *context, struct ibv_pd *pd,
			 uint32_t type, uint8_t log)
{
	memset(memory, 0, sizeof(*memory));
	memory->context = context;
	memory->pd = pd;
	memory->type = type;
	memory->log = log;
	pthread_mutex_init(&memory->lock, NULL);
}

static void pool_close(struct dr_pool *pool)
{
	if (pool->mr)
		ibv_dereg_mr(pool->mr);
	if (pool->dm)
		ibv_free_dm(pool->dm);
}

void mlx5_dr_memory_destroy(struct dr_memory *memory)
{
	for (unsigned int i = 0; i < memory->num_pools; i++)
		pool_close(&memory->pools[i]);
	for (unsigned int log = 0; log <= DR_POOL_LOG; log++)
		dr_places_free(&memory->unused[log]);
	pthread_mutex_destroy(&memory->lock);
}

/* Entries keep the address of a table and its size in one field, but number a list by units. */
static size_t pool_alignment(const struct dr_memory *memory, size_t size)
{
	return memory->type == MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM ? PRM_STE_LIST_UNIT : size;
}

static int pool_register(struct dr_memory *memory, struct dr_pool *pool, size_t size)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED;
	struct mlx5dv_dm info = { .comp_mask = MLX5DV_DM_MASK_REMOTE_VA };

	mlx5_dm_describe(pool->dm, &info);
	pool->base = info.remote_va;
	if (pool->base % pool_alignment(memory, size)) {
		verbs_warn("direct rules: memory for entries at %#llx is not aligned to its size",
			   (unsigned long long)pool->base);
		return EINVAL;
	}
	pool->mr = ibv_reg_dm_mr(memory->pd, pool->dm, 0, size, access);
	return pool->mr ? 0 : errno;
}

static int pool_open(struct dr_memory *memory)
{
	const size_t size = (size_t)PRM_STE_SIZE << memory->log;
	const struct ibv_alloc_dm_attr attr = { .length = size,
						.log_align_req = ENTRY_LOG_SIZE + memory->log };
	const unsigned int number = memory->num_pools;
	struct dr_pool *pool = &memory->pools[number];
	int ret = 0;

	if (number == DR_POOLS) {
		verbs_warn("direct rules: %d pools are full", DR_POOLS);
		return ENOMEM;
	}
	pool->dm = mlx5_dm_alloc_of_type(memory->context, &attr, memory->type);
	ret = pool->dm ? pool_register(memory, pool, size) : errno;
	if (!ret &&
	    !dr_places_push(&memory->unused[memory->log], number << DR_POOL_LOG, memory->log))
		ret = ENOMEM;
	if (ret) {
		verbs_warn("direct rules: no memory of the adapter for entries: errno %d", ret);
		pool_close(pool);
		*pool = (struct dr_pool){ NULL, NULL, 0 };
		return ret;
	}
	memory->num_pools++;
	return 0;
}

static bool block_find(struct dr_memory *memory, unsigned int log, struct dr_block *block)
{
	for (unsigned int i = log; i <= DR_POOL_LOG; i++)
		if (dr_places_pop(&memory->unused[i], block))
			return true;
	return false;
}

/* Keeps the first 1 << LOG entries of the block, and frees the rest as blocks of powers of two,
 * each aligned to its size. */
static void block_split(struct dr_memory *memory, const struct dr_block *block, unsigned int log)
{
	for (unsigned int i = block->log; i-- > log;)
		dr_places_push(&memory->unused[i], block->place + (1u << i), i);
}

static int block_take(struct dr_memory *memory, unsigned int log, struct dr_block *block)
{
	int ret = 0;

	if (!block_find(memory, log, block)) {
		ret = pool_open(memory);
		if (!ret && !block_find(memory, log, block))
			ret = ENOMEM;
	}
	if (!ret)
		block_split(memory, block, log);
	return ret;
}

int mlx5_dr_memory_alloc(struct dr_memory *memory, unsigned int log, uint32_t *place)
{
	struct dr_block block = { 0, 0 };
	int ret;

	pthread_mutex_lock(&memory->lock);
	ret = block_take(memory, log, &block);
	pthread_mutex_unlock(&memory->lock);
	*place = block.place;
	return ret;
}

void mlx5_dr_memory_take_singles(struct dr_memory *memory, size_t count, struct dr_places *places)
{
	struct dr_block block;

	pthread_mutex_lock(&memory->lock);
	while (count-- && dr_places_pop(&memory->unused[0], &block))
		dr_places_push(places, block.place, 0);
	pthread_mutex_unlock(&memory->lock);
}

void mlx5_dr_memory_free(struct dr_memory *memory, unsigned int log, uint32_t place)
{
	pthread_mutex_lock(&memory->lock);
	dr_places_push(&memory->unused[log], place, log);
	pthread_mutex_unlock(&memory->lock);
}
