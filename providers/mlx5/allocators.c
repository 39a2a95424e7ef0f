/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators.c - a program's allocator for the queues of a context. See allocators.h.
 */
#include "providers/mlx5/allocators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/hwbuf.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/pd.h"
#include "util/alloc.h"

struct mlx5_allocators {
	struct provider_pd domain;  /* of all queues that have no other */
	struct hwbuf_source source; /* of pages of doorbell records */
	struct mlx5dv_ctx_allocators of_program;
	struct mlx5_allocators *before; /* that queues may still have memory of */
};

/* What the program gives need not be zero. */
static void *pages_alloc(size_t size, void *arg)
{
	const struct mlx5_allocators *allocators = arg;
	size_t bytes = align_up(size, (size_t)sysconf(_SC_PAGESIZE));
	void *addr = allocators->of_program.alloc(bytes, allocators->of_program.data);

	if (addr)
		memset(addr, 0, bytes);
	else
		verbs_warn("the allocator of the context has no %zu bytes", bytes);
	return addr;
}

static void pages_free(void *addr, void *arg)
{
	const struct mlx5_allocators *allocators = arg;

	allocators->of_program.free(addr, allocators->of_program.data);
}

/* Records come from pages that the pool of the context cuts. */
static void *domain_alloc(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
			  uint64_t type)
{
	(void)pd;
	(void)alignment;
	return type == MLX5DV_RES_TYPE_DBR ? IBV_ALLOCATOR_USE_DEFAULT
					   : pages_alloc(size, pd_context);
}

static void domain_free(struct ibv_pd *pd, void *pd_context, void *addr, uint64_t type)
{
	(void)pd;
	(void)type;
	pages_free(addr, pd_context);
}

int mlx5_allocators_set(struct mlx5_context *ctx, const struct mlx5dv_ctx_allocators *of_program)
{
	struct mlx5_allocators *allocators =
		calloc_for("mlx5dv_set_context_attr", 1, sizeof(*allocators));

	if (!allocators)
		return ENOMEM;
	allocators->of_program = *of_program;
	allocators->source = (struct hwbuf_source){ pages_alloc, pages_free, allocators };
	allocators->domain.pd.context = &ctx->vctx.context;
	allocators->domain.alloc = domain_alloc;
	allocators->domain.free = domain_free;
	allocators->domain.pd_context = allocators;
	allocators->before = ctx->allocators;
	ctx->allocators = allocators;
	provider_dbrec_pool_set_source(&ctx->dbrecs, &allocators->source);
	return 0;
}

void mlx5_allocators_free(struct mlx5_context *ctx)
{
	struct mlx5_allocators *allocators;

	while ((allocators = ctx->allocators)) {
		ctx->allocators = allocators->before;
		free(allocators);
	}
}

struct ibv_pd *mlx5_allocators_domain(struct mlx5_context *ctx, struct ibv_pd *pd)
{
	return ctx->allocators && !(pd && to_ppd(pd)->alloc) ? &ctx->allocators->domain.pd : pd;
}
