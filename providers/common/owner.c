/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owner.c - implements owner.h.
 *
 * The kernel identifies objects by handles of their context. A handle of another context could
 * denote another object here, and a provider could misinterpret the memory of another provider's
 * object. The errno is the kernel's for a handle without an object.
 */
#include "providers/common/owner.h"

#include <errno.h>

static int check_owner(const char *call, const char *field, const struct ibv_context *owner,
		       const struct ibv_context *context)
{
	if (owner == context)
		return 0;
	verbs_warn("%s: %s belongs to another context (of %s)", call, field, owner->device->name);
	return ENOENT;
}

static int check_cqs(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	bool receives = attr->qp_type != IBV_QPT_XRC_SEND;
	int ret = 0;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return 0;
	if (attr->send_cq)
		ret = check_owner("create_qp", "send_cq", attr->send_cq->context, context);
	if (!ret && attr->recv_cq && receives)
		ret = check_owner("create_qp", "recv_cq", attr->recv_cq->context, context);
	return ret;
}

int provider_qp_check_owners(const struct ibv_context *context,
			     const struct ibv_qp_init_attr_ex *attr)
{
	int ret = 0;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD && attr->pd)
		ret = check_owner("create_qp", "pd", attr->pd->context, context);
	if (!ret && attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd)
		ret = check_owner("create_qp", "xrcd", attr->xrcd->context, context);
	if (!ret)
		ret = check_cqs(context, attr);
	if (!ret && attr->srq)
		ret = check_owner("create_qp", "srq", attr->srq->context, context);
	return ret;
}

int provider_srq_check_owners(const struct ibv_context *context,
			      const struct ibv_srq_init_attr_ex *attr)
{
	int ret = 0;

	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD && attr->pd)
		ret = check_owner("create_srq", "pd", attr->pd->context, context);
	if (!ret && attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD && attr->xrcd)
		ret = check_owner("create_srq", "xrcd", attr->xrcd->context, context);
	if (!ret && attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ && attr->cq)
		ret = check_owner("create_srq", "cq", attr->cq->context, context);
	return ret;
}
