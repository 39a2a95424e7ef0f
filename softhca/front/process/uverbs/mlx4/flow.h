/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - which flows mlx4_ib takes, and what it makes of them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_FLOW_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_FLOW_H

#include <stdint.h>

#include "softhca/front/process/driver/steering.h"

struct ib_uverbs_flow_attr;

/* SPECS are those of ATTR, whose sizes fit. Returns 0, EINVAL or EOPNOTSUPP. */
int mlx4_flow_check(const struct ib_uverbs_flow_attr *attr, const uint8_t *specs);
/* Takes out of MATCH what the driver ignores. */
void mlx4_flow_match(struct steering_match *match);
/* Says where a flow goes, by its priority, which is of the usual type or a sniffer. */
void mlx4_flow_place(const struct ib_uverbs_flow_attr *attr, struct steering_request *request);

#endif
