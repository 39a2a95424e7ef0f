/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.c - flows in the device's format: values for a matcher, and destinations of the frames.
 *
 * Refusals follow fs.c of Linux 6.1's mlx5_ib and mlx5_core in order and errno; the device checks
 * all else.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "softhca/front/process/uverbs/flow/flow.h"

enum {
	FLAGS = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS | MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP,
	MAX_TAG = 1 << 24,
	USES_TARGET = 0,
	USES_MATCHER,
	USES_ACTIONS, /* as many as FLOW_ACTIONS */
};

static bool is_of(const struct uverbs_matcher *matcher, uint32_t type)
{
	return matcher->table_type == type;
}

static bool matcher_is_of_sends(const struct uverbs_matcher *matcher)
{
	return is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX) ||
	       is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX);
}

/* Returns the command that destroys a DevX object, which tells its kind. */
static uint32_t devx_opcode(const struct object *object)
{
	return fld_get(((const struct devx_obj *)object)->made.destroy, CMD_IN_OPCODE);
}

static uint32_t devx_number(const struct object *object)
{
	return (uint32_t)((const struct devx_obj *)object)->made.name;
}

static int target_devx(const struct object *object, struct steering_target *target)
{
	switch (devx_opcode(object)) {
	case PRM_OP_DESTROY_TIR:
		target->to = STEERING_TO_TIR;
		break;
	case PRM_OP_DESTROY_FLOW_TABLE:
		target->to = STEERING_TO_TABLE;
		break;
	default:
		return EINVAL;
	}
	target->number = devx_number(object);
	return 0;
}

/* Takes the TIR of a QP. A QP that does not receive has none, number 0. */
static int target_qp(const struct uverbs_qp *qp, struct steering_target *target)
{
	if (qp->type != IB_UVERBS_QPT_RAW_PACKET || !qp->real->raw)
		return EINVAL;
	target->to = STEERING_TO_TIR;
	target->number = qp->real->raw->has_tir ? qp->real->raw->tirn : 0;
	return 0;
}

static bool fits_table(const struct uverbs_matcher *matcher, bool has_devx, bool has_qp,
		       uint64_t flags)
{
	if (flags == FLAGS)
		return false;
	if (is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX))
		return has_devx + has_qp + (flags != 0) <= 1;
	if (is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX))
		return has_devx != has_qp;
	return true;
}

static int read_target(struct uverbs_call *uc, const struct uverbs_matcher *matcher, uint64_t flags,
		       struct steering_target *target)
{
	const struct object *devx = uc_object(uc, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX);
	const struct object *qp = uc_object(uc, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	int ret = 0;

	if (!fits_table(matcher, devx, qp, flags))
		return EINVAL;
	if (devx)
		ret = target_devx(devx, target);
	else if (qp)
		ret = target_qp((const struct uverbs_qp *)qp, target);
	else if (matcher_is_of_sends(matcher) && !(flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP))
		target->action |= PRM_FLOW_ALLOW;
	if (ret)
		return ret;
	if (target->to == STEERING_TO_TIR &&
	    (matcher_is_of_sends(matcher) ||
	     (devx && is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX))))
		return EINVAL;
	if (target->to)
		target->action |= PRM_FLOW_FWD;
	return 0;
}

static void read_flags(uint64_t flags, struct steering_target *target)
{
	target->misses = flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS;
	if (target->misses)
		target->action |= PRM_FLOW_FWD;
	if (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP)
		target->action |= PRM_FLOW_DROP;
}

static int read_offset(struct uverbs_call *uc, uint32_t *offset)
{
	const uint16_t id = MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET;

	if (uc_attr(uc, id) && uc_len(uc, id) != sizeof(*offset))
		return EINVAL;
	return uc_in(uc, id, offset, sizeof(*offset));
}

/* Finds the flow counter; one of a bulk is named by its offset there. */
static int read_counter(struct uverbs_call *uc, struct steering_target *target)
{
	struct object *object;
	uint32_t offset;
	int ret;

	if (!uc_objects(uc, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, &object, 1))
		return 0;
	ret = read_offset(uc, &offset);
	if (ret)
		return ret;
	if (devx_opcode(object) != PRM_OP_DEALLOC_FLOW_COUNTER ||
	    (offset && offset >= ((const struct devx_obj *)object)->made.count))
		return EINVAL;
	target->action |= PRM_FLOW_COUNT;
	target->counter = devx_number(object) + offset;
	return 0;
}

/* Takes the changes of headers. A flow has at most one of each kind. */
static int read_changes(struct uverbs_call *uc, struct steering_target *target)
{
	struct object *actions[FLOW_ACTIONS];
	const unsigned int count =
		uc_objects(uc, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, actions, FLOW_ACTIONS);

	for (unsigned int i = 0; i < count; i++) {
		const struct uverbs_flow_action *action =
			(const struct uverbs_flow_action *)actions[i];

		if (target->action & action->action)
			return EINVAL;
		target->action |= action->action;
		if (action->action == PRM_FLOW_MODIFY_HEADER)
			target->change = action->number;
		if (action->action == PRM_FLOW_PACKET_REFORMAT)
			target->reformat = action->number;
	}
	return 0;
}

static int read_tag(struct uverbs_call *uc, struct steering_request *request)
{
	request->has_tag = uc_attr(uc, MLX5_IB_ATTR_CREATE_FLOW_TAG);
	if (uc_in(uc, MLX5_IB_ATTR_CREATE_FLOW_TAG, &request->tag, sizeof(request->tag)))
		return EFAULT;
	return request->tag < MAX_TAG ? 0 : EINVAL;
}

/* Returns whether the set matches IPv4 multicast addresses (first byte 224 to 239). Linux checks
 * the mask in the same way. */
static bool is_v4_group(const uint8_t *set)
{
	return (*(const uint8_t *)fld_at(set, LYR_2_4_DST_IPV4) & 0xf0) == 0xe0;
}

static bool is_mac_group(const uint8_t *set)
{
	return *(const uint8_t *)fld_at(set, LYR_2_4_DMAC_47_16) & 1;
}

static bool is_for_groups(const struct steering_match *match)
{
	const uint8_t *mask = match->mask, *value = match->value; /* outer headers are first */

	if (!(match->criteria & PRM_MATCH_OUTER))
		return false;
	return (is_mac_group(mask) && is_mac_group(value)) ||
	       (is_v4_group(mask) && is_v4_group(value));
}

static int pick_level(const struct uverbs_matcher *matcher, struct steering_request *request)
{
	if (matcher->type != MLX5_IB_FLOW_TYPE_NORMAL)
		return EOPNOTSUPP;
	if (matcher->priority >= STEERING_PRIORITIES)
		return ENOMEM;
	request->level =
		is_for_groups(&request->match) ? STEERING_MULTICAST : 2u * matcher->priority + 1;
	if (is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX))
		request->level += STEERING_TRANSMIT;
	else if (!is_of(matcher, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX))
		return EOPNOTSUPP;
	/* Rules for sent frames have no next table to miss to, so this is refused. */
	return request->target.misses && matcher_is_of_sends(matcher) ? EOPNOTSUPP : 0;
}

static bool is_within_mask(const struct steering_match *match)
{
	for (size_t i = 0; i < sizeof(match->value); i++)
		if (match->value[i] & ~match->mask[i])
			return false;
	return true;
}

static int read_actions(struct uverbs_call *uc, struct steering_request *request)
{
	int ret = read_counter(uc, &request->target);

	if (!ret)
		ret = read_changes(uc, &request->target);
	return ret ? ret : read_tag(uc, request);
}

static int read_request(struct uverbs_call *uc, const struct uverbs_matcher *matcher,
			struct steering_request *request)
{
	uint64_t flags;
	int ret = uc_flags(uc, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, FLAGS, &flags);

	*request = (struct steering_request){ .match = matcher->match };
	if (!ret)
		ret = read_target(uc, matcher, flags, &request->target);
	if (ret)
		return EINVAL;
	read_flags(flags, &request->target);
	ret = read_actions(uc, request);
	if (ret)
		return ret;
	if (uc_in(uc, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, request->match.value,
		  sizeof(request->match.value)))
		return EFAULT;
	ret = pick_level(matcher, request);
	if (!ret && !adapter_cap(uc->adapter, HCA_CAP_NIC_FLOW_TABLE))
		ret = EOPNOTSUPP;
	return ret ? ret : is_within_mask(&request->match) ? 0 : EINVAL;
}

static int flow_dv_create(struct uverbs_call *uc)
{
	struct uverbs_matcher *matcher = uc_object(uc, MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
	struct object *uses[FLOW_USES] = { NULL };
	struct steering_request request;
	struct uverbs_flow *flow;
	int ret;

	if (!client_may(uc->tid, CLIENT_CAP_NET_RAW))
		return EPERM;
	ret = read_request(uc, matcher, &request);
	uses[USES_TARGET] = uc_object(uc, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	uses[USES_MATCHER] = &matcher->base;
	uc_objects(uc, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, &uses[USES_ACTIONS],
		   FLOW_ACTIONS);
	if (!ret)
		ret = flow_make(uc, &request, uses, &flow);
	return ret ? ret : uc_return_object(uc, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, &flow->base);
}

static int flow_dv_destroy(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_DESTROY_FLOW_HANDLE), uc->tid);
}

static const struct uverbs_attr create_attrs[] = {
	{ MLX5_IB_ATTR_CREATE_FLOW_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_FLOW },
	{ MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, ATTR_IN, MANDATORY, 1,
	  sizeof(struct mlx5_ib_match_params), 0 },
	{ MLX5_IB_ATTR_CREATE_FLOW_MATCHER, ATTR_HANDLE, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_FLOW_MATCHER },
	{ MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_QP },
	{ MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, ATTR_HANDLE, OPTIONAL, 0, 0,
	  MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, ATTR_HANDLES, OPTIONAL, 1, FLOW_ACTIONS,
	  UVERBS_OBJECT_FLOW_ACTION },
	{ MLX5_IB_ATTR_CREATE_FLOW_TAG, ATTR_IN, OPTIONAL, 4, 4, 0 },
	{ MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, ATTR_HANDLES, OPTIONAL, 1, 1,
	  MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, ATTR_IN, OPTIONAL, 4, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_CREATE_FLOW_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
};

static const struct uverbs_attr destroy_attrs[] = {
	{ MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_FLOW },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_FLOW_DV", UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW, flow_dv_create,
	       create_attrs),
	METHOD("DESTROY_FLOW_DV", UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW, flow_dv_destroy,
	       destroy_attrs),
};

const struct uverbs_methods flow_dv_methods = METHODS(method_table);
