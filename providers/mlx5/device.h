/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - what a device can do. The kernel is asked once for each context.
 */
#ifndef PROVIDERS_MLX5_DEVICE_H
#define PROVIDERS_MLX5_DEVICE_H

#include <rdma/mlx5-abi.h>
#include "libibverbs/driver.h"

struct device_kind;
struct mlx5_context;

extern const struct device_kind mlx5_device_kind;

int mlx5_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);

int mlx5_device_resp_get(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp **resp);

/* Returns whether the buffers of an SRQ may be on demand. A receive then may fail with a page fault
 * and must be posted again. */
bool mlx5_device_faults_srqs(struct mlx5_context *ctx);

bool mlx5_device_checks_ip(struct mlx5_context *ctx);

#endif
