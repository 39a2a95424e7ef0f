/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls.c - valid and invalid calls, without sending frames.
 *
 * Covers: providers/mlx5/dv/flow.c, providers/mlx5/dv/flow_action.c,
 * softhca/front/process/uverbs/flow/matcher.c, softhca/front/process/uverbs/flow/dv.c,
 * softhca/front/process/uverbs/flow/action.c, libibverbs/cmd/cmd_flow_action.c,
 * providers/mlx5/dv/anchor.c, softhca/front/process/uverbs/flow/anchor.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/verbs/steer/steer.h"
#include "util/bits.h"

enum { TOO_LONG = 70000, UNKNOWN = 99 };

static void try_matcher(struct ibv_context *ctx, struct mlx5dv_flow_matcher_attr *attr,
			size_t mask_size, const char *what)
{
	struct mlx5dv_flow_matcher *matcher;

	attr->match_mask = steer_match(mask_size);
	matcher = SAY_PTR(mlx5dv_create_flow_matcher(ctx, attr), "%s", what);
	if (matcher)
		SAY_RET(mlx5dv_destroy_flow_matcher(matcher), "destroy");
	free(attr->match_mask);
}

#define NORMAL    .type = IBV_FLOW_ATTR_NORMAL, .match_criteria_enable = PRM_MATCH_OUTER
#define TABLE(of) .comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE, .ft_type = (of)

static const struct {
	const char *name;
	struct mlx5dv_flow_matcher_attr attr;
} matchers[] = {
	{ "plain", { NORMAL } },
	{ "every set of fields", { .match_criteria_enable = 0xff } },
	{ "no set of fields", { .match_criteria_enable = 0 } },
	{ "the last priority", { NORMAL, .priority = 15 } },
	{ "a priority that there is not", { NORMAL, .priority = 16 } },
	{ "of what is sent", { NORMAL, .flags = IBV_FLOW_ATTR_FLAGS_EGRESS } },
	{ "that others see, too", { NORMAL, .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP } },
	{ "unknown flags", { NORMAL, .flags = 0x100 } },
	{ "NIC RX", { NORMAL, TABLE(MLX5DV_FLOW_TABLE_TYPE_NIC_RX) } },
	{ "NIC TX", { NORMAL, TABLE(MLX5DV_FLOW_TABLE_TYPE_NIC_TX) } },
	{ "FDB", { NORMAL, TABLE(MLX5DV_FLOW_TABLE_TYPE_FDB) } },
	{ "RDMA RX", { NORMAL, TABLE(MLX5DV_FLOW_TABLE_TYPE_RDMA_RX) } },
	{ "RDMA TX", { NORMAL, TABLE(MLX5DV_FLOW_TABLE_TYPE_RDMA_TX) } },
	{ "no such table", { NORMAL, TABLE((enum mlx5dv_flow_table_type)9) } },
	{ "a table, and flags",
	  { NORMAL, TABLE(MLX5DV_FLOW_TABLE_TYPE_NIC_TX), .flags = IBV_FLOW_ATTR_FLAGS_EGRESS } },
	{ "a table that comp_mask does not name",
	  { NORMAL, .ft_type = (enum mlx5dv_flow_table_type)9 } },
	{ "an unknown comp_mask", { NORMAL, .comp_mask = 1 << 7 } },
	{ "all by default", { .type = IBV_FLOW_ATTR_ALL_DEFAULT } },
	{ "groups by default", { .type = IBV_FLOW_ATTR_MC_DEFAULT } },
	{ "a sniffer", { .type = IBV_FLOW_ATTR_SNIFFER } },
	{ "of no type", { .type = (enum ibv_flow_attr_type)UNKNOWN } },
};

void steer_matchers(struct rig *rig)
{
	static const size_t sizes[] = { 0, 1, 4, 64, 640, 644, 1024, TOO_LONG };
	char what[40];

	for (size_t i = 0; i < ARRAY_SIZE(matchers); i++) {
		struct mlx5dv_flow_matcher_attr attr = matchers[i].attr;

		try_matcher(rig->ctx, &attr, 64, matchers[i].name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct mlx5dv_flow_matcher_attr attr = { NORMAL };

		snprintf(what, sizeof(what), "a mask of %zu bytes", sizes[i]);
		try_matcher(rig->ctx, &attr, sizes[i], what);
	}
}

static const struct {
	const char *name;
	struct mlx5dv_steering_anchor_attr attr;
} anchors[] = {
	{ "of what is received", { .ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX } },
	{ "of the last priority", { .priority = 15 } },
	{ "of what is sent", { .ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX, .priority = 1 } },
	{ "FDB", { .ft_type = MLX5DV_FLOW_TABLE_TYPE_FDB } },
	{ "RDMA RX", { .ft_type = MLX5DV_FLOW_TABLE_TYPE_RDMA_RX } },
	{ "RDMA TX", { .ft_type = MLX5DV_FLOW_TABLE_TYPE_RDMA_TX } },
	{ "of no such table", { .ft_type = (enum mlx5dv_flow_table_type)9 } },
	{ "an unknown comp_mask", { .comp_mask = 1 } },
	{ "an unknown comp_mask, far up", { .comp_mask = 1ull << 40 } },
};

static struct mlx5dv_steering_anchor *make_anchor(struct rig *rig, unsigned int priority)
{
	struct mlx5dv_steering_anchor_attr attr = { .priority = (uint16_t)priority };
	struct mlx5dv_steering_anchor *anchor = mlx5dv_create_steering_anchor(rig->ctx, &attr);

	MUST(anchor);
	return anchor;
}

/* Linux does not look at it; on InfiniBand there are no anchors at all. */
static void refuse_priorities(struct rig *rig)
{
	static const uint16_t refused[] = { 16, 17, 65535 };

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct mlx5dv_steering_anchor_attr attr = { .priority = refused[i] };

		SAY_PTR(mlx5dv_create_steering_anchor(rig->ctx, &attr), "of priority %u",
			refused[i]);
	}
}

/* All anchors of one priority are one table. */
static void say_tables(struct rig *rig)
{
	struct mlx5dv_steering_anchor *one = make_anchor(rig, 1), *same = make_anchor(rig, 1);
	struct mlx5dv_steering_anchor *other = make_anchor(rig, 2);

	say("the same table %d, another %d", one->id == same->id, one->id != other->id);
	MUST(!mlx5dv_destroy_steering_anchor(one));
	one = make_anchor(rig, 1);
	say("the same again %d", one->id == same->id);
	MUST(!mlx5dv_destroy_steering_anchor(one) && !mlx5dv_destroy_steering_anchor(same) &&
	     !mlx5dv_destroy_steering_anchor(other));
}

void steer_anchors(struct rig *rig)
{
	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++) {
		struct mlx5dv_steering_anchor_attr attr = anchors[i].attr;
		struct mlx5dv_steering_anchor *anchor = SAY_PTR(
			mlx5dv_create_steering_anchor(rig->ctx, &attr), "%s", anchors[i].name);

		if (anchor)
			SAY_RET(mlx5dv_destroy_steering_anchor(anchor), "destroy");
	}
	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return;
	refuse_priorities(rig);
	say_tables(rig);
}

struct ends {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *raw, *rc;
	struct steer_counter counter;
};

static struct ibv_qp *make_qp(const struct ends *ends, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = ends->cq, .recv_cq = ends->cq, .qp_type = type, .cap = { 4, 4, 1, 1, 0 }
	};

	return ibv_create_qp(ends->pd, &attr);
}

/* Left out on InfiniBand, which has no QPs of frames, and no counters of them. */
static bool ends_open(struct rig *rig, struct ends *ends)
{
	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return false;
	MUST(ends->pd = ibv_alloc_pd(rig->ctx));
	MUST(ends->cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0));
	MUST(ends->raw = make_qp(ends, IBV_QPT_RAW_PACKET));
	MUST(ends->rc = make_qp(ends, IBV_QPT_RC));
	ends->counter = steer_counter_make(rig->ctx);
	return true;
}

static void ends_close(struct ends *ends)
{
	MUST(!mlx5dv_devx_obj_destroy(ends->counter.obj));
	MUST(!ibv_destroy_qp(ends->rc) && !ibv_destroy_qp(ends->raw));
	MUST(!ibv_destroy_cq(ends->cq) && !ibv_dealloc_pd(ends->pd));
}

static void try_flow(struct rig *rig, const struct steer_rule *rule, const char *what, size_t count,
		     struct mlx5dv_flow_action_attr *actions)
{
	struct steered steered = steer_make(rig->ctx, rule, count, actions, what);

	steer_end(&steered);
}

#define TRY(rule, what, ...)                                                  \
	do {                                                                  \
		struct mlx5dv_flow_action_attr actions_[] = { __VA_ARGS__ };  \
		try_flow(rig, &(rule), what, ARRAY_SIZE(actions_), actions_); \
	} while (0)

static const struct mlx5dv_flow_action_attr unknown = {
	.type = (enum mlx5dv_flow_action_type)UNKNOWN
};
static const struct mlx5dv_flow_action_attr counted_by_verbs = {
	.type = MLX5DV_FLOW_ACTION_IBV_COUNTER
};

static void targets(struct rig *rig, const struct steer_rule *rule, const struct ends *ends)
{
	try_flow(rig, rule, "nowhere", 0, NULL);
	TRY(*rule, "a QP", TO_QP(ends->raw));
	TRY(*rule, "two QPs", TO_QP(ends->raw), TO_QP(ends->raw));
	TRY(*rule, "an RC QP", TO_QP(ends->rc));
	TRY(*rule, "drop", DROPPED);
	TRY(*rule, "drop twice", DROPPED, DROPPED);
	TRY(*rule, "miss", MISSED);
	TRY(*rule, "drop and miss", DROPPED, MISSED);
	TRY(*rule, "a QP and drop", TO_QP(ends->raw), DROPPED);
	TRY(*rule, "a QP and miss", TO_QP(ends->raw), MISSED);
	TRY(*rule, "a counter as a target", TO_OBJECT(ends->counter.obj));
	TRY(*rule, "a QP and an object", TO_QP(ends->raw), TO_OBJECT(ends->counter.obj));
}

static void extras(struct rig *rig, const struct steer_rule *rule, const struct ends *ends)
{
	TRY(*rule, "a tag", TAGGED(7), TO_QP(ends->raw));
	TRY(*rule, "the last tag", TAGGED(0xffffff), TO_QP(ends->raw));
	TRY(*rule, "a tag too large", TAGGED(0x1000000), TO_QP(ends->raw));
	TRY(*rule, "two tags", TAGGED(1), TAGGED(1), TO_QP(ends->raw));
	TRY(*rule, "a tag of what is dropped", TAGGED(1), DROPPED);
	TRY(*rule, "a counter", COUNTED(ends->counter.obj), TO_QP(ends->raw));
	TRY(*rule, "a counter of what is dropped", COUNTED(ends->counter.obj), DROPPED);
	TRY(*rule, "a counter of nothing", COUNTED(ends->counter.obj));
	TRY(*rule, "two counters", COUNTED(ends->counter.obj), COUNTED(ends->counter.obj));
	TRY(*rule, "a counter of verbs", counted_by_verbs, TO_QP(ends->raw));
	TRY(*rule, "an unknown action", unknown, TO_QP(ends->raw));
	TRY(*rule, "an unknown action at last", TO_QP(ends->raw), unknown);
}

static void values(struct rig *rig, const struct steer_rule *rule, const struct ends *ends)
{
	static const size_t sizes[] = { 0, 1, 64, 640, 644, TOO_LONG };
	struct mlx5dv_flow_matcher *matcher = steer_matcher(rig->ctx, rule);
	struct mlx5dv_flow_action_attr action = TO_QP(ends->raw);

	MUST(matcher);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct mlx5dv_flow_match_parameters *value = steer_match(sizes[i]);
		struct ibv_flow *flow = SAY_PTR(mlx5dv_create_flow(matcher, value, 1, &action),
						"a value of %zu bytes", sizes[i]);

		if (flow)
			MUST(!ibv_destroy_flow(flow));
		free(value);
	}
	MUST(!mlx5dv_destroy_flow_matcher(matcher));
}

static void beside_mask(struct rig *rig, const struct ends *ends)
{
	const struct steer_rule rule = { .criteria = PRM_MATCH_OUTER,
					 .field = { { OUTER(LYR_2_4_UDP_DPORT), 0xff, 0x1ff } } };
	const struct steer_rule reserved = {
		.criteria = PRM_MATCH_OUTER,
		.field = { { OUTER(FLD(0x18, 31, 24)), 0xff, 1 } },
	};
	const struct steer_rule not_counted = {
		.field = { { OUTER(LYR_2_4_UDP_DPORT), 0xffff, 1 } },
	};
	const struct steer_rule every_set = { .criteria = 0xff };

	TRY(rule, "a value beside the mask", TO_QP(ends->raw));
	TRY(reserved, "a field that the device does not know", TO_QP(ends->raw));
	TRY(not_counted, "fields of a set that does not count", TO_QP(ends->raw));
	TRY(every_set, "sets that the device does not have", TO_QP(ends->raw));
}

static const struct steer_rule rules[] = {
	{ STEER_TO_PORT(200) },
	{ STEER_TO_PORT(200), .priority = 16 },
	{ STEER_TO_PORT(200), .table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX },
	{ STEER_TO_PORT(200), .table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX, .priority = 16 },
	{ STEER_TO_PORT(200), .table = MLX5DV_FLOW_TABLE_TYPE_RDMA_RX },
	{ STEER_TO_PORT(200), .table = MLX5DV_FLOW_TABLE_TYPE_RDMA_TX },
};

void steer_flows(struct rig *rig)
{
	struct ends ends;

	if (!ends_open(rig, &ends)) {
		struct mlx5dv_flow_action_attr action = DROPPED;

		try_flow(rig, &rules[0], "drop", 1, &action);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		say("table %d, priority %u", (int)rules[i].table, rules[i].priority);
		targets(rig, &rules[i], &ends);
		extras(rig, &rules[i], &ends);
	}
	values(rig, &rules[0], &ends);
	beside_mask(rig, &ends);
	ends_close(&ends);
}

static void in_use(struct rig *rig, struct ends *ends)
{
	const struct steer_rule rule = { STEER_TO_PORT(200) };
	struct mlx5dv_flow_action_attr actions[] = { TO_QP(ends->raw), COUNTED(ends->counter.obj) };
	struct steered steered = steer_make(rig->ctx, &rule, 2, actions, "a flow");

	MUST(steered.flow);
	SAY_RET(mlx5dv_destroy_flow_matcher(steered.matcher), "destroy the matcher");
	SAY_RET(ibv_destroy_qp(ends->raw), "destroy the QP");
	MUST(mlx5dv_devx_obj_destroy(ends->counter.obj));
	steer_end(&steered);
}

void steer_in_use(struct rig *rig)
{
	struct ends ends;

	if (!ends_open(rig, &ends))
		return;
	in_use(rig, &ends);
	ends_close(&ends);
}

/* ---- actions as objects */

static void say_action(struct ibv_flow_action *action, const char *what, size_t size, int table)
{
	int err = errno;

	if (action)
		MUST(!ibv_destroy_flow_action(action));
	errno = err;
	say_ptr(action, "%s, %zu bytes, table %d", what, size, table);
}

/* Adapters that announce no such action have none. */
static void try_changes(struct ibv_context *ctx, size_t size, int table)
{
	static uint64_t changes[TOO_LONG / sizeof(uint64_t)];

	errno = 0;
	say_action(mlx5dv_create_flow_action_modify_header(ctx, size, changes,
							   (enum mlx5dv_flow_table_type)table),
		   "changes", size, table);
}

static void try_reformat(struct ibv_context *ctx, size_t size, int type, int table)
{
	static uint8_t header[TOO_LONG];
	char what[40];

	snprintf(what, sizeof(what), "reformat of type %d", type);
	errno = 0;
	say_action(mlx5dv_create_flow_action_packet_reformat(
			   ctx, size, size ? header : NULL,
			   (enum mlx5dv_flow_action_packet_reformat_type)type,
			   (enum mlx5dv_flow_table_type)table),
		   what, size, table);
}

void steer_actions(struct rig *rig)
{
	static const size_t sizes[] = { 0, 4, 8, 12, 16, TOO_LONG };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		try_changes(rig->ctx, sizes[i], MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	try_changes(rig->ctx, 8, UNKNOWN);
	for (int type = 0; type < 5; type++)
		for (int table = 0; table < 3; table++)
			try_reformat(rig->ctx, 14, type, table);
	try_reformat(rig->ctx, 0, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
		     MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	try_reformat(rig->ctx, TOO_LONG, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
		     MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
}

void steer_esp(struct rig *rig)
{
	struct ibv_flow_action_esp_attr attr = { .comp_mask = 0 };
	struct mlx5dv_flow_action_esp dv = { .comp_mask = 0 };

	SAY_PTR(mlx5dv_create_flow_action_esp(rig->ctx, &attr, &dv), "without flags");
	dv.comp_mask = MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS;
	SAY_PTR(mlx5dv_create_flow_action_esp(rig->ctx, &attr, &dv), "with flags");
	dv.comp_mask = 1 << 7;
	SAY_PTR(mlx5dv_create_flow_action_esp(rig->ctx, &attr, &dv), "an unknown comp_mask");
}
