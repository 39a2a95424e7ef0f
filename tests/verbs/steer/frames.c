/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames.c - effects of flows on frames: the receiver, the tag, and counters.
 *
 * Covers: softhca/front/process/uverbs/flow/dv.c, softhca/front/process/driver/steering.c,
 * softhca/device/eth/flow/flow_entry.c, softhca/device/eth/flow/flow_match.c
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/tir.h"
#include "tests/verbs/steer/steer.h"
#include "util/bits.h"

enum { PORT = 200, OTHER = 201 };

static const struct steer_rule to_port = { STEER_TO_PORT(PORT) }, to_all = { STEER_TO_ALL };

static struct steered one_action(struct rig *rig, const struct steer_rule *rule,
				 struct mlx5dv_flow_action_attr action, const char *what)
{
	return steer_make(rig->ctx, rule, 1, &action, what);
}

static struct steered two_actions(struct rig *rig, const struct steer_rule *rule,
				  struct mlx5dv_flow_action_attr one,
				  struct mlx5dv_flow_action_attr two, const char *what)
{
	struct mlx5dv_flow_action_attr actions[] = { one, two };

	return steer_make(rig->ctx, rule, 2, actions, what);
}

struct steer_case {
	const char *name;
	struct steer_rule rule;
	struct raw_frame right, wrong;
};

#define FRAME(of, next, hops, from, to, at, port)                                       \
	.version = (of), .protocol = (next), .ttl = (hops), .src = (from), .dst = (to), \
	.sport = (at), .dport = (port)
#define UDP4 FRAME(4, 17, 9, 1, 2, 100, PORT)
#define UDP6 FRAME(6, 17, 9, 1, 2, 100, PORT)
#define OF(sets, ...)                                        \
	{                                                    \
		.criteria = (sets), .field = { __VA_ARGS__ } \
	}
#define IS(field, width, number)                                 \
	{                                                        \
		field, (uint32_t)((1ull << (width)) - 1), number \
	}

static const struct steer_case cases[] = {
	{ "ether type",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_ETHERTYPE), 16, 0x86dd)),
	  { UDP6 },
	  { UDP4 } },
	{ "VLAN",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_CVLAN_TAG), 1, 1),
	     IS(OUTER(LYR_2_4_FIRST_VID), 12, 5)),
	  { UDP4, .vlan = true, .vid = 5 },
	  { UDP4, .vlan = true, .vid = 6 } },
	{ "IP version",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_IP_VERSION), 4, 6)),
	  { UDP6 },
	  { UDP4 } },
	{ "IPv4 source",
	  OF(PRM_MATCH_OUTER, IS(OUTER(FLD(0x2c, 31, 0)), 32, 0x0a000001)),
	  { UDP4 },
	  { FRAME(4, 17, 9, 3, 2, 100, PORT) } },
	{ "IPv4 destination, its last bits",
	  OF(PRM_MATCH_OUTER, { OUTER(FLD(0x3c, 31, 0)), 7, 2 }),
	  { FRAME(4, 17, 9, 1, 10, 100, PORT) },
	  { FRAME(4, 17, 9, 1, 11, 100, PORT) } },
	{ "IPv6 destination",
	  OF(PRM_MATCH_OUTER, IS(OUTER(FLD(0x3c, 31, 0)), 32, 2)),
	  { UDP6 },
	  { FRAME(6, 17, 9, 1, 3, 100, PORT) } },
	{ "time to live",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_TTL_HOPLIMIT), 8, 9)),
	  { UDP4 },
	  { FRAME(4, 17, 8, 1, 2, 100, PORT) } },
	{ "traffic class",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_IP_DSCP), 6, 8), IS(OUTER(LYR_2_4_IP_ECN), 2, 1)),
	  { UDP4, .tos = 0x21 },
	  { UDP4, .tos = 0x22 } },
	{ "UDP ports",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_UDP_SPORT), 16, 100),
	     IS(OUTER(LYR_2_4_UDP_DPORT), 16, PORT)),
	  { UDP4 },
	  { FRAME(4, 17, 9, 1, 2, 101, PORT) } },
	{ "TCP port",
	  OF(PRM_MATCH_OUTER, IS(OUTER(LYR_2_4_TCP_DPORT), 16, PORT)),
	  { FRAME(4, 6, 9, 1, 2, 100, PORT) },
	  { UDP4 } },
	{ "GRE key",
	  OF(PRM_MATCH_MISC, IS(MISC(FLD(0x10, 31, 0)), 32, 77),
	     IS(MISC(MISC_GRE_PROTOCOL), 16, 0x6558)),
	  { FRAME(4, 47, 9, 1, 2, 0, 0), .key = 77 },
	  { FRAME(4, 47, 9, 1, 2, 0, 0), .key = 78 } },
	{ "VXLAN network",
	  OF(PRM_MATCH_OUTER | PRM_MATCH_MISC, IS(OUTER(LYR_2_4_UDP_DPORT), 16, 4789),
	     IS(MISC(MISC_VXLAN_VNI), 24, 5)),
	  { FRAME(4, 17, 9, 1, 2, 100, 4789), .key = 5 },
	  { FRAME(4, 17, 9, 1, 2, 100, 4789), .key = 6 } },
	{ "group",
	  OF(PRM_MATCH_OUTER, { OUTER(LYR_2_4_DMAC_47_16), 0x01000000, 0x01000000 }),
	  { UDP4, .group = true },
	  { UDP4 } },
};

void steer_fields(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct steer_case *c = &cases[i];
		struct steered steered = one_action(rig, &c->rule, TO_QP(raw.to[0]), c->name);

		steer_send_frame(rig, &raw, &c->right, "right");
		steer_send_frame(rig, &raw, &c->wrong, "wrong");
		steer_end(&steered);
		steer_send_frame(rig, &raw, &c->right, "without the flow");
	}
	raw_close(&raw);
}

static void order(struct rig *rig, struct raw *raw)
{
	const struct steer_rule later = { STEER_TO_PORT(PORT), .priority = 1 };
	const struct steer_rule first = { STEER_TO_ALL, .priority = 0 };
	struct steered one = one_action(rig, &later, TO_QP(raw->to[0]), "to one by priority 1");
	struct steered other;

	steer_send(rig, raw, PORT, "alone");
	other = one_action(rig, &first, TO_QP(raw->to[1]), "to the other by priority 0");
	steer_send(rig, raw, PORT, "the other is before it");
	steer_end(&other);
	steer_send(rig, raw, PORT, "alone again");
	other = one_action(rig, &to_all, TO_QP(raw->to[1]), "all, by priority 0");
	steer_end(&one);
	one = one_action(rig, &to_port, TO_QP(raw->to[0]), "some, by priority 0, later");
	steer_send(rig, raw, PORT, "of one priority");
	steer_end(&other);
	steer_end(&one);
}

void steer_order(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	order(rig, &raw);
	raw_close(&raw);
}

static void shared(struct rig *rig, struct raw *raw)
{
	struct steered one = one_action(rig, &to_port, TO_QP(raw->to[0]), "to one");
	struct steered same = one_action(rig, &to_port, TO_QP(raw->to[0]), "to the same");
	struct steered other, drop;

	steer_send(rig, raw, PORT, "the same twice");
	other = one_action(rig, &to_port, TO_QP(raw->to[1]), "to another");
	steer_send(rig, raw, PORT, "and another");
	drop = one_action(rig, &to_port, DROPPED, "drop what others take");
	steer_end(&drop);
	steer_end(&one);
	steer_send(rig, raw, PORT, "the first has gone");
	steer_end(&same);
	steer_send(rig, raw, PORT, "the second has gone");
	steer_end(&other);
	drop = one_action(rig, &to_port, DROPPED, "drop");
	same = one_action(rig, &to_port, DROPPED, "drop once more");
	other = one_action(rig, &to_port, TO_QP(raw->to[1]), "take what others drop");
	steer_end(&drop);
	steer_end(&same);
	steer_end(&other);
}

void steer_shared(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	shared(rig, &raw);
	raw_close(&raw);
}

/* Says the tag of the next frame that was sent. */
static void take_tagged(struct raw *raw, const char *what)
{
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)raw->cq[0];
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };

	rig_settle();
	if (ibv_start_poll(cq, &attr)) {
		say("%s: no frame", what);
		return;
	}
	say("%s: status %d, tag %#x", what, (int)cq->status, ibv_wc_read_flow_tag(cq));
	raw_post_receive(raw, 0, (unsigned int)cq->wr_id);
	ibv_end_poll(cq);
}

static void send_tagged(struct rig *rig, struct raw *raw, const char *what)
{
	const struct raw_frame frame = { UDP4 };

	raw_send(raw, raw_frame_build(rig, &frame, raw->buf), 0);
	take_tagged(raw, what);
}

static void tags(struct rig *rig, struct raw *raw)
{
	struct steered one = one_action(rig, &to_port, TO_QP(raw->to[0]), "without a tag"), two;

	send_tagged(rig, raw, "without a tag");
	two = two_actions(rig, &to_port, TAGGED(5), TO_QP(raw->to[0]), "the same with a tag");
	steer_end(&two);
	steer_end(&one);
	one = two_actions(rig, &to_port, TAGGED(0xabcdef), TO_QP(raw->to[0]), "with a tag");
	send_tagged(rig, raw, "with a tag");
	two = two_actions(rig, &to_port, TAGGED(5), TO_QP(raw->to[0]), "the same with another");
	steer_end(&two);
	two = one_action(rig, &to_port, TO_QP(raw->to[1]), "the same with none");
	send_tagged(rig, raw, "the tag stays");
	steer_end(&two);
	steer_end(&one);
}

void steer_tags(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, IBV_WC_EX_WITH_FLOW_TAG, &raw))
		return;
	tags(rig, &raw);
	raw_close(&raw);
}

void steer_drops(struct rig *rig)
{
	struct steered drop, all;
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	drop = one_action(rig, &to_port, DROPPED, "drop");
	all = one_action(rig, &(struct steer_rule){ STEER_TO_ALL, .priority = 1 }, TO_QP(raw.to[0]),
			 "all");
	steer_send(rig, &raw, PORT, "dropped");
	steer_send(rig, &raw, OTHER, "another");
	steer_end(&drop);
	steer_send(rig, &raw, PORT, "no more dropped");
	steer_end(&all);
	raw_close(&raw);
}

void steer_misses(struct rig *rig)
{
	struct ibv_flow_attr attr = { .type = IBV_FLOW_ATTR_ALL_DEFAULT,
				      .size = sizeof(attr),
				      .port = RIG_PORT };
	struct steered miss, all;
	struct ibv_flow *left;
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	MUST(left = ibv_create_flow(raw.to[1], &attr));
	miss = one_action(rig, &to_port, MISSED, "miss");
	all = one_action(rig, &(struct steer_rule){ STEER_TO_ALL, .priority = 1 }, TO_QP(raw.to[0]),
			 "all");
	steer_send(rig, &raw, PORT, "missed");
	steer_send(rig, &raw, OTHER, "another");
	steer_end(&miss);
	steer_send(rig, &raw, PORT, "no more missed");
	steer_end(&all);
	MUST(!ibv_destroy_flow(left));
	raw_close(&raw);
}

static void counters(struct rig *rig, struct raw *raw)
{
	struct steer_counter counter = steer_counter_make(rig->ctx);
	struct steered one, other;

	one = two_actions(rig, &to_port, COUNTED(counter.obj), TO_QP(raw->to[0]), "counted");
	steer_counter_say(&counter, "nothing yet");
	steer_send(rig, raw, PORT, "one");
	steer_send(rig, raw, OTHER, "not counted");
	steer_counter_say(&counter, "one");
	other = two_actions(rig, &(struct steer_rule){ STEER_TO_PORT(OTHER) }, COUNTED(counter.obj),
			    DROPPED, "dropped and counted");
	steer_send(rig, raw, OTHER, "dropped");
	steer_counter_say(&counter, "both");
	steer_end(&one);
	steer_end(&other);
	steer_counter_say(&counter, "afterwards");
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
}

void steer_counters(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	counters(rig, &raw);
	raw_close(&raw);
}

static uint32_t qp_rqn(struct ibv_qp *qp)
{
	struct mlx5dv_qp parts = { .comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES };
	struct mlx5dv_obj obj = { .qp = { qp, &parts } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	return parts.rqn;
}

static struct mlx5dv_devx_obj *make_domain(struct ibv_context *ctx, uint32_t *number)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct mlx5dv_devx_obj *domain;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_TRANSPORT_DOMAIN);
	MUST(domain = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)));
	*number = (uint32_t)fld_get(out, FLD(0x8, 23, 0));
	return domain;
}

static struct mlx5dv_devx_obj *make_tir(struct ibv_context *ctx, uint32_t domain, uint32_t rqn,
					uint32_t *number)
{
	uint8_t in[0x20 + PRM_TIRC_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *tirc = fld_at(in, CREATE_TIR_IN_CTX);
	struct mlx5dv_devx_obj *tir;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_TIR);
	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_DIRECT);
	fld_set(tirc, TIRC_INLINE_RQN, rqn);
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, domain);
	MUST(tir = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)));
	*number = (uint32_t)fld_get(out, FLD(0x8, 23, 0));
	return tir;
}

static void objects(struct rig *rig, struct raw *raw)
{
	uint32_t domain_number, tirn;
	struct mlx5dv_devx_obj *domain = make_domain(rig->ctx, &domain_number);
	struct mlx5dv_devx_obj *tir = make_tir(rig->ctx, domain_number, qp_rqn(raw->to[1]), &tirn);
	struct steered steered = one_action(rig, &to_port, TO_OBJECT(domain), "to a domain");

	steer_end(&steered);
	steered = one_action(rig, &to_port, TO_OBJECT(tir), "to a TIR");
	steer_send(rig, raw, PORT, "to a TIR");
	MUST(mlx5dv_devx_obj_destroy(tir));
	steer_end(&steered);
	steered = one_action(rig, &(struct steer_rule){ .table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX },
			     TO_OBJECT(tir), "of what is sent, to a TIR");
	steer_end(&steered);
	MUST(!mlx5dv_devx_obj_destroy(tir) && !mlx5dv_devx_obj_destroy(domain));
}

void steer_objects(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	objects(rig, &raw);
	raw_close(&raw);
}

struct own_table {
	struct mlx5dv_devx_obj *table, *group, *entry;
	uint32_t table_id, group_id;
};

enum { TABLE_LEVEL = 64, GROUP_IN_SIZE = 1024, TABLE_IN_SIZE = 64 };

struct own_way {
	uint32_t type; /* PRM_DEST_* */
	uint32_t number;
	bool any_level; /* to a table below, too */
};

static struct mlx5dv_devx_obj *must_create(struct ibv_context *ctx, void *in, size_t len,
					   uint32_t *number)
{
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, in, len, out, sizeof(out));

	MUST(obj);
	if (number)
		*number = (uint32_t)fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID);
	return obj;
}

static void table_make(struct ibv_context *ctx, unsigned int level, struct own_table *own)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 }, group[GROUP_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_TABLE);
	fld_set(fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT), FLOW_TABLE_CONTEXT_LEVEL,
		level);
	own->table = must_create(ctx, in, sizeof(in), &own->table_id);
	fld_set(group, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_GROUP);
	fld_set(group, FLOW_IN_TABLE_ID, own->table_id);
	own->group = must_create(ctx, group, sizeof(group), &own->group_id);
}

static struct mlx5dv_devx_obj *entry_try(struct ibv_context *ctx, struct own_way way,
					 const struct own_table *own)
{
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t in[64 + PRM_FLOW_CONTEXT_SIZE + PRM_DEST_FORMAT_SIZE] = { 0 };
	uint8_t *context = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	uint8_t *destination = fld_at(context, FLOW_CONTEXT_DESTINATION);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_FLOW_TABLE_ENTRY);
	fld_set(in, FLOW_IN_TABLE_ID, own->table_id);
	fld_set(context, FLOW_CONTEXT_GROUP_ID, own->group_id);
	fld_set(context, FLOW_CONTEXT_ACTION, PRM_FLOW_FWD);
	fld_set(context, FLOW_CONTEXT_DESTINATION_LIST_SIZE, 1);
	fld_set(in, SET_FTE_IN_IGNORE_FLOW_LEVEL, way.any_level);
	fld_set(destination, DEST_FORMAT_DESTINATION_TYPE, way.type);
	fld_set(destination, DEST_FORMAT_DESTINATION_ID, way.number);
	return mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
}

static void entry_make(struct ibv_context *ctx, struct own_way way, struct own_table *own)
{
	MUST(own->entry = entry_try(ctx, way, own));
}

static void table_end(struct own_table *own)
{
	if (own->entry)
		MUST(!mlx5dv_devx_obj_destroy(own->entry));
	MUST(!mlx5dv_devx_obj_destroy(own->group) && !mlx5dv_devx_obj_destroy(own->table));
}

static void refuse_table(struct rig *rig)
{
	struct own_table first = { .entry = NULL };
	struct steered steered;

	table_make(rig->ctx, 0, &first);
	steered = one_action(rig, &to_port, TO_OBJECT(first.table), "to a table of level 0");
	steer_end(&steered);
	steered = one_action(rig, &to_port, TO_OBJECT(first.group), "to a group");
	steer_end(&steered);
	table_end(&first);
}

static void tables(struct rig *rig, struct raw *raw)
{
	uint32_t domain_number, tirn;
	struct mlx5dv_devx_obj *domain = make_domain(rig->ctx, &domain_number);
	struct mlx5dv_devx_obj *tir = make_tir(rig->ctx, domain_number, qp_rqn(raw->to[1]), &tirn);
	struct own_table own = { .entry = NULL };
	struct steered steered, rest;

	table_make(rig->ctx, TABLE_LEVEL, &own);
	rest = one_action(rig, &(struct steer_rule){ STEER_TO_ALL, .priority = 1 },
			  TO_QP(raw->to[0]), "all");
	steered = one_action(rig, &to_port, TO_OBJECT(own.table), "to a table");
	steer_send(rig, raw, PORT, "into an empty table");
	entry_make(rig->ctx, (struct own_way){ PRM_DEST_TIR, tirn, false }, &own);
	steer_send(rig, raw, PORT, "into a table that leads to a TIR");
	steer_send(rig, raw, OTHER, "another");
	MUST(mlx5dv_devx_obj_destroy(own.table));
	steer_end(&steered);
	steer_send(rig, raw, PORT, "no more into the table");
	steer_end(&rest);
	table_end(&own);
	refuse_table(rig);
	MUST(!mlx5dv_devx_obj_destroy(tir) && !mlx5dv_devx_obj_destroy(domain));
}

/* The kernel's table is for all programs, so a rule may lead there, but none may be put there. */
static void refuse_in_anchor(struct rig *rig, const struct mlx5dv_steering_anchor *anchor)
{
	uint8_t group[GROUP_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };

	fld_set(group, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_GROUP);
	fld_set(group, FLOW_IN_TABLE_ID, anchor->id);
	SAY_PTR(mlx5dv_devx_obj_create(rig->ctx, group, sizeof(group), out, sizeof(out)),
		"a group in the anchor");
}

/* From a flow to a table, from there past the flows of priority 1, by the anchor of priority 2. */
static void anchored(struct rig *rig, struct raw *raw)
{
	struct mlx5dv_steering_anchor_attr attr = { .priority = 2 };
	struct mlx5dv_steering_anchor *anchor = mlx5dv_create_steering_anchor(rig->ctx, &attr);
	struct own_way way = { PRM_DEST_TABLE, anchor ? anchor->id : 0, false };
	struct own_table own = { .entry = NULL };
	struct steered steered, passed, last;

	MUST(anchor);
	refuse_in_anchor(rig, anchor);
	table_make(rig->ctx, TABLE_LEVEL, &own);
	say("levels count: %s", entry_try(rig->ctx, way, &own) ? "made" : "refused");
	way.any_level = true;
	entry_make(rig->ctx, way, &own);
	passed = one_action(rig, &(struct steer_rule){ STEER_TO_ALL, .priority = 1 },
			    TO_QP(raw->to[0]), "all, which are passed by");
	last = one_action(rig, &(struct steer_rule){ STEER_TO_ALL, .priority = 2 },
			  TO_QP(raw->to[1]), "all, of the anchor's priority");
	steered = one_action(rig, &to_port, TO_OBJECT(own.table), "to a table");
	steer_send(rig, raw, PORT, "by the anchor");
	steer_send(rig, raw, OTHER, "another");
	steer_end(&steered);
	steer_end(&last);
	steer_end(&passed);
	table_end(&own);
	MUST(!mlx5dv_destroy_steering_anchor(anchor));
}

void steer_tables(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	tables(rig, &raw);
	anchored(rig, &raw);
	raw_close(&raw);
}

static void steer_sent_frames(struct rig *rig, struct raw *raw)
{
	const struct steer_rule out = { STEER_TO_PORT(PORT),
					.table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX };
	const struct steer_rule before = { STEER_TO_PORT(PORT),
					   .table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX, .priority = 0 };
	const struct steer_rule after = { STEER_TO_ALL, .table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX,
					  .priority = 1 };
	struct steer_counter counter = steer_counter_make(rig->ctx);
	struct steered take = one_action(rig, &to_all, TO_QP(raw->to[0]), "take all");
	struct steered one = one_action(rig, &out, DROPPED, "drop what is sent"), other;

	steer_send(rig, raw, PORT, "dropped");
	steer_send(rig, raw, OTHER, "another");
	steer_end(&one);
	other = two_actions(rig, &after, DROPPED, COUNTED(counter.obj), "drop the rest");
	one = steer_make(rig->ctx, &before, 0, NULL, "but not these");
	steer_send(rig, raw, PORT, "allowed");
	steer_send(rig, raw, OTHER, "dropped with the rest");
	steer_counter_say(&counter, "the rest");
	steer_end(&other);
	steer_end(&one);
	steer_end(&take);
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
}

void steer_sent(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	steer_sent_frames(rig, &raw);
	raw_close(&raw);
}
