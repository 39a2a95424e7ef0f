/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.c - mlx4's commands: a table from opcode to function, mailbox sizes, and the setup that each
 * command needs.
 */
#include <string.h>

#include "prm/mlx4/cqc.h"
#include "prm/mlx4/diag.h"
#include "prm/mlx4/eqc.h"
#include "prm/mlx4/flow.h"
#include "prm/mlx4/mcg.h"
#include "prm/mlx4/mpt.h"
#include "prm/mlx4/qpc.h"
#include "prm/mlx4/srqc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/fault.h"
#include "softhca/log.h"
#include "util/bits.h"

enum {
	MAD_BYTES = 256,
	DEV_CAP_BYTES = 0x100,
	SET_PORT_BYTES = M4_ROCE_GIDS * M4_ROCE_ENTRY, /* its longest form */
	QP_BYTES = FLD_BYTE(M4_MODIFY_QPC) + M4_QPC_SIZE,
};

/* Setup that must precede a command. */
enum stage { AT_ONCE, RUNNING, INITIALIZED };

static const struct command {
	m4_cmd_fn run;
	const char *name;
	uint16_t in, out; /* mailbox sizes; 0: no parameter, or a value */
	enum stage stage;
	bool silent; /* writes nothing if the operation modifier is set */
	/* it frees an object, so it is allowed after the adapter's death, for cleanup */
	bool after_death;
} commands[] = {
	[M4_CMD_QUERY_FW] = { m4_query_fw, "QUERY_FW", 0, 0x100, AT_ONCE, false, false },
	[M4_CMD_MAP_FA] = { m4_map_area, "MAP_FA", M4_MAILBOX_SIZE, 0, AT_ONCE, false, false },
	[M4_CMD_UNMAP_FA] = { m4_unmap_area, "UNMAP_FA", 0, 0, AT_ONCE, false, true },
	[M4_CMD_RUN_FW] = { m4_run_fw, "RUN_FW", 0, 0, AT_ONCE, false, false },
	[M4_CMD_MOD_STAT_CFG] = { m4_configure, "MOD_STAT_CFG", 0, 0, RUNNING, false, false },
	[M4_CMD_QUERY_DEV_CAP] = { m4_query_caps, "QUERY_DEV_CAP", 0, DEV_CAP_BYTES, RUNNING, false,
				   false },
	[M4_CMD_QUERY_ADAPTER] = { m4_query_adapter, "QUERY_ADAPTER", 0, 0x100, RUNNING, false,
				   false },
	[M4_CMD_QUERY_PORT] = { m4_port_query, "QUERY_PORT", 0, 0x100, RUNNING, false, false },
	[M4_CMD_SET_ICM_SIZE] = { m4_set_icm_size, "SET_ICM_SIZE", 0, 0, RUNNING, false, false },
	[M4_CMD_MAP_ICM_AUX] = { m4_map_aux, "MAP_ICM_AUX", M4_MAILBOX_SIZE, 0, RUNNING, false,
				 false },
	[M4_CMD_UNMAP_ICM_AUX] = { m4_unmap_aux, "UNMAP_ICM_AUX", 0, 0, RUNNING, false, true },
	[M4_CMD_MAP_ICM] = { m4_map_icm, "MAP_ICM", M4_MAILBOX_SIZE, 0, RUNNING, false, false },
	[M4_CMD_UNMAP_ICM] = { m4_unmap_icm, "UNMAP_ICM", 0, 0, RUNNING, false, true },
	[M4_CMD_INIT_HCA] = { m4_init_hca, "INIT_HCA", M4_INIT_SIZE, 0, RUNNING, false, false },
	[M4_CMD_CLOSE_HCA] = { m4_close_hca, "CLOSE_HCA", 0, 0, INITIALIZED, false, true },
	[M4_CMD_QUERY_HCA] = { m4_query_hca, "QUERY_HCA", 0, M4_INIT_SIZE, INITIALIZED, false,
			       false },
	[M4_CMD_DIAG_RPRT] = { m4_diag_report, "DIAG_RPRT", 0, M4_DIAG_SIZE, INITIALIZED, false,
			       false },
	[M4_CMD_NOP] = { m4_nop, "NOP", 0, 0, RUNNING, false, false },
	[M4_CMD_INIT_PORT] = { m4_port_open, "INIT_PORT", 0, 0, INITIALIZED, false, false },
	[M4_CMD_CLOSE_PORT] = { m4_port_close, "CLOSE_PORT", 0, 0, INITIALIZED, false, true },
	[M4_CMD_SET_PORT] = { m4_port_set, "SET_PORT", SET_PORT_BYTES, 0, INITIALIZED, false,
			      false },
	[M4_CMD_CONFIG_DEV] = { m4_roce_configure, "CONFIG_DEV", M4_CONFIG_SIZE, 0, INITIALIZED,
				false, false },
	[M4_CMD_SET_VLAN_FLTR] = { m4_filter_vlans, "SET_VLAN_FLTR", M4_VLAN_FILTER_SIZE, 0,
				   INITIALIZED, false, false },
	[M4_CMD_SET_MCAST_FLTR] = { m4_filter_groups, "SET_MCAST_FLTR", 0, 0, INITIALIZED, false,
				    false },
	[M4_CMD_DUMP_ETH_STATS] = { m4_frames_report, "DUMP_ETH_STATS", 0, M4_MAILBOX_SIZE,
				    INITIALIZED, false, false },
	[M4_CMD_FLOW_ATTACH] = { m4_flow_attach, "QP_FLOW_STEERING_ATTACH", M4_FLOW_SIZE_MAX, 0,
				 INITIALIZED, false, false },
	[M4_CMD_FLOW_DETACH] = { m4_flow_detach, "QP_FLOW_STEERING_DETACH", 0, 0, INITIALIZED,
				 false, true },
	[M4_CMD_MAD_IFC] = { m4_mad, "MAD_IFC", 2 * MAD_BYTES, MAD_BYTES, INITIALIZED, false,
			     false },
	[M4_CMD_WRITE_MTT] = { m4_mtt_write, "WRITE_MTT", M4_MAILBOX_SIZE, 0, INITIALIZED, false,
			       false },
	[M4_CMD_SW2HW_MPT] = { m4_mpt_give, "SW2HW_MPT", M4_MPT_SIZE, 0, INITIALIZED, false,
			       false },
	[M4_CMD_HW2SW_MPT] = { m4_mpt_take, "HW2SW_MPT", 0, M4_MPT_SIZE, INITIALIZED, true, true },
	[M4_CMD_QUERY_MPT] = { m4_mpt_query, "QUERY_MPT", 0, M4_MPT_SIZE, INITIALIZED, false,
			       false },
	[M4_CMD_SYNC_TPT] = { m4_mpt_sync, "SYNC_TPT", 0, 0, INITIALIZED, false, true },
	[M4_CMD_MAP_EQ] = { m4_eq_map, "MAP_EQ", 0, 0, INITIALIZED, false, true },
	[M4_CMD_SW2HW_EQ] = { m4_eq_give, "SW2HW_EQ", M4_EQC_SIZE, 0, INITIALIZED, false, false },
	[M4_CMD_HW2SW_EQ] = { m4_eq_take, "HW2SW_EQ", 0, M4_EQC_SIZE, INITIALIZED, true, true },
	[M4_CMD_QUERY_EQ] = { m4_eq_query, "QUERY_EQ", 0, M4_EQC_SIZE, INITIALIZED, false, false },
	[M4_CMD_SW2HW_CQ] = { m4_cq_give, "SW2HW_CQ", M4_CQC_SIZE, 0, INITIALIZED, false, false },
	[M4_CMD_HW2SW_CQ] = { m4_cq_take, "HW2SW_CQ", 0, M4_CQC_SIZE, INITIALIZED, true, true },
	[M4_CMD_QUERY_CQ] = { m4_cq_query, "QUERY_CQ", 0, M4_CQC_SIZE, INITIALIZED, false, false },
	[M4_CMD_MODIFY_CQ] = { m4_cq_modify, "MODIFY_CQ", M4_CQC_SIZE, 0, INITIALIZED, false,
			       false },
	[M4_CMD_SW2HW_SRQ] = { m4_srq_give, "SW2HW_SRQ", M4_SRQC_SIZE, 0, INITIALIZED, false,
			       false },
	[M4_CMD_HW2SW_SRQ] = { m4_srq_take, "HW2SW_SRQ", 0, M4_SRQC_SIZE, INITIALIZED, true, true },
	[M4_CMD_QUERY_SRQ] = { m4_srq_query, "QUERY_SRQ", 0, M4_SRQC_SIZE, INITIALIZED, false,
			       false },
	[M4_CMD_ARM_SRQ] = { m4_srq_arm, "ARM_SRQ", 0, 0, INITIALIZED, false, false },
	[M4_CMD_CONF_SPECIAL_QP] = { m4_qp_special, "CONF_SPECIAL_QP", 0, 0, INITIALIZED, false,
				     true },
	[M4_CMD_RST2INIT_QP] = { m4_qp_create, "RST2INIT_QP", QP_BYTES, 0, INITIALIZED, false,
				 false },
	[M4_CMD_INIT2INIT_QP] = { m4_qp_modify, "INIT2INIT_QP", QP_BYTES, 0, INITIALIZED, false,
				  false },
	[M4_CMD_INIT2RTR_QP] = { m4_qp_modify, "INIT2RTR_QP", QP_BYTES, 0, INITIALIZED, false,
				 false },
	[M4_CMD_RTR2RTS_QP] = { m4_qp_modify, "RTR2RTS_QP", QP_BYTES, 0, INITIALIZED, false,
				false },
	[M4_CMD_RTS2RTS_QP] = { m4_qp_modify, "RTS2RTS_QP", QP_BYTES, 0, INITIALIZED, false,
				false },
	[M4_CMD_SQERR2RTS_QP] = { m4_qp_modify, "SQERR2RTS_QP", QP_BYTES, 0, INITIALIZED, false,
				  false },
	[M4_CMD_RTS2SQD_QP] = { m4_qp_modify, "RTS2SQD_QP", QP_BYTES, 0, INITIALIZED, false,
				false },
	[M4_CMD_SQD2SQD_QP] = { m4_qp_modify, "SQD2SQD_QP", QP_BYTES, 0, INITIALIZED, false,
				false },
	[M4_CMD_SQD2RTS_QP] = { m4_qp_modify, "SQD2RTS_QP", QP_BYTES, 0, INITIALIZED, false,
				false },
	[M4_CMD_2ERR_QP] = { m4_qp_modify, "2ERR_QP", 0, 0, INITIALIZED, false, true },
	[M4_CMD_2RST_QP] = { m4_qp_reset, "2RST_QP", 0, 0, INITIALIZED, false, true },
	[M4_CMD_QUERY_QP] = { m4_qp_query, "QUERY_QP", 0, QP_BYTES, INITIALIZED, false, false },
	[M4_CMD_MGID_HASH] = { m4_mcg_hash, "MGID_HASH", 16, 0, INITIALIZED, false, true },
	[M4_CMD_READ_MCG] = { m4_mcg_read, "READ_MCG", 0, M4_MCG_SIZE_MAX, INITIALIZED, false,
			      true },
	[M4_CMD_WRITE_MCG] = { m4_mcg_write, "WRITE_MCG", M4_MCG_SIZE_MAX, 0, INITIALIZED, false,
			       true },
};

static const struct command *command_find(uint16_t opcode)
{
	return opcode < ARRAY_SIZE(commands) && commands[opcode].run ? &commands[opcode] : NULL;
}

static bool is_set_up(const struct mlx4_firmware *firmware, enum stage stage)
{
	return stage == AT_ONCE || (stage == RUNNING ? firmware->running : firmware->initialized);
}

static enum m4_status command_allow(struct hca *hca, const struct command *command,
				    struct m4_cmd *cmd)
{
	if (!command)
		return m4_fail(cmd, M4_STAT_BAD_OP, "cmd: unknown opcode");
	if (hca->dead && !command->after_death)
		return m4_fail(cmd, M4_STAT_INTERNAL_ERR, "cmd: the adapter is dead");
	if (!is_set_up(hca->mlx4, command->stage))
		return m4_fail(cmd, M4_STAT_BAD_SYS_STATE, "cmd: not before RUN_FW or INIT_HCA");
	if (!command->after_death && fault_refuse(hca->config.fault))
		return m4_fail(cmd, M4_STAT_EXCEED_LIM, "cmd: a fault was asked for");
	return M4_STAT_OK;
}

/* Returns the size of the output mailbox: 0 for an operation modifier other than 0, with commands
 * that allow it. */
static size_t out_size(const struct command *command, const struct hca_order *order)
{
	return command->silent && order->modifier ? 0 : command->out;
}

static enum m4_status command_run(struct hca *hca, const struct command *command,
				  struct m4_cmd *cmd)
{
	const struct hca_order *order = cmd->order;
	enum m4_status status = command_allow(hca, command, cmd);
	uint64_t to = order->out;
	size_t out;

	if (status)
		return status;
	if (command->in && dma_read(hca, order->in, cmd->in, command->in))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "cmd: the input mailbox cannot be read");
	status = command->run(hca, cmd);
	out = out_size(command, order);
	if (!status && out && dma_write(hca, to, cmd->out, out))
		return m4_fail(cmd, M4_STAT_INTERNAL_ERR,
			       "cmd: the output mailbox cannot be written");
	return status;
}

static void trace_command(struct hca *hca, const struct command *command, const struct m4_cmd *cmd,
			  enum m4_status status)
{
	const struct hca_order *order = cmd->order;

	if (status) {
		log_note("mlx4: command 0x%x (%s) of 0x%x refused: %s", order->opcode,
			 command ? command->name : "?", order->in_modifier, cmd->why);
		trace_line(hca->config.trace, "refused: %s", cmd->why);
	}
	trace_bytes(hca->config.trace, cmd->in, command ? command->in : 0,
		    "cmd 0x%03x %s modifier 0x%x, %u in 0x%llx out 0x%llx status 0x%02x",
		    order->opcode, command ? command->name : "?", order->in_modifier,
		    order->modifier, (unsigned long long)order->in, (unsigned long long)order->out,
		    status);
}

uint8_t hca_execute(struct hca *hca, struct hca_order *order)
{
	const struct command *command = command_find(order->opcode);
	struct m4_cmd cmd;
	enum m4_status status;

	memset(&cmd, 0, sizeof(cmd));
	cmd.order = order;
	fabric_lock(hca->fabric);
	status = command_run(hca, command, &cmd);
	trace_command(hca, command, &cmd, status);
	if (order->event)
		m4_command_event(hca, order, status);
	fabric_unlock(hca->fabric);
	return status;
}
