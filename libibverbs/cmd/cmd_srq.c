/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_srq.c - commands on shared receive queues of all types.
 */
#include "cmd/cmd.h"
#include "util/mutex.h"
#include "util/order.h"

#include <string.h>

/* Initialises the SRQ before the command runs, because right after it another thread may read an
 * event that points to the SRQ. */
static void srq_init(struct ibv_srq *srq, struct verbs_srq *tail, struct ibv_context *context,
		     const struct ibv_srq_init_attr_ex *attr)
{
	srq->context = context;
	srq->srq_context = attr->srq_context;
	srq->pd = attr->pd;
	srq->events_completed = 0;
	mutex_init(&srq->mutex);
	cond_init(&srq->cond);
	tail->type = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC;
	tail->xrcd = tail->type == IBV_SRQT_XRC ? attr->xrcd : NULL;
	tail->cq = tail->type != IBV_SRQT_BASIC ? attr->cq : NULL;
	order_publish(srq);
}

static void srq_fini(struct ibv_srq *srq)
{
	pthread_cond_destroy(&srq->cond);
	pthread_mutex_destroy(&srq->mutex);
}

/* Checks the attributes that each type requires. A basic SRQ requires only the PD, whatever the
 * mask. */
static int check_init_attr(const struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t mask = attr->comp_mask;
	const char *missing = NULL;

	if (!(mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type == IBV_SRQT_BASIC)
		return 0;
	if (mask >= IBV_SRQ_INIT_ATTR_RESERVED) {
		verbs_warn("ibv_create_srq_ex: comp_mask 0x%x: no bit above 0x%x has a meaning",
			   mask, IBV_SRQ_INIT_ATTR_RESERVED - 1);
		return EOPNOTSUPP;
	}
	if (!(mask & IBV_SRQ_INIT_ATTR_PD))
		missing = "IBV_SRQ_INIT_ATTR_PD";
	else if (!(mask & IBV_SRQ_INIT_ATTR_CQ))
		missing = "IBV_SRQ_INIT_ATTR_CQ, which its type needs";
	else if (attr->srq_type == IBV_SRQT_XRC && !(mask & IBV_SRQ_INIT_ATTR_XRCD))
		missing = "IBV_SRQ_INIT_ATTR_XRCD, which its type needs";
	else if (attr->srq_type == IBV_SRQT_TM && !(mask & IBV_SRQ_INIT_ATTR_TM))
		missing = "IBV_SRQ_INIT_ATTR_TM, which its type needs";
	if (!missing)
		return 0;
	verbs_warn("ibv_create_srq_ex: comp_mask 0x%x lacks %s", mask, missing);
	return EINVAL;
}

static void explain_create(struct ibv_context *context, const struct ibv_srq_init_attr_ex *attr,
			   int err)
{
	const struct ibv_device_attr *limits;

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	limits = verbs_limits(context);
	if (limits && attr->attr.max_wr > (unsigned int)limits->max_srq_wr)
		verbs_warn(
			"ibv_create_srq: max_wr %u: %s: must be at most the device's max_srq_wr, "
			"%d",
			attr->attr.max_wr, strerror(err), limits->max_srq_wr);
	else if (limits && attr->attr.max_sge > (unsigned int)limits->max_srq_sge)
		verbs_warn(
			"ibv_create_srq: max_sge %u: %s: must be at most the device's max_srq_sge, "
			"%d",
			attr->attr.max_sge, strerror(err), limits->max_srq_sge);
	else
		verbs_warn("ibv_create_srq: max_wr %u max_sge %u srq_limit %u: %s%s",
			   attr->attr.max_wr, attr->attr.max_sge, attr->attr.srq_limit,
			   strerror(err),
			   err == ENOMEM
				   ? ": the device has no SRQ left (max_srq), the host no memory, "
				     "or its ring would pass RLIMIT_MEMLOCK (ulimit -l)"
				   : "");
}

static int run_create(struct ibv_srq *srq, struct verbs_srq *tail,
		      struct ibv_srq_init_attr_ex *attr, const struct verbs_udata *udata)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, &srq->handle),
		verbs_attr_handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, srq->pd->handle),
		tail->xrcd ? verbs_attr_handle(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE,
					       to_vxrcd(tail->xrcd)->handle)
			   : verbs_attr_skip(),
		tail->cq ? verbs_attr_handle(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, tail->cq->handle)
			 : verbs_attr_skip(),
		verbs_attr_u64(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, (uintptr_t)srq),
		verbs_attr_u32(UVERBS_ATTR_CREATE_SRQ_MAX_WR,
			       tail->ring_wr ? tail->ring_wr : attr->attr.max_wr),
		verbs_attr_u32(UVERBS_ATTR_CREATE_SRQ_MAX_SGE,
			       tail->ring_sge ? tail->ring_sge : attr->attr.max_sge),
		verbs_attr_u32(UVERBS_ATTR_CREATE_SRQ_LIMIT, attr->attr.srq_limit),
		tail->type == IBV_SRQT_TM ? verbs_attr_u32(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS,
							   attr->tm_cap.max_num_tags)
					  : verbs_attr_skip(),
		verbs_attr_u64(UVERBS_ATTR_CREATE_SRQ_TYPE, tail->type),
		verbs_attr_fd(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, srq->context->async_fd),
		verbs_attr_out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &attr->attr.max_wr,
			       sizeof(attr->attr.max_wr)),
		verbs_attr_out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &attr->attr.max_sge,
			       sizeof(attr->attr.max_sge)),
		verbs_attr_out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &tail->srq_num,
			       sizeof(tail->srq_num)),
	};

	return verbs_cmd_run_core(srq->context, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, attrs,
				  ARRAY_SIZE(attrs), udata);
}

VERBS_EXPORT int verbs_cmd_create_bare_srq(struct ibv_context *context,
					   struct ibv_srq_init_attr_ex *attr, struct ibv_srq *srq,
					   struct verbs_srq *tail, const struct verbs_udata *udata)
{
	int ret = check_init_attr(attr);

	if (ret)
		return ret;
	srq_init(srq, tail, context, attr);
	ret = run_create(srq, tail, attr, udata);
	if (ret) {
		explain_create(context, attr, ret);
		srq_fini(srq);
	}
	return ret;
}

VERBS_EXPORT int verbs_cmd_create_srq(struct ibv_context *context,
				      struct ibv_srq_init_attr_ex *attr, struct verbs_srq *vsrq,
				      const struct verbs_udata *udata)
{
	return verbs_cmd_create_bare_srq(context, attr, &vsrq->srq, vsrq, udata);
}

VERBS_EXPORT int verbs_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)
{
	const struct ib_uverbs_modify_srq req = {
		.srq_handle = srq->handle,
		.attr_mask = (uint32_t)attr_mask,
		.max_wr = attr->max_wr,
		.srq_limit = attr->srq_limit,
	};
	int ret = verbs_cmd_run_write(srq->context, IB_USER_VERBS_CMD_MODIFY_SRQ, &req, sizeof(req),
				      NULL, 0, NULL);

	if (ret)
		verbs_warn("ibv_modify_srq: SRQ %u attr_mask 0x%x max_wr %u srq_limit %u: %s%s",
			   srq->handle, attr_mask, attr->max_wr, attr->srq_limit, strerror(ret),
			   attr_mask & IBV_SRQ_MAX_WR ? ": not every device can resize an SRQ"
						      : "");
	return ret;
}

VERBS_EXPORT int verbs_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	const struct ib_uverbs_query_srq req = { .srq_handle = srq->handle };
	struct ib_uverbs_query_srq_resp resp = {};
	int ret = verbs_cmd_run_write(srq->context, IB_USER_VERBS_CMD_QUERY_SRQ, &req, sizeof(req),
				      &resp, sizeof(resp), NULL);

	if (ret) {
		verbs_warn("ibv_query_srq: SRQ %u: %s", srq->handle, strerror(ret));
		return ret;
	}
	attr->max_wr = resp.max_wr;
	attr->max_sge = resp.max_sge;
	attr->srq_limit = resp.srq_limit;
	return 0;
}

VERBS_EXPORT int verbs_cmd_destroy_srq(struct ibv_srq *srq)
{
	struct ib_uverbs_destroy_srq_resp resp;
	int ret = verbs_cmd_destroy_answered(srq->context, UVERBS_OBJECT_SRQ,
					     UVERBS_METHOD_SRQ_DESTROY,
					     UVERBS_ATTR_DESTROY_SRQ_HANDLE, srq->handle,
					     UVERBS_ATTR_DESTROY_SRQ_RESP, &resp, sizeof(resp));

	if (ret) {
		verbs_warn("ibv_destroy_srq: SRQ %u: %s%s", srq->handle, strerror(ret),
			   ret == EBUSY ? ": destroy the QPs that receive from it first" : "");
		return ret;
	}
	verbs_event_wait_acked("ibv_destroy_srq", &srq->mutex, &srq->cond, &srq->events_completed,
			       resp.events_reported);
	srq_fini(srq);
	return 0;
}
