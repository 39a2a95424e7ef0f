/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn.h - QP numbers that no QP of the device gets: ranges of the device's, dealt out one
 * by one. A number that came back is the last to be given again.
 */
#ifndef PROVIDERS_MLX5_RESERVED_QPN_H
#define PROVIDERS_MLX5_RESERVED_QPN_H

#include <pthread.h>
#include <stdint.h>

struct mlx5_context;
struct qpn_range;

struct qpn_pool {
	pthread_mutex_t lock;
	struct qpn_range *open; /* those that have numbers left; the next is of the first */
	struct qpn_range *full; /* all of their numbers are given out */
};

void mlx5_qpn_pool_init(struct qpn_pool *pool);
void mlx5_qpn_pool_destroy(struct mlx5_context *ctx);

/* Return 0; EOPNOTSUPP of a device without; EINVAL for a number that is not given out; or the errno
 * of the command. */
int mlx5_qpn_reserve(struct mlx5_context *ctx, uint32_t *qpn);
int mlx5_qpn_release(struct mlx5_context *ctx, uint32_t qpn);

#endif
