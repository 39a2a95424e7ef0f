/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - the family "flow": flows, actions on them, and counters.
 *
 * Covers: providers/mlx5/flow.c, providers/mlx4/flow.c, libibverbs/cmd/cmd_flow.c
 */
#include "odd.h"

struct frame_rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
};

static void *rule(void)
{
	static struct frame_rule rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			 .size = sizeof(rule.eth),
			 .val.dst_mac = { 2, 0, 0, 0, 0, 1 },
			 .mask.dst_mac = { 255, 255, 255, 255, 255, 255 } },
	};

	return &rule;
}

static void *counters_attr(void)
{
	static struct ibv_counters_init_attr attr;

	return &attr;
}

static void *attach_attr(void)
{
	static struct ibv_counter_attach_attr attr;

	return &attr;
}

static void *esp(void)
{
	static struct ibv_flow_action_esp_attr attr;
	static struct ibv_flow_action_esp esp;

	attr.esp_attr = &esp;
	return &attr;
}

#define RULE_FIELD(field) ODD_FIELD(struct frame_rule, field)
static const struct odd_field rule_fields[] = {
	RULE_FIELD(attr.comp_mask),    RULE_FIELD(attr.type),
	RULE_FIELD(attr.size),         RULE_FIELD(attr.priority),
	RULE_FIELD(attr.num_of_specs), RULE_FIELD(attr.port),
	RULE_FIELD(attr.flags),        RULE_FIELD(eth.type),
	RULE_FIELD(eth.size),          { 0 }
};
static const struct odd_field counters_fields[] = {
	ODD_FIELD(struct ibv_counters_init_attr, comp_mask), { 0 }
};
static const struct odd_field attach_fields[] = {
	ODD_FIELD(struct ibv_counter_attach_attr, counter_desc),
	ODD_FIELD(struct ibv_counter_attach_attr, index),
	ODD_FIELD(struct ibv_counter_attach_attr, comp_mask),
	{ 0 }
};
static const struct odd_field esp_fields[] = {
	ODD_POINTER(struct ibv_flow_action_esp_attr, esp_attr),
	ODD_FIELD(struct ibv_flow_action_esp_attr, comp_mask),
	ODD_FIELD(struct ibv_flow_action_esp_attr, keymat_proto),
	{ 0 }
};

#define COUNT_ARG NUMBER_ARG("count", 2, V("0", 0), V("65536", 65536), V("all ones", 0xffffffff))
static const struct odd_arg arg_qp_raw = { "qp", .make = odd_qp_raw,
					   .values = { { "of RC", .make = odd_qp_rts },
						       { "of UD", .make = odd_qp_ud } } };

static const struct odd_call calls[] = {
	{ "ibv_create_flow",
	  OBJECT,
	  INLINE(ibv_create_flow),
	  { &arg_qp_raw, ATTR_ARG("flow", rule, rule_fields) } },
	{ "ibv_create_flow_action_esp",
	  OBJECT,
	  INLINE(ibv_create_flow_action_esp),
	  { &arg_context, ATTR_ARG("esp", esp, esp_fields) } },
	{ "ibv_create_counters",
	  OBJECT,
	  INLINE(ibv_create_counters),
	  { &arg_context, ATTR_ARG("attr", counters_attr, counters_fields) } },
	{ "ibv_destroy_counters", ERRNO, INLINE(ibv_destroy_counters), { GOOD_ARG(odd_counters) } },
	{ "ibv_attach_counters_point_flow",
	  ERRNO,
	  INLINE(ibv_attach_counters_point_flow),
	  { GOOD_ARG(odd_counters), ATTR_ARG("attr", attach_attr, attach_fields),
	    NUMBER_ARG("flow", 0) } },
	{ "ibv_read_counters",
	  ERRNO,
	  INLINE(ibv_read_counters),
	  { GOOD_ARG(odd_counters), &arg_out, COUNT_ARG, &arg_flags } },
};

ODD_FAMILY(flow, calls);
