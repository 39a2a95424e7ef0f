/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - matchers and flows of the kernel's tables, for mlx5dv_create_flow() and its relatives,
 * and for direct rules of root tables.
 *
 * CALL is the name of the program's call, for the log. A failed creation returns NULL and sets
 * errno; other functions return 0 or an errno. Any thread may call them.
 */
#ifndef PROVIDERS_MLX5_DV_FLOW_H
#define PROVIDERS_MLX5_DV_FLOW_H

#include "providers/mlx5/dv/dv.h"

/* Limits of a flow: ioctl attributes (one for each action except flow actions), and flow
 * actions. */
enum { DV_FLOW_ATTRS = 10, DV_FLOW_ACTIONS = 8 };

struct mlx5dv_flow_matcher *mlx5_dv_matcher_create(const char *call, struct ibv_context *context,
						   const struct mlx5dv_flow_matcher_attr *attr);
int mlx5_dv_matcher_destroy(const char *call, struct mlx5dv_flow_matcher *matcher);

/* Creates a flow with COUNT actions, each SIZE bytes after the last. ibv_destroy_flow() destroys
 * it. */
struct ibv_flow *mlx5_dv_flow_create(const char *call, struct mlx5dv_flow_matcher *matcher,
				     const struct mlx5dv_flow_match_parameters *value, size_t count,
				     const void *actions, size_t size);

#endif
