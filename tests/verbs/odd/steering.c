/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering.c - the family "steering": flows in the adapter's format, their matchers and actions,
 * and the calls of DR, which do not exist here.
 *
 * Covers: providers/mlx5/dv/flow.c, providers/mlx5/dv/flow_action.c, providers/mlx5/dv/absent.c,
 * providers/mlx5/dv/dr/action.c
 */
#include <stdlib.h>

#include "odd.h"

enum { MATCH = 64 };

static struct mlx5dv_flow_match_parameters *match(void)
{
	struct mlx5dv_flow_match_parameters *made = calloc(1, sizeof(*made) + MATCH);

	if (made)
		made->match_sz = MATCH;
	return made;
}

static void *match_value(void)
{
	return match();
}

static void *matcher_attr(void)
{
	static struct mlx5dv_flow_matcher_attr attr = { .type = IBV_FLOW_ATTR_NORMAL,
							.match_criteria_enable = 1 };

	attr.match_mask = match();
	return &attr;
}

static void *matcher(void)
{
	static struct mlx5dv_flow_matcher *made;

	if (!made)
		made = mlx5dv_create_flow_matcher(odd_context(), matcher_attr());
	if (!made)
		odd_without("matcher");
	return made;
}

static void *actions(void)
{
	static struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_DEST_IBV_QP };

	action.qp = odd_qp_raw();
	return &action;
}

static void *anchor_attr(void)
{
	static struct mlx5dv_steering_anchor_attr attr;

	return &attr;
}

static void *esp(void)
{
	static struct ibv_flow_action_esp_attr attr;

	return &attr;
}

static void *dv_esp(void)
{
	static struct mlx5dv_flow_action_esp attr;

	return &attr;
}

#define MATCHER_FIELD(field) ODD_FIELD(struct mlx5dv_flow_matcher_attr, field)
static const struct odd_field matcher_fields[] = { MATCHER_FIELD(type),
						   MATCHER_FIELD(flags),
						   MATCHER_FIELD(priority),
						   MATCHER_FIELD(match_criteria_enable),
						   MATCHER_FIELD(comp_mask),
						   MATCHER_FIELD(ft_type),
						   { 0 } };
static const struct odd_field match_fields[] = {
	ODD_FIELD(struct mlx5dv_flow_match_parameters, match_sz), { 0 }
};
static const struct odd_field action_fields[] = { ODD_FIELD(struct mlx5dv_flow_action_attr, type),
						  { 0 } };
static const struct odd_field anchor_fields[] = {
	ODD_FIELD(struct mlx5dv_steering_anchor_attr, ft_type),
	ODD_FIELD(struct mlx5dv_steering_anchor_attr, priority),
	ODD_FIELD(struct mlx5dv_steering_anchor_attr, comp_mask),
	{ 0 }
};

#define MAKER_ARG(arg_name, maker, ...)                                    \
	&(const struct odd_arg)                                            \
	{                                                                  \
		.name = arg_name, .make = maker, .values = { __VA_ARGS__ } \
	}
#define COUNT_ARG NUMBER_ARG("count", 1, V("0", 0), V("17", 17))
#define TYPE_ARG(good) \
	NUMBER_ARG("type", good, V("0", 0), V("1", 1), V("3", 3), V("99", 99), V("-1", -1))
#define SIZE_ARG(good) NUMBER_ARG("size", good, V("0", 0), V("7", 7), V("65536", 65536))
/* DR calls that need no object */
#define NO_OBJECT_ARG NUMBER_ARG("object", 0)

static const struct odd_call calls[] = {
	{ "mlx5dv_create_flow_matcher",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", matcher_attr, matcher_fields) } },
	{ "mlx5dv_destroy_flow_matcher",
	  ERRNO,
	  NULL,
	  { MAKER_ARG("matcher", matcher, V("NULL", 0)) } },
	{ "__mlx5dv_create_flow",
	  OBJECT,
	  NULL,
	  { MAKER_ARG("matcher", matcher, V("NULL", 0)),
	    ATTR_ARG("match", match_value, match_fields), COUNT_ARG,
	    ATTR_ARG("actions", actions, action_fields),
	    NUMBER_ARG("size", sizeof(struct mlx5dv_flow_action_attr), V("0", 0), V("8", 8)) } },
	{ "mlx5dv_create_flow_action_esp",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("esp", esp, NULL), ATTR_ARG("dv", dv_esp, NULL) } },
	{ "mlx5dv_create_flow_action_modify_header",
	  OBJECT,
	  NULL,
	  { &arg_context, SIZE_ARG(8), MAKER_ARG("actions", odd_buffer, V("NULL", 0)),
	    TYPE_ARG(0) } },
	{ "mlx5dv_create_flow_action_packet_reformat",
	  OBJECT,
	  NULL,
	  { &arg_context, SIZE_ARG(64), MAKER_ARG("data", odd_buffer, V("NULL", 0)), TYPE_ARG(2),
	    TYPE_ARG(0) } },
	{ "mlx5dv_create_steering_anchor",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", anchor_attr, anchor_fields) } },
	{ "mlx5dv_dr_action_create_drop", OBJECT, NULL, { NULL } },
	{ "mlx5dv_dr_action_create_default_miss", OBJECT, NULL, { NULL } },
	{ "mlx5dv_dr_action_create_tag",
	  OBJECT,
	  NULL,
	  { NUMBER_ARG("tag", 1, V("0", 0), V("all ones", 0xffffffff)) } },
	{ "mlx5dv_dr_action_create_pop_vlan", OBJECT, NULL, { NULL } },
	{ "mlx5dv_dr_action_create_dest_ibv_qp",
	  OBJECT,
	  NULL,
	  { MAKER_ARG("qp", odd_qp_raw, V("NULL", 0), { "of RC", .make = odd_qp_rc }) } },
	{ "mlx5dv_dr_action_create_dest_devx_tir", OBJECT, NULL, { NO_OBJECT_ARG } },
	{ "mlx5dv_dr_action_create_flow_counter",
	  OBJECT,
	  NULL,
	  { NO_OBJECT_ARG, NUMBER_ARG("offset", 0, V("all ones", 0xffffffff)) } },
	{ "mlx5dv_dr_domain_create", OBJECT, NULL, { &arg_context, TYPE_ARG(0) } },
};

ODD_FAMILY(steering, calls);
