/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flows as objects, for all formats in which programs describe them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_FLOW_FLOW_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_FLOW_FLOW_H

#include "softhca/front/process/driver/steering.h"
#include "softhca/front/process/uverbs/objects.h"

/* Objects that a flow uses, and keeps from being destroyed: QP, counters, matcher, actions. */
enum { FLOW_ACTIONS = 2, FLOW_USES = 3 + FLOW_ACTIONS };

struct uverbs_flow {
	struct object base;
	struct steering_rule *rule;
	struct object *uses[FLOW_USES]; /* NULL: none */
};

/* Makes a flow without a handle yet. Returns 0 or a positive errno. */
int flow_make(struct uverbs_call *uc, const struct steering_request *request,
	      struct object *const uses[FLOW_USES], struct uverbs_flow **flow);

/* A change of headers, which flows name (flow/action.c). */
struct uverbs_flow_action {
	struct object base;
	unsigned int action; /* PRM_FLOW_*, one bit */
	uint32_t number;     /* of the device's list or headers; 0: the action has none */
};

/* A matcher: what flows match, which a program describes beforehand (flow/matcher.c). */
struct uverbs_matcher {
	struct object base;
	uint32_t table_type; /* enum mlx5_ib_uapi_flow_table_type */
	uint8_t type;        /* enum mlx5_ib_flow_type */
	uint16_t priority;
	struct steering_match match; /* with mask, without value */
};

#endif
