/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - commands that programs pass to the device (DevX) and that concern no object: checks
 * which ones a program may send. Also queries numbers of the driver's event queues and doorbell
 * pages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/umem.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"
#include "util/bits.h"

int devx_file_open(struct uverbs_call *uc)
{
	uint8_t in[PRM_CREATE_UCTX_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint32_t caps = 0;
	int ret;

	if (client_may(uc->tid, CLIENT_CAP_NET_RAW))
		caps |= PRM_UCTX_CAP_RAW_TX;
	if (client_may(uc->tid, CLIENT_CAP_SYS_RAWIO))
		caps |= PRM_UCTX_CAP_INTERNAL_DEV_RES;
	if (!adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_UCTX))
		return EINVAL;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UCTX);
	fld_set(fld_at(in, CREATE_UCTX_IN_UCTX), UCTX_CAP,
		caps & adapter_cap(uc->adapter, HCA_CAP_UCTX_CAP));
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		uc->file->uid = fld_get(out, CREATE_UCTX_OUT_UID);
	return ret;
}

void devx_file_close(struct uverbs_file *file)
{
	devx_event_forget_file(file);
	if (file->uid && adapter_release(file->adapter, PRM_OP_DESTROY_UCTX, file->uid))
		log_error("%s: objects of process %d stay in the device", file->adapter->name,
			  file->client->pid);
	file->uid = 0;
}

enum { ROOM = 1024 /* enough, as the fixed part of any command is shorter */ };

int devx_command_read(struct uverbs_call *uc, uint16_t in_id, size_t out_len,
		      struct devx_command *command)
{
	command->in_len = uc_len(uc, in_id);
	command->out_len = out_len;
	command->in = calloc(1, command->in_len + ROOM);
	command->out = calloc(1, command->out_len + ROOM);
	if (!command->in || !command->out)
		return ENOMEM;
	if (uc_in(uc, in_id, command->in, command->in_len))
		return EFAULT;
	fld_set(command->in, CMD_IN_UID, uc->file->uid);
	return 0;
}

void devx_command_free(struct devx_command *command)
{
	free(command->in);
	free(command->out);
}

int devx_command_pass(struct uverbs_call *uc, struct devx_command *command, uint16_t out_id)
{
	int ret = adapter_pass(uc->adapter, command->in, command->in_len, command->out,
			       command->out_len);

	return uc_out(uc, out_id, command->out, command->out_len) ? EFAULT : ret;
}

/* Commands that any program with the device open may send. */
static const enum prm_opcode open_to_all[] = {
	PRM_OP_QUERY_HCA_CAP,
	PRM_OP_QUERY_HCA_VPORT_CONTEXT,
	PRM_OP_QUERY_ESW_VPORT_CONTEXT,
	PRM_OP_QUERY_ESW_FUNCTIONS,
};

static const enum prm_opcode general[] = {
	PRM_OP_QUERY_HCA_CAP,           PRM_OP_QUERY_HCA_VPORT_CONTEXT,
	PRM_OP_QUERY_ESW_VPORT_CONTEXT, PRM_OP_QUERY_VPORT_STATE,
	PRM_OP_QUERY_ADAPTER,           PRM_OP_QUERY_ISSI,
	PRM_OP_QUERY_NIC_VPORT_CONTEXT, PRM_OP_QUERY_ROCE_ADDRESS,
	PRM_OP_QUERY_VNIC_ENV,          PRM_OP_QUERY_VPORT_COUNTER,
	PRM_OP_GET_DROPPED_PACKET_LOG,  PRM_OP_NOP,
	PRM_OP_QUERY_CONG_STATUS,       PRM_OP_QUERY_CONG_PARAMS,
	PRM_OP_QUERY_CONG_STATISTICS,   PRM_OP_QUERY_LAG,
	PRM_OP_QUERY_ESW_FUNCTIONS,
};

static bool is_among(uint32_t opcode, const enum prm_opcode *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == opcode)
			return true;
	return false;
}

static bool is_general(uint32_t opcode)
{
	return (opcode >= PRM_OP_GENERAL_START && opcode < PRM_OP_GENERAL_END) ||
	       is_among(opcode, general, ARRAY_SIZE(general));
}

static int check_general(const struct uverbs_call *uc, uint32_t opcode)
{
	if (!uc->file->uid && !is_among(opcode, open_to_all, ARRAY_SIZE(open_to_all)))
		return EINVAL;
	if (is_general(opcode))
		return 0;
	log_note("%s: DevX command %#x is not for programs", uc->adapter->name, opcode);
	return EINVAL;
}

static int devx_other(struct uverbs_call *uc)
{
	size_t out_len = uc_len(uc, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
	struct devx_command command;
	int ret = devx_command_read(uc, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, out_len, &command);

	if (!ret)
		ret = check_general(uc, fld_get(command.in, CMD_IN_OPCODE));
	if (!ret)
		ret = devx_command_pass(uc, &command, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
	devx_command_free(&command);
	return ret;
}

static int query_eqn(struct uverbs_call *uc)
{
	uint32_t vector;

	if (uc_in(uc, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, &vector, sizeof(vector)))
		return EFAULT;
	if (vector >= NUM_COMP_VECTORS)
		return ENOENT;
	return uc_out(uc, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &uc->adapter->comp_eqn[vector],
		      sizeof(uint32_t));
}

/* Refuses the query, as pages of a context are objects here, whose numbers their creation
 * returns. */
static int query_uar(struct uverbs_call *uc)
{
	(void)uc;
	return EINVAL;
}

static const struct uverbs_attr other_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, ATTR_IN, MANDATORY, PRM_CMD_IN_SIZE, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, ATTR_OUT, MANDATORY, PRM_CMD_OUT_SIZE, ANY_SIZE, 0 },
};

static const struct uverbs_attr query_eqn_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, ATTR_OUT, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_attr query_uar_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, ATTR_OUT, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("DEVX_OTHER", MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, devx_other,
	       other_attrs),
	METHOD("DEVX_QUERY_EQN", MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, query_eqn,
	       query_eqn_attrs),
	METHOD("DEVX_QUERY_UAR", MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, query_uar,
	       query_uar_attrs),
};

const struct uverbs_methods devx_methods = METHODS(method_table);
