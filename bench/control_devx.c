/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_devx.c - instructions of the calls of mlx5dv that bench/devx.c and control_dv.c leave
 * out: commands of DevX on objects of both kinds, events, what one process hands to another, and
 * changes of QPs, keys and schedulers. The port of a QP needs bonded ports (softhca --lag 2).
 *
 * Its headers are ours, as the distribution's lack some of the calls.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/row.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/wq.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { COUNTER_OUT = 32, PAGE = 4096, EVENT_OF_PORT = 9, HEADER = 64 };
enum { TABLE_IN = 32 + PRM_RQTC_SIZE + 4 /* a list of one */ };

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /* in RTS */
	struct ibv_srq *srq;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_ah *ah;
	uint32_t cqn, srqn, counter_id, tisn;
	struct mlx5dv_devx_obj *counter, *domain, *tis;
	struct mlx5dv_devx_cmd_comp *answers;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_var *var;
	struct mlx5dv_dek *dek;
	struct mlx5dv_mkey *key;
	struct mlx5dv_sched_node *root, *node;
	struct mlx5dv_sched_leaf *leaf;
	char handed[3][64]; /* attributes of counter, umem and var for another process */
	int eventfd;
	void *object[EACH];
	int fd[EACH];
};

static char page[PAGE] __attribute__((aligned(PAGE)));

static bool object_is_made(struct world *w, int i, void *object)
{
	MUST(object || is_absent(errno));
	w->object[i] = object;
	return object;
}

/* ---- commands on objects */

struct command {
	uint8_t in[PRM_MODIFY_QP_IN_SIZE + PRM_RQC_SIZE], out[512];
};

static struct command command_of(uint32_t opcode)
{
	struct command cmd = { { 0 }, { 0 } };

	fld_set(cmd.in, CMD_IN_OPCODE, opcode);
	return cmd;
}

static struct command counter_query(const struct world *w)
{
	struct command cmd = command_of(PRM_OP_QUERY_FLOW_COUNTER);

	fld_set(cmd.in, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID, w->counter_id);
	return cmd;
}

static bool obj_query(struct world *w, int i)
{
	struct command cmd = counter_query(w);

	(void)i;
	return step_done(mlx5dv_devx_obj_query(w->counter, cmd.in, 32, cmd.out, COUNTER_OUT));
}

static bool obj_query_later(struct world *w, int i)
{
	struct command cmd = counter_query(w);

	return step_done(mlx5dv_devx_obj_query_async(w->counter, cmd.in, 32, COUNTER_OUT,
						     (uint64_t)i, w->answers));
}

static bool answer_take(struct world *w, int i)
{
	union {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t bytes[sizeof(struct mlx5dv_devx_async_cmd_hdr) + COUNTER_OUT];
	} answer;

	(void)i;
	return step_done(mlx5dv_devx_get_async_cmd_comp(w->answers, &answer.hdr, sizeof(answer)));
}

/* An empty mask changes nothing. */
static bool obj_change(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_MODIFY_TIS);

	(void)i;
	fld_set(cmd.in, MODIFY_TIS_IN_TISN, w->tisn);
	return step_done(mlx5dv_devx_obj_modify(w->tis, cmd.in, 32 + PRM_TISC_SIZE, cmd.out, 16));
}

static bool cq_change(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_MODIFY_CQ);

	(void)i;
	fld_set(cmd.in, MODIFY_CQ_IN_CQN, w->cqn);
	fld_set(cmd.in, MODIFY_CQ_IN_FIELD_SELECT, PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT);
	return step_done(mlx5dv_devx_cq_modify(w->cq, cmd.in, PRM_CREATE_CQ_IN_SIZE, cmd.out, 16));
}

/* Of a QP in RESET. */
static bool qp_change(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_RST2INIT_QP);
	struct ibv_qp *qp = w->object[i];
	uint8_t *qpc = fld_at(cmd.in, MODIFY_QP_IN_QPC);

	fld_set(cmd.in, MODIFY_QP_IN_QPN, qp->qp_num);
	fld_set(fld_at(qpc, QPC_PRIMARY_PATH), ADS_VHCA_PORT_NUM, 1);
	fld_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	return step_done(mlx5dv_devx_qp_modify(qp, cmd.in, PRM_MODIFY_QP_IN_SIZE, cmd.out, 16));
}

static bool qp_make(struct world *w, int i)
{
	const struct rig_conf conf = rig_conf_default();

	return object_is_made(w, i, rig_qp_create(w->pd, &conf, w->cq));
}

static bool qp_end(struct world *w, int i)
{
	return step_done(ibv_destroy_qp(w->object[i]));
}

static bool srq_ask(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_QUERY_RMP);

	(void)i;
	fld_set(cmd.in, QUERY_RMP_IN_RMPN, w->srqn);
	return step_done(mlx5dv_devx_srq_query(w->srq, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

static bool srq_change(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_MODIFY_RMP);

	(void)i;
	fld_set(cmd.in, MODIFY_RMP_IN_RMPN, w->srqn);
	fld_set(cmd.in, MODIFY_RMP_IN_RMP_STATE, PRM_RMPC_STATE_RDY);
	fld_set(cmd.in, MODIFY_RMP_IN_BITMASK_LWM, 1);
	return step_done(
		mlx5dv_devx_srq_modify(w->srq, cmd.in, PRM_MODIFY_RMP_IN_SIZE, cmd.out, 16));
}

static bool wq_ask(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_QUERY_RQ);

	(void)i;
	fld_set(cmd.in, QUERY_RQ_IN_RQN, w->wq->wq_num);
	return step_done(mlx5dv_devx_wq_query(w->wq, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

/* The queue stays in RESET. */
static bool wq_change(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_MODIFY_RQ);

	(void)i;
	fld_set(cmd.in, MODIFY_RQ_IN_RQN, w->wq->wq_num);
	return step_done(mlx5dv_devx_wq_modify(w->wq, cmd.in, 32 + PRM_RQC_SIZE, cmd.out, 16));
}

static bool table_ask(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_QUERY_RQT);

	(void)i;
	fld_set(cmd.in, QUERY_RQT_IN_RQTN, w->table->ind_tbl_num);
	return step_done(mlx5dv_devx_ind_tbl_query(w->table, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

static bool table_change(struct world *w, int i)
{
	struct command cmd = command_of(PRM_OP_MODIFY_RQT);
	uint8_t *rqtc = fld_at(cmd.in, MODIFY_RQT_IN_CTX);

	(void)i;
	fld_set(cmd.in, MODIFY_RQT_IN_RQTN, w->table->ind_tbl_num);
	fld_set(fld_at(cmd.in, MODIFY_RQT_IN_BITMASK), RQT_BITMASK_RQN_LIST, 1);
	fld_set(rqtc, RQTC_RQT_ACTUAL_SIZE, 1);
	fld_set(fld_at(rqtc, RQTC_RQ_NUM), RQ_NUM_RQ_NUM, w->wq->wq_num);
	return step_done(mlx5dv_devx_ind_tbl_modify(w->table, cmd.in, TABLE_IN, cmd.out, 16));
}

/* ---- events, and pages */

static bool event_subscribe(struct world *w, int i)
{
	uint16_t type = EVENT_OF_PORT;

	return step_done(mlx5dv_devx_subscribe_devx_event(w->object[i], NULL, sizeof(type), &type,
							  (uint64_t)i));
}

static bool eventfd_subscribe(struct world *w, int i)
{
	return step_done(
		mlx5dv_devx_subscribe_devx_event_fd(w->object[i], w->eventfd, NULL, EVENT_OF_PORT));
}

static bool channel_make(struct world *w, int i)
{
	return object_is_made(w, i,
			      mlx5dv_devx_create_event_channel(
				      w->rig.ctx, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA));
}

static bool channel_end(struct world *w, int i)
{
	mlx5dv_devx_destroy_event_channel(w->object[i]);
	return true;
}

static bool uar_export(struct world *w, int i)
{
	w->fd[i] = mlx5dv_devx_uar_export_dmabuf_fd(w->uar);
	return step_done(w->fd[i] >= 0 ? 0 : errno);
}

static bool fd_end(struct world *w, int i)
{
	return step_done(close(w->fd[i]) ? errno : 0);
}

/* ---- what another process gets */

enum handed { OF_COUNTER, OF_UMEM, OF_VAR };

static bool sizes_get(struct world *w, int i)
{
	struct mlx5dv_export_sizes sizes;

	(void)w, (void)i;
	mlx5dv_get_export_sizes(&sizes);
	return true;
}

static bool obj_export(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_devx_obj_export(w->counter, w->handed[OF_COUNTER]));
}

static bool obj_import(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_devx_obj_import(w->rig.ctx, w->handed[OF_COUNTER]));
}

static bool obj_unimport(struct world *w, int i)
{
	mlx5dv_devx_obj_unimport(w->object[i]);
	return true;
}

static bool umem_export(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_devx_umem_export(w->umem, w->handed[OF_UMEM]));
}

static bool umem_import(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_devx_umem_import(w->rig.ctx, w->handed[OF_UMEM]));
}

static bool umem_unimport(struct world *w, int i)
{
	mlx5dv_devx_umem_unimport(w->object[i]);
	return true;
}

static bool var_export(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_var_export(w->var, w->handed[OF_VAR]));
}

static bool var_import(struct world *w, int i)
{
	return object_is_made(w, i, mlx5dv_var_import(w->rig.ctx, w->handed[OF_VAR]));
}

static bool var_unimport(struct world *w, int i)
{
	mlx5dv_var_unimport(w->object[i]);
	return true;
}

/* ---- QPs, keys, schedulers */

static bool lag_ask(struct world *w, int i)
{
	uint8_t port, active;

	(void)i;
	return step_done(mlx5dv_query_qp_lag_port(w->qp, &port, &active));
}

static bool lag_change(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_modify_qp_lag_port(w->qp, 1));
}

static bool source_change(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_modify_qp_udp_sport(w->qp, 0xd903));
}

static bool address_map(struct world *w, int i)
{
	(void)i;
	return step_done(mlx5dv_map_ah_to_qp(w->ah, w->qp->qp_num));
}

static bool dek_ask(struct world *w, int i)
{
	struct mlx5dv_dek_attr attr = { 0 };

	(void)i;
	return step_done(mlx5dv_dek_query(w->dek, &attr));
}

static bool key_check(struct world *w, int i)
{
	struct mlx5dv_mkey_err err;

	(void)i;
	return step_done(mlx5dv_mkey_check(w->key, &err));
}

static bool leaf_change(struct world *w, int i)
{
	struct mlx5dv_sched_attr attr = { .parent = w->node,
					  .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
					  .bw_share = 5 };

	(void)i;
	return step_done(mlx5dv_sched_leaf_modify(w->leaf, &attr));
}

static bool node_change(struct world *w, int i)
{
	struct mlx5dv_sched_attr attr = { .parent = w->root,
					  .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
					  .bw_share = 5 };

	(void)i;
	return step_done(mlx5dv_sched_node_modify(w->node, &attr));
}

/* ---- actions of flows */

/* Sets the TTL, bits 8 to 15 of a word of the header, to 7. */
static bool header_change_make(struct world *w, int i)
{
	uint64_t action = htobe64(1ull << 60 | 0xaull << 48 | 8ull << 32 | 7);

	return object_is_made(
		w, i,
		mlx5dv_create_flow_action_modify_header(w->rig.ctx, sizeof(action), &action,
							MLX5DV_FLOW_TABLE_TYPE_NIC_RX));
}

static bool reformat_make(struct world *w, int i)
{
	static uint8_t header[HEADER];

	return object_is_made(w, i,
			      mlx5dv_create_flow_action_packet_reformat(
				      w->rig.ctx, sizeof(header), header,
				      MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
				      MLX5DV_FLOW_TABLE_TYPE_NIC_TX));
}

static bool flow_action_end(struct world *w, int i)
{
	return step_done(ibv_destroy_flow_action(w->object[i]));
}

static const struct row rows[] = {
	{ "mlx5dv_devx_obj_query", NULL, obj_query, NULL },
	{ "mlx5dv_devx_obj_query_async", NULL, obj_query_later, answer_take },
	{ "mlx5dv_devx_get_async_cmd_comp", obj_query_later, answer_take, NULL },
	{ "mlx5dv_devx_obj_modify", NULL, obj_change, NULL },
	{ "mlx5dv_devx_cq_modify", NULL, cq_change, NULL },
	{ "mlx5dv_devx_qp_modify", qp_make, qp_change, qp_end },
	{ "mlx5dv_devx_srq_query", NULL, srq_ask, NULL },
	{ "mlx5dv_devx_srq_modify", NULL, srq_change, NULL },
	{ "mlx5dv_devx_wq_query", NULL, wq_ask, NULL },
	{ "mlx5dv_devx_wq_modify", NULL, wq_change, NULL },
	{ "mlx5dv_devx_ind_tbl_query", NULL, table_ask, NULL },
	{ "mlx5dv_devx_ind_tbl_modify", NULL, table_change, NULL },
	{ "mlx5dv_devx_subscribe_devx_event", channel_make, event_subscribe, channel_end },
	{ "mlx5dv_devx_subscribe_devx_event_fd", channel_make, eventfd_subscribe, channel_end },
	{ "mlx5dv_devx_uar_export_dmabuf_fd", NULL, uar_export, fd_end },
	{ "mlx5dv_get_export_sizes", NULL, sizes_get, NULL },
	{ "mlx5dv_devx_obj_export", NULL, obj_export, NULL },
	{ "mlx5dv_devx_obj_import", NULL, obj_import, obj_unimport },
	{ "mlx5dv_devx_obj_unimport", obj_import, obj_unimport, NULL },
	{ "mlx5dv_devx_umem_export", NULL, umem_export, NULL },
	{ "mlx5dv_devx_umem_import", NULL, umem_import, umem_unimport },
	{ "mlx5dv_devx_umem_unimport", umem_import, umem_unimport, NULL },
	{ "mlx5dv_var_export", NULL, var_export, NULL },
	{ "mlx5dv_var_import", NULL, var_import, var_unimport },
	{ "mlx5dv_var_unimport", var_import, var_unimport, NULL },
	{ "mlx5dv_query_qp_lag_port", NULL, lag_ask, NULL },
	{ "mlx5dv_modify_qp_lag_port", NULL, lag_change, NULL },
	{ "mlx5dv_modify_qp_udp_sport", NULL, source_change, NULL },
	{ "mlx5dv_map_ah_to_qp", NULL, address_map, NULL },
	{ "mlx5dv_dek_query", NULL, dek_ask, NULL },
	{ "mlx5dv_mkey_check", NULL, key_check, NULL },
	{ "mlx5dv_sched_leaf_modify", NULL, leaf_change, NULL },
	{ "mlx5dv_sched_node_modify", NULL, node_change, NULL },
	{ "mlx5dv_create_flow_action_modify_header", NULL, header_change_make, flow_action_end },
	{ "mlx5dv_create_flow_action_packet_reformat", NULL, reformat_make, flow_action_end },
	{ "destroy_flow_action", header_change_make, flow_action_end, NULL },
};

/* ---- the objects of the rows */

static uint32_t number_of(const uint8_t *out)
{
	return fld_get(out, CREATE_QP_OUT_QPN); /* all create commands have it at the same place */
}

static struct mlx5dv_devx_obj *obj_make(struct world *w, const struct command *cmd, size_t in_len,
					uint32_t *number)
{
	struct mlx5dv_devx_obj *obj;
	uint8_t out[16];

	obj = mlx5dv_devx_obj_create(w->rig.ctx, cmd->in, in_len, out, sizeof(out));
	MUST(obj);
	*number = number_of(out);
	return obj;
}

static void devx_make(struct world *w)
{
	struct command counter = command_of(PRM_OP_ALLOC_FLOW_COUNTER);
	struct command domain = command_of(PRM_OP_ALLOC_TRANSPORT_DOMAIN);
	struct command tis = command_of(PRM_OP_CREATE_TIS);
	uint8_t out[16];

	MUST(w->counter = mlx5dv_devx_obj_create(w->rig.ctx, counter.in, 16, out, sizeof(out)));
	w->counter_id = fld_get(out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID);
	w->domain = obj_make(w, &domain, 16, &w->tisn);
	fld_set(fld_at(tis.in, CREATE_TIS_IN_CTX), TISC_TRANSPORT_DOMAIN, w->tisn);
	w->tis = obj_make(w, &tis, 32 + PRM_TISC_SIZE, &w->tisn);
	MUST(w->answers = mlx5dv_devx_create_cmd_comp(w->rig.ctx));
	MUST(w->umem = mlx5dv_devx_umem_reg(w->rig.ctx, page, PAGE, IBV_ACCESS_LOCAL_WRITE));
	MUST(w->uar = mlx5dv_devx_alloc_uar(w->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED));
	MUST(w->var = mlx5dv_alloc_var(w->rig.ctx, 0));
	MUST((w->eventfd = eventfd(0, EFD_CLOEXEC)) >= 0);
	MUST(obj_export(w, 0) && umem_export(w, 0) && var_export(w, 0));
}

static void devx_end(struct world *w)
{
	MUST(!close(w->eventfd));
	mlx5dv_free_var(w->var);
	mlx5dv_devx_free_uar(w->uar);
	MUST(!mlx5dv_devx_umem_dereg(w->umem));
	mlx5dv_devx_destroy_cmd_comp(w->answers);
	MUST(!mlx5dv_devx_obj_destroy(w->tis) && !mlx5dv_devx_obj_destroy(w->domain));
	MUST(!mlx5dv_devx_obj_destroy(w->counter));
}

static void numbers_take(struct world *w)
{
	struct mlx5dv_srq srq = { .comp_mask = MLX5DV_SRQ_MASK_SRQN };
	struct mlx5dv_cq cq = { 0 };
	struct mlx5dv_obj obj = { .cq = { w->cq, &cq }, .srq = { w->srq, &srq } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ | MLX5DV_OBJ_SRQ));
	w->cqn = cq.cqn;
	w->srqn = srq.srqn;
}

static void queues_make(struct world *w)
{
	struct ibv_srq_init_attr of_srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	const struct rig_conf conf = rig_conf_default();
	struct ibv_wq_init_attr of_wq = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = w->pd, .cq = w->cq
	};
	struct ibv_rwq_ind_table_init_attr of_table = { .ind_tbl = &w->wq };

	MUST(w->qp = rig_qp_create(w->pd, &conf, w->cq));
	rig_qp_to(&w->rig, &conf, w->qp, w->qp->qp_num, IBV_QPS_RTS);
	MUST(w->srq = ibv_create_srq(w->pd, &of_srq));
	MUST(w->wq = ibv_create_wq(w->rig.ctx, &of_wq));
	MUST(w->table = ibv_create_rwq_ind_table(w->rig.ctx, &of_table));
	numbers_take(w);
}

static void queues_end(struct world *w)
{
	MUST(!ibv_destroy_rwq_ind_table(w->table) && !ibv_destroy_wq(w->wq));
	MUST(!ibv_destroy_srq(w->srq));
	MUST(!ibv_destroy_qp(w->qp));
}

static void tree_make(struct world *w)
{
	struct mlx5dv_sched_attr attr = { 0 };

	MUST(w->root = mlx5dv_sched_node_create(w->rig.ctx, &attr));
	attr = (struct mlx5dv_sched_attr){ .parent = w->root,
					   .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
					   .bw_share = 10 };
	MUST(w->node = mlx5dv_sched_node_create(w->rig.ctx, &attr));
	attr.parent = w->node;
	MUST(w->leaf = mlx5dv_sched_leaf_create(w->rig.ctx, &attr));
}

static void tree_end(struct world *w)
{
	MUST(!mlx5dv_sched_leaf_destroy(w->leaf) && !mlx5dv_sched_node_destroy(w->node));
	MUST(!mlx5dv_sched_node_destroy(w->root));
}

static void keys_make(struct world *w)
{
	struct mlx5dv_mkey_init_attr attr = {
		.pd = w->pd,
		.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
				MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
		.max_entries = 4,
	};
	struct mlx5dv_dek_init_attr of_dek = { .pd = w->pd,
					       .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };
	struct ibv_ah_attr to = { .is_global = 1, .port_num = RIG_PORT, .grh.dgid = w->rig.gid };

	MUST(w->key = mlx5dv_create_mkey(&attr));
	memset(of_dek.key, 1, 16);
	memset(of_dek.key + 16, 2, 16);
	MUST(w->dek = mlx5dv_dek_create(w->rig.ctx, &of_dek));
	MUST(w->ah = ibv_create_ah(w->pd, &to));
}

static void world_make(struct world *w)
{
	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	devx_make(w);
	queues_make(w);
	tree_make(w);
	keys_make(w);
}

static void world_end(struct world *w)
{
	MUST(!ibv_destroy_ah(w->ah) && !mlx5dv_dek_destroy(w->dek) && !mlx5dv_destroy_mkey(w->key));
	tree_end(w);
	queues_end(w);
	devx_end(w);
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}
