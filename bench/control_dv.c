/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_dv.c - instructions of the calls of mlx5dv that bench/devx has no row for: questions,
 * queues, keys, DevX on objects of verbs, matchers, direct rules.
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <string.h>

#include "bench/row.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

/* What the rows call things on; OBJECT are those of the row that runs. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct mlx5dv_dr_domain *domain;
	void *object[EACH];
	uint32_t number[EACH];
};

static bool made(struct world *w, int i, void *object)
{
	MUST(object || is_absent(errno));
	w->object[i] = object;
	return object;
}

/* RET is 0 or an errno. */
static bool done(int ret)
{
	MUST(!ret || is_absent(ret));
	return !ret;
}

/* ---- questions ---- */

static bool device_query(struct world *w, int i)
{
	struct mlx5dv_context attr = { 0 };

	(void)i;
	return done(mlx5dv_query_device(w->rig.ctx, &attr));
}

static bool port_query(struct world *w, int i)
{
	struct mlx5dv_port port;

	(void)i;
	return done(mlx5dv_query_port(w->rig.ctx, RIG_PORT, &port));
}

static bool device_is_supported(struct world *w, int i)
{
	(void)i;
	MUST(mlx5dv_is_supported(w->rig.ctx->device));
	return true;
}

static bool clock_get(struct world *w, int i)
{
	struct mlx5dv_clock_info clock;

	(void)i;
	return done(mlx5dv_get_clock_info(w->rig.ctx, &clock));
}

static bool init_of_cq(struct world *w, int i)
{
	struct mlx5dv_cq out = { 0 };
	struct mlx5dv_obj obj = { .cq = { w->cq, &out } };

	(void)i;
	return done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
}

static bool init_of_srq(struct world *w, int i)
{
	struct mlx5dv_srq out = { 0 };
	struct mlx5dv_obj obj = { .srq = { w->srq, &out } };

	(void)i;
	return done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
}

static bool init_of_pd(struct world *w, int i)
{
	struct mlx5dv_pd out = { 0 };
	struct mlx5dv_obj obj = { .pd = { w->pd, &out } };

	(void)i;
	return done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
}

/* ---- queues, keys, numbers ---- */

static bool cq_make(struct world *w, int i)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 15, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct mlx5dv_cq_init_attr dv = { 0 };

	return made(w, i, mlx5dv_create_cq(w->rig.ctx, &attr, &dv));
}

static bool cq_end(struct world *w, int i)
{
	return done(ibv_destroy_cq(w->object[i]));
}

static bool qp_make(struct world *w, int i)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = w->cq,
					    .recv_cq = w->cq,
					    .cap = { 8, 8, 1, 1, 0 },
					    .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = w->pd };
	struct mlx5dv_qp_init_attr dv = { 0 };

	return made(w, i, mlx5dv_create_qp(w->rig.ctx, &attr, &dv));
}

static bool qp_end(struct world *w, int i)
{
	return done(ibv_destroy_qp(w->object[i]));
}

static bool key_make(struct world *w, int i)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = w->pd,
					      .create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
					      .max_entries = 4 };

	return made(w, i, mlx5dv_create_mkey(&attr));
}

static bool key_end(struct world *w, int i)
{
	return done(mlx5dv_destroy_mkey(w->object[i]));
}

static bool number_take(struct world *w, int i)
{
	return done(mlx5dv_reserved_qpn_alloc(w->rig.ctx, &w->number[i]));
}

static bool number_give(struct world *w, int i)
{
	return done(mlx5dv_reserved_qpn_dealloc(w->rig.ctx, w->number[i]));
}

/* ---- DevX on objects of verbs ---- */

static bool cq_query(struct world *w, int i)
{
	uint8_t in[16] = { 0 }, out[512];
	struct mlx5dv_cq cq = { 0 };
	struct mlx5dv_obj obj = { .cq = { w->cq, &cq } };

	(void)i;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_CQ);
	fld_set(in, QUERY_CQ_IN_CQN, cq.cqn);
	return done(mlx5dv_devx_cq_query(w->cq, in, sizeof(in), out, sizeof(out)));
}

/* ---- matchers and direct rules ---- */

static bool matcher_make(struct world *w, int i)
{
	static struct {
		size_t size;
		uint64_t bits[64];
	} mask = { .size = sizeof(mask.bits) };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = 1,
		.match_mask = (struct mlx5dv_flow_match_parameters *)&mask,
	};

	mask.bits[0] = UINT64_MAX;
	return made(w, i, mlx5dv_create_flow_matcher(w->rig.ctx, &attr));
}

static bool matcher_end(struct world *w, int i)
{
	return done(mlx5dv_destroy_flow_matcher(w->object[i]));
}

static bool table_make(struct world *w, int i)
{
	return made(w, i, mlx5dv_dr_table_create(w->domain, 0));
}

static bool table_end(struct world *w, int i)
{
	return done(mlx5dv_dr_table_destroy(w->object[i]));
}

static bool drop_make(struct world *w, int i)
{
	return made(w, i, mlx5dv_dr_action_create_drop());
}

static bool action_end(struct world *w, int i)
{
	return done(mlx5dv_dr_action_destroy(w->object[i]));
}

static const struct row rows[] = {
	{ "mlx5dv_query_device", NULL, device_query, NULL },
	{ "mlx5dv_query_port", NULL, port_query, NULL },
	{ "mlx5dv_is_supported", NULL, device_is_supported, NULL },
	{ "mlx5dv_get_clock_info", NULL, clock_get, NULL },
	{ "mlx5dv_init_obj of a CQ", NULL, init_of_cq, NULL },
	{ "mlx5dv_init_obj of an SRQ", NULL, init_of_srq, NULL },
	{ "mlx5dv_init_obj of a PD", NULL, init_of_pd, NULL },
	{ "mlx5dv_create_cq", NULL, cq_make, cq_end },
	{ "mlx5dv_create_qp", NULL, qp_make, qp_end },
	{ "mlx5dv_create_mkey", NULL, key_make, key_end },
	{ "mlx5dv_destroy_mkey", key_make, key_end, NULL },
	{ "mlx5dv_reserved_qpn_alloc", NULL, number_take, number_give },
	{ "mlx5dv_reserved_qpn_dealloc", number_take, number_give, NULL },
	{ "mlx5dv_devx_cq_query", NULL, cq_query, NULL },
	{ "mlx5dv_create_flow_matcher", NULL, matcher_make, matcher_end },
	{ "mlx5dv_destroy_flow_matcher", matcher_make, matcher_end, NULL },
	{ "mlx5dv_dr_table_create", NULL, table_make, table_end },
	{ "mlx5dv_dr_table_destroy", table_make, table_end, NULL },
	{ "mlx5dv_dr_action_create_drop", NULL, drop_make, action_end },
	{ "mlx5dv_dr_action_destroy", drop_make, action_end, NULL },
};

static void world_make(struct world *w)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };

	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	MUST(w->srq = ibv_create_srq(w->pd, &attr));
	MUST(w->domain = mlx5dv_dr_domain_create(w->rig.ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX));
}

static void world_end(struct world *w)
{
	MUST(!mlx5dv_dr_domain_destroy(w->domain));
	MUST(!ibv_destroy_srq(w->srq));
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	world_make(&w);
	rows_measure(&w, rows, ARRAY_SIZE(rows));
	world_end(&w);
	return 0;
}
