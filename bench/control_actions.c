/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_actions.c - instructions of the calls for direct rules that control_dv.c leaves out:
 * actions that lead elsewhere or change a frame, and rules below the root table. It needs an
 * adapter that lets software write entries (softhca --steering v1).
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <string.h>

#include "bench/row.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/match.h"
#include "prm/mlx5/tir.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { MATCH_BYTES = 64, HEADER = 64, TTL_FIELD = 0xa, SET = 1 };

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *frames;
	struct mlx5dv_devx_obj *transport, *tir;
	struct mlx5dv_dr_domain *domain, *sender; /* of received and of sent frames */
	struct mlx5dv_dr_table *root, *table;
	struct mlx5dv_dr_matcher *matcher; /* of table */
	struct mlx5dv_dr_action *drop;
	void *object[EACH];
};

/* A struct mlx5dv_flow_match_parameters, which ends in an array. */
static struct {
	size_t size;
	uint8_t bytes[MATCH_BYTES];
} match = { MATCH_BYTES, { 0 } };

/* IPv4 frames to a UDP port of an address. */
static struct mlx5dv_flow_match_parameters *match_of(uint32_t port, uint32_t address)
{
	memset(match.bytes, 0, sizeof(match.bytes));
	fld_set(match.bytes, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION), 4);
	fld_set(match.bytes, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_UDP_DPORT), port);
	fld_set(match.bytes, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_DST_IPV4 + FLD(0x0, 31, 0)),
		address);
	return (struct mlx5dv_flow_match_parameters *)&match;
}

static bool object_is_made(struct world *w, int i, void *object)
{
	MUST(object || is_absent(errno));
	w->object[i] = object;
	return object;
}

static bool action_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_action_destroy(w->object[i]));
}

static bool to_table(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_dest_table(w->table));
}

static bool to_tir(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_dest_devx_tir(w->tir));
}

static bool pop(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_action_create_pop_vlan());
}

static bool push(struct world *w, int i)
{
	return object_is_made(w, i,
			      mlx5dv_dr_action_create_push_vlan(w->sender, htobe32(0x81000005)));
}

static struct mlx5dv_dr_action *change_of(struct mlx5dv_dr_domain *domain, uint32_t flags)
{
	__be64 change =
		htobe64((uint64_t)SET << 60 | (uint64_t)TTL_FIELD << 48 | (uint64_t)8 << 32 | 7);

	return mlx5dv_dr_action_create_modify_header(domain, flags, sizeof(change), &change);
}

static bool header_change(struct world *w, int i)
{
	return object_is_made(w, i, change_of(w->domain, 0));
}

static bool root_change(struct world *w, int i)
{
	return object_is_made(w, i, change_of(w->domain, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL));
}

static struct mlx5dv_dr_action *tunnel_of(struct mlx5dv_dr_domain *domain, uint32_t flags)
{
	static uint8_t header[HEADER];

	return mlx5dv_dr_action_create_packet_reformat(
		domain, flags, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
		sizeof(header), header);
}

static bool tunnel(struct world *w, int i)
{
	return object_is_made(w, i, tunnel_of(w->sender, 0));
}

static bool root_tunnel(struct world *w, int i)
{
	return object_is_made(w, i, tunnel_of(w->sender, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL));
}

static bool domain_sync(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_dr_domain_sync(w->domain, MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW));
}

static bool device_sync(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_dr_domain_sync(w->domain, MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW));
}

static bool table_make(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_dr_table_create(w->domain, 2));
}

static bool table_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_table_destroy(w->object[i]));
}

static bool matcher_make(struct world *w, int i)
{
	return object_is_made(w, i,
			      mlx5dv_dr_matcher_create(w->table, (uint16_t)(1 + i), PRM_MATCH_OUTER,
						       match_of(0xffff, 0xffffffff)));
}

static bool matcher_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_matcher_destroy(w->object[i]));
}

static bool rule_make(struct world *w, int i)
{
	return object_is_made(
		w, i, mlx5dv_dr_rule_create(w->matcher, match_of((uint32_t)i + 1, 1), 1, &w->drop));
}

static bool rule_end(struct world *w, int i)
{
	return step_done(mlx5dv_dr_rule_destroy(w->object[i]));
}

static const struct row rows[] = {
	{ "mlx5dv_dr_action_create_dest_table", NULL, to_table, action_end },
	{ "mlx5dv_dr_action_create_dest_devx_tir", NULL, to_tir, action_end },
	{ "mlx5dv_dr_action_create_pop_vlan", NULL, pop, action_end },
	{ "mlx5dv_dr_action_create_push_vlan", NULL, push, action_end },
	{ "mlx5dv_dr_action_create_modify_header", NULL, header_change, action_end },
	{ "mlx5dv_dr_action_create_modify_header, root", NULL, root_change, action_end },
	{ "mlx5dv_dr_action_create_packet_reformat", NULL, tunnel, action_end },
	{ "mlx5dv_dr_action_create_packet_reformat, root", NULL, root_tunnel, action_end },
	{ "mlx5dv_dr_domain_sync, software", NULL, domain_sync, NULL },
	{ "mlx5dv_dr_domain_sync, adapter", NULL, device_sync, NULL },
	{ "mlx5dv_dr_table_create, below the root", NULL, table_make, table_end },
	{ "mlx5dv_dr_table_destroy, below the root", table_make, table_end, NULL },
	{ "mlx5dv_dr_matcher_create, below the root", NULL, matcher_make, matcher_end },
	{ "mlx5dv_dr_matcher_destroy, below the root", matcher_make, matcher_end, NULL },
	{ "mlx5dv_dr_rule_create, below the root", NULL, rule_make, rule_end },
	{ "mlx5dv_dr_rule_destroy, below the root", rule_make, rule_end, NULL },
};

/* A TIR of the receive queue of FRAMES. */
static void tir_make(struct world *w)
{
	uint8_t in[0x20 + PRM_TIRC_SIZE] = { 0 }, out[16] = { 0 };
	uint8_t *tirc = fld_at(in, CREATE_TIR_IN_CTX);
	struct mlx5dv_qp parts = { .comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES };
	struct mlx5dv_obj obj = { .qp = { w->frames, &parts } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_TRANSPORT_DOMAIN);
	MUST(w->transport = mlx5dv_devx_obj_create(w->rig.ctx, in, 16, out, sizeof(out)));
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, fld_get(out, FLD(0x8, 23, 0)));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_TIR);
	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_DIRECT);
	fld_set(tirc, TIRC_INLINE_RQN, parts.rqn);
	MUST(w->tir = mlx5dv_devx_obj_create(w->rig.ctx, in, sizeof(in), out, sizeof(out)));
}

static void world_make(struct world *w)
{
	struct ibv_qp_init_attr attr = { .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RAW_PACKET };

	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	attr.send_cq = attr.recv_cq = w->cq;
	MUST(w->frames = ibv_create_qp(w->pd, &attr));
	tir_make(w);
	MUST(w->domain = mlx5dv_dr_domain_create(w->rig.ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX));
	MUST(w->sender = mlx5dv_dr_domain_create(w->rig.ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_TX));
	MUST(w->root = mlx5dv_dr_table_create(w->domain, 0));
	MUST(w->table = mlx5dv_dr_table_create(w->domain, 1));
	MUST(w->matcher = mlx5dv_dr_matcher_create(w->table, 0, PRM_MATCH_OUTER,
						   match_of(0xffff, 0xffffffff)));
	MUST(w->drop = mlx5dv_dr_action_create_drop());
}

static void world_end(struct world *w)
{
	MUST(!mlx5dv_dr_action_destroy(w->drop));
	MUST(!mlx5dv_dr_matcher_destroy(w->matcher));
	MUST(!mlx5dv_dr_table_destroy(w->table) && !mlx5dv_dr_table_destroy(w->root));
	MUST(!mlx5dv_dr_domain_destroy(w->sender) && !mlx5dv_dr_domain_destroy(w->domain));
	MUST(!mlx5dv_devx_obj_destroy(w->tir) && !mlx5dv_devx_obj_destroy(w->transport));
	MUST(!ibv_destroy_qp(w->frames));
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}
