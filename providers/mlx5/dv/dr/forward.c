/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forward.c - tables that forward all frames to several destinations. See forward.h.
 */
#include "providers/mlx5/dv/dr/forward.h"

#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft_table.h"
#include "providers/mlx5/qp/qp.h"
#include "util/alloc.h"

enum { GROUP_IN_SIZE = 1024 /* the command contains the match criteria, which are empty */ };

static int table_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			struct dr_forward *forward)
{
	uint8_t in[FLD_BYTE(CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT) +
		   PRM_FLOW_TABLE_CONTEXT_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *table = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_TABLE);
	fld_set(in, CREATE_FLOW_TABLE_IN_TABLE_TYPE, attr->type);
	fld_set(table, FLOW_TABLE_CONTEXT_LEVEL, attr->level);
	fld_set(table, FLOW_TABLE_CONTEXT_TERMINATION_TABLE, attr->is_last);
	forward->table = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
	if (!forward->table)
		return errno;
	forward->number = (uint32_t)fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID);
	return 0;
}

static int table_query(const struct dr_forward_attr *attr, struct dr_forward *forward)
{
	uint8_t in[64] = { 0 };
	uint8_t out[FLD_BYTE(QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT) +
		    PRM_FLOW_TABLE_CONTEXT_SIZE] = { 0 };
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_FLOW_TABLE);
	fld_set(in, QUERY_FLOW_TABLE_IN_TABLE_TYPE, attr->type);
	fld_set(in, QUERY_FLOW_TABLE_IN_TABLE_ID, forward->number);
	ret = mlx5dv_devx_obj_query(forward->table, in, sizeof(in), out, sizeof(out));
	if (!ret)
		forward->address = fld_get(fld_at(out, QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT),
					   FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0);
	return ret;
}

/* Creates the table's only group: entry 0, without match criteria, so that all frames hit it. */
static int group_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			struct dr_forward *forward)
{
	uint8_t in[GROUP_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_GROUP);
	fld_set(in, FLOW_IN_TABLE_TYPE, attr->type);
	fld_set(in, FLOW_IN_TABLE_ID, forward->number);
	forward->group = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
	return forward->group ? 0 : errno;
}

static void destination_put(uint8_t *at, const struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case DR_ACTION_QP:
		fld_set(at, DEST_FORMAT_DESTINATION_TYPE, PRM_DEST_TIR);
		fld_set(at, DEST_FORMAT_DESTINATION_ID, to_mqp(action->qp)->parts.tirn);
		break;
	case DR_ACTION_TIR:
		fld_set(at, DEST_FORMAT_DESTINATION_TYPE, PRM_DEST_TIR);
		fld_set(at, DEST_FORMAT_DESTINATION_ID, action->tir->id);
		break;
	default:
		fld_set(at, DEST_FORMAT_DESTINATION_TYPE, PRM_DEST_TABLE);
		fld_set(at, DEST_FORMAT_DESTINATION_ID, action->table->soft->number);
		break;
	}
}

/* Adds COUNTER to the entry. The list of counters, at AT, follows the destinations. */
static void counter_put(uint8_t *entry, uint8_t *at, const struct mlx5dv_dr_action *counter)
{
	fld_set(entry, FLOW_CONTEXT_ACTION, PRM_FLOW_FWD | PRM_FLOW_COUNT);
	fld_set(entry, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE, 1);
	fld_set(at, FLD(0x0, 31, 0), mlx5_dr_action_counter(counter));
}

static void entry_fill(uint8_t *in, const struct dr_forward_attr *attr,
		       const struct dr_forward *forward)
{
	uint8_t *entry = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	uint8_t *list = fld_at(entry, FLOW_CONTEXT_DESTINATION);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_FLOW_TABLE_ENTRY);
	fld_set(in, FLOW_IN_TABLE_TYPE, attr->type);
	fld_set(in, FLOW_IN_TABLE_ID, forward->number);
	fld_set(entry, FLOW_CONTEXT_GROUP_ID, forward->group->id);
	fld_set(entry, FLOW_CONTEXT_ACTION, PRM_FLOW_FWD);
	fld_set(entry, FLOW_CONTEXT_DESTINATION_LIST_SIZE, attr->count);
	for (size_t i = 0; i < attr->count; i++)
		destination_put(list + i * PRM_DEST_FORMAT_SIZE, attr->destinations[i]);
	if (attr->counter)
		counter_put(entry, list + attr->count * PRM_DEST_FORMAT_SIZE, attr->counter);
}

static int entry_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			struct dr_forward *forward)
{
	const size_t size = FLD_BYTE(SET_FTE_IN_FLOW_CONTEXT) + PRM_FLOW_CONTEXT_SIZE +
			    (attr->count + !!attr->counter) * PRM_DEST_FORMAT_SIZE;
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *in = calloc(1, size);

	if (!in)
		return ENOMEM;
	entry_fill(in, attr, forward);
	forward->entry = mlx5dv_devx_obj_create(context, in, size, out, sizeof(out));
	free(in);
	return forward->entry ? 0 : errno;
}

int mlx5_dr_forward_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			   struct dr_forward *forward)
{
	int ret;

	*forward = (struct dr_forward){ .address = 0 };
	ret = table_create(context, attr, forward);
	if (!ret)
		ret = table_query(attr, forward);
	if (!ret)
		ret = group_create(context, attr, forward);
	if (!ret)
		ret = entry_create(context, attr, forward);
	if (ret)
		mlx5_dr_forward_destroy(forward);
	return ret;
}

static int obj_end(struct mlx5dv_devx_obj **obj)
{
	int ret = *obj ? mlx5dv_devx_obj_destroy(*obj) : 0;

	if (!ret)
		*obj = NULL;
	return ret;
}

int mlx5_dr_forward_destroy(struct dr_forward *forward)
{
	int ret = obj_end(&forward->entry);

	if (!ret)
		ret = obj_end(&forward->group);
	return ret ? ret : obj_end(&forward->table);
}
