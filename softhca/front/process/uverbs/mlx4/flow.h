/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flows that mlx4_ib accepts, and their translation.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_FLOW_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_FLOW_H

#include <stdint.h>

#include "softhca/front/process/driver/steering.h"

struct ib_uverbs_flow_attr;

/* Checks SPECS of ATTR, whose sizes are checked. Returns 0, EINVAL or EOPNOTSUPP. */
int mlx4_flow_check(const struct ib_uverbs_flow_attr *attr, const uint8_t *specs);
void mlx4_flow_match(struct steering_match *match);
/* Sets the table level of a flow, of normal type or a sniffer, by its priority. */
void mlx4_flow_place(const struct ib_uverbs_flow_attr *attr, struct steering_request *request);

#endif
