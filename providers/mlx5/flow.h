/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flows, the counters that they can have, and flow actions.
 */
#ifndef PROVIDERS_MLX5_FLOW_H
#define PROVIDERS_MLX5_FLOW_H

#include "libibverbs/driver.h"

struct ibv_flow *mlx5_flow_create(struct ibv_qp *qp, struct ibv_flow_attr *attr);
int mlx5_flow_destroy(struct ibv_flow *flow);

struct ibv_counters *mlx5_counters_create(struct ibv_context *context,
					  struct ibv_counters_init_attr *attr);
int mlx5_counters_destroy(struct ibv_counters *counters);
int mlx5_counters_attach(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
			 struct ibv_flow *flow);
int mlx5_counters_read(struct ibv_counters *counters, uint64_t *values, uint32_t ncounters,
		       uint32_t flags);

struct ibv_flow_action *mlx5_flow_action_create_esp(struct ibv_context *context,
						    struct ibv_flow_action_esp_attr *attr);
/* Creates an action with the attributes in UDATA, too, which only mlx5dv_create_flow_action_esp()
 * has. */
struct ibv_flow_action *
mlx5_flow_action_create_esp_with(struct ibv_context *context,
				 const struct ibv_flow_action_esp_attr *attr,
				 const struct verbs_udata *udata);
int mlx5_flow_action_modify_esp(struct ibv_flow_action *action,
				struct ibv_flow_action_esp_attr *attr);
int mlx5_flow_action_destroy(struct ibv_flow_action *action);

#endif
