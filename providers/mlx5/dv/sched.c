/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched.c - schedulers: nodes and leaves of a tree, as objects of the device, and QPs that send
 * through a leaf.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/states.h"
#include "prm/mlx5/wq.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"

/* Nodes and leaves have the same struct, because only the device distinguishes them: by what may be
 * below them. */
struct mlx5dv_sched_node {
	struct ibv_context *context;
	struct mlx5dv_sched_node *parent;
	struct devx_object object;
};

struct mlx5dv_sched_leaf {
	struct mlx5dv_sched_node element;
};

#define KNOWN_FLAGS \
	(MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE | MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW)

enum { ELEMENT_IN_SIZE = PRM_GENERAL_OBJ_HDR_SIZE + PRM_SCHED_ELEM_SIZE };

static int sched_check_attr(const char *call, const struct mlx5dv_sched_attr *attr)
{
	const char *why = NULL;

	if (!attr) {
		verbs_warn("%s: the attributes are NULL", call);
		return EINVAL;
	}
	if (attr->comp_mask)
		why = "comp_mask must be 0";
	else if (attr->flags & ~(uint32_t)KNOWN_FLAGS)
		why = "flags has unknown ones";
	else if (!attr->parent && attr->flags)
		why = "a root has neither share nor limit";
	if (!why)
		return 0;
	verbs_warn("%s: comp_mask %#llx, flags %#x: %s", call, (unsigned long long)attr->comp_mask,
		   attr->flags, why);
	return EINVAL;
}

static int sched_check_caps(const char *call, struct ibv_context *context, unsigned int type,
			    uint32_t flags)
{
	const struct mlx5_hca_caps *caps;
	int ret = mlx5_hca_caps_get_with(to_mctx(context), PRM_CAP_QOS, &caps);

	if (ret && ret != EOPNOTSUPP)
		return ret;
	if (!ret && caps->scheduler_elements & 1u << type &&
	    caps->scheduler_tsars & 1u << PRM_SCHED_TSAR_DWRR &&
	    (caps->shares_bandwidth || !(flags & MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE)) &&
	    (caps->limits_bandwidth || !(flags & MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW)))
		return 0;
	verbs_warn("%s: %s does not schedule so, or the context is without DevX", call,
		   context->device->name);
	return EOPNOTSUPP;
}

static void sched_put(const struct mlx5dv_sched_node *node, const struct mlx5dv_sched_attr *attr,
		      unsigned int type, uint8_t *in)
{
	uint8_t *elem = fld_at(in, GENERAL_OBJ_OBJECT);
	uint8_t *context = fld_at(elem, SCHED_ELEM_SCHED_CONTEXT);
	uint64_t select = 0;

	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SCHEDULING_ELEMENT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, node->object.id);
	fld_set(elem, SCHED_ELEM_SCHEDULING_HIERARCHY, PRM_SCHED_HIERARCHY_NIC);
	fld_set(context, SCHED_CONTEXT_ELEMENT_TYPE, type);
	if (attr->flags & MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE) {
		select |= PRM_SCHED_MODIFY_BW_SHARE;
		fld_set(context, SCHED_CONTEXT_BW_SHARE, attr->bw_share);
	}
	if (attr->flags & MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW) {
		select |= PRM_SCHED_MODIFY_MAX_AVERAGE_BW;
		fld_set(context, SCHED_CONTEXT_MAX_AVERAGE_BW, attr->max_avg_bw);
	}
	fld_set(elem, SCHED_ELEM_MODIFY_FIELD_SELECT, select);
}

static int sched_create(const char *call, struct ibv_context *context,
			const struct mlx5dv_sched_attr *attr, unsigned int type,
			struct mlx5dv_sched_node *node)
{
	uint8_t in[ELEMENT_IN_SIZE] = { 0 };
	int ret = sched_check_attr(call, attr);

	if (!ret)
		ret = sched_check_caps(call, context, type, attr->flags);
	if (ret)
		return ret;
	*node = (struct mlx5dv_sched_node){ .context = context, .parent = attr->parent };
	sched_put(node, attr, type, in);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	if (attr->parent)
		fld_set(fld_at(fld_at(in, GENERAL_OBJ_OBJECT), SCHED_ELEM_SCHED_CONTEXT),
			SCHED_CONTEXT_PARENT_ELEMENT_ID, attr->parent->object.id);
	return mlx5_devx_object_create(to_mctx(context), in, sizeof(in), &node->object);
}

/* Modifies an element. The parent in ATTR is ignored: it cannot change. */
static int sched_modify(const char *call, const struct mlx5dv_sched_node *node,
			const struct mlx5dv_sched_attr *attr, unsigned int type)
{
	uint8_t in[ELEMENT_IN_SIZE] = { 0 };
	int ret = sched_check_attr(call, attr);

	if (!ret)
		ret = sched_check_caps(call, node->context, type, attr->flags);
	if (ret)
		return ret;
	sched_put(node, attr, type, in);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_GENERAL_OBJECT);
	return mlx5_devx_object_modify(to_mctx(node->context), &node->object, in, sizeof(in));
}

DV_EXPORT struct mlx5dv_sched_node *
mlx5dv_sched_node_create(struct ibv_context *context, const struct mlx5dv_sched_attr *sched_attr)
{
	int ret = dv_check_context("mlx5dv_sched_node_create", context);
	struct mlx5dv_sched_node *node;

	if (ret)
		return dv_fail(ret);
	node = dv_take("mlx5dv_sched_node_create", context, node);
	if (!node)
		return dv_fail(ENOMEM);
	ret = sched_create("mlx5dv_sched_node_create", context, sched_attr, PRM_SCHED_ELEMENT_TSAR,
			   node);
	if (!ret)
		return node;
	dv_give(context, node);
	return dv_fail(ret);
}

DV_EXPORT struct mlx5dv_sched_leaf *
mlx5dv_sched_leaf_create(struct ibv_context *context, const struct mlx5dv_sched_attr *sched_attr)
{
	int ret = dv_check_context("mlx5dv_sched_leaf_create", context);
	struct mlx5dv_sched_leaf *leaf;

	if (!ret && sched_attr && !sched_attr->parent) {
		verbs_warn("mlx5dv_sched_leaf_create: parent is NULL");
		ret = EINVAL;
	}
	if (ret)
		return dv_fail(ret);
	leaf = dv_take("mlx5dv_sched_leaf_create", context, leaf);
	if (!leaf)
		return dv_fail(ENOMEM);
	ret = sched_create("mlx5dv_sched_leaf_create", context, sched_attr,
			   PRM_SCHED_ELEMENT_QUEUE_GROUP, &leaf->element);
	if (!ret)
		return leaf;
	dv_give(context, leaf);
	return dv_fail(ret);
}

DV_EXPORT int mlx5dv_sched_node_modify(struct mlx5dv_sched_node *node,
				       const struct mlx5dv_sched_attr *sched_attr)
{
	return verbs_result(
		sched_modify("mlx5dv_sched_node_modify", node, sched_attr, PRM_SCHED_ELEMENT_TSAR));
}

DV_EXPORT int mlx5dv_sched_leaf_modify(struct mlx5dv_sched_leaf *leaf,
				       const struct mlx5dv_sched_attr *sched_attr)
{
	return verbs_result(sched_modify("mlx5dv_sched_leaf_modify", &leaf->element, sched_attr,
					 PRM_SCHED_ELEMENT_QUEUE_GROUP));
}

DV_EXPORT int mlx5dv_sched_node_destroy(struct mlx5dv_sched_node *node)
{
	int ret = mlx5_devx_object_destroy(to_mctx(node->context), &node->object);

	if (!ret)
		dv_give(node->context, node);
	return verbs_result(ret);
}

DV_EXPORT int mlx5dv_sched_leaf_destroy(struct mlx5dv_sched_leaf *leaf)
{
	int ret = mlx5_devx_object_destroy(to_mctx(leaf->element.context), &leaf->element.object);

	if (!ret)
		dv_give(leaf->element.context, leaf);
	return verbs_result(ret);
}

static uint32_t leaf_id(const struct mlx5dv_sched_leaf *leaf)
{
	return leaf ? leaf->element.object.id : 0;
}

static int qp_schedule_sq(struct ibv_qp *qp, const struct mlx5dv_sched_leaf *requestor)
{
	uint8_t in[32 + PRM_SQC_SIZE] = { 0 };
	uint8_t *sqc = fld_at(in, MODIFY_SQ_IN_CTX);

	if (qp->state != IBV_QPS_RTS)
		return EOPNOTSUPP;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_SQ);
	fld_set(in, MODIFY_SQ_IN_SQ_STATE, PRM_WQ_STATE_RDY);
	fld_set(in, MODIFY_SQ_IN_SQN, to_mqp(qp)->parts.sqn);
	fld_set(in, MODIFY_SQ_IN_MODIFY_BITMASK, PRM_MODIFY_SQ_QOS_GROUP);
	fld_set(sqc, SQC_STATE, PRM_WQ_STATE_RDY);
	fld_set(sqc, SQC_QOS_QUEUE_GROUP_ID, leaf_id(requestor));
	return mlx5_devx_qp_modify(qp, in, sizeof(in));
}

static int qp_schedule(struct ibv_qp *qp, const struct mlx5dv_sched_leaf *requestor,
		       const struct mlx5dv_sched_leaf *responder)
{
	uint8_t in[PRM_MODIFY_QP_EXT_IN_SIZE] = { 0 };
	uint8_t *ext = fld_at(in, MODIFY_QP_IN_QPC_DATA_EXT);

	if (qp->state != IBV_QPS_INIT && qp->state != IBV_QPS_RTS)
		return EOPNOTSUPP;
	fld_set(in, CMD_IN_OPCODE,
		qp->state == IBV_QPS_INIT ? PRM_OP_INIT2INIT_QP : PRM_OP_RTS2RTS_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->qp_num);
	fld_set(in, MODIFY_QP_IN_QPC_EXT, 1);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK_32, PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID);
	fld_set(ext, QPC_EXT_QOS_GROUP_REQUESTER, leaf_id(requestor));
	fld_set(ext, QPC_EXT_QOS_GROUP_RESPONDER, leaf_id(responder));
	return mlx5_devx_qp_modify(qp, in, sizeof(in));
}

DV_EXPORT int mlx5dv_modify_qp_sched_elem(struct ibv_qp *qp,
					  const struct mlx5dv_sched_leaf *requestor,
					  const struct mlx5dv_sched_leaf *responder)
{
	int ret = dv_check_context("mlx5dv_modify_qp_sched_elem", qp->context);
	bool raw = qp->qp_type == IBV_QPT_RAW_PACKET;
	const struct mlx5_hca_caps *caps;

	if (ret)
		return verbs_result(ret);
	ret = mlx5_hca_caps_get_with(to_mctx(qp->context), PRM_CAP_QOS, &caps);
	if (ret && ret != EOPNOTSUPP)
		return verbs_result(ret);
	if (ret || !(raw ? caps->schedules_sqs : caps->schedules_qps)) {
		verbs_warn("mlx5dv_modify_qp_sched_elem: %s does not schedule such QPs, or the "
			   "context is without DevX",
			   qp->context->device->name);
		return verbs_result(EOPNOTSUPP);
	}
	if (responder && qp->qp_type != IBV_QPT_RC && qp->qp_type != IBV_QPT_XRC_RECV) {
		verbs_warn("mlx5dv_modify_qp_sched_elem: responder is not NULL, and a QP of type "
			   "%d has no responses",
			   (int)qp->qp_type);
		return verbs_result(EINVAL);
	}
	ret = raw ? qp_schedule_sq(qp, requestor) : qp_schedule(qp, requestor, responder);
	if (ret == EOPNOTSUPP)
		verbs_warn("mlx5dv_modify_qp_sched_elem: the QP is in state %d, must be RTS%s",
			   (int)qp->state, raw ? "" : " or INIT");
	return verbs_result(ret);
}
