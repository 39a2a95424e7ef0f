/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * create.c - valid and invalid arguments of mlx5dv_create_cq(): every bit of its mask, formats,
 * sizes and flags, alone and together.
 *
 * Covers: providers/mlx5/dv/cq.c, providers/mlx5/cq.c
 */
#include <infiniband/mlx5dv.h>

#include "tests/verbs/compressed/compressed.h"

enum {
	COMPRESSED = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
	FLAGS = MLX5DV_CQ_INIT_ATTR_MASK_FLAGS,
	SIZE = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
	MASKS = 16,
	FORMATS = 10,
};

static void cq_try(struct ibv_context *ctx, uint64_t mask, uint8_t format, uint32_t flags,
		   uint16_t size)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 15, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct mlx5dv_cq_init_attr dv = {
		.comp_mask = mask, .cqe_comp_res_format = format, .flags = flags, .cqe_size = size
	};
	struct ibv_cq_ex *cq =
		SAY_PTR(mlx5dv_create_cq(ctx, &attr, &dv), "mask %#llx format %u flags %#x size %u",
			(unsigned long long)mask, format, flags, size);
	struct mlx5dv_cq ring;
	struct mlx5dv_obj obj;

	if (!cq)
		return;
	obj = (struct mlx5dv_obj){ .cq = { ibv_cq_ex_to_cq(cq), &ring } };
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	say("%u entries of %u bytes", ring.cqe_cnt, ring.cqe_size);
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

void compressed_create(struct rig *rig)
{
	static const uint16_t sizes[] = { 0, 32, 64, 128, 256 };
	struct mlx5dv_context caps = { .comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION };

	MUST(!mlx5dv_query_device(rig->ctx, &caps));
	say("up to %u, formats %#x, flags %#llx", caps.cqe_comp_caps.max_num,
	    caps.cqe_comp_caps.supported_format,
	    (unsigned long long)(caps.flags & (MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP |
					       MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD)));
	for (uint64_t mask = 0; mask < MASKS; mask++)
		cq_try(rig->ctx, mask, MLX5DV_CQE_RES_FORMAT_HASH, 0, 64);
	for (uint8_t format = 0; format < FORMATS; format++)
		cq_try(rig->ctx, COMPRESSED, format, 0, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint32_t flags = 0; flags < 4; flags++) {
			cq_try(rig->ctx, COMPRESSED | FLAGS | SIZE, MLX5DV_CQE_RES_FORMAT_CSUM,
			       flags, sizes[i]);
			cq_try(rig->ctx, FLAGS | SIZE, 0, flags, sizes[i]);
		}
}
