/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls.c - valid and invalid calls for domains, tables, matchers, actions and rules, without
 * sending frames.
 *
 * Covers: providers/mlx5/dv/dr/domain.c, providers/mlx5/dv/dr/table.c,
 * providers/mlx5/dv/dr/matcher.c, providers/mlx5/dv/dr/action.c, providers/mlx5/dv/dr/rule.c
 */
#include <stdlib.h>

#include "tests/verbs/dr/dr.h"
#include "util/bits.h"

enum { RX, TX, FDB, MANY = 40, PORT = 200 };

static void sync_domain(struct mlx5dv_dr_domain *domain)
{
	static const uint32_t flags[] = { 0, 1, 4, 5, 8, 0x80000000 };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		SAY_RET(mlx5dv_dr_domain_sync(domain, flags[i]), "sync with flags %#x", flags[i]);
	SAY_RET(mlx5dv_dr_domain_sync(domain, MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW), "sync the adapter");
}

void dr_domains(struct rig *rig)
{
	static const int types[] = { RX, TX, FDB, 3, 99, -1 };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct mlx5dv_dr_domain *domain = SAY_PTR(
			mlx5dv_dr_domain_create(rig->ctx, (enum mlx5dv_dr_domain_type)types[i]),
			"a domain of type %d", types[i]);

		if (!domain)
			continue;
		mlx5dv_dr_domain_set_reclaim_device_memory(domain, true);
		mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
		sync_domain(domain);
		SAY_RET(mlx5dv_dr_domain_destroy(domain), "destroy");
	}
}

void dr_tables(struct rig *rig)
{
	static const uint32_t levels[] = { 0, 1, 63, 64, 0xfffe, 0xffffffff };
	struct dr_root root;

	if (dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &root))
		for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
			struct mlx5dv_dr_table *table =
				SAY_PTR(mlx5dv_dr_table_create(root.domain, levels[i]),
					"a table of level %u", levels[i]);

			if (table)
				SAY_RET(mlx5dv_dr_table_destroy(table), "destroy");
		}
	dr_root_close(&root);
}

static void try_mask(struct dr_root *root, size_t size, uint16_t priority, uint8_t criteria)
{
	struct mlx5dv_flow_match_parameters *mask = steer_match(size);
	struct mlx5dv_dr_matcher *matcher =
		SAY_PTR(mlx5dv_dr_matcher_create(root->table, priority, criteria, mask),
			"a mask of %zu bytes, priority %u, criteria %#x", size, priority, criteria);

	if (matcher)
		SAY_RET(mlx5dv_dr_matcher_destroy(matcher), "destroy");
	free(mask);
}

static void try_layout(struct dr_root *root, uint32_t flags)
{
	struct mlx5dv_dr_matcher_layout layout = { .flags = flags, .log_num_of_rules_hint = 3 };
	struct mlx5dv_dr_matcher *matcher =
		dr_matcher(root->table, &(struct steer_rule){ STEER_TO_ALL });

	if (!matcher)
		return;
	SAY_RET(mlx5dv_dr_matcher_set_layout(matcher, &layout), "a layout of flags %#x", flags);
	MUST(!mlx5dv_dr_matcher_destroy(matcher));
}

void dr_matchers(struct rig *rig)
{
	static const size_t sizes[] = { 0, 4, 64, 320, 448, 640, 644 };
	static const uint16_t priorities[] = { 1, 15, 16, 0xffff };
	struct dr_root root;

	for (int type = RX; type <= TX; type++) {
		if (dr_root_open(rig, (enum mlx5dv_dr_domain_type)type, &root)) {
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
				try_mask(&root, sizes[i], 0, PRM_MATCH_OUTER);
			for (size_t i = 0; i < ARRAY_SIZE(priorities); i++)
				try_mask(&root, 64, priorities[i], PRM_MATCH_OUTER);
			try_mask(&root, 64, 0, 0);
			try_mask(&root, 64, 0, 0xff);
			try_layout(&root, MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE);
			try_layout(&root, 0);
		}
		dr_root_close(&root);
	}
}

struct ends {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *raw, *rc;
	struct steer_counter counter;
	struct dr_tir tir;
};

static struct ibv_qp *make_qp(const struct ends *ends, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = ends->cq, .recv_cq = ends->cq, .qp_type = type, .cap = { 4, 4, 1, 1, 0 }
	};

	return ibv_create_qp(ends->pd, &attr);
}

/* Left out on InfiniBand, which has no QPs of frames. */
static bool ends_open(struct rig *rig, struct ends *ends)
{
	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return false;
	MUST(ends->pd = ibv_alloc_pd(rig->ctx));
	MUST(ends->cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0));
	MUST(ends->raw = make_qp(ends, IBV_QPT_RAW_PACKET));
	MUST(ends->rc = make_qp(ends, IBV_QPT_RC));
	ends->counter = steer_counter_make(rig->ctx);
	ends->tir = dr_tir_make(rig->ctx, ends->raw);
	return true;
}

static void ends_close(struct ends *ends)
{
	dr_tir_end(&ends->tir);
	MUST(!mlx5dv_devx_obj_destroy(ends->counter.obj));
	MUST(!ibv_destroy_qp(ends->rc) && !ibv_destroy_qp(ends->raw));
	MUST(!ibv_destroy_cq(ends->cq) && !ibv_dealloc_pd(ends->pd));
}

#define TRY_ACTION(call, ...)                                                  \
	do {                                                                   \
		struct mlx5dv_dr_action *action_ = SAY_PTR(call, __VA_ARGS__); \
		if (action_)                                                   \
			SAY_RET(mlx5dv_dr_action_destroy(action_), "destroy"); \
	} while (0)

static void plain_actions(void)
{
	TRY_ACTION(mlx5dv_dr_action_create_drop(), "drop");
	TRY_ACTION(mlx5dv_dr_action_create_default_miss(), "miss");
	TRY_ACTION(mlx5dv_dr_action_create_pop_vlan(), "pop a VLAN");
	TRY_ACTION(mlx5dv_dr_action_create_tag(0), "tag 0");
	TRY_ACTION(mlx5dv_dr_action_create_tag(0xffffff), "the last tag");
	TRY_ACTION(mlx5dv_dr_action_create_tag(0xffffffff), "a tag of 32 bits");
}

static void array_actions(const struct ends *ends, struct dr_root *root)
{
	struct mlx5dv_dr_action *qp = mlx5dv_dr_action_create_dest_ibv_qp(ends->raw);
	struct mlx5dv_dr_action_dest_attr dest = { .type = MLX5DV_DR_ACTION_DEST, .dest = qp };
	struct mlx5dv_dr_action_dest_attr *dests[] = { &dest, &dest };

	MUST(qp);
	for (size_t count = 0; count <= 2; count++)
		TRY_ACTION(mlx5dv_dr_action_create_dest_array(root->domain, count, dests),
			   "an array of %zu", count);
	TRY_ACTION(mlx5dv_dr_action_create_aso(root->domain, ends->counter.obj, 0, 0, 0),
		   "a counter as an ASO");
	MUST(!mlx5dv_dr_action_destroy(qp));
}

static void object_actions(const struct ends *ends)
{
	TRY_ACTION(mlx5dv_dr_action_create_dest_ibv_qp(ends->raw), "a QP of frames");
	TRY_ACTION(mlx5dv_dr_action_create_dest_ibv_qp(ends->rc), "an RC QP");
	TRY_ACTION(mlx5dv_dr_action_create_dest_devx_tir(ends->tir.tir), "a TIR");
	TRY_ACTION(mlx5dv_dr_action_create_dest_devx_tir(ends->tir.domain), "a domain as a TIR");
	TRY_ACTION(mlx5dv_dr_action_create_dest_devx_tir(ends->counter.obj), "a counter as a TIR");
	TRY_ACTION(mlx5dv_dr_action_create_flow_counter(ends->counter.obj, 0), "a counter");
	TRY_ACTION(mlx5dv_dr_action_create_flow_counter(ends->counter.obj, 5), "its fifth");
	TRY_ACTION(mlx5dv_dr_action_create_flow_counter(ends->tir.tir, 0), "a TIR as a counter");
}

static void root_actions(struct dr_root *root)
{
	static __be64 changes[2];
	static uint8_t header[64];

	for (int type = 0; type < 5; type++) {
		TRY_ACTION(mlx5dv_dr_action_create_packet_reformat(
				   root->domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL,
				   (enum mlx5dv_flow_action_packet_reformat_type)type, 64, header),
			   "reformat %d of the root", type);
		TRY_ACTION(mlx5dv_dr_action_create_packet_reformat(
				   root->domain, 0,
				   (enum mlx5dv_flow_action_packet_reformat_type)type, 64, header),
			   "reformat %d", type);
	}
	TRY_ACTION(mlx5dv_dr_action_create_packet_reformat(
			   root->domain, 2, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
			   64, header),
		   "reformat of unknown flags");
	TRY_ACTION(mlx5dv_dr_action_create_modify_header(
			   root->domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, 16, changes),
		   "changes of the root");
	TRY_ACTION(mlx5dv_dr_action_create_modify_header(root->domain, 0, 16, changes), "changes");
	TRY_ACTION(mlx5dv_dr_action_create_modify_header(root->domain, 2, 16, changes),
		   "changes of unknown flags");
	TRY_ACTION(mlx5dv_dr_action_create_push_vlan(root->domain, htobe32(0x81000005)),
		   "push a VLAN");
	TRY_ACTION(mlx5dv_dr_action_create_push_vlan(root->domain, htobe32(0x12340005)),
		   "push another tag");
	TRY_ACTION(mlx5dv_dr_action_create_dest_table(root->table), "the root table");
	TRY_ACTION(mlx5dv_dr_action_create_dest_root_table(root->table, 0),
		   "the root table at a priority");
	TRY_ACTION(mlx5dv_dr_action_create_dest_vport(root->domain, 0), "a vport");
	TRY_ACTION(mlx5dv_dr_action_create_dest_ib_port(root->domain, 1), "a port");
}

void dr_actions(struct rig *rig)
{
	struct dr_root root;
	struct ends ends;

	plain_actions();
	for (int type = RX; type <= TX; type++) {
		if (dr_root_open(rig, (enum mlx5dv_dr_domain_type)type, &root))
			root_actions(&root);
		dr_root_close(&root);
	}
	if (dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_FDB, &root))
		TRY_ACTION(mlx5dv_dr_action_create_dest_root_table(root.table, 0),
			   "the switch's root table at a priority");
	dr_root_close(&root);
	if (!ends_open(rig, &ends))
		return;
	object_actions(&ends);
	for (int type = RX; type <= TX; type++) {
		if (dr_root_open(rig, (enum mlx5dv_dr_domain_type)type, &root))
			array_actions(&ends, &root);
		dr_root_close(&root);
	}
	ends_close(&ends);
}

/* One action of each kind that root tables support. */
struct kinds {
	struct mlx5dv_dr_action *qp, *tir, *drop, *miss, *tag, *counter, *pop;
};

static struct kinds kinds_make(const struct ends *ends)
{
	struct kinds kinds = {
		.qp = mlx5dv_dr_action_create_dest_ibv_qp(ends->raw),
		.tir = mlx5dv_dr_action_create_dest_devx_tir(ends->tir.tir),
		.drop = mlx5dv_dr_action_create_drop(),
		.miss = mlx5dv_dr_action_create_default_miss(),
		.tag = mlx5dv_dr_action_create_tag(7),
		.counter = mlx5dv_dr_action_create_flow_counter(ends->counter.obj, 0),
		.pop = mlx5dv_dr_action_create_pop_vlan(),
	};

	MUST(kinds.qp && kinds.tir && kinds.drop && kinds.miss && kinds.tag && kinds.counter &&
	     kinds.pop);
	return kinds;
}

static void kinds_end(struct kinds *kinds)
{
	struct mlx5dv_dr_action *all[] = { kinds->qp,  kinds->tir,     kinds->drop, kinds->miss,
					   kinds->tag, kinds->counter, kinds->pop };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		MUST(!mlx5dv_dr_action_destroy(all[i]));
}

#define TRY(rule, what, ...)                                                   \
	do {                                                                   \
		struct dr_made made_ = DR_MAKE(root, rule, what, __VA_ARGS__); \
		dr_end(&made_);                                                \
	} while (0)

static void targets(struct dr_root *root, const struct steer_rule *rule, const struct kinds *k)
{
	struct dr_made made = dr_make(root, rule, 0, NULL, "nowhere");

	dr_end(&made);
	TRY(rule, "a QP", k->qp);
	TRY(rule, "a TIR", k->tir);
	TRY(rule, "two targets", k->qp, k->tir);
	TRY(rule, "one twice", k->qp, k->qp);
	TRY(rule, "drop", k->drop);
	TRY(rule, "miss", k->miss);
	TRY(rule, "drop and miss", k->drop, k->miss);
	TRY(rule, "a QP and drop", k->qp, k->drop);
}

static void extras(struct dr_root *root, const struct steer_rule *rule, const struct kinds *k)
{
	struct mlx5dv_dr_action *large = mlx5dv_dr_action_create_tag(0xffffffff), *push;

	MUST(large);
	TRY(rule, "a tag", k->tag);
	TRY(rule, "a tag, a QP", k->tag, k->qp);
	TRY(rule, "a QP, a tag", k->qp, k->tag);
	TRY(rule, "two tags", k->tag, k->tag, k->qp);
	TRY(rule, "a tag, drop", k->tag, k->drop);
	TRY(rule, "a counter", k->counter);
	TRY(rule, "a counter, a QP", k->counter, k->qp);
	TRY(rule, "a counter, drop", k->counter, k->drop);
	TRY(rule, "two counters", k->counter, k->counter, k->qp);
	TRY(rule, "a tag too large", large, k->qp);
	TRY(rule, "pop a VLAN", k->pop);
	TRY(rule, "pop a VLAN, a QP", k->pop, k->qp);
	push = mlx5dv_dr_action_create_push_vlan(root->domain, htobe32(0x81000005));
	MUST(push);
	TRY(rule, "push a VLAN, a QP", push, k->qp);
	MUST(!mlx5dv_dr_action_destroy(push) && !mlx5dv_dr_action_destroy(large));
}

static void too_many(struct dr_root *root, const struct steer_rule *rule, const struct kinds *k)
{
	struct mlx5dv_dr_action *actions[MANY];
	struct dr_made made;

	for (size_t i = 0; i < MANY; i++)
		actions[i] = k->tag;
	made = dr_make(root, rule, MANY, actions, "many tags");
	dr_end(&made);
}

static void values(struct dr_root *root, const struct kinds *k)
{
	static const size_t sizes[] = { 0, 4, 64, 448, 640, 644 };
	struct mlx5dv_dr_action *action = k->drop;
	struct mlx5dv_dr_matcher *matcher =
		dr_matcher(root->table, &(struct steer_rule){ STEER_TO_PORT(PORT) });

	MUST(matcher);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct mlx5dv_flow_match_parameters *value = steer_match(sizes[i]);
		struct mlx5dv_dr_rule *rule =
			SAY_PTR(mlx5dv_dr_rule_create(matcher, value, 1, &action),
				"a value of %zu bytes", sizes[i]);

		if (rule)
			MUST(!mlx5dv_dr_rule_destroy(rule));
		free(value);
	}
	MUST(!mlx5dv_dr_matcher_destroy(matcher));
}

void dr_rules(struct rig *rig)
{
	const struct steer_rule rule = { STEER_TO_PORT(PORT) };
	struct dr_root root;
	struct kinds kinds;
	struct ends ends;

	if (!ends_open(rig, &ends))
		return;
	kinds = kinds_make(&ends);
	for (int type = RX; type <= TX; type++) {
		if (dr_root_open(rig, (enum mlx5dv_dr_domain_type)type, &root)) {
			targets(&root, &rule, &kinds);
			extras(&root, &rule, &kinds);
			too_many(&root, &rule, &kinds);
			values(&root, &kinds);
		}
		dr_root_close(&root);
	}
	kinds_end(&kinds);
	ends_close(&ends);
}

static void in_use(struct dr_root *root, const struct ends *ends)
{
	struct mlx5dv_dr_action *actions[] = { mlx5dv_dr_action_create_tag(9),
					       mlx5dv_dr_action_create_dest_ibv_qp(ends->raw) };
	struct dr_made made = dr_make(root, &(struct steer_rule){ STEER_TO_PORT(PORT) },
				      ARRAY_SIZE(actions), actions, "a rule");

	MUST(made.rule);
	SAY_RET(mlx5dv_dr_domain_destroy(root->domain), "destroy the domain of a table");
	SAY_RET(mlx5dv_dr_table_destroy(root->table), "destroy the table of a matcher");
	SAY_RET(mlx5dv_dr_matcher_destroy(made.matcher), "destroy the matcher of a rule");
	SAY_RET(mlx5dv_dr_action_destroy(actions[0]), "destroy the tag of a rule");
	SAY_RET(mlx5dv_dr_action_destroy(actions[1]), "destroy the target of a rule");
	dr_end(&made);
	SAY_RET(mlx5dv_dr_action_destroy(actions[0]), "destroy the tag");
	SAY_RET(mlx5dv_dr_action_destroy(actions[1]), "destroy the target");
}

static void outlives_domain(struct rig *rig)
{
	struct mlx5dv_dr_domain *domain =
		mlx5dv_dr_domain_create(rig->ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
	struct mlx5dv_dr_action *push;
	int ret;

	MUST(domain);
	MUST(push = mlx5dv_dr_action_create_push_vlan(domain, htobe32(0x81000005)));
	ret = SAY_RET(mlx5dv_dr_domain_destroy(domain), "destroy the domain of an action");
	MUST(!mlx5dv_dr_action_destroy(push));
	if (ret)
		MUST(!mlx5dv_dr_domain_destroy(domain));
}

void dr_in_use(struct rig *rig)
{
	struct dr_root root;
	struct ends ends;

	if (!ends_open(rig, &ends))
		return;
	if (dr_root_open(rig, MLX5DV_DR_DOMAIN_TYPE_NIC_RX, &root))
		in_use(&root, &ends);
	dr_root_close(&root);
	outlives_domain(rig);
	ends_close(&ends);
}
