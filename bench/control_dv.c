/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_dv.c - instructions of the calls of mlx5dv that bench/devx has no row for: questions,
 * queues, keys, DevX, steering of frames, direct rules.
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

/* Older libraries lack the macro, which passes only the first 16 bytes of an action, so it is not
 * used. */
#undef mlx5dv_create_flow
struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
				    struct mlx5dv_flow_match_parameters *match_value,
				    size_t num_actions,
				    struct mlx5dv_flow_action_attr actions_attr[]);

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp, *frames; /* qp is connected; frames is a raw packet QP */
	struct ibv_wq *wq;
	struct ibv_ah *ah;
	struct ibv_dm *dm;
	struct mlx5dv_devx_obj *counter;
	struct mlx5dv_flow_matcher *flow_matcher;
	struct mlx5dv_dr_domain *domain;
	struct mlx5dv_dr_table *table;
	struct mlx5dv_dr_matcher *matcher;
	struct mlx5dv_dr_action *drop;
	void *object[EACH];
	uint32_t number[EACH];
};

static bool object_is_made(struct world *w, int i, void *object)
{
	MUST(object || is_absent(errno));
	w->object[i] = object;
	return object;
}

static bool device_query(struct world *w, int i)
{
	struct mlx5dv_context attr = { 0 };

	(void)i;
	return step_done(mlx5dv_query_device(w->rig.ctx, &attr));
}

static bool port_query(struct world *w, int i)
{
	struct mlx5dv_port port;

	(void)i;
	return step_done(mlx5dv_query_port(w->rig.ctx, RIG_PORT, &port));
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
	return step_done(mlx5dv_get_clock_info(w->rig.ctx, &clock));
}

static bool init_of_cq(struct world *w, int i)
{
	struct mlx5dv_cq out = { 0 };
	struct mlx5dv_obj obj = { .cq = { w->cq, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
}

static bool init_of_srq(struct world *w, int i)
{
	struct mlx5dv_srq out = { 0 };
	struct mlx5dv_obj obj = { .srq = { w->srq, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
}

static bool init_of_pd(struct world *w, int i)
{
	struct mlx5dv_pd out = { 0 };
	struct mlx5dv_obj obj = { .pd = { w->pd, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
}

static bool init_of_qp(struct world *w, int i)
{
	struct mlx5dv_qp out = { 0 };
	struct mlx5dv_obj obj = { .qp = { w->qp, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
}

static bool init_of_wq(struct world *w, int i)
{
	struct mlx5dv_rwq out = { 0 };
	struct mlx5dv_obj obj = { .rwq = { w->wq, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ));
}

static bool init_of_ah(struct world *w, int i)
{
	struct mlx5dv_ah out = { 0 };
	struct mlx5dv_obj obj = { .ah = { w->ah, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_AH));
}

static bool init_of_dm(struct world *w, int i)
{
	struct mlx5dv_dm out = { 0 };
	struct mlx5dv_obj obj = { .dm = { w->dm, &out } };

	(void)i;
	return step_done(mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM));
}

static bool context_set(struct world *w, int i)
{
	struct mlx5dv_ctx_allocators none = { 0 };

	(void)i;
	return step_done(
		mlx5dv_set_context_attr(w->rig.ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &none));
}

static bool cq_make(struct world *w, int i)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 15, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct mlx5dv_cq_init_attr dv = { 0 };

	return object_is_made(w, i, mlx5dv_create_cq(w->rig.ctx, &attr, &dv));
}

static bool cq_end(struct world *w, int i)
{
	return step_done(ibv_destroy_cq(w->object[i]));
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

	return object_is_made(w, i, mlx5dv_create_qp(w->rig.ctx, &attr, &dv));
}

static bool qp_end(struct world *w, int i)
{
	return step_done(ibv_destroy_qp(w->object[i]));
}

static bool key_make(struct world *w, int i)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = w->pd,
					      .create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
					      .max_entries = 4 };

	return object_is_made(w, i, mlx5dv_create_mkey(&attr));
}

static bool key_end(struct world *w, int i)
{
	return step_done(mlx5dv_destroy_mkey(w->object[i]));
}

static bool number_take(struct world *w, int i)
{
	return step_done(mlx5dv_reserved_qpn_alloc(w->rig.ctx, &w->number[i]));
}

static bool number_give(struct world *w, int i)
{
	return step_done(mlx5dv_reserved_qpn_dealloc(w->rig.ctx, w->number[i]));
}

static struct ibv_wq_init_attr wq_attr(const struct world *w)
{
	return (struct ibv_wq_init_attr){
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = w->pd, .cq = w->cq
	};
}

static bool wq_make(struct world *w, int i)
{
	struct ibv_wq_init_attr attr = wq_attr(w);
	struct mlx5dv_wq_init_attr dv = { 0 };

	return object_is_made(w, i, mlx5dv_create_wq(w->rig.ctx, &attr, &dv));
}

static bool wq_end(struct world *w, int i)
{
	return step_done(ibv_destroy_wq(w->object[i]));
}

static bool dm_make(struct world *w, int i)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct mlx5dv_alloc_dm_attr dv = { .type = MLX5DV_DM_TYPE_MEMIC };

	return object_is_made(w, i, mlx5dv_alloc_dm(w->rig.ctx, &attr, &dv));
}

static bool dm_end(struct world *w, int i)
{
	return step_done(ibv_free_dm(w->object[i]));
}

static bool cq_query(struct world *w, int i)
{
	uint8_t in[16] = { 0 }, out[512];
	struct mlx5dv_cq cq = { 0 };
	struct mlx5dv_obj obj = { .cq = { w->cq, &cq } };

	(void)i;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_CQ);
	fld_set(in, QUERY_CQ_IN_CQN, cq.cqn);
	return step_done(mlx5dv_devx_cq_query(w->cq, in, sizeof(in), out, sizeof(out)));
}

static bool qp_query(struct world *w, int i)
{
	uint8_t in[16] = { 0 }, out[1024];

	(void)i;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_CQ_IN_CQN, w->qp->qp_num);
	return step_done(mlx5dv_devx_qp_query(w->qp, in, sizeof(in), out, sizeof(out)));
}

static bool umem_make(struct world *w, int i)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));
	struct mlx5dv_devx_umem_in in = { .addr = page,
					  .size = sizeof(page),
					  .access = IBV_ACCESS_LOCAL_WRITE,
					  .pgsz_bitmap = UINT64_MAX & ~(sizeof(page) - 1) };

	return object_is_made(w, i, mlx5dv_devx_umem_reg_ex(w->rig.ctx, &in));
}

static bool umem_end(struct world *w, int i)
{
	return step_done(mlx5dv_devx_umem_dereg(w->object[i]));
}

static struct mlx5dv_flow_match_parameters *match(uint64_t value)
{
	static struct {
		size_t size;
		uint64_t bits[64];
	} match = { .size = sizeof(match.bits) };

	match.bits[0] = value;
	return (struct mlx5dv_flow_match_parameters *)&match;
}

static struct mlx5dv_flow_match_parameters *match_mask(void)
{
	return match(UINT64_MAX);
}

static bool matcher_make(struct world *w, int i)
{
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = 1,
		.match_mask = match_mask(),
	};

	return object_is_made(w, i, mlx5dv_create_flow_matcher(w->rig.ctx, &attr));
}

static bool matcher_end(struct world *w, int i)
{
	return step_done(mlx5dv_destroy_flow_matcher(w->object[i]));
}

static bool flow_make(struct world *w, int i)
{
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_DEST_IBV_QP,
						  .qp = w->frames };

	return object_is_made(w, i, mlx5dv_create_flow(w->flow_matcher, match(i + 1), 1, &action));
}

static bool flow_end(struct world *w, int i)
{
	return step_done(ibv_destroy_flow(w->object[i]));
}

static bool anchor_make(struct world *w, int i)
{
	struct mlx5dv_steering_anchor_attr attr = { .ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
						    .priority = (uint16_t)(i % 8) };

	return object_is_made(w, i, mlx5dv_create_steering_anchor(w->rig.ctx, &attr));
}

static bool anchor_end(struct world *w, int i)
{
	return step_done(mlx5dv_destroy_steering_anchor(w->object[i]));
}

static bool domain_make(struct world *w, int i)
{
	return object_is_made(w, i,
			      mlx5dv_dr_domain_create(w->rig.ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX));
}

static bool domain_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_domain_destroy(w->object[i]));
}

static bool table_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_table_create(w->domain, 0));
}

static bool table_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_table_destroy(w->object[i]));
}

static bool dr_matcher_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_matcher_create(w->table, 0, 1, match_mask()));
}

static bool dr_matcher_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_matcher_destroy(w->object[i]));
}

static bool rule_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_rule_create(w->matcher, match(i + 1), 1, &w->drop));
}

static bool rule_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_rule_destroy(w->object[i]));
}

static bool drop_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_drop());
}

static bool action_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_action_destroy(w->object[i]));
}

static bool tag_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_tag((uint32_t)i));
}

static bool miss_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_default_miss());
}

static bool to_qp_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_dest_ibv_qp(w->frames));
}

static bool count_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_flow_counter(w->counter, 0));
}

static const struct row rows[] = {
	{ "mlx5dv_query_device", NULL, device_query, NULL },
	{ "mlx5dv_query_port", NULL, port_query, NULL },
	{ "mlx5dv_is_supported", NULL, device_is_supported, NULL },
	{ "mlx5dv_get_clock_info", NULL, clock_get, NULL },
	{ "mlx5dv_init_obj of a CQ", NULL, init_of_cq, NULL },
	{ "mlx5dv_init_obj of an SRQ", NULL, init_of_srq, NULL },
	{ "mlx5dv_init_obj of a PD", NULL, init_of_pd, NULL },
	{ "mlx5dv_init_obj of a QP", NULL, init_of_qp, NULL },
	{ "mlx5dv_init_obj of a WQ", NULL, init_of_wq, NULL },
	{ "mlx5dv_init_obj of an AH", NULL, init_of_ah, NULL },
	{ "mlx5dv_init_obj of device memory", NULL, init_of_dm, NULL },
	{ "mlx5dv_set_context_attr", NULL, context_set, NULL },
	{ "mlx5dv_create_cq", NULL, cq_make, cq_end },
	{ "mlx5dv_create_qp", NULL, qp_make, qp_end },
	{ "mlx5dv_create_wq", NULL, wq_make, wq_end },
	{ "ibv_destroy_wq", wq_make, wq_end, NULL },
	{ "mlx5dv_alloc_dm", NULL, dm_make, dm_end },
	{ "mlx5dv_create_mkey", NULL, key_make, key_end },
	{ "mlx5dv_destroy_mkey", key_make, key_end, NULL },
	{ "mlx5dv_reserved_qpn_alloc", NULL, number_take, number_give },
	{ "mlx5dv_reserved_qpn_dealloc", number_take, number_give, NULL },
	{ "mlx5dv_devx_cq_query", NULL, cq_query, NULL },
	{ "mlx5dv_devx_qp_query", NULL, qp_query, NULL },
	{ "mlx5dv_devx_umem_reg_ex", NULL, umem_make, umem_end },
	{ "mlx5dv_devx_umem_dereg", umem_make, umem_end, NULL },
	{ "mlx5dv_create_flow_matcher", NULL, matcher_make, matcher_end },
	{ "mlx5dv_destroy_flow_matcher", matcher_make, matcher_end, NULL },
	{ "mlx5dv_create_flow", NULL, flow_make, flow_end },
	{ "ibv_destroy_flow of mlx5dv", flow_make, flow_end, NULL },
	{ "mlx5dv_create_steering_anchor", NULL, anchor_make, anchor_end },
	{ "mlx5dv_destroy_steering_anchor", anchor_make, anchor_end, NULL },
	{ "mlx5dv_dr_domain_create", NULL, domain_make, domain_end },
	{ "mlx5dv_dr_domain_destroy", domain_make, domain_end, NULL },
	{ "mlx5dv_dr_table_create", NULL, table_make, table_end },
	{ "mlx5dv_dr_table_destroy", table_make, table_end, NULL },
	{ "mlx5dv_dr_matcher_create", NULL, dr_matcher_make, dr_matcher_end },
	{ "mlx5dv_dr_matcher_destroy", dr_matcher_make, dr_matcher_end, NULL },
	{ "mlx5dv_dr_rule_create", NULL, rule_make, rule_end },
	{ "mlx5dv_dr_rule_destroy", rule_make, rule_end, NULL },
	{ "mlx5dv_dr_action_create_drop", NULL, drop_make, action_end },
	{ "mlx5dv_dr_action_create_tag", NULL, tag_make, action_end },
	{ "mlx5dv_dr_action_create_default_miss", NULL, miss_make, action_end },
	{ "mlx5dv_dr_action_create_dest_ibv_qp", NULL, to_qp_make, action_end },
	{ "mlx5dv_dr_action_create_flow_counter", NULL, count_make, action_end },
	{ "mlx5dv_dr_action_destroy", drop_make, action_end, NULL },
};

/* Brings a raw packet QP to INIT, as a rule's destination must be in that state. */
static void queues_make(struct world *w)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = w->cq, .recv_cq = w->cq, .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	struct ibv_wq_init_attr of_wq = wq_attr(w);

	MUST(w->qp = ibv_create_qp(w->pd, &attr));
	attr.qp_type = IBV_QPT_RAW_PACKET;
	MUST(w->frames = ibv_create_qp(w->pd, &attr));
	MUST(!ibv_modify_qp(w->frames, &init, IBV_QP_STATE | IBV_QP_PORT));
	MUST(w->wq = ibv_create_wq(w->rig.ctx, &of_wq));
}

static void small_objects_make(struct world *w)
{
	struct ibv_ah_attr ah = { .is_global = 1, .port_num = RIG_PORT, .grh.dgid = w->rig.gid };
	struct ibv_alloc_dm_attr dm = { .length = 64 };
	uint8_t in[16] = { 0 }, out[16];

	MUST(w->ah = ibv_create_ah(w->pd, &ah));
	MUST(w->dm = ibv_alloc_dm(w->rig.ctx, &dm));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_FLOW_COUNTER);
	MUST(w->counter = mlx5dv_devx_obj_create(w->rig.ctx, in, sizeof(in), out, sizeof(out)));
}

static void steering_make(struct world *w)
{
	MUST(matcher_make(w, 0));
	w->flow_matcher = w->object[0];
	MUST(w->domain = mlx5dv_dr_domain_create(w->rig.ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX));
	MUST(w->table = mlx5dv_dr_table_create(w->domain, 0));
	MUST(w->matcher = mlx5dv_dr_matcher_create(w->table, 0, 1, match_mask()));
	MUST(w->drop = mlx5dv_dr_action_create_drop());
}

static void world_make(struct world *w)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };

	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	MUST(w->srq = ibv_create_srq(w->pd, &attr));
	queues_make(w);
	small_objects_make(w);
	steering_make(w);
}

static void steering_end(struct world *w)
{
	MUST(!mlx5dv_dr_action_destroy(w->drop));
	MUST(!mlx5dv_dr_matcher_destroy(w->matcher));
	MUST(!mlx5dv_dr_table_destroy(w->table));
	MUST(!mlx5dv_dr_domain_destroy(w->domain));
	MUST(!mlx5dv_destroy_flow_matcher(w->flow_matcher));
}

static void world_end(struct world *w)
{
	steering_end(w);
	MUST(!mlx5dv_devx_obj_destroy(w->counter));
	MUST(!ibv_free_dm(w->dm));
	MUST(!ibv_destroy_ah(w->ah));
	MUST(!ibv_destroy_wq(w->wq));
	MUST(!ibv_destroy_qp(w->frames));
	MUST(!ibv_destroy_qp(w->qp));
	MUST(!ibv_destroy_srq(w->srq));
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}
