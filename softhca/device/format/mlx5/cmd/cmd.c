/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.c - PRM commands: a table from opcode to function and smallest mailbox sizes.
 *
 * A command fills an output mailbox of our own, of which the caller gets as many bytes as it asked
 * for; so no command checks that size. A failure has a text whose hash is the syndrome, so that the
 * same cause has the same syndrome in every release.
 */
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/dct.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/mad.h"
#include "prm/mlx5/mcg.h"
#include "prm/mlx5/memic.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/lag.h"
#include "prm/mlx5/pacing.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/umem.h"
#include "prm/mlx5/vport.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/driver.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/memory/memic.h"
#include "softhca/fault.h"
#include "util/bits.h"

static enum prm_status do_nop(struct hca *hca, struct cmd *cmd)
{
	(void)hca;
	(void)cmd;
	return PRM_STAT_OK;
}

static const struct {
	cmd_fn run;
	uint16_t in_min, out_min;
	/* it frees an object, so it is allowed after the adapter's death, for cleanup */
	bool after_death;
} commands[] = {
	[PRM_OP_QUERY_HCA_CAP] = { caps_query, 16, 16, false },
	[PRM_OP_SET_HCA_CAP] = { caps_set, 16 + PRM_HCA_CAP_SIZE, 16, false },
	[PRM_OP_ENABLE_HCA] = { driver_enable, 16, 12, false },
	[PRM_OP_DISABLE_HCA] = { driver_disable, 16, 12, true },
	[PRM_OP_INIT_HCA] = { driver_init, 16, 16, false },
	[PRM_OP_TEARDOWN_HCA] = { driver_teardown, 16, 16, true },
	[PRM_OP_QUERY_ISSI] = { driver_query_issi, 16, 0x70, false },
	[PRM_OP_SET_ISSI] = { driver_set_issi, 16, 16, false },
	[PRM_OP_QUERY_PAGES] = { driver_query_pages, 16, 16, true },
	[PRM_OP_MANAGE_PAGES] = { driver_manage_pages, 16, 16, true },
	[PRM_OP_ALLOC_XRCD] = { xrcd_alloc, 16, 16, false },
	[PRM_OP_DEALLOC_XRCD] = { xrcd_dealloc, 16, 16, true },
	[PRM_OP_CREATE_XRC_SRQ] = { xrc_srq_create, PRM_CREATE_XRC_SRQ_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_XRC_SRQ] = { xrc_srq_destroy, 16, 16, true },
	[PRM_OP_ARM_XRC_SRQ] = { xrc_srq_arm, 16, 16, false },
	[PRM_OP_QUERY_XRC_SRQ] = { xrc_srq_query, 16, PRM_QUERY_XRC_SRQ_OUT_SIZE, false },
	[PRM_OP_MODIFY_RMP] = { rmp_modify, PRM_MODIFY_RMP_IN_SIZE, 16, false },
	[PRM_OP_QUERY_RMP] = { rmp_query, 16, PRM_QUERY_RMP_OUT_SIZE, false },
	[PRM_OP_CREATE_RMP] = { rmp_create, PRM_CREATE_RMP_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_RMP] = { rmp_destroy, 16, 16, true },
	[PRM_OP_CREATE_XRQ] = { xrq_create, PRM_CREATE_XRQ_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_XRQ] = { xrq_destroy, 16, 16, true },
	[PRM_OP_QUERY_XRQ] = { xrq_query, 16, PRM_QUERY_XRQ_OUT_SIZE, false },
	[PRM_OP_ARM_RQ] = { xrq_arm, 16, 16, false },
	[PRM_OP_ACCESS_REG] = { reg_access, 16, 16, false },
	[PRM_OP_QUERY_ADAPTER] = { caps_query_adapter, 16, 16 + 256, false },
	[PRM_OP_CREATE_MKEY] = { mkey_create, PRM_CREATE_MKEY_IN_SIZE, 16, false },
	[PRM_OP_QUERY_MKEY] = { mkey_query, 16, PRM_QUERY_MKEY_OUT_SIZE, false },
	[PRM_OP_QUERY_SPECIAL_CONTEXTS] = { mkey_query_special, 16,
					    PRM_QUERY_SPECIAL_CONTEXTS_OUT_SIZE, false },
	[PRM_OP_DESTROY_MKEY] = { mkey_destroy, 16, 16, true },
	[PRM_OP_CREATE_PSV] = { psv_create, 16, PRM_CREATE_PSV_OUT_SIZE, false },
	[PRM_OP_DESTROY_PSV] = { psv_destroy, 16, 16, true },
	[PRM_OP_SYNC_STEERING] = { steering_sync, 32, 16, false },
	[PRM_OP_ALLOC_MEMIC] = { memic_alloc, PRM_ALLOC_MEMIC_IN_SIZE, 16, false },
	[PRM_OP_DEALLOC_MEMIC] = { memic_dealloc, PRM_DEALLOC_MEMIC_IN_SIZE, 16, true },
	[PRM_OP_MODIFY_MEMIC] = { memic_modify, PRM_MODIFY_MEMIC_IN_SIZE, PRM_MODIFY_MEMIC_OUT_SIZE,
				  true },
	[PRM_OP_CREATE_EQ] = { eq_create, PRM_CREATE_EQ_IN_SIZE, 16, false },
	[PRM_OP_QUERY_EQ] = { eq_query, 16, PRM_QUERY_EQ_OUT_SIZE, false },
	[PRM_OP_DESTROY_EQ] = { eq_destroy, 16, 16, true },
	[PRM_OP_CREATE_CQ] = { cq_create, PRM_CREATE_CQ_IN_SIZE, 16, false },
	[PRM_OP_QUERY_CQ] = { cq_query, 16, PRM_QUERY_CQ_OUT_SIZE, false },
	[PRM_OP_MODIFY_CQ] = { cq_modify, PRM_MODIFY_CQ_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_CQ] = { cq_destroy, 16, 16, true },
	[PRM_OP_CREATE_QP] = { qp_create, PRM_CREATE_QP_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_QP] = { qp_destroy, 16, 16, true },
	[PRM_OP_QUERY_QP] = { qp_query, 16, PRM_QUERY_QP_OUT_SIZE, false },
	[PRM_OP_RST2INIT_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_INIT2INIT_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_INIT2RTR_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_RTR2RTS_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_RTS2RTS_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_SQD_RTS_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[M4_AS_RTS2SQD_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[M4_AS_SQD2SQD_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_SQERR2RTS_QP] = { qp_modify, PRM_MODIFY_QP_IN_SIZE, 16, false },
	[PRM_OP_2ERR_QP] = { qp_modify, 16, 16, true },
	[PRM_OP_2RST_QP] = { qp_modify, 16, 16, true },
	[PRM_OP_CREATE_DCT] = { dct_create, PRM_CREATE_DCT_IN_SIZE, 16, false },
	[PRM_OP_DRAIN_DCT] = { dct_do_drain, 16, 16, true },
	[PRM_OP_DESTROY_DCT] = { dct_destroy, 16, 16, true },
	[PRM_OP_QUERY_DCT] = { dct_query, 16, PRM_QUERY_DCT_OUT_SIZE, false },
	[PRM_OP_ARM_DCT_FOR_KEY_VIOLATION] = { dct_arm, 16, 16, false },
	[PRM_OP_QUERY_VPORT_STATE] = { vport_query_state, 16, 16, false },
	[PRM_OP_SET_ROCE_ADDRESS] = { port_set_roce_address, 16 + PRM_ROCE_ADDR_SIZE, 16, false },
	[PRM_OP_QUERY_ROCE_ADDRESS] = { port_query_roce_address, 16, 16 + PRM_ROCE_ADDR_SIZE,
					false },
	[PRM_OP_QUERY_HCA_VPORT_CONTEXT] = { port_query_context, 16,
					     16 + PRM_HCA_VPORT_CONTEXT_SIZE, false },
	[PRM_OP_MODIFY_HCA_VPORT_CONTEXT] = { port_modify_context, 16 + PRM_HCA_VPORT_CONTEXT_SIZE,
					      16, false },
	[PRM_OP_QUERY_HCA_VPORT_GID] = { port_query_gid, 16, 32, false },
	[PRM_OP_QUERY_HCA_VPORT_PKEY] = { port_query_pkey, 16, 20, false },
	[PRM_OP_MAD_IFC] = { mad_answer, PRM_MAD_IFC_SIZE, PRM_MAD_IFC_SIZE, false },
	[PRM_OP_ATTACH_TO_MCG] = { mcg_attach, PRM_MCG_IN_SIZE, 16, false },
	[PRM_OP_DETACH_FROM_MCG] = { mcg_detach, PRM_MCG_IN_SIZE, 16, true },
	[PRM_OP_MODIFY_VPORT_STATE] = { vport_modify_state, 16, 16, false },
	[PRM_OP_QUERY_NIC_VPORT_CONTEXT] = { vport_query, 16, 16 + PRM_NIC_VPORT_CONTEXT_SIZE,
					     false },
	[PRM_OP_MODIFY_NIC_VPORT_CONTEXT] = { vport_modify, 256 + PRM_NIC_VPORT_CONTEXT_SIZE, 16,
					      false },
	[PRM_OP_QUERY_VPORT_COUNTER] = { vport_query_counter, 32, PRM_QUERY_VPORT_COUNTER_OUT_SIZE,
					 false },
	[PRM_OP_ALLOC_Q_COUNTER] = { q_counter_alloc, 16, 16, false },
	[PRM_OP_QUERY_Q_COUNTER] = { q_counter_query, 32, PRM_QUERY_Q_COUNTER_OUT_SIZE, false },
	[PRM_OP_DEALLOC_Q_COUNTER] = { q_counter_dealloc, 16, 16, true },
	[PRM_OP_CREATE_RQ] = { eth_rq_create, 32 + PRM_RQC_SIZE, 16, false },
	[PRM_OP_MODIFY_RQ] = { eth_rq_modify, 32 + PRM_RQC_SIZE, 16, true },
	[PRM_OP_QUERY_RQ] = { eth_rq_query, 16, 32 + PRM_RQC_SIZE, false },
	[PRM_OP_DESTROY_RQ] = { eth_rq_destroy, 16, 16, true },
	[PRM_OP_CREATE_SQ] = { eth_sq_create, 32 + PRM_SQC_SIZE, 16, false },
	[PRM_OP_MODIFY_SQ] = { eth_sq_modify, 32 + PRM_SQC_SIZE, 16, true },
	[PRM_OP_QUERY_SQ] = { eth_sq_query, 16, 32 + PRM_SQC_SIZE, false },
	[PRM_OP_DESTROY_SQ] = { eth_sq_destroy, 16, 16, true },
	[PRM_OP_SET_PP_RATE_LIMIT] = { pacing_set_rate, PRM_SET_PP_RATE_LIMIT_IN_SIZE, 16, false },
	[PRM_OP_CREATE_TIS] = { tis_create, 32 + PRM_TISC_SIZE, 16, false },
	[PRM_OP_MODIFY_TIS] = { tis_modify, 32 + PRM_TISC_SIZE, 16, false },
	[PRM_OP_QUERY_TIS] = { tis_query, 16, 16 + PRM_TISC_SIZE, false },
	[PRM_OP_DESTROY_TIS] = { tis_destroy, 16, 16, true },
	[PRM_OP_CREATE_TIR] = { tir_create, 32 + PRM_TIRC_SIZE, 16, false },
	[PRM_OP_MODIFY_TIR] = { tir_modify, 32 + PRM_TIRC_SIZE, 16, false },
	[PRM_OP_QUERY_TIR] = { tir_query, 16, 32 + PRM_TIRC_SIZE, false },
	[PRM_OP_DESTROY_TIR] = { tir_destroy, 16, 16, true },
	[PRM_OP_CREATE_RQT] = { rqt_create, 32 + PRM_RQTC_SIZE, 16, false },
	[PRM_OP_MODIFY_RQT] = { rqt_modify, 32 + PRM_RQTC_SIZE, 16, true },
	[PRM_OP_QUERY_RQT] = { rqt_query, 16, 32 + PRM_RQTC_SIZE, false },
	[PRM_OP_DESTROY_RQT] = { rqt_destroy, 16, 16, true },
	[PRM_OP_CREATE_FLOW_TABLE] = { flow_table_create, 64, 16, false },
	[PRM_OP_MODIFY_FLOW_TABLE] = { flow_table_modify, 64, 16, true },
	[PRM_OP_QUERY_FLOW_TABLE] = { flow_table_query, 64, 64, false },
	[PRM_OP_DESTROY_FLOW_TABLE] = { flow_table_destroy, 64, 16, true },
	[PRM_OP_SET_FLOW_TABLE_ROOT] = { flow_table_set_root, 64, 16, true },
	[PRM_OP_CREATE_FLOW_GROUP] = { flow_group_create, 1024, 16, false },
	[PRM_OP_DESTROY_FLOW_GROUP] = { flow_group_destroy, 64, 16, true },
	[PRM_OP_SET_FLOW_TABLE_ENTRY] = { flow_entry_set, 64 + PRM_FLOW_CONTEXT_SIZE, 16, false },
	[PRM_OP_QUERY_FLOW_TABLE_ENTRY] = { flow_entry_query, 64, 64 + PRM_FLOW_CONTEXT_SIZE,
					    false },
	[PRM_OP_DELETE_FLOW_TABLE_ENTRY] = { flow_entry_delete, 64, 16, true },
	[PRM_OP_ALLOC_FLOW_COUNTER] = { flow_counter_alloc, 16, 16, false },
	[PRM_OP_QUERY_FLOW_COUNTER] = { flow_counter_query, 32, 32, false },
	[PRM_OP_DEALLOC_FLOW_COUNTER] = { flow_counter_dealloc, 16, 16, true },
	[PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT] = { modify_header_alloc, 16, 16, false },
	[PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT] = { modify_header_dealloc, 16, 16, true },
	[PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT] = { packet_reformat_alloc,
						   PRM_ALLOC_REFORMAT_IN_SIZE, 16, false },
	[PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT] = { packet_reformat_dealloc, 16, 16, true },
	[PRM_OP_QUERY_LAG] = { lag_query, 16, PRM_QUERY_LAG_OUT_SIZE, false },
	[PRM_OP_CREATE_GENERAL_OBJECT] = { general_obj, 16, 16, false },
	[PRM_OP_MODIFY_GENERAL_OBJECT] = { general_obj, 16, 16, false },
	[PRM_OP_QUERY_GENERAL_OBJECT] = { general_obj, 16, 16, false },
	[PRM_OP_DESTROY_GENERAL_OBJECT] = { general_obj, 16, 16, true },
	[PRM_OP_ALLOC_PD] = { pd_alloc, 16, 16, false },
	[PRM_OP_DEALLOC_PD] = { pd_dealloc, 16, 16, true },
	[PRM_OP_ALLOC_UAR] = { uar_alloc, 16, 16, false },
	[PRM_OP_DEALLOC_UAR] = { uar_dealloc, 16, 16, true },
	[PRM_OP_NOP] = { do_nop, 16, 16, false },
	[PRM_OP_ALLOC_TRANSPORT_DOMAIN] = { td_alloc, 16, 16, false },
	[PRM_OP_DEALLOC_TRANSPORT_DOMAIN] = { td_dealloc, 16, 16, true },
	[PRM_OP_CREATE_UCTX] = { uctx_create, PRM_CREATE_UCTX_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_UCTX] = { uctx_destroy, 16, 16, true },
	[PRM_OP_CREATE_UMEM] = { umem_create, PRM_CREATE_UMEM_IN_SIZE, 16, false },
	[PRM_OP_DESTROY_UMEM] = { umem_destroy, 16, 16, true },
};

enum { COMMANDS = ARRAY_SIZE(commands) };

/* Commands that run the adapter: only for the driver, not for users. */
static const enum prm_opcode of_driver[] = {
	PRM_OP_INIT_HCA,    PRM_OP_TEARDOWN_HCA,       PRM_OP_ENABLE_HCA,
	PRM_OP_DISABLE_HCA, PRM_OP_QUERY_PAGES,        PRM_OP_MANAGE_PAGES,
	PRM_OP_SET_HCA_CAP, PRM_OP_SET_ISSI,           PRM_OP_CREATE_EQ,
	PRM_OP_DESTROY_EQ,  PRM_OP_MODIFY_VPORT_STATE, PRM_OP_MODIFY_NIC_VPORT_CONTEXT,
	PRM_OP_CREATE_UCTX, PRM_OP_DESTROY_UCTX,       PRM_OP_MODIFY_HCA_VPORT_CONTEXT,
	PRM_OP_ACCESS_REG,  PRM_OP_SET_ROCE_ADDRESS,
};

static bool is_of_driver(uint32_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_driver); i++)
		if (of_driver[i] == opcode)
			return true;
	return false;
}

static bool is_of_kind(const struct hca *hca, uint32_t opcode)
{
	return hca->config.kind == HCA_MLX4 ||
	       (opcode != M4_AS_RTS2SQD_QP && opcode != M4_AS_SQD2SQD_QP);
}

static uint32_t why_hash(const char *text)
{
	uint32_t sum = 2166136261u;

	for (; *text; text++)
		sum = (sum ^ (uint8_t)*text) * 16777619u;
	return sum;
}

static_assert((int)RES_FOR_ALL == (int)PRM_SHARED_UID, "objects for all users");

static enum prm_status cmd_run_for_user(struct hca *hca, struct cmd *cmd, uint32_t opcode)
{
	uint16_t user = fld_get(cmd->in, CMD_IN_UID);
	bool is_driver = !user || user == PRM_SHARED_UID;
	enum prm_status status;

	if (!is_driver && is_of_driver(opcode))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "cmd: for the driver only");
	if (!is_driver && !res_get(&hca->uctxs, user))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cmd: uid is no user's");
	hca->user = user;
	status = commands[opcode].run(hca, cmd);
	hca->user = 0;
	return status;
}

static enum prm_status cmd_dispatch(struct hca *hca, struct cmd *cmd)
{
	uint32_t opcode;

	if (cmd->in_len < 8)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR, "cmd: no room for an opcode");
	opcode = fld_get(cmd->in, CMD_IN_OPCODE);
	if (opcode >= COMMANDS || !commands[opcode].run || !is_of_kind(hca, opcode))
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "cmd: unknown opcode");
	if (hca->dead && !commands[opcode].after_death)
		return cmd_fail(cmd, PRM_STAT_INT_ERR, "cmd: the adapter is dead");
	if (cmd->in_len < commands[opcode].in_min)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR, "cmd: input mailbox too short");
	if (cmd->out_len < commands[opcode].out_min)
		return cmd_fail(cmd, PRM_STAT_BAD_OUTP_LEN_ERR, "cmd: output mailbox too short");
	if (!commands[opcode].after_death && fault_refuse(hca->config.fault))
		return cmd_fail(cmd, PRM_STAT_NO_RES_ERR, "cmd: a fault was asked for");
	return cmd_run_for_user(hca, cmd, opcode);
}

void hca_exec(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len)
{
	uint8_t reply[CMD_OUT_MAX] = { 0 };
	struct cmd cmd = { in, in_len, reply, out_len, NULL };
	enum prm_status status;

	fabric_lock(hca->fabric);
	status = cmd_dispatch(hca, &cmd);
	if (status) {
		memset(reply, 0, sizeof(reply));
		fld_set(reply, CMD_OUT_STATUS, status);
		fld_set(reply, CMD_OUT_SYNDROME, why_hash(cmd.why));
		trace_line(hca->config.trace, "refused: %s", cmd.why);
	}
	pages_balance(hca);
	memset(out, 0, out_len);
	memcpy(out, reply, out_len < sizeof(reply) ? out_len : sizeof(reply));
	mlx5_trace_command(hca->config.trace, in, in_len, out, out_len);
	fabric_unlock(hca->fabric);
}
