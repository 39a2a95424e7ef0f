/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.h - the adapter's memory for table entries: pools of 64 MiB, and blocks of a power of two
 * entries in them. PRM: SW ICM
 *
 * Any thread may call these functions.
 */
#ifndef PROVIDERS_MLX5_DV_DR_MEMORY_H
#define PROVIDERS_MLX5_DV_DR_MEMORY_H

#include <pthread.h>

#include "prm/mlx5/ste.h"
#include "providers/mlx5/dv/dr/places.h"

struct ibv_context;
struct ibv_dm;
struct ibv_mr;
struct ibv_pd;

enum { DR_POOL_LOG = 20, DR_POOLS = 64 };

struct dr_pool {
	struct ibv_dm *dm;
	struct ibv_mr *mr; /* memory region of dm, whose addresses begin at 0 */
	uint64_t base;
};

struct dr_memory {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t type; /* enum mlx5_ib_uapi_dm_type */
	uint8_t log;   /* log2 of the entries in a pool */
	pthread_mutex_t lock;
	struct dr_places unused[DR_POOL_LOG + 1]; /* free blocks by log2; guarded by lock */
	unsigned int num_pools;                   /* guarded by lock; open pools never change */
	struct dr_pool pools[DR_POOLS];
};

/* Initialises MEMORY without a pool. Its pools will have TYPE, an enum mlx5_ib_uapi_dm_type, and
 * 1 << LOG entries; LOG is at most DR_POOL_LOG. */
void mlx5_dr_memory_init(struct dr_memory *memory, struct ibv_context *context, struct ibv_pd *pd,
			 uint32_t type, uint8_t log);
void mlx5_dr_memory_destroy(struct dr_memory *memory);

int mlx5_dr_memory_alloc(struct dr_memory *memory, unsigned int log, uint32_t *place);
/* Takes up to COUNT free blocks of one entry, and pushes them to PLACES, which has room for
 * them. */
void mlx5_dr_memory_take_singles(struct dr_memory *memory, size_t count, struct dr_places *places);
/* Frees a block of 1 << LOG entries. The adapter must have no copy of them: see lane.h. */
void mlx5_dr_memory_free(struct dr_memory *memory, unsigned int log, uint32_t place);

static inline uint64_t dr_place_offset(uint32_t place)
{
	return (uint64_t)(place & ((1u << DR_POOL_LOG) - 1)) * PRM_STE_SIZE;
}

/* Returns the address by which entries lead to PLACE. */
static inline uint64_t dr_place_address(const struct dr_memory *memory, uint32_t place)
{
	return memory->pools[place >> DR_POOL_LOG].base + dr_place_offset(place);
}

#endif
