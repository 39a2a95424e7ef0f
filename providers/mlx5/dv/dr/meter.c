/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meter.c - flow meters. See meter.h.
 */
#include "providers/mlx5/dv/dr/meter.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/match.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft_table.h"
#include "util/alloc.h"

enum {
	REGISTER_MAX = 11,
	PARAMETERS_SIZE = 32,
	IN_SIZE = PRM_GENERAL_OBJ_HDR_SIZE + PRM_METER_SIZE
};

static bool is_tx(const struct mlx5dv_dr_table *table)
{
	return table->domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
}

static int parameters_check(const char *call, const struct mlx5dv_dr_flow_meter_attr *attr)
{
	if (attr->flow_meter_parameter_sz <= PARAMETERS_SIZE)
		return 0;
	verbs_warn("%s: flow_meter_parameter_sz is %zu, must be at most %d", call,
		   attr->flow_meter_parameter_sz, PARAMETERS_SIZE);
	return EINVAL;
}

static int attr_check(const char *call, const struct mlx5dv_dr_flow_meter_attr *attr)
{
	if (!attr->next_table->soft) {
		verbs_warn("%s: next_table is a root table", call);
		return EINVAL;
	}
	if (attr->reg_c_index > REGISTER_MAX) {
		verbs_warn("%s: reg_c_index is %u, must be at most %d", call, attr->reg_c_index,
			   REGISTER_MAX);
		return EINVAL;
	}
	return parameters_check(call, attr);
}

/* Fills the fields that creation and modification share. Returns the object in IN. */
static uint8_t *command_fill(uint8_t in[IN_SIZE], uint16_t opcode,
			     const struct mlx5dv_dr_flow_meter_attr *attr)
{
	uint8_t *object = fld_at(in, GENERAL_OBJ_OBJECT);

	memset(in, 0, IN_SIZE);
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_FLOW_METER);
	fld_set(object, METER_ACTIVE, !!attr->active);
	if (attr->flow_meter_parameter_sz)
		memcpy(fld_at(object, METER_PARAMETERS), attr->flow_meter_parameter,
		       attr->flow_meter_parameter_sz);
	return object;
}

static int obj_create(struct dr_meter *meter, const struct mlx5dv_dr_flow_meter_attr *attr)
{
	uint8_t in[IN_SIZE], out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *object = command_fill(in, PRM_OP_CREATE_GENERAL_OBJECT, attr);

	fld_set(object, METER_RETURN_REG_ID, attr->reg_c_index);
	fld_set(object, METER_TABLE_TYPE, is_tx(meter->next) ? PRM_FLOW_NIC_TX : PRM_FLOW_NIC_RX);
	fld_set(object, METER_DESTINATION_TABLE_ID, meter->next->soft->number);
	meter->obj = mlx5dv_devx_obj_create(meter->next->domain->context, in, sizeof(in), out,
					    sizeof(out));
	return meter->obj ? 0 : errno;
}

static int obj_query(struct dr_meter *meter)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE] = { 0 }, out[IN_SIZE] = { 0 };
	const uint8_t *object = fld_at(out, GENERAL_OBJ_OBJECT);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_FLOW_METER);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, meter->obj->id);
	ret = mlx5dv_devx_obj_query(meter->obj, in, sizeof(in), out, sizeof(out));
	if (!ret)
		meter->address = is_tx(meter->next) ? fld_get(object, METER_ICM_ADDRESS_TX)
						    : fld_get(object, METER_ICM_ADDRESS_RX);
	return ret;
}

static int meter_make(struct dr_meter *meter, const struct mlx5dv_dr_flow_meter_attr *attr)
{
	int ret;

	meter->next = attr->next_table;
	ret = obj_create(meter, attr);
	if (ret)
		return ret;
	ret = obj_query(meter);
	if (ret)
		mlx5dv_devx_obj_destroy(meter->obj);
	return ret;
}

static struct mlx5dv_dr_action *action_make(const char *call,
					    const struct mlx5dv_dr_flow_meter_attr *attr)
{
	struct mlx5dv_dr_action *action = calloc_for(call, 1, sizeof(*action));
	struct dr_meter *meter = calloc_for(call, 1, sizeof(*meter));
	int ret = action && meter ? meter_make(meter, attr) : ENOMEM;

	if (ret) {
		free(meter);
		free(action);
		return dv_fail(ret);
	}
	action->kind = DR_ACTION_METER;
	action->domain = meter->next->domain;
	action->meter = meter;
	dr_use(&meter->next->users);
	dr_use(&action->domain->users);
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_flow_meter(struct mlx5dv_dr_flow_meter_attr *attr)
{
	static const char call[] = "mlx5dv_dr_action_create_flow_meter";
	int ret = attr_check(call, attr);

	return ret ? dv_fail(ret) : action_make(call, attr);
}

/* Changes the fields whose bits are set in MODIFY_FIELD_SELECT. */
DV_EXPORT int mlx5dv_dr_action_modify_flow_meter(struct mlx5dv_dr_action *action,
						 struct mlx5dv_dr_flow_meter_attr *attr,
						 __be64 modify_field_select)
{
	static const char call[] = "mlx5dv_dr_action_modify_flow_meter";
	uint8_t in[IN_SIZE], out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *object;
	int ret;

	if (action->kind != DR_ACTION_METER) {
		verbs_warn("%s: the action is no flow meter", call);
		return verbs_result(EINVAL);
	}
	ret = parameters_check(call, attr);
	if (ret)
		return verbs_result(ret);
	object = command_fill(in, PRM_OP_MODIFY_GENERAL_OBJECT, attr);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, action->meter->obj->id);
	fld_set(object, METER_MODIFY_FIELD_SELECT, be64toh(modify_field_select));
	return mlx5dv_devx_obj_modify(action->meter->obj, in, sizeof(in), out, sizeof(out));
}

int mlx5_dr_meter_destroy(struct mlx5dv_dr_action *action)
{
	struct dr_meter *meter = action->meter;
	int ret = mlx5dv_devx_obj_destroy(meter->obj);

	if (ret)
		return ret;
	dr_unuse(&meter->next->users);
	dr_unuse(&action->domain->users);
	free(meter);
	return 0;
}
