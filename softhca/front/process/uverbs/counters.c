/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.c - sets of flow counters.
 *
 * As in Linux' driver, a set is one counter of the device, with packets and bytes. The first flow
 * that names the set says which of the two is at which index.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/vport.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/uverbs/counters.h"

enum { MAX_POINTS = 256, PACKETS = 0, BYTES = 1, READ_FROM_CACHE = 1 << 0 };

struct uverbs_counters {
	struct object base;
	bool in_device;
	uint32_t number;
	struct mlx5_ib_flow_counters_desc *points;
	uint32_t npoints;
	uint32_t values; /* values that a read returns; 0: not described yet */
};

static int counters_destroy(struct object *object, pid_t tid)
{
	struct uverbs_counters *counters = (struct uverbs_counters *)object;

	(void)tid;
	if (counters->in_device && !object->file->adapter->dead)
		adapter_release(object->file->adapter, (enum prm_opcode)PRM_OP_DEALLOC_FLOW_COUNTER,
				counters->number);
	free(counters->points);
	return 0;
}

static int counters_create(struct uverbs_call *uc)
{
	struct uverbs_counters *counters;
	int ret = object_new(sizeof(*counters), uc->file, UVERBS_OBJECT_COUNTERS, counters_destroy,
			     &counters);

	return ret ? ret
		   : uc_return_object(uc, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &counters->base);
}

static int counters_remove(struct uverbs_call *uc)
{
	struct object *object = uc_object(uc, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE);

	return object->users ? EBUSY : object_destroy(object, uc->tid);
}

static int read_points(struct uverbs_call *uc, const struct mlx5_ib_flow_counters_data *data,
		       struct uverbs_counters *counters)
{
	size_t len = data->ncounters * sizeof(*counters->points);
	uint32_t values = 0;

	if (data->ncounters > MAX_POINTS || counters->values)
		return EINVAL;
	if (!len)
		return 0;
	counters->points = malloc(len);
	if (!counters->points)
		return ENOMEM;
	if (caller_read(uc->call, (uintptr_t)data->counters_data, counters->points, len))
		return EFAULT;
	for (uint32_t i = 0; i < data->ncounters; i++) {
		if (counters->points[i].description > BYTES ||
		    counters->points[i].index >= UINT16_MAX)
			return EINVAL;
		if (counters->points[i].index >= values)
			values = counters->points[i].index + 1;
	}
	counters->npoints = data->ncounters;
	counters->values = values;
	return 0;
}

static int counter_describe(struct uverbs_call *uc, struct uverbs_counters *counters)
{
	uint64_t room[(sizeof(struct mlx5_ib_create_flow) +
		       sizeof(struct mlx5_ib_flow_counters_data)) /
		      sizeof(uint64_t)];
	const struct mlx5_ib_create_flow *req = (const struct mlx5_ib_create_flow *)room;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, room, sizeof(room)))
		return EFAULT;
	if (req->ncounters_data > 1)
		return EINVAL;
	if (!req->ncounters_data)
		return counters->values ? 0 : EINVAL;
	ret = read_points(uc, req->data, counters);
	if (ret && !counters->values) {
		free(counters->points);
		counters->points = NULL;
	}
	return ret;
}

int counters_for_flow(struct uverbs_call *uc, uint32_t handle, struct object **object,
		      uint32_t *number)
{
	struct uverbs_counters *counters;
	int ret = object_find(uc->file, UVERBS_OBJECT_COUNTERS, handle, &counters);

	if (ret)
		return EINVAL;
	ret = counter_describe(uc, counters);
	if (!ret && !counters->in_device)
		ret = adapter_allocate(uc->adapter, (enum prm_opcode)PRM_OP_ALLOC_FLOW_COUNTER,
				       &counters->number);
	if (ret)
		return ret;
	counters->in_device = true;
	*object = &counters->base;
	*number = counters->number;
	return 0;
}

static int query_counter(struct adapter *adapter, uint32_t number, uint64_t value[2])
{
	uint8_t in[32] = { 0 }, out[32] = { 0 };
	const uint8_t *counter = fld_at(out, QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_FLOW_COUNTER);
	fld_set(in, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID, number);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	value[PACKETS] = fld_get(counter, TRAFFIC_COUNTER_PACKETS);
	value[BYTES] = fld_get(counter, TRAFFIC_COUNTER_OCTETS);
	return 0;
}

static int counters_read(struct uverbs_call *uc)
{
	struct uverbs_counters *counters = uc_object(uc, UVERBS_ATTR_READ_COUNTERS_HANDLE);
	size_t len = uc_len(uc, UVERBS_ATTR_READ_COUNTERS_BUFF);
	uint64_t value[2], *values, flags;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_READ_COUNTERS_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (!counters->base.users || flags & ~(uint64_t)READ_FROM_CACHE ||
	    counters->values > len / sizeof(*values))
		return EINVAL;
	ret = query_counter(uc->adapter, counters->number, value);
	if (ret)
		return ret;
	values = calloc(1, len ? len : 1);
	if (!values)
		return ENOMEM;
	for (uint32_t i = 0; i < counters->npoints; i++)
		values[counters->points[i].index] += value[counters->points[i].description];
	ret = uc_out(uc, UVERBS_ATTR_READ_COUNTERS_BUFF, values, len);
	free(values);
	return ret;
}

static const struct uverbs_attr create_attrs[] = {
	{ UVERBS_ATTR_CREATE_COUNTERS_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_COUNTERS },
};

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  UVERBS_OBJECT_COUNTERS },
};

static const struct uverbs_attr read_attrs[] = {
	{ UVERBS_ATTR_READ_COUNTERS_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_COUNTERS },
	{ UVERBS_ATTR_READ_COUNTERS_BUFF, ATTR_OUT, MANDATORY, 0, ANY_SIZE, 0 },
	{ UVERBS_ATTR_READ_COUNTERS_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(adapter_is_mlx5, "CREATE_COUNTERS", UVERBS_OBJECT_COUNTERS,
		  UVERBS_METHOD_COUNTERS_CREATE, counters_create, create_attrs),
	METHOD_IF(adapter_is_mlx5, "DESTROY_COUNTERS", UVERBS_OBJECT_COUNTERS,
		  UVERBS_METHOD_COUNTERS_DESTROY, counters_remove, destroy_attrs),
	METHOD_IF(adapter_is_mlx5, "READ_COUNTERS", UVERBS_OBJECT_COUNTERS,
		  UVERBS_METHOD_COUNTERS_READ, counters_read, read_attrs),
};

const struct uverbs_methods counters_methods = METHODS(method_table);
