/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn.h - QP numbers that the device gives to no QP. The device reserves ranges; this pool
 * hands out their numbers one by one. A released number is reused last.
 */
#ifndef PROVIDERS_MLX5_QP_RESERVED_QPN_H
#define PROVIDERS_MLX5_QP_RESERVED_QPN_H

#include <pthread.h>
#include <stdint.h>

struct mlx5_context;
struct qpn_range;

struct qpn_pool {
	pthread_mutex_t lock;
	struct qpn_range *open; /* ranges with numbers left; the first one serves next */
	struct qpn_range *full;
};

void mlx5_qpn_pool_init(struct qpn_pool *pool);
void mlx5_qpn_pool_destroy(struct mlx5_context *ctx);

/* Return 0; EOPNOTSUPP for a device without the feature; EINVAL for a number that is not reserved;
 * or the errno of the command. */
int mlx5_qpn_reserve(struct mlx5_context *ctx, uint32_t *qpn);
int mlx5_qpn_release(struct mlx5_context *ctx, uint32_t qpn);

#endif
