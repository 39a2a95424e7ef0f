/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators.h - a program's allocator for the queues of a context (mlx5dv_set_context_attr()).
 *
 * Queues find it in the form that they know, the allocator of a parent domain: it stands for those
 * that are in no such domain, or in one without an allocator. It gives whole pages, for a ring or
 * for many doorbell records.
 */
#ifndef PROVIDERS_MLX5_ALLOCATORS_H
#define PROVIDERS_MLX5_ALLOCATORS_H

#include "libibverbs/driver.h" /* before mlx5dv.h, which names some things of kernel headers */
#include <infiniband/mlx5dv.h>

struct mlx5_context;

/* The function returns 0 or ENOMEM. Queues that exist keep what they have. */
int mlx5_allocators_set(struct mlx5_context *ctx, const struct mlx5dv_ctx_allocators *allocators);
void mlx5_allocators_free(struct mlx5_context *ctx);

/* The function returns the domain whose allocator a queue in PD asks, or PD, which may be NULL. */
struct ibv_pd *mlx5_allocators_domain(struct mlx5_context *ctx, struct ibv_pd *pd);

#endif
