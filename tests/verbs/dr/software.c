/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * software.c - tables of level 1 and above, whose entries the library writes into the adapter's
 * memory: who receives a frame that hits, and one that misses.
 *
 * Covers: providers/mlx5/dv/dr/array.c, providers/mlx5/dv/dr/forward.c,
 * providers/mlx5/dv/dr/sampler.c, providers/mlx5/dv/dr/meter.c,
 * providers/mlx5/dv/dr/caps.c, providers/mlx5/dv/dr/htable.c, providers/mlx5/dv/dr/lane.c,
 * providers/mlx5/dv/dr/memory.c, providers/mlx5/dv/dr/places.h, providers/mlx5/dv/dr/plan.c,
 * providers/mlx5/dv/dr/ring.c,
 * providers/mlx5/dv/dr/soft.c, providers/mlx5/dv/dr/soft_matcher.c,
 * providers/mlx5/dv/dr/soft_rule.c, providers/mlx5/dv/dr/soft_table.c,
 * softhca/device/steering/ste.c, softhca/device/steering/ste_tag.c,
 * softhca/device/steering/ste_walk.c, softhca/device/steering/ste_memory.c,
 * softhca/device/steering/ste_end.h,
 * softhca/device/format/mlx5/cmd/sw_icm.c, softhca/front/process/driver/sw_icm.c
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "tests/verbs/dr/dr.h"
#include "util/bits.h"

enum { PORT = 200, OTHER = 201, MANY = 100 };
enum { IN_MISC_2 = 1 << 3 /* of match_criteria_enable; has registers C */ };

/* In these tables the mask of the version is the version itself, and ports need one, so each rule
 * names it. */
#define OF_PORT(number)                                       \
	.criteria = PRM_MATCH_OUTER, .field = {               \
		{ OUTER(LYR_2_4_IP_VERSION), 4, 4 },          \
		{ OUTER(LYR_2_4_IP_PROTOCOL), 0xff, 17 },     \
		{ OUTER(LYR_2_4_UDP_DPORT), 0xffff, number }, \
	}

static const struct steer_rule to_port = { OF_PORT(PORT) }, to_other = { OF_PORT(OTHER) };
static const struct steer_rule to_all = { STEER_TO_ALL };
static const struct steer_rule all_later = { STEER_TO_ALL, .priority = 1 };

/* The root table leads all frames to a table of level 1. */
struct floors {
	struct raw raw;
	struct dr_root root, own; /* the same domain */
	struct mlx5dv_dr_action *to[2], *down;
	struct dr_made all;
};

static bool floors_open(struct rig *rig, struct floors *floors)
{
	if (!raw_open(rig, 0, &floors->raw))
		return false;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &floors->root));
	floors->own.domain = floors->root.domain;
	floors->own.table =
		SAY_PTR(mlx5dv_dr_table_create(floors->root.domain, 1), "a table of level 1");
	if (!floors->own.table) {
		dr_root_close(&floors->root);
		raw_close(&floors->raw);
		return false;
	}
	for (int i = 0; i < 2; i++)
		MUST(floors->to[i] = mlx5dv_dr_action_create_dest_ibv_qp(floors->raw.to[i]));
	MUST(floors->down = mlx5dv_dr_action_create_dest_table(floors->own.table));
	floors->all = DR_MAKE(&floors->root, &to_all, "all to level 1", floors->down);
	return true;
}

static void floors_close(struct floors *floors)
{
	dr_end(&floors->all);
	MUST(!mlx5dv_dr_action_destroy(floors->down));
	for (int i = 0; i < 2; i++)
		MUST(!mlx5dv_dr_action_destroy(floors->to[i]));
	SAY_RET(mlx5dv_dr_table_destroy(floors->own.table), "destroy the table of level 1");
	dr_root_close(&floors->root);
	raw_close(&floors->raw);
}

static void hits_and_misses(struct rig *rig, struct floors *floors)
{
	struct mlx5dv_dr_action *drop = mlx5dv_dr_action_create_drop();
	struct dr_made some, all;

	MUST(drop);
	steer_send(rig, &floors->raw, PORT, "an empty table");
	some = DR_MAKE(&floors->own, &to_port, "some to the other", floors->to[1]);
	steer_send(rig, &floors->raw, PORT, "a hit");
	steer_send(rig, &floors->raw, OTHER, "a miss");
	all = DR_MAKE(&floors->own, &all_later, "the rest to one", floors->to[0]);
	steer_send(rig, &floors->raw, PORT, "a hit");
	steer_send(rig, &floors->raw, OTHER, "a miss of the first matcher");
	dr_end(&some);
	some = DR_MAKE(&floors->own, &to_port, "drop some", drop);
	steer_send(rig, &floors->raw, PORT, "dropped");
	steer_send(rig, &floors->raw, OTHER, "another");
	dr_end(&some);
	steer_send(rig, &floors->raw, PORT, "no more dropped");
	dr_end(&all);
	MUST(!mlx5dv_dr_action_destroy(drop));
}

static void counted(struct rig *rig, struct floors *floors)
{
	struct steer_counter counter = steer_counter_make(rig->ctx);
	struct mlx5dv_dr_action *count = mlx5dv_dr_action_create_flow_counter(counter.obj, 0);
	struct dr_made some;

	MUST(count);
	some = DR_MAKE(&floors->own, &to_port, "counted", count, floors->to[1]);
	steer_send(rig, &floors->raw, PORT, "counted");
	steer_send(rig, &floors->raw, OTHER, "not counted");
	steer_counter_say(&counter, "the hit");
	dr_end(&some);
	MUST(!mlx5dv_dr_action_destroy(count));
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
}

/* Rules of one matcher: the library makes its table larger, and places entries by their hash. */
static void many_rules(struct rig *rig, struct floors *floors)
{
	static const uint16_t tried[] = { 0, 1, MANY / 2, MANY - 1, MANY };
	struct mlx5dv_dr_rule *rules[MANY];
	struct mlx5dv_dr_matcher *matcher;
	struct steer_rule rule = { OF_PORT(0) };

	MUST(matcher = dr_matcher(floors->own.table, &to_port));
	for (uint32_t i = 0; i < MANY; i++) {
		rule.field[2].value = PORT + i;
		MUST(rules[i] = dr_rule(matcher, &rule, 1, &floors->to[i % 2]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(tried); i++)
		steer_send(rig, &floors->raw, PORT + tried[i], "one of many");
	for (int i = 0; i < MANY; i++)
		MUST(!mlx5dv_dr_rule_destroy(rules[i]));
	steer_send(rig, &floors->raw, PORT, "none of many");
	MUST(!mlx5dv_dr_matcher_destroy(matcher));
}

/* A table of level 2, to which an entry of level 1 leads */
static void deeper_table(struct rig *rig, struct floors *floors)
{
	struct dr_root below = { .domain = floors->root.domain };
	struct mlx5dv_dr_action *down;
	struct dr_made some, last;

	MUST(below.table = mlx5dv_dr_table_create(below.domain, 2));
	MUST(down = mlx5dv_dr_action_create_dest_table(below.table));
	some = DR_MAKE(&floors->own, &to_port, "some to level 2", down);
	last = DR_MAKE(&below, &to_all, "all there to one", floors->to[0]);
	steer_send(rig, &floors->raw, PORT, "through level 2");
	steer_send(rig, &floors->raw, OTHER, "a miss at level 1");
	dr_dump_lines(some.rule, "3405,", below.table);
	dr_dump_lines(last.rule, "3404,", below.table);
	dr_end(&last);
	steer_send(rig, &floors->raw, PORT, "a miss at level 2");
	dr_end(&some);
	MUST(!mlx5dv_dr_action_destroy(down) && !mlx5dv_dr_table_destroy(below.table));
}

/* Frames go to a QP, and through a table to another. */
static void copies(struct rig *rig, struct floors *floors)
{
	struct dr_root below = { .domain = floors->root.domain };
	struct mlx5dv_dr_action_dest_attr first = { .dest = floors->to[0] };
	struct mlx5dv_dr_action_dest_attr second = { .type = MLX5DV_DR_ACTION_DEST };
	struct mlx5dv_dr_action_dest_attr *dests[] = { &first, &second };
	struct mlx5dv_dr_action *array;
	struct dr_made some, last;

	MUST(below.table = mlx5dv_dr_table_create(below.domain, 2));
	MUST(second.dest = mlx5dv_dr_action_create_dest_table(below.table));
	array = SAY_PTR(mlx5dv_dr_action_create_dest_array(below.domain, 2, dests), "an array");
	if (array) {
		some = DR_MAKE(&floors->own, &to_port, "some to both", array);
		steer_send(rig, &floors->raw, PORT, "one of two copies is lost");
		last = DR_MAKE(&below, &to_all, "all there to the other", floors->to[1]);
		steer_send(rig, &floors->raw, PORT, "two copies");
		dr_dump_lines(some.rule, "3416,", below.table);
		steer_send(rig, &floors->raw, OTHER, "a miss");
		SAY_RET(mlx5dv_dr_action_destroy(second.dest), "a destination in use");
		SAY_RET(mlx5dv_dr_action_destroy(array), "an array in use");
		dr_end(&some);
		dr_end(&last);
		MUST(!mlx5dv_dr_action_destroy(array));
	}
	MUST(!mlx5dv_dr_action_destroy(second.dest) && !mlx5dv_dr_table_destroy(below.table));
}

/* The last of each four frames is copied to a QP, and counted. All go on in a table. */
static void samples(struct rig *rig, struct floors *floors)
{
	struct steer_counter counter = steer_counter_make(rig->ctx);
	struct dr_root below = { .domain = floors->root.domain };
	struct mlx5dv_dr_action *sample[2] = { NULL, floors->to[1] }, *sampler;
	struct mlx5dv_dr_flow_sampler_attr attr = { .sample_ratio = 4,
						    .num_sample_actions = 2,
						    .sample_actions = sample };
	struct dr_made some, last;

	MUST(below.table = mlx5dv_dr_table_create(below.domain, 2));
	MUST(sample[0] = mlx5dv_dr_action_create_flow_counter(counter.obj, 0));
	attr.default_next_table = below.table;
	sampler = SAY_PTR(mlx5dv_dr_action_create_flow_sampler(&attr), "a sampler");
	if (sampler) {
		some = DR_MAKE(&floors->own, &to_port, "some to the sampler", sampler);
		last = DR_MAKE(&below, &to_all, "all there to one", floors->to[0]);
		for (int i = 0; i < 8; i++)
			steer_send(rig, &floors->raw, PORT, "maybe sampled");
		steer_send(rig, &floors->raw, OTHER, "a miss");
		steer_counter_say(&counter, "samples");
		dr_dump_lines(some.rule, "3415,", below.table);
		SAY_RET(mlx5dv_dr_action_destroy(sampler), "a sampler in use");
		SAY_RET(mlx5dv_dr_action_destroy(sample[0]), "its counter");
		dr_end(&some);
		dr_end(&last);
		MUST(!mlx5dv_dr_action_destroy(sampler));
	}
	MUST(!mlx5dv_dr_action_destroy(sample[0]) && !mlx5dv_dr_table_destroy(below.table));
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
}

/* A meter of rate 0 without bursts makes each frame red, and each green while it is not active. Its
 * table forwards green frames only. */
static void metered(struct rig *rig, struct floors *floors)
{
	uint8_t rate[32] = { 0 };
	struct dr_root below = { .domain = floors->root.domain };
	struct mlx5dv_dr_flow_meter_attr attr = { .active = 1,
						  .flow_meter_parameter_sz = sizeof(rate),
						  .flow_meter_parameter = rate };
	struct steer_rule colors = {
		.criteria = IN_MISC_2,
		.field = { { FLD_IN(MATCH_MISC_PARAMETERS_2, MISC2_METADATA_REG_C_0), 0xffffffff,
			     PRM_METER_GREEN } }
	};
	struct mlx5dv_dr_action *meter;
	struct dr_made some, green;

	MUST(below.table = mlx5dv_dr_table_create(below.domain, 2));
	fld_set(rate, METER_PARAM_VALID, 1);
	fld_set(rate, METER_PARAM_START_COLOR, PRM_METER_GREEN);
	attr.next_table = below.table;
	meter = SAY_PTR(mlx5dv_dr_action_create_flow_meter(&attr), "a meter of rate 0");
	if (meter) {
		some = DR_MAKE(&floors->own, &to_port, "some to the meter", meter);
		green = DR_MAKE(&below, &colors, "green ones to one", floors->to[0]);
		steer_send(rig, &floors->raw, PORT, "red");
		attr.active = 0;
		SAY_RET(mlx5dv_dr_action_modify_flow_meter(meter, &attr,
							   htobe64(PRM_METER_MODIFY_ACTIVE)),
			"the meter stops");
		steer_send(rig, &floors->raw, PORT, "green");
		dr_dump_lines(some.rule, "3414,", below.table);
		SAY_RET(mlx5dv_dr_action_destroy(meter), "a meter in use");
		dr_end(&some);
		dr_end(&green);
		MUST(!mlx5dv_dr_action_destroy(meter));
	}
	MUST(!mlx5dv_dr_table_destroy(below.table));
}

static struct mlx5dv_devx_obj *first_hits_make(struct rig *rig, struct ibv_pd *pd)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_ASO_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct mlx5dv_pd numbers = { .comp_mask = 0 };
	struct mlx5dv_obj obj = { .pd = { pd, &numbers } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_ASO_FIRST_HIT);
	fld_set(in, GENERAL_OBJ_IN_LOG_OBJ_RANGE, 1);
	fld_set(fld_at(in, GENERAL_OBJ_OBJECT), ASO_ACCESS_PD, numbers.pdn);
	return SAY_PTR(mlx5dv_devx_obj_create(rig->ctx, in, sizeof(in), out, sizeof(out)),
		       "objects for first hits");
}

enum { HIT_REGISTER = 5, SECOND_OBJECT = PRM_ASO_HITS };

/* A rule without a flag reads the state, and another one sets it. In the table below, frames with
 * state 0 go to one queue, and others to the other. */
static void hits_of_rules(struct rig *rig, struct floors *floors, struct mlx5dv_dr_action *hit,
			  struct mlx5dv_dr_action *down)
{
	struct dr_made reads, sets;

	reads = DR_MAKE(&floors->own, &to_port, "some read", hit, down);
	steer_send(rig, &floors->raw, PORT, "not hit yet");
	SAY_RET(mlx5dv_dr_action_modify_aso(hit, 0, MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET,
					    HIT_REGISTER),
		"the action sets");
	steer_send(rig, &floors->raw, PORT, "the rule still reads");
	sets = DR_MAKE(&floors->own, &to_other, "others set", hit, down);
	steer_send(rig, &floors->raw, OTHER, "the first hit");
	steer_send(rig, &floors->raw, OTHER, "the second hit");
	steer_send(rig, &floors->raw, PORT, "hit by others");
	dr_dump_lines(sets.rule, "3417,", floors->own.table);
	SAY_RET(mlx5dv_dr_action_destroy(hit), "an action in use");
	dr_end(&sets);
	SAY_RET(mlx5dv_dr_action_modify_aso(hit, SECOND_OBJECT + 3,
					    MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET, HIT_REGISTER),
		"a line of the second object");
	sets = DR_MAKE(&floors->own, &to_other, "others set it", hit, down);
	steer_send(rig, &floors->raw, OTHER, "its first hit");
	steer_send(rig, &floors->raw, OTHER, "its second hit");
	dr_end(&reads);
	dr_end(&sets);
}

static void first_hits(struct rig *rig, struct floors *floors)
{
	const struct steer_rule is_first = {
		.criteria = IN_MISC_2,
		.field = { { FLD_IN(MATCH_MISC_PARAMETERS_2, MISC2_METADATA_REG_C_5), 0xffffffff,
			     0 } }
	};
	struct dr_root below = { .domain = floors->root.domain };
	struct mlx5dv_devx_obj *hits = first_hits_make(rig, floors->raw.pd);
	struct mlx5dv_dr_action *down, *hit;
	struct dr_made first, rest;

	if (!hits)
		return;
	MUST(below.table = mlx5dv_dr_table_create(below.domain, 2));
	MUST(down = mlx5dv_dr_action_create_dest_table(below.table));
	first = DR_MAKE(&below, &is_first, "first ones to one", floors->to[0]);
	rest = DR_MAKE(&below, &all_later, "the rest to the other", floors->to[1]);
	hit = SAY_PTR(mlx5dv_dr_action_create_aso(below.domain, hits, 0, 0, HIT_REGISTER),
		      "an action that reads");
	SAY_PTR(mlx5dv_dr_action_create_aso(below.domain, hits, 2 * PRM_ASO_HITS, 0, HIT_REGISTER),
		"a third object");
	SAY_PTR(mlx5dv_dr_action_create_aso(below.domain, hits, 0, 0, 4), "an even register");
	if (hit) {
		hits_of_rules(rig, floors, hit, down);
		MUST(!mlx5dv_dr_action_destroy(hit));
	}
	dr_end(&first);
	dr_end(&rest);
	MUST(!mlx5dv_dr_action_destroy(down) && !mlx5dv_dr_table_destroy(below.table));
	MUST(!mlx5dv_devx_obj_destroy(hits));
}

/* The root table copies frames itself. */
static void copies_at_root(struct rig *rig)
{
	struct mlx5dv_dr_action_dest_attr dest[2] = { { .type = MLX5DV_DR_ACTION_DEST } };
	struct mlx5dv_dr_action_dest_attr *dests[] = { &dest[0], &dest[1] };
	struct mlx5dv_dr_action *array;
	struct dr_root root;
	struct dr_made all;
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &root));
	for (int i = 0; i < 2; i++)
		MUST(dest[i].dest = mlx5dv_dr_action_create_dest_ibv_qp(raw.to[i]));
	MUST(array = mlx5dv_dr_action_create_dest_array(root.domain, 2, dests));
	all = DR_MAKE(&root, &to_all, "the root to both", array);
	steer_send(rig, &raw, PORT, "two copies");
	dr_end(&all);
	MUST(!mlx5dv_dr_action_destroy(array));
	for (int i = 0; i < 2; i++)
		MUST(!mlx5dv_dr_action_destroy(dest[i].dest));
	dr_root_close(&root);
	raw_close(&raw);
}

void dr_software(struct rig *rig)
{
	struct floors floors;

	if (!floors_open(rig, &floors))
		return;
	hits_and_misses(rig, &floors);
	counted(rig, &floors);
	many_rules(rig, &floors);
	deeper_table(rig, &floors);
	copies(rig, &floors);
	samples(rig, &floors);
	metered(rig, &floors);
	first_hits(rig, &floors);
	floors_close(&floors);
	copies_at_root(rig);
}

/* Frames that leave: a miss lets them go. */
void dr_software_sent(struct rig *rig)
{
	struct mlx5dv_dr_action *drop, *down;
	struct dr_root sent, own, received;
	struct dr_made all, some, take;
	struct mlx5dv_dr_action *to;
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_TX, &sent));
	MUST(dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &received));
	own.domain = sent.domain;
	own.table = SAY_PTR(mlx5dv_dr_table_create(sent.domain, 1), "a table of level 1");
	if (own.table) {
		MUST(drop = mlx5dv_dr_action_create_drop());
		MUST(to = mlx5dv_dr_action_create_dest_ibv_qp(raw.to[0]));
		MUST(down = mlx5dv_dr_action_create_dest_table(own.table));
		take = DR_MAKE(&received, &to_all, "take all", to);
		all = DR_MAKE(&sent, &to_all, "all to level 1", down);
		steer_send(rig, &raw, PORT, "an empty table");
		some = DR_MAKE(&own, &to_port, "drop some", drop);
		steer_send(rig, &raw, PORT, "a hit");
		steer_send(rig, &raw, OTHER, "a miss");
		dr_dump_lines(some.rule, "3403,", own.table);
		dr_dump_lines(all.rule, "3405,", own.table);
		dr_end(&some);
		dr_end(&all);
		dr_end(&take);
		MUST(!mlx5dv_dr_action_destroy(down) && !mlx5dv_dr_action_destroy(to));
		MUST(!mlx5dv_dr_action_destroy(drop) && !mlx5dv_dr_table_destroy(own.table));
	}
	dr_root_close(&received);
	dr_root_close(&sent);
	raw_close(&raw);
}
