/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scheduling.c - schedulers, bonded ports and UDP source ports: the objects, and the types and
 * states of QPs that accept them.
 *
 * Covers: providers/mlx5/dv/sched.c, providers/mlx5/dv/lag.c, providers/mlx5/dv/udp_sport.c,
 * providers/mlx5/dv/reserved_qpn.c, providers/mlx5/qp/reserved_qpn.c, softhca/device/queue/sched.c,
 * softhca/device/format/mlx5/cmd/lag.c, softhca/device/format/mlx5/cmd/reserved_qpn.c
 */
#include <infiniband/mlx5dv.h>

#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

#define BOTH (MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE | MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW)

struct tree {
	struct mlx5dv_sched_node *root, *node;
	struct mlx5dv_sched_leaf *leaf;
};

static void tree_refuse(struct ibv_context *ctx, struct mlx5dv_sched_node *root)
{
	struct mlx5dv_sched_attr attr = { .flags = 1, .bw_share = 5 };

	SAY_PTR(mlx5dv_sched_node_create(ctx, &attr), "a root with a share");
	SAY_PTR(mlx5dv_sched_leaf_create(ctx, &attr), "a leaf without a parent");
	attr = (struct mlx5dv_sched_attr){ .parent = root, .flags = 4 };
	SAY_PTR(mlx5dv_sched_node_create(ctx, &attr), "an unknown flag");
	attr = (struct mlx5dv_sched_attr){ .parent = root, .comp_mask = 1 };
	SAY_PTR(mlx5dv_sched_leaf_create(ctx, &attr), "an unknown mask");
	attr = (struct mlx5dv_sched_attr){ .parent = root, .flags = 1, .bw_share = 1000000 };
	SAY_PTR(mlx5dv_sched_node_create(ctx, &attr), "more than any share");
}

static void tree_open(struct ibv_context *ctx, struct tree *tree)
{
	struct mlx5dv_sched_attr attr = { 0 };

	tree->root = SAY_PTR(mlx5dv_sched_node_create(ctx, &attr), "root");
	MUST(tree->root);
	attr = (struct mlx5dv_sched_attr){
		.parent = tree->root, .flags = BOTH, .bw_share = 10, .max_avg_bw = 1000
	};
	tree->node = SAY_PTR(mlx5dv_sched_node_create(ctx, &attr), "node");
	MUST(tree->node);
	attr.parent = tree->node;
	tree->leaf = SAY_PTR(mlx5dv_sched_leaf_create(ctx, &attr), "leaf");
	MUST(tree->leaf);
	attr.max_avg_bw = 0;
	SAY_RET(mlx5dv_sched_leaf_modify(tree->leaf, &attr), "leaf without a limit");
	attr.parent = tree->root;
	attr.flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE;
	SAY_RET(mlx5dv_sched_node_modify(tree->node, &attr), "node with a share");
	tree_refuse(ctx, tree->root);
}

static void tree_close(struct tree *tree)
{
	say_check(mlx5dv_sched_node_destroy(tree->node) != 0, "a node with a leaf stays");
	SAY_RET(mlx5dv_sched_leaf_destroy(tree->leaf), "leaf destroyed");
	SAY_RET(mlx5dv_sched_node_destroy(tree->node), "node destroyed");
	SAY_RET(mlx5dv_sched_node_destroy(tree->root), "root destroyed");
}

static void qp_take(struct ibv_qp *qp, const struct tree *tree)
{
	uint8_t port = 0, active = 0;

	say("type %d in state %d", (int)qp->qp_type, (int)qp->state);
	SAY_RET(mlx5dv_modify_qp_sched_elem(qp, tree->leaf, NULL), "requests");
	SAY_RET(mlx5dv_modify_qp_sched_elem(qp, tree->leaf, tree->leaf), "and responses");
	SAY_RET(mlx5dv_modify_qp_sched_elem(qp, NULL, NULL), "neither");
	SAY_RET(mlx5dv_modify_qp_udp_sport(qp, 55555), "UDP port");
	if (!SAY_RET(mlx5dv_query_qp_lag_port(qp, &port, &active), "bonded port"))
		say("%u", port);
	SAY_RET(mlx5dv_modify_qp_lag_port(qp, 2), "another");
	if (!SAY_RET(mlx5dv_query_qp_lag_port(qp, &port, &active), "bonded port"))
		say("%u, in fact %u", port, active);
}

/* The rig leads RC alone beyond INIT. */
static void qp_walk(struct rig *rig, const struct tree *tree, enum ibv_qp_type type)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTS };
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 4, 4, 1, 1, 0 }, .qp_type = type
	};
	struct ibv_qp *qp;

	MUST(cq && pd);
	for (size_t i = 0; i < ARRAY_SIZE(states) - (type != IBV_QPT_RC); i++) {
		MUST(qp = ibv_create_qp(pd, &attr));
		if (states[i] != IBV_QPS_RESET)
			rig_qp_to(rig, &conf, qp, qp->qp_num, states[i]);
		qp_take(qp, tree);
		say_ret(ibv_destroy_qp(qp), "destroyed");
	}
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}

void dv_scheduling(struct rig *rig)
{
	struct tree tree;

	tree_open(rig->ctx, &tree);
	qp_walk(rig, &tree, IBV_QPT_RC);
	qp_walk(rig, &tree, IBV_QPT_UC);
	tree_close(&tree);
}

static void parent_refuse(struct ibv_context *ctx, const struct tree *foreign)
{
	struct mlx5dv_sched_attr attr = {
		.parent = foreign->root, .flags = BOTH, .bw_share = 10, .max_avg_bw = 1000
	};

	SAY_PTR(mlx5dv_sched_node_create(ctx, &attr), "a node below another's root");
	attr.parent = foreign->node;
	SAY_PTR(mlx5dv_sched_leaf_create(ctx, &attr), "a leaf below another's node");
}

static void leaf_refuse(struct rig *rig, const struct tree *foreign)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp *qp;

	MUST(cq && pd);
	MUST(qp = ibv_create_qp(pd, &attr));
	rig_qp_to(rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	SAY_RET(mlx5dv_modify_qp_sched_elem(qp, foreign->leaf, NULL), "requests by another's");
	SAY_RET(mlx5dv_modify_qp_sched_elem(qp, NULL, foreign->leaf), "responses by another's");
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}

void dv_foreign_schedulers(struct rig *rig)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *other = mlx5dv_open_device(rig->ctx->device, &attr);
	struct tree tree;

	MUST(other);
	tree_open(other, &tree);
	parent_refuse(rig->ctx, &tree);
	leaf_refuse(rig, &tree);
	tree_close(&tree);
	MUST(!ibv_close_device(other));
}

#define NUMBERS 20 /* more than a range has */

void dv_numbers(struct rig *rig)
{
	uint32_t n[NUMBERS];

	for (int i = 0; i < NUMBERS; i++) {
		if (SAY_RET(mlx5dv_reserved_qpn_alloc(rig->ctx, &n[i]), "number %d", i))
			return;
		for (int j = 0; j < i; j++)
			if (n[i] == n[j])
				say_check(false, "number %d is number %d", i, j);
	}
	SAY_RET(mlx5dv_reserved_qpn_dealloc(rig->ctx, n[3]), "one comes back");
	SAY_RET(mlx5dv_reserved_qpn_dealloc(rig->ctx, n[3]), "once more");
	SAY_RET(mlx5dv_reserved_qpn_dealloc(rig->ctx, 5), "one that was never given");
	for (int i = 0; i < NUMBERS; i++)
		if (i != 3)
			MUST(!mlx5dv_reserved_qpn_dealloc(rig->ctx, n[i]));
}
