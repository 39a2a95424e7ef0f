/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * of_verbs.c - commands that concern no object, and commands on objects that verbs have created.
 *
 * Covers: providers/mlx5/dv/devx_obj.c, softhca/front/process/uverbs/devx/devx.c
 */
#include <string.h>

#include "dx.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/wq.h"
#include "tests/lib/say.h"

void dx_general(void)
{
	static const uint32_t opcodes[] = {
		PRM_OP_QUERY_HCA_CAP,     PRM_OP_QUERY_ADAPTER,
		PRM_OP_QUERY_ISSI,        PRM_OP_NOP,
		PRM_OP_QUERY_VNIC_ENV,    PRM_OP_SET_HCA_CAP,
		PRM_OP_QUERY_PAGES,       PRM_OP_ALLOC_PD,
		PRM_OP_QUERY_QP,          PRM_OP_CREATE_QP,
		PRM_OP_GENERAL_START,     PRM_OP_GENERAL_END,
		PRM_OP_QUERY_CONG_STATUS, PRM_OP_QUERY_LAG,
	};
	uint8_t in[16], out[16 + PRM_HCA_CAP_SIZE];
	struct dx_device device;
	struct dx_command cmd;
	uint32_t eqn;

	dx_device_open(&device);
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		memset(in, 0, sizeof(in));
		fld_set(in, CMD_IN_OPCODE, opcodes[i]);
		memset(out, 0, sizeof(out));
		errno = 0;
		say("general %#x", opcodes[i]);
		say_ret(mlx5dv_devx_general_cmd(device.ctx, in, sizeof(in), out, sizeof(out)),
			"it");
		say("status %#x", (unsigned int)fld_get(out, CMD_OUT_STATUS));
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	SAY_RET(mlx5dv_devx_general_cmd(device.ctx, in, 8, out, sizeof(out)), "half a header");
	SAY_RET(mlx5dv_devx_general_cmd(device.ctx, in, sizeof(in), out, 8), "half an answer");
	dx_command(&cmd, PRM_OP_QUERY_HCA_CAP, 16);
	fld_set(cmd.in, CMD_IN_OP_MOD, 0x7ffe);
	dx_say(mlx5dv_devx_general_cmd(device.ctx, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "capabilities that there are not");
	for (uint32_t vector = 0; vector < 6; vector++)
		SAY_RET(mlx5dv_devx_query_eqn(device.ctx, vector, &eqn), "event queue of vector %u",
			vector);
	dx_device_close(&device);
}

struct objects {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
};

static void make_objects(struct dx_device *device, struct objects *objects)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };

	objects->cq = ibv_create_cq(device->ctx, 16, NULL, NULL, 0);
	MUST(objects->cq);
	attr.send_cq = attr.recv_cq = objects->cq;
	objects->qp = ibv_create_qp(device->pd, &attr);
	objects->srq = ibv_create_srq(device->pd, &srq_attr);
	MUST(objects->qp && objects->srq);
}

static void use_qp(struct ibv_qp *qp)
{
	struct dx_command cmd;

	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, qp->qp_num);
	dx_say(mlx5dv_devx_qp_query(qp, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of a QP");
	say("service %d, state %d", (int)fld_get(fld_at(cmd.out, QUERY_QP_OUT_QPC), QPC_ST),
	    (int)fld_get(fld_at(cmd.out, QUERY_QP_OUT_QPC), QPC_STATE));
	fld_set(cmd.in, QUERY_QP_IN_QPN, qp->qp_num + 1);
	dx_say(mlx5dv_devx_qp_query(qp, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of another QP");
	dx_command(&cmd, PRM_OP_RST2INIT_QP, PRM_MODIFY_QP_IN_SIZE);
	fld_set(cmd.in, MODIFY_QP_IN_QPN, qp->qp_num);
	fld_set(fld_at(fld_at(cmd.in, MODIFY_QP_IN_QPC), QPC_PRIMARY_PATH), ADS_VHCA_PORT_NUM, 1);
	fld_set(fld_at(cmd.in, MODIFY_QP_IN_QPC), QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	dx_say(mlx5dv_devx_qp_modify(qp, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out)), &cmd,
	       "change of a QP");
	dx_say(mlx5dv_devx_qp_query(qp, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out)), &cmd,
	       "change as a query");
}

static void use_cq(struct ibv_cq *cq)
{
	struct mlx5dv_cq dv = { 0 };
	struct mlx5dv_obj obj = { .cq = { cq, &dv } };
	struct dx_command cmd;

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	dx_command(&cmd, PRM_OP_QUERY_CQ, 16);
	fld_set(cmd.in, QUERY_CQ_IN_CQN, dv.cqn);
	dx_say(mlx5dv_devx_cq_query(cq, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of a CQ");
	say("entries 2^%d", (int)fld_get(fld_at(cmd.out, QUERY_CQ_OUT_CQC), CQC_LOG_CQ_SIZE));
	dx_command(&cmd, PRM_OP_MODIFY_CQ, PRM_CREATE_CQ_IN_SIZE);
	fld_set(cmd.in, MODIFY_CQ_IN_CQN, dv.cqn);
	fld_set(cmd.in, MODIFY_CQ_IN_FIELD_SELECT, PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT);
	fld_set(fld_at(cmd.in, MODIFY_CQ_IN_CQC), CQC_CQ_PERIOD, 7);
	fld_set(fld_at(cmd.in, MODIFY_CQ_IN_CQC), CQC_CQ_MAX_COUNT, 9);
	dx_say(mlx5dv_devx_cq_modify(cq, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out)), &cmd,
	       "change of a CQ");
	dx_command(&cmd, PRM_OP_QUERY_CQ, 16);
	fld_set(cmd.in, QUERY_CQ_IN_CQN, dv.cqn);
	dx_say(mlx5dv_devx_cq_query(cq, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of a CQ");
	say("period %d, count %d", (int)fld_get(fld_at(cmd.out, QUERY_CQ_OUT_CQC), CQC_CQ_PERIOD),
	    (int)fld_get(fld_at(cmd.out, QUERY_CQ_OUT_CQC), CQC_CQ_MAX_COUNT));
}

static void use_srq(struct ibv_srq *srq)
{
	struct mlx5dv_srq dv = { .comp_mask = MLX5DV_SRQ_MASK_SRQN };
	struct mlx5dv_obj obj = { .srq = { srq, &dv } };
	struct dx_command cmd;

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
	dx_command(&cmd, PRM_OP_QUERY_RMP, 16);
	fld_set(cmd.in, QUERY_RMP_IN_RMPN, dv.srqn);
	dx_say(mlx5dv_devx_srq_query(srq, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of an SRQ");
	say("state %d", (int)fld_get(fld_at(cmd.out, QUERY_RMP_OUT_RMP_CONTEXT), RMPC_STATE));
	dx_command(&cmd, PRM_OP_MODIFY_RMP, PRM_MODIFY_RMP_IN_SIZE);
	fld_set(cmd.in, MODIFY_RMP_IN_RMPN, dv.srqn);
	fld_set(cmd.in, MODIFY_RMP_IN_RMP_STATE, PRM_RMPC_STATE_RDY);
	fld_set(cmd.in, MODIFY_RMP_IN_BITMASK_LWM, 1);
	fld_set(fld_at(cmd.in, MODIFY_RMP_IN_CTX), FLD_IN(RMPC_WQ, WQ_LWM), 1);
	dx_say(mlx5dv_devx_srq_modify(srq, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out)), &cmd,
	       "change of an SRQ");
	dx_command(&cmd, PRM_OP_QUERY_XRC_SRQ, 16);
	fld_set(cmd.in, QUERY_RMP_IN_RMPN, dv.srqn);
	dx_say(mlx5dv_devx_srq_query(srq, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of a basic SRQ as one of XRC");
}

/* Receive queues by themselves are Ethernet's. */
static void use_wq(struct dx_device *device, struct ibv_cq *cq)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1, .pd = device->pd, .cq = cq
	};
	struct ibv_wq *wq = ibv_create_wq(device->ctx, &attr);
	struct ibv_rwq_ind_table_init_attr table_attr = { .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table;
	struct dx_command cmd;

	if (!wq) {
		say("no receive queues here");
		return;
	}
	table = ibv_create_rwq_ind_table(device->ctx, &table_attr);
	MUST(table);
	dx_command(&cmd, PRM_OP_QUERY_RQ, 16);
	fld_set(cmd.in, QUERY_RQ_IN_RQN, wq->wq_num);
	dx_say(mlx5dv_devx_wq_query(wq, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of a WQ");
	say("state %d", (int)fld_get(fld_at(cmd.out, QUERY_RQ_OUT_RQ_CONTEXT), RQC_STATE));
	dx_command(&cmd, PRM_OP_MODIFY_RQ, 32 + PRM_RQC_SIZE);
	fld_set(cmd.in, MODIFY_RQ_IN_RQN, wq->wq_num);
	fld_set(fld_at(cmd.in, MODIFY_RQ_IN_CTX), RQC_STATE, PRM_WQ_STATE_RDY);
	dx_say(mlx5dv_devx_wq_modify(wq, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out)), &cmd,
	       "change of a WQ");
	dx_command(&cmd, PRM_OP_QUERY_RQT, 16);
	fld_set(cmd.in, QUERY_RQT_IN_RQTN, table->ind_tbl_num);
	dx_say(mlx5dv_devx_ind_tbl_query(table, cmd.in, 16, cmd.out, sizeof(cmd.out)), &cmd,
	       "query of a table");
	dx_command(&cmd, PRM_OP_MODIFY_RQT, 32 + PRM_RQTC_SIZE);
	fld_set(cmd.in, MODIFY_RQT_IN_RQTN, table->ind_tbl_num + 1);
	dx_say(mlx5dv_devx_ind_tbl_modify(table, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out)),
	       &cmd, "change of another table");
	MUST(!ibv_destroy_rwq_ind_table(table));
	MUST(!ibv_destroy_wq(wq));
}

void dx_of_verbs(void)
{
	struct objects objects;
	struct dx_device device;

	dx_device_open(&device);
	make_objects(&device, &objects);
	use_qp(objects.qp);
	use_cq(objects.cq);
	use_srq(objects.srq);
	use_wq(&device, objects.cq);
	MUST(!ibv_destroy_qp(objects.qp));
	MUST(!ibv_destroy_srq(objects.srq));
	MUST(!ibv_destroy_cq(objects.cq));
	dx_device_close(&device);
}
