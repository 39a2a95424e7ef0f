/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - flows: rules that choose the frames that a raw packet QP receives.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/flow.h"
#include "softhca/front/process/driver/flow_spec.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/counters.h"
#include "softhca/front/process/uverbs/flow/flow.h"
#include "softhca/front/process/uverbs/mlx4/flow.h"
#include "softhca/front/process/uverbs/objects.h"

enum flow_type { FLOW_NORMAL = 0, FLOW_MULTICAST_DEFAULT = 2, FLOW_SNIFFER = 3 };

enum {
	FLAG_DONT_TRAP = 1 << 1,
	FLAG_EGRESS = 1 << 2,
	MAX_SPECS = 10,
	MAX_SPECS_BYTES = 4096,
	NO_TAG = 0, /* flow tag in completions */
};

static void flow_count_uses(const struct uverbs_flow *flow, int by)
{
	for (unsigned int i = 0; i < FLOW_USES; i++)
		if (flow->uses[i])
			flow->uses[i]->users += by;
}

static int flow_destroy(struct object *object, pid_t tid)
{
	struct uverbs_flow *flow = (struct uverbs_flow *)object;

	(void)tid;
	if (!object->file->adapter->dead)
		steering_remove(object->file->adapter, flow->rule);
	flow_count_uses(flow, -1);
	return 0;
}

int flow_make(struct uverbs_call *uc, const struct steering_request *request,
	      struct object *const uses[FLOW_USES], struct uverbs_flow **out)
{
	struct uverbs_flow *flow;
	int ret = object_new(sizeof(*flow), uc->file, UVERBS_OBJECT_FLOW, flow_destroy, &flow);

	if (ret)
		return ret;
	ret = steering_add(uc->adapter, request, &flow->rule);
	if (ret) {
		object_free(&flow->base);
		return ret;
	}
	memcpy(flow->uses, uses, sizeof(flow->uses));
	flow_count_uses(flow, 1);
	*out = flow;
	return 0;
}

/* Matches all multicast frames: only the group bit of the MAC address (IEEE 802.3, 3.2.3). */
static void match_groups(struct steering_match *match)
{
	fld_set(match->mask, LYR_2_4_DMAC_47_16, 0x01000000);
	fld_set(match->value, LYR_2_4_DMAC_47_16, 0x01000000);
}

static bool is_for_groups(const struct steering_match *match)
{
	static const uint32_t group_bit = 0x01000000;

	return fld_get(match->mask, LYR_2_4_DMAC_47_16) & group_bit &&
	       fld_get(match->value, LYR_2_4_DMAC_47_16) & group_bit;
}

static void pick_level(const struct uverbs_call *uc, const struct ib_uverbs_flow_attr *attr,
		       struct steering_request *request)
{
	if (attr->type != FLOW_NORMAL && attr->type != FLOW_SNIFFER)
		request->level = STEERING_LEFTOVERS;
	else if (is_for_groups(&request->match) && !request->target.goes_on)
		request->level = STEERING_MULTICAST;
	else if (adapter_is_mlx4(uc->adapter))
		mlx4_flow_place(attr, request);
	else
		request->level = 2 * attr->priority + !request->target.goes_on;
}

static int check_attr(struct uverbs_call *uc, const struct ib_uverbs_flow_attr *attr)
{
	if (attr->flags & ~(uint32_t)(FLAG_DONT_TRAP | FLAG_EGRESS) ||
	    attr->num_of_specs > MAX_SPECS)
		return EINVAL;
	if (attr->size > MAX_SPECS_BYTES || attr->port > uc->adapter->num_ports)
		return EINVAL;
	if (attr->priority >= STEERING_PRIORITIES && !adapter_is_mlx4(uc->adapter))
		return ENOMEM;
	if (attr->flags & FLAG_EGRESS)
		return EOPNOTSUPP;
	if (attr->type == FLOW_SNIFFER && !adapter_is_mlx4(uc->adapter))
		return EOPNOTSUPP;
	if (attr->type > FLOW_SNIFFER || (attr->type != FLOW_NORMAL && attr->num_of_specs))
		return EINVAL;
	return 0;
}

/* Reads mlx4's specs. RET is the result of reading them as for any driver. */
static int read_mlx4_specs(const struct ib_uverbs_flow_attr *attr, const uint8_t *bytes, int ret,
			   struct flow_specs *specs)
{
	if (ret)
		return EINVAL;
	mlx4_flow_match(&specs->match);
	return mlx4_flow_check(attr, bytes);
}

static int read_specs(struct uverbs_call *uc, const struct ib_uverbs_flow_attr *attr,
		      struct flow_specs *specs)
{
	const size_t header = sizeof(struct ib_uverbs_create_flow);
	size_t len = header + attr->size;
	uint8_t *command;
	int ret;

	if (uc_len(uc, UVERBS_ATTR_CORE_IN) < len)
		return ENOSPC;
	command = calloc(1, len);
	if (!command)
		return ENOMEM;
	ret = uc_in(uc, UVERBS_ATTR_CORE_IN, command, len);
	if (!ret)
		ret = flow_specs_read(command + header, attr->size, attr->num_of_specs, specs);
	if (adapter_is_mlx4(uc->adapter))
		ret = read_mlx4_specs(attr, command + header, ret, specs);
	free(command);
	return ret;
}

static struct steering_target read_target(const struct ib_uverbs_flow_attr *attr,
					  const struct flow_specs *specs, uint32_t tirn)
{
	if (specs->drop)
		return (struct steering_target){ .action = PRM_FLOW_DROP };
	return (struct steering_target){ .action = PRM_FLOW_FWD,
					 .to = STEERING_TO_TIR,
					 .number = tirn,
					 .goes_on = attr->flags & FLAG_DONT_TRAP };
}

static int read_request(struct uverbs_call *uc, const struct ib_uverbs_create_flow *cmd,
			struct steering_request *request, struct object *uses[FLOW_USES])
{
	const struct ib_uverbs_flow_attr *attr = &cmd->flow_attr;
	struct flow_specs specs;
	struct uverbs_qp *qp;
	int ret = check_attr(uc, attr);

	if (!ret)
		ret = read_specs(uc, attr, &specs);
	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd->qp_handle, &qp);
	if (ret)
		return ret;
	if (!qp->real->raw || !qp->real->raw->has_tir)
		return EINVAL;
	*request =
		(struct steering_request){ .match = specs.match,
					   .target = read_target(attr, &specs, qp->real->raw->tirn),
					   .has_tag = specs.has_tag,
					   .tag = specs.has_tag ? specs.tag : NO_TAG };
	uses[0] = &qp->base;
	if (attr->type == FLOW_MULTICAST_DEFAULT)
		match_groups(&request->match);
	steering_enable(&request->match);
	pick_level(uc, attr, request);
	if (!specs.counts)
		return 0;
	request->target.action |= PRM_FLOW_COUNT;
	return counters_for_flow(uc, specs.counters, &uses[1], &request->target.counter);
}

static int flow_respond(struct uverbs_call *uc, const struct uverbs_flow *flow)
{
	struct ib_uverbs_create_flow_resp resp = { .flow_handle = flow->base.handle };

	return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static int flow_create(struct uverbs_call *uc)
{
	struct object *uses[FLOW_USES] = { NULL };
	struct ib_uverbs_create_flow cmd;
	struct steering_request request;
	struct uverbs_flow *flow;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.comp_mask)
		return EINVAL;
	if (!client_may(uc->tid, CLIENT_CAP_NET_RAW))
		return EPERM;
	if (!adapter_cap(uc->adapter, HCA_CAP_NIC_FLOW_TABLE))
		return EOPNOTSUPP;
	ret = read_request(uc, &cmd, &request, uses);
	if (!ret)
		ret = flow_make(uc, &request, uses, &flow);
	if (!ret)
		ret = uc_publish(uc, &flow->base);
	return ret ? ret : uc_answered(uc, flow_respond(uc, flow), &flow->base);
}

static int flow_remove(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_FLOW_HANDLE), uc->tid);
}

static int flow_remove_write(struct uverbs_call *uc)
{
	struct ib_uverbs_destroy_flow cmd;
	struct object *flow;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.comp_mask)
		return EINVAL;
	ret = object_find(uc->file, UVERBS_OBJECT_FLOW, cmd.flow_handle, &flow);
	return ret ? ret : object_destroy(flow, uc->tid);
}

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_FLOW_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_FLOW },
};

static const struct uverbs_method method_table[] = {
	METHOD("DESTROY_FLOW", UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, flow_remove,
	       destroy_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "CREATE_FLOW", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
	  sizeof(struct ib_uverbs_create_flow), sizeof(struct ib_uverbs_create_flow_resp),
	  flow_create },
	{ "DESTROY_FLOW", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
	  sizeof(struct ib_uverbs_destroy_flow), 0, flow_remove_write },
};

const struct uverbs_methods flow_methods = METHODS(method_table);
const struct uverbs_writes flow_writes = METHODS(write_table);
