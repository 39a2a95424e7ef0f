/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * obj.c - objects that programs create, query and modify by commands (DevX); also queries and
 * modifications of verbs' objects.
 *
 * Each object keeps the command that destroys it, as a program may end before it does so.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/mkc.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/log.h"

/* Drains a DC target, as the device destroys no active one. An error is ignored: it may be drained
 * already. */
static void drain_target(struct adapter *adapter, const struct devx_made *made)
{
	uint8_t in[sizeof(made->destroy)], out[PRM_CMD_OUT_SIZE];

	if (fld_get(made->destroy, CMD_IN_OPCODE) != PRM_OP_DESTROY_DCT)
		return;
	memcpy(in, made->destroy, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_DRAIN_DCT);
	adapter_command(adapter, in, made->destroy_len, out, sizeof(out));
}

static int obj_destroy(struct object *object, pid_t tid)
{
	struct devx_obj *obj = (struct devx_obj *)object;
	struct adapter *adapter = object->file->adapter;
	uint8_t out[PRM_CMD_OUT_SIZE];
	int ret = 0;

	(void)tid;
	if (!adapter->dead) { /* a dead adapter has no objects any more, so there is no command */
		drain_target(adapter, &obj->made);
		ret = adapter_command(adapter, obj->made.destroy, obj->made.destroy_len, out,
				      sizeof(out));
	}
	if (!ret && obj->is_watched)
		devx_event_forget(obj);
	return ret;
}

static bool is_completion_eq(const struct adapter *adapter, uint32_t eqn)
{
	for (unsigned int i = 0; i < NUM_COMP_VECTORS; i++)
		if (adapter->comp_eqn[i] == eqn)
			return true;
	return false;
}

/* Checks the fields that Linux checks before the device gets the command. */
static int check_create(const struct uverbs_call *uc, const struct devx_command *command)
{
	uint32_t opcode = fld_get(command->in, CMD_IN_OPCODE);
	const uint8_t *cqc = fld_at(command->in, CREATE_CQ_IN_CQC);

	if (fld_get(command->in, GENERAL_OBJ_IN_VHCA_TUNNEL_ID) || !uc->file->uid)
		return EINVAL;
	if (!devx_makes_object(command->in)) {
		log_note("%s: DevX command %#x makes no object", uc->adapter->name, opcode);
		return EINVAL;
	}
	if (opcode == PRM_OP_CREATE_MKEY &&
	    command->in_len < FLD_BYTE(CREATE_MKEY_IN_MKC) + PRM_MKC_SIZE)
		return EINVAL;
	if (opcode == PRM_OP_CREATE_CQ && !is_completion_eq(uc->adapter, fld_get(cqc, CQC_C_EQN)))
		return ENOENT;
	return 0;
}

static int obj_make(struct uverbs_call *uc, struct devx_command *command, struct devx_obj *obj)
{
	int ret = check_create(uc, command);

	if (ret)
		return ret;
	devx_force_umem(command->in);
	ret = adapter_pass(uc->adapter, command->in, command->in_len, command->out,
			   command->out_len);
	if (ret && uc_out(uc, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, command->out, command->out_len))
		ret = EFAULT;
	if (!ret)
		devx_describe_made(command->in, command->out, &obj->made);
	return ret;
}

static int obj_create_with(struct uverbs_call *uc, struct devx_command *command)
{
	struct devx_obj *obj;
	int ret = object_new_kind(sizeof(*obj), uc->file, MLX5_IB_OBJECT_DEVX_OBJ,
				  devx_kind(command->in), obj_destroy, &obj);

	if (ret)
		return ret;
	ret = uc_return_made(uc, obj_make(uc, command, obj), MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE,
			     &obj->base);
	if (ret)
		return ret;
	return uc_answered(
		uc,
		uc_out(uc, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, command->out, command->out_len),
		&obj->base);
}

static int obj_create(struct uverbs_call *uc)
{
	size_t out_len = uc_len(uc, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
	struct devx_command command;
	int ret = devx_command_read(uc, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, out_len, &command);

	if (!ret)
		ret = obj_create_with(uc, &command);
	devx_command_free(&command);
	return ret;
}

static int obj_destroy_method(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE), uc->tid);
}

static bool qp_is(const struct real_qp *real, uint64_t name)
{
	const struct raw_qp *raw = real->raw;

	if (!raw)
		return name == devx_name(PRM_OP_CREATE_QP, 0, real->qpn);
	return (raw->has_rq && name == devx_name(PRM_OP_CREATE_RQ, 0, raw->rqn)) ||
	       (raw->has_sq && name == devx_name(PRM_OP_CREATE_SQ, 0, raw->sqn)) ||
	       (raw->has_sq && name == devx_name(PRM_OP_CREATE_TIS, 0, raw->tisn)) ||
	       (raw->has_tir && name == devx_name(PRM_OP_CREATE_TIR, 0, raw->tirn));
}

static bool srq_is(const struct uverbs_srq *srq, uint64_t name)
{
	static const uint16_t create[] = {
		[IB_UVERBS_SRQT_BASIC] = PRM_OP_CREATE_RMP,
		[IB_UVERBS_SRQT_XRC] = PRM_OP_CREATE_XRC_SRQ,
		[IB_UVERBS_SRQT_TM] = PRM_OP_CREATE_XRQ,
	};

	return name == devx_name(create[srq->type], 0, srq->srqn);
}

static bool devx_obj_is(const struct devx_obj *obj, uint64_t name)
{
	return name >= obj->made.name && name - obj->made.name < obj->made.count;
}

bool devx_object_is(const struct object *object, uint64_t name)
{
	switch (object->type) {
	case UVERBS_OBJECT_CQ:
		return name ==
		       devx_name(PRM_OP_CREATE_CQ, 0, ((const struct uverbs_cq *)object)->cqn);
	case UVERBS_OBJECT_QP:
		return qp_is(((const struct uverbs_qp *)object)->real, name);
	case UVERBS_OBJECT_SRQ:
		return srq_is((const struct uverbs_srq *)object, name);
	case UVERBS_OBJECT_WQ:
		return name ==
		       devx_name(PRM_OP_CREATE_RQ, 0, ((const struct uverbs_wq *)object)->rqn);
	case UVERBS_OBJECT_RWQ_IND_TBL:
		return name == devx_name(PRM_OP_CREATE_RQT, 0,
					 ((const struct uverbs_rwq_table *)object)->rqtn);
	case MLX5_IB_OBJECT_DEVX_OBJ:
		return devx_obj_is((const struct devx_obj *)object, name);
	default:
		return false;
	}
}

static int check_use(const struct uverbs_call *uc, const struct devx_command *command,
		     const struct object *object, uint64_t name)
{
	if (fld_get(command->in, GENERAL_OBJ_IN_VHCA_TUNNEL_ID) || !uc->file->uid || !name)
		return EINVAL;
	return devx_object_is(object, name) ? 0 : EINVAL;
}

static int obj_query(struct uverbs_call *uc)
{
	const struct object *object = uc_object(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
	size_t out_len = uc_len(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
	struct devx_command command;
	int ret = devx_command_read(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, out_len, &command);

	if (!ret)
		ret = check_use(uc, &command, object, devx_name_in_query(command.in));
	if (!ret)
		ret = devx_command_pass(uc, &command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
	devx_command_free(&command);
	return ret;
}

static int obj_modify(struct uverbs_call *uc)
{
	const struct object *object = uc_object(uc, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
	size_t out_len = uc_len(uc, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
	struct devx_command command;
	int ret = devx_command_read(uc, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, out_len, &command);

	if (!ret)
		ret = check_use(uc, &command, object, devx_name_in_change(command.in));
	if (!ret) {
		devx_force_umem(command.in);
		ret = devx_command_pass(uc, &command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
	}
	devx_command_free(&command);
	return ret;
}

static const struct uverbs_attr create_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, ATTR_NEW, MANDATORY, 0, 0, MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, ATTR_IN, MANDATORY, PRM_CMD_IN_SIZE, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, ATTR_OUT, MANDATORY, PRM_CMD_OUT_SIZE, ANY_SIZE,
	  0 },
};

static const struct uverbs_attr destroy_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_DEVX_OBJ },
};

static const struct uverbs_attr modify_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, ANY_OBJECT },
	{ MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, ATTR_IN, MANDATORY, PRM_CMD_IN_SIZE, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, ATTR_OUT, MANDATORY, PRM_CMD_OUT_SIZE, ANY_SIZE,
	  0 },
};

static const struct uverbs_attr query_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, ANY_OBJECT },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, ATTR_IN, MANDATORY, PRM_CMD_IN_SIZE, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, ATTR_OUT, MANDATORY, PRM_CMD_OUT_SIZE, ANY_SIZE, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("DEVX_OBJ_CREATE", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE,
	       obj_create, create_attrs),
	METHOD("DEVX_OBJ_DESTROY", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
	       obj_destroy_method, destroy_attrs),
	METHOD("DEVX_OBJ_MODIFY", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
	       obj_modify, modify_attrs),
	METHOD("DEVX_OBJ_QUERY", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, obj_query,
	       query_attrs),
};

const struct uverbs_methods devx_obj_methods = METHODS(method_table);
