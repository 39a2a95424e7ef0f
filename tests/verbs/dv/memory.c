/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - memory of the adapter by direct verbs: its types, copies, and operations on it.
 *
 * Covers: providers/mlx5/dv/dm.c, providers/mlx5/dv/mr.c, softhca/front/process/uverbs/dm.c
 */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "tests/verbs/dv/dv.h"

#define BYTES 256

static struct ibv_dm *dm_alloc(struct rig *rig, uint32_t type, size_t length, const char *what)
{
	struct ibv_alloc_dm_attr attr = { .length = length };
	struct mlx5dv_alloc_dm_attr dv = { .type = (enum mlx5dv_alloc_dm_type)type };

	return SAY_PTR(mlx5dv_alloc_dm(rig->ctx, &attr, &dv), "%s", what);
}

static void dm_use(struct ibv_dm *dm)
{
	struct mlx5dv_dm out = { .comp_mask = MLX5DV_DM_MASK_REMOTE_VA };
	struct mlx5dv_obj obj = { .dm = { dm, &out } };
	uint32_t data[BYTES / 4], back[BYTES / 4] = { 0 };

	for (uint32_t i = 0; i < BYTES / 4; i++)
		data[i] = i * 2654435761u;
	SAY_RET(ibv_memcpy_to_dm(dm, 0, data, BYTES), "copy to it");
	SAY_RET(ibv_memcpy_from_dm(back, dm, 0, BYTES), "copy from it");
	say_check(!memcmp(data, back, BYTES), "the same bytes");
	SAY_RET(ibv_memcpy_to_dm(dm, 4, data, BYTES), "beyond its end");
	SAY_RET(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM), "laid open");
	say("length %llu mask %#llx", (unsigned long long)out.length,
	    (unsigned long long)out.comp_mask);
	say_check(out.buf && !memcmp(out.buf, data, BYTES), "at its address");
}

/* Each is refused, as the adapter in software executes none. */
static void operations(struct ibv_dm *dm)
{
	for (unsigned int op = 0; op < 40; op += 13)
		SAY_PTR(mlx5dv_dm_map_op_addr(dm, (uint8_t)op), "operation %u", op);
}

void dv_memory(struct rig *rig)
{
	struct ibv_alloc_dm_attr attr = { .length = BYTES, .comp_mask = 1 };
	struct mlx5dv_alloc_dm_attr dv = { .type = MLX5DV_DM_TYPE_MEMIC, .comp_mask = 1 };
	struct ibv_dm *dm = dm_alloc(rig, MLX5DV_DM_TYPE_MEMIC, BYTES, "memory for data");

	if (dm) {
		dm_use(dm);
		operations(dm);
		say_ret(ibv_free_dm(dm), "freed");
	}
	for (uint32_t type = 1; type < 6; type++) {
		dm = dm_alloc(rig, type, 4096, "of another type");
		if (dm)
			say_ret(ibv_free_dm(dm), "freed");
	}
	SAY_PTR(mlx5dv_alloc_dm(rig->ctx, &attr, &dv), "masks of 1");
	dv.comp_mask = 0;
	SAY_PTR(mlx5dv_alloc_dm(rig->ctx, &attr, &dv), "a mask of 1");
	dm_alloc(rig, MLX5DV_DM_TYPE_MEMIC, 0, "no bytes");
	dm_alloc(rig, MLX5DV_DM_TYPE_MEMIC, (size_t)1 << 40, "too many");
}
