/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - what a device can do. The kernel is asked once for each context.
 */
#ifndef PROVIDERS_MLX4_DEVICE_H
#define PROVIDERS_MLX4_DEVICE_H

#include <rdma/mlx4-abi.h>
#include "libibverbs/driver.h"

struct device_kind;
struct mlx4_context;

extern const struct device_kind mlx4_device_kind;

int mlx4_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);

/* Sets *RESP to the driver's part of the device's attributes. */
int mlx4_device_resp_get(struct mlx4_context *ctx,
			 const struct mlx4_uverbs_ex_query_device_resp **resp);

#endif
