/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flows as objects, whatever way a program has described them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_FLOW_FLOW_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_FLOW_FLOW_H

#include "softhca/front/process/driver/steering.h"
#include "softhca/front/process/uverbs/objects.h"

/* A QP, counters, a matcher and actions: what a flow keeps from being destroyed. */
enum { FLOW_ACTIONS = 2, FLOW_USES = 3 + FLOW_ACTIONS };

struct uverbs_flow {
	struct object base;
	struct steering_rule *rule;
	struct object *uses[FLOW_USES]; /* NULL: none */
};

/* Makes a flow that has no handle yet. It returns 0 or a positive errno. */
int flow_make(struct uverbs_call *uc, const struct steering_request *request,
	      struct object *const uses[FLOW_USES], struct uverbs_flow **flow);

/* What flows match, as a program has told it beforehand (flow_matcher.c). */
struct uverbs_matcher {
	struct object base;
	uint32_t table_type; /* enum mlx5_ib_uapi_flow_table_type */
	uint8_t type;        /* enum mlx5_ib_flow_type */
	uint16_t priority;
	struct steering_match match; /* without a value */
};

#endif
