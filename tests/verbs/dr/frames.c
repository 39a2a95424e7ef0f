/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames.c - effects of rules of root tables on frames: the receiver, the tag, and counters.
 *
 * Covers: providers/mlx5/dv/dr/rule.c, providers/mlx5/dv/dr/action.c
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/vport.h"
#include "tests/verbs/dr/dr.h"
#include "util/bits.h"

enum { PORT = 200, OTHER = 201 };

static const struct steer_rule to_port = { STEER_TO_PORT(PORT) }, to_all = { STEER_TO_ALL };
static const struct steer_rule all_later = { STEER_TO_ALL, .priority = 1 };

/* A root table, the frames' QPs, and actions that lead to them. */
struct stage {
	struct raw raw;
	struct dr_root root;
	struct mlx5dv_dr_action *to[2];
};

static bool stage_open(struct rig *rig, uint64_t wc_flags, struct stage *stage)
{
	if (!raw_open(rig, wc_flags, &stage->raw))
		return false;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &stage->root));
	for (int i = 0; i < 2; i++)
		MUST(stage->to[i] = mlx5dv_dr_action_create_dest_ibv_qp(stage->raw.to[i]));
	return true;
}

static void stage_close(struct stage *stage)
{
	for (int i = 0; i < 2; i++)
		MUST(!mlx5dv_dr_action_destroy(stage->to[i]));
	dr_root_close(&stage->root);
	raw_close(&stage->raw);
}

static void by_tir(struct rig *rig, struct stage *stage)
{
	struct dr_tir tir = dr_tir_make(rig->ctx, stage->raw.to[1]);
	struct mlx5dv_dr_action *action = mlx5dv_dr_action_create_dest_devx_tir(tir.tir);
	struct dr_made made;

	MUST(action);
	made = DR_MAKE(&stage->root, &to_port, "to a TIR", action);
	steer_send(rig, &stage->raw, PORT, "to a TIR");
	dr_end(&made);
	MUST(!mlx5dv_dr_action_destroy(action));
	dr_tir_end(&tir);
}

void dr_frames(struct rig *rig)
{
	struct mlx5dv_dr_action *drop;
	struct dr_made one, other;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(drop = mlx5dv_dr_action_create_drop());
	one = DR_MAKE(&stage.root, &all_later, "all to one", stage.to[0]);
	steer_send(rig, &stage.raw, PORT, "alone");
	other = DR_MAKE(&stage.root, &to_port, "some to the other", stage.to[1]);
	steer_send(rig, &stage.raw, PORT, "to the other");
	steer_send(rig, &stage.raw, OTHER, "to the first");
	dr_end(&other);
	other = DR_MAKE(&stage.root, &to_port, "drop some", drop);
	steer_send(rig, &stage.raw, PORT, "dropped");
	steer_send(rig, &stage.raw, OTHER, "another");
	dr_end(&other);
	steer_send(rig, &stage.raw, PORT, "no more dropped");
	dr_end(&one);
	by_tir(rig, &stage);
	MUST(!mlx5dv_dr_action_destroy(drop));
	stage_close(&stage);
}

void dr_misses(struct rig *rig)
{
	struct ibv_flow_attr attr = { .type = IBV_FLOW_ATTR_ALL_DEFAULT,
				      .size = sizeof(attr),
				      .port = RIG_PORT };
	struct mlx5dv_dr_action *miss;
	struct dr_made some, all;
	struct ibv_flow *left;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(miss = mlx5dv_dr_action_create_default_miss());
	MUST(left = ibv_create_flow(stage.raw.to[1], &attr));
	some = DR_MAKE(&stage.root, &to_port, "miss", miss);
	all = DR_MAKE(&stage.root, &all_later, "all", stage.to[0]);
	steer_send(rig, &stage.raw, PORT, "missed");
	steer_send(rig, &stage.raw, OTHER, "another");
	dr_end(&some);
	steer_send(rig, &stage.raw, PORT, "no more missed");
	dr_end(&all);
	MUST(!ibv_destroy_flow(left) && !mlx5dv_dr_action_destroy(miss));
	stage_close(&stage);
}

void dr_counters(struct rig *rig)
{
	struct mlx5dv_dr_action *drop, *count;
	struct steer_counter counter;
	struct dr_made one, other;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(drop = mlx5dv_dr_action_create_drop());
	counter = steer_counter_make(rig->ctx);
	MUST(count = mlx5dv_dr_action_create_flow_counter(counter.obj, 0));
	one = DR_MAKE(&stage.root, &to_port, "counted", count, stage.to[0]);
	steer_send(rig, &stage.raw, PORT, "one");
	steer_send(rig, &stage.raw, OTHER, "not counted");
	steer_counter_say(&counter, "one");
	other = DR_MAKE(&stage.root, &all_later, "dropped and counted", drop, count);
	steer_send(rig, &stage.raw, OTHER, "dropped");
	steer_counter_say(&counter, "both");
	dr_end(&one);
	dr_end(&other);
	MUST(!mlx5dv_dr_action_destroy(count) && !mlx5dv_dr_action_destroy(drop));
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
	stage_close(&stage);
}

enum { BULK = 128, STATISTICS = 16 };

/* Says which counters of a bulk have counted. */
static void bulk_say(struct mlx5dv_devx_obj *bulk, uint32_t number)
{
	uint8_t in[32] = { 0 }, out[16 + BULK * STATISTICS] = { 0 };
	const uint8_t *counts = fld_at(out, QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_FLOW_COUNTER);
	fld_set(in, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID, number);
	fld_set(in, QUERY_FLOW_COUNTER_IN_NUM_OF_COUNTERS, BULK);
	MUST(!mlx5dv_devx_obj_query(bulk, in, sizeof(in), out, sizeof(out)));
	for (int i = 0; i < BULK; i++, counts += STATISTICS)
		if (fld_get(counts, TRAFFIC_COUNTER_PACKETS))
			say("counter %d: %u frames", i,
			    (unsigned int)fld_get(counts, TRAFFIC_COUNTER_PACKETS));
}

void dr_bulks(struct rig *rig)
{
	static const uint32_t offsets[] = { 0, 5, BULK - 1, BULK };
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct mlx5dv_devx_obj *bulk;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_FLOW_COUNTER);
	fld_set(in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK, 1);
	MUST(bulk = mlx5dv_devx_obj_create(rig->ctx, in, sizeof(in), out, sizeof(out)));
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct mlx5dv_dr_action *count =
			mlx5dv_dr_action_create_flow_counter(bulk, offsets[i]);
		struct dr_made made;

		MUST(count);
		say("offset %u", offsets[i]);
		made = DR_MAKE(&stage.root, &to_port, "counted", count, stage.to[0]);
		steer_send(rig, &stage.raw, PORT, "counted");
		bulk_say(bulk, (uint32_t)fld_get(out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID));
		dr_end(&made);
		MUST(!mlx5dv_dr_action_destroy(count));
	}
	MUST(!mlx5dv_devx_obj_destroy(bulk));
	stage_close(&stage);
}

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

void dr_tags(struct rig *rig)
{
	const struct raw_frame frame = { .version = 4,
					 .protocol = 17,
					 .ttl = 9,
					 .src = 1,
					 .dst = 2,
					 .sport = 1,
					 .dport = PORT };
	static const uint32_t tags[] = { 0, 5, 0xabcdef };
	struct stage stage;

	if (!stage_open(rig, IBV_WC_EX_WITH_FLOW_TAG, &stage))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		struct mlx5dv_dr_action *tag = mlx5dv_dr_action_create_tag(tags[i]);
		struct dr_made made =
			DR_MAKE(&stage.root, &to_port, "with a tag", tag, stage.to[0]);

		raw_send(&stage.raw, raw_frame_build(rig, &frame, stage.raw.buf), 0);
		take_tagged(&stage.raw, "tagged");
		dr_end(&made);
		MUST(!mlx5dv_dr_action_destroy(tag));
	}
	stage_close(&stage);
}

void dr_sent(struct rig *rig)
{
	struct mlx5dv_dr_action *drop;
	struct dr_made take, out, but;
	struct dr_root sent;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(drop = mlx5dv_dr_action_create_drop());
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_TX, &sent));
	take = DR_MAKE(&stage.root, &to_all, "take all", stage.to[0]);
	out = DR_MAKE(&sent, &to_port, "drop what is sent", drop);
	steer_send(rig, &stage.raw, PORT, "dropped");
	steer_send(rig, &stage.raw, OTHER, "another");
	dr_end(&out);
	out = DR_MAKE(&sent, &all_later, "drop the rest", drop);
	but = dr_make(&sent, &to_port, 0, NULL, "but not these");
	steer_send(rig, &stage.raw, PORT, "allowed");
	steer_send(rig, &stage.raw, OTHER, "dropped with the rest");
	dr_end(&but);
	dr_end(&out);
	dr_end(&take);
	dr_root_close(&sent);
	MUST(!mlx5dv_dr_action_destroy(drop));
	stage_close(&stage);
}

/* Rules of equal values, with one action in several rules, and in tables of two domains. */
void dr_shared(struct rig *rig)
{
	struct dr_made one, same, other;
	struct dr_root second;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &second));
	mlx5dv_dr_domain_allow_duplicate_rules(second.domain, false);
	one = DR_MAKE(&stage.root, &to_port, "to one", stage.to[0]);
	same = DR_MAKE(&second, &to_port, "to the same, of another domain", stage.to[0]);
	steer_send(rig, &stage.raw, PORT, "twice");
	other = DR_MAKE(&second, &to_port, "to the other", stage.to[1]);
	steer_send(rig, &stage.raw, PORT, "to both");
	dr_end(&one);
	steer_send(rig, &stage.raw, PORT, "the first has gone");
	dr_end(&same);
	dr_end(&other);
	dr_root_close(&second);
	stage_close(&stage);
}

/* A rule that changes ports as the frame leaves, and one that makes its time to live 64. */
void dr_changes(struct rig *rig)
{
	static const struct steer_rule changed = {
		.criteria = PRM_MATCH_OUTER,
		.field = { { OUTER(LYR_2_4_UDP_DPORT), 0xffff, OTHER },
			   { OUTER(LYR_2_4_IP_PROTOCOL), 0xff, 17 } },
	};
	struct mlx5dv_dr_action *on_sent, *on_received;
	struct dr_made out, in;
	struct dr_root sent;
	struct stage stage;
	__be64 list;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_TX, &sent));
	list = htobe64(0x100c001000000000 | OTHER); /* set the UDP port of the destination */
	on_sent = mlx5dv_dr_action_create_modify_header(
		sent.domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, sizeof(list), &list);
	list = htobe64(0x100a000800000040); /* set the time to live */
	on_received = mlx5dv_dr_action_create_modify_header(
		stage.root.domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, sizeof(list), &list);
	say("actions: %s and %s", on_sent ? "made" : "none", on_received ? "made" : "none");
	if (on_sent && on_received) {
		out = DR_MAKE(&sent, &to_port, "on what is sent", on_sent);
		in = DR_MAKE(&stage.root, &changed, "on what is received", on_received,
			     stage.to[0]);
		steer_send(rig, &stage.raw, PORT, "changed");
		say("time to live %d, port %d", raw_slot(&stage.raw, 0, 0)[22],
		    raw_slot(&stage.raw, 0, 0)[37]);
		SAY_RET(mlx5dv_dr_action_destroy(on_sent), "destroy an action in use");
		dr_end(&out);
		steer_send(rig, &stage.raw, PORT, "no more changed");
		dr_end(&in);
		MUST(!mlx5dv_dr_action_destroy(on_sent) && !mlx5dv_dr_action_destroy(on_received));
	}
	dr_root_close(&sent);
	stage_close(&stage);
}

/* Builds headers of GRE, of a frame or of IP. Returns their size. */
static size_t gre_build(const struct rig *rig, bool is_l3, uint8_t *header)
{
	static const uint8_t rest[] = { 8, 0,  0x45, 0, 0, 0,  0, 0, 0, 0, 64, 47, 0,
					0, 10, 0,    0, 3, 10, 0, 0, 4, 0, 0,  0,  0 };

	raw_own_mac(rig, header);
	raw_own_mac(rig, header + 6);
	memcpy(header + 12, rest, sizeof(rest));
	header[36] = is_l3 ? 0x08 : 0x65;
	header[37] = is_l3 ? 0x00 : 0x58;
	return 12 + sizeof(rest);
}

static struct mlx5dv_dr_action *reformat_make(struct dr_root *root, size_t size, void *data,
					      enum mlx5dv_flow_action_packet_reformat_type type)
{
	struct mlx5dv_dr_action *action = mlx5dv_dr_action_create_packet_reformat(
		root->domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, type, size, data);

	MUST(action);
	return action;
}

static void tunnel_pass(struct rig *rig, struct stage *stage, struct dr_root *sent, bool is_l3)
{
	static const struct steer_rule tunnelled = {
		.criteria = PRM_MATCH_OUTER,
		.field = { { OUTER(LYR_2_4_IP_PROTOCOL), 0xff, 47 } },
	};
	const size_t behind = is_l3 ? 38 : 38 + 14; /* of the inner IP header */
	const char *what = is_l3 ? "a tunnel of IP" : "a tunnel";
	struct mlx5dv_dr_action *on, *off;
	struct dr_made out, in;
	uint8_t header[64];
	size_t size = gre_build(rig, is_l3, header);

	on = reformat_make(sent, size, header,
			   is_l3 ? MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL
				 : MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL);
	off = is_l3 ? reformat_make(&stage->root, 14, header,
				    MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2)
		    : reformat_make(&stage->root, 0, NULL,
				    MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2);
	out = DR_MAKE(sent, &to_port, what, on);
	in = DR_MAKE(&stage->root, &tunnelled, "as it is", stage->to[0]);
	steer_send(rig, &stage->raw, PORT, what);
	say_check(
		!memcmp(raw_slot(&stage->raw, 0, is_l3 ? 2 : 0) + behind, stage->raw.buf + 14, 28),
		"in the tunnel");
	dr_end(&in);
	in = DR_MAKE(&stage->root, &tunnelled, "taken out", off, stage->to[0]);
	steer_send(rig, &stage->raw, PORT, "taken out");
	say_check(!memcmp(raw_slot(&stage->raw, 0, is_l3 ? 3 : 1), stage->raw.buf, 14 + 28),
		  "as it was");
	SAY_RET(mlx5dv_dr_action_destroy(on), "destroy an action in use");
	SAY_RET(mlx5dv_dr_action_destroy(off), "destroy another");
	dr_end(&in);
	dr_end(&out);
	MUST(!mlx5dv_dr_action_destroy(on) && !mlx5dv_dr_action_destroy(off));
}

/* Rules that take frames into tunnels as they leave, and out of them. */
void dr_tunnels(struct rig *rig)
{
	struct dr_root sent;
	struct stage stage;

	if (!stage_open(rig, 0, &stage))
		return;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_TX, &sent));
	tunnel_pass(rig, &stage, &sent, false);
	tunnel_pass(rig, &stage, &sent, true);
	dr_root_close(&sent);
	stage_close(&stage);
}
