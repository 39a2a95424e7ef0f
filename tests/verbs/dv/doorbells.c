/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbells.c - doorbell pages of emulated devices (VAR) and a program's own registers (UAR).
 *
 * Covers: providers/mlx5/dv/var.c, providers/mlx5/dv/uar.c, softhca/front/process/uverbs/var.c,
 * softhca/front/process/uverbs/uar.c
 */
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>

#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

#define MANY 200 /* more than the adapter has */

static void doorbell_use(struct ibv_context *ctx, const struct mlx5dv_var *var)
{
	volatile uint64_t *page = mmap(NULL, var->length, PROT_READ | PROT_WRITE, MAP_SHARED,
				       ctx->cmd_fd, var->mmap_off);

	say("length %u mask %#llx", var->length, (unsigned long long)var->comp_mask);
	say_check(page != MAP_FAILED, "it can be mapped");
	if (page == MAP_FAILED)
		return;
	*page = 1;
	say_ret(munmap((void *)page, var->length), "munmap");
}

void dv_doorbells(struct rig *rig)
{
	struct mlx5dv_var *var[MANY];
	int n = 0;

	while (n < MANY && (errno = 0, var[n] = mlx5dv_alloc_var(rig->ctx, 0))) {
		for (int i = 0; i < n; i++)
			if (var[i]->page_id == var[n]->page_id ||
			    var[i]->mmap_off == var[n]->mmap_off)
				say_check(false, "page %d is page %d", n, i);
		n++;
	}
	say("%d pages, then %s", n, say_errno(errno));
	if (n)
		doorbell_use(rig->ctx, var[0]);
	while (n)
		mlx5dv_free_var(var[--n]);
	SAY_PTR(mlx5dv_alloc_var(rig->ctx, 1), "with the first flag");
	SAY_PTR(mlx5dv_alloc_var(rig->ctx, 4), "with an unknown flag");
	var[0] = SAY_PTR(mlx5dv_alloc_var(rig->ctx, 0), "after all are freed");
	if (var[0])
		mlx5dv_free_var(var[0]);
}

static void register_look(struct ibv_context *ctx, const struct mlx5dv_devx_uar *uar)
{
	const char *page = uar->base_addr;
	ptrdiff_t at = (char *)uar->reg_addr - page;
	void *map = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, ctx->cmd_fd, uar->mmap_off);

	say("mask %#llx", (unsigned long long)uar->comp_mask);
	say_check(at >= 0x800 && at < 0x1000, "the register is on the page");
	say_check(map != MAP_FAILED, "the page can be mapped again");
	if (map != MAP_FAILED)
		munmap(map, 4096);
}

void dv_registers(struct rig *rig)
{
	static const uint32_t types[] = { MLX5DV_UAR_ALLOC_TYPE_BF, MLX5DV_UAR_ALLOC_TYPE_NC,
					  MLX5DV_UAR_ALLOC_TYPE_BF, MLX5DV_UAR_ALLOC_TYPE_NC };
	struct mlx5dv_devx_uar *uar[ARRAY_SIZE(types)];

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		uar[i] = SAY_PTR(mlx5dv_devx_alloc_uar(rig->ctx, types[i]), "type %u", types[i]);
		if (uar[i])
			register_look(rig->ctx, uar[i]);
	}
	if (uar[0] && uar[2])
		say_check(uar[0]->reg_addr != uar[2]->reg_addr, "two for pushes are two");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (uar[i])
			mlx5dv_devx_free_uar(uar[i]);
	SAY_PTR(mlx5dv_devx_alloc_uar(rig->ctx, 7), "an unknown type");
}
