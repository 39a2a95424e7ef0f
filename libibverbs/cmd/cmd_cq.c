/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_cq.c - commands on completion queues and completion channels.
 */
#include "cmd/cmd.h"
#include "util/mutex.h"
#include "util/order.h"

/* Initialises the CQ before the command runs, because right after it another thread may read an
 * event that points to the CQ. */
static void cq_init(struct ibv_cq *cq, struct ibv_context *context,
		    const struct ibv_cq_init_attr_ex *attr)
{
	cq->context = context;
	cq->channel = attr->channel;
	cq->cq_context = attr->cq_context;
	cq->comp_events_completed = 0;
	cq->async_events_completed = 0;
	mutex_init(&cq->mutex);
	cond_init(&cq->cond);
	order_publish(cq);
}

static void cq_fini(struct ibv_cq *cq)
{
	pthread_cond_destroy(&cq->cond);
	pthread_mutex_destroy(&cq->mutex);
}

/* Adds ADD to the number of CQs that use a channel. ibv_destroy_comp_channel() must fail while a CQ
 * uses the channel. */
static void channel_count(struct ibv_comp_channel *channel, int add)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt += add;
	pthread_mutex_unlock(&channel->context->mutex);
}

static void explain_create_cq(int err, struct ibv_context *context,
			      const struct ibv_cq_init_attr_ex *attr)
{
	const unsigned int vectors = (unsigned int)context->num_comp_vectors;
	const struct ibv_device_attr *limits;

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	limits = verbs_limits(context);
	if (limits && attr->cqe > (unsigned int)limits->max_cqe)
		verbs_warn("ibv_create_cq: cqe %u: %s: must be 1 to the device's max_cqe, %d",
			   attr->cqe, strerror(err), limits->max_cqe);
	else if (attr->comp_vector >= vectors)
		verbs_warn("ibv_create_cq: comp_vector %u: %s: must be below the context's "
			   "num_comp_vectors, %u",
			   attr->comp_vector, strerror(err), vectors);
	else if (attr->channel && attr->channel->context != context)
		verbs_warn(
			"ibv_create_cq: channel %d: %s: it belongs to another context than the CQ",
			attr->channel->fd, strerror(err));
	else
		verbs_warn("ibv_create_cq: cqe %u comp_vector %u channel %d: %s%s", attr->cqe,
			   attr->comp_vector, attr->channel ? attr->channel->fd : -1, strerror(err),
			   err == ENOMEM
				   ? ": the device has no CQ left (max_cq), the host no memory, "
				     "or its ring would pass RLIMIT_MEMLOCK (ulimit -l)"
				   : "");
}

struct new_cq {
	struct ibv_cq *cq;
	uint32_t flags, ring_cqe; /* entries of the ring; 0: attr->cqe */
	uint32_t handle, cqe;     /* from the kernel */
};

/* Builds the command in place, for providers without attributes of their own. In the order of
 * run_listed_create(). */
static inline int run_short_create(struct ibv_context *context,
				   const struct ibv_cq_init_attr_ex *attr, struct new_cq *made,
				   const struct verbs_udata *udata)
{
	struct verbs_short cmd;
	struct verbs_attr *to = cmd.attrs;
	int ret;

	*to++ = verbs_short_new(UVERBS_ATTR_CREATE_CQ_HANDLE);
	*to++ = verbs_short_u32(UVERBS_ATTR_CREATE_CQ_CQE,
				made->ring_cqe ? made->ring_cqe : attr->cqe);
	*to++ = verbs_short_u64(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, (uintptr_t)made->cq);
	if (attr->channel)
		*to++ = verbs_short_fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, attr->channel->fd);
	*to++ = verbs_short_u32(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, attr->comp_vector);
	if (made->flags)
		*to++ = verbs_short_u32(UVERBS_ATTR_CREATE_CQ_FLAGS, made->flags);
	*to++ = verbs_short_out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &made->cqe, sizeof(made->cqe));
	*to++ = verbs_attr_optional(
		verbs_short_fd(UVERBS_ATTR_CREATE_CQ_EVENT_FD, context->async_fd));
	if (udata->req_len)
		*to++ = verbs_short_in(UVERBS_ATTR_UHW_IN, udata->req, udata->req_len);
	if (udata->resp_len) {
		memset(udata->resp, 0, udata->resp_len);
		*to++ = verbs_short_out(UVERBS_ATTR_UHW_OUT, udata->resp, udata->resp_len);
	}
	ret = verbs_cmd_run_short(context, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, &cmd,
				  (unsigned int)(to - cmd.attrs));
	made->handle = (uint32_t)cmd.attrs[0].value;
	return ret;
}

static int __attribute__((noinline))
run_listed_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		  struct new_cq *made, const struct verbs_udata *udata)
{
	struct ibv_comp_channel *channel = attr->channel;
	const uint32_t flags = made->flags;
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_CQ_HANDLE, &made->handle),
		verbs_attr_u32(UVERBS_ATTR_CREATE_CQ_CQE,
			       made->ring_cqe ? made->ring_cqe : attr->cqe),
		verbs_attr_u64(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, (uintptr_t)made->cq),
		channel ? verbs_attr_fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, channel->fd)
			: verbs_attr_skip(),
		verbs_attr_u32(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, attr->comp_vector),
		flags ? verbs_attr_u32(UVERBS_ATTR_CREATE_CQ_FLAGS, flags) : verbs_attr_skip(),
		verbs_attr_out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &made->cqe, sizeof(made->cqe)),
		verbs_attr_optional(
			verbs_attr_fd(UVERBS_ATTR_CREATE_CQ_EVENT_FD, context->async_fd)),
	};

	return verbs_cmd_run_core(context, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, attrs,
				  ARRAY_SIZE(attrs), udata);
}

/* A kernel without the method answers EPROTONOSUPPORT; the listed form then runs the older
 * command. */
static inline int run_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			     struct new_cq *made, const struct verbs_udata *udata)
{
	int ret = EPROTONOSUPPORT;

	if (udata && !udata->nattrs &&
	    !__atomic_load_n(&to_priv(context)->legacy, __ATOMIC_RELAXED))
		ret = run_short_create(context, attr, made, udata);
	return ret == EPROTONOSUPPORT ? run_listed_create(context, attr, made, udata) : ret;
}

static inline int create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			    uint32_t flags, uint32_t ring_cqe, struct ibv_cq *cq,
			    const struct verbs_udata *udata)
{
	struct ibv_comp_channel *channel = attr->channel;
	struct new_cq made = { .cq = cq, .flags = flags, .ring_cqe = ring_cqe };
	int ret;

	cq_init(cq, context, attr);
	ret = run_create(context, attr, &made, udata);
	if (ret) {
		explain_create_cq(ret, context, attr);
		cq_fini(cq);
		return ret;
	}
	cq->handle = made.handle;
	cq->cqe = (int)made.cqe;
	channel_count(channel, 1);
	return 0;
}

VERBS_EXPORT int verbs_cmd_create_cq(struct ibv_context *context,
				     const struct ibv_cq_init_attr_ex *attr, uint32_t flags,
				     struct verbs_cq *vcq, const struct verbs_udata *udata)
{
	return create_cq(context, attr, flags, vcq->ring_cqe, &vcq->cq, udata);
}

VERBS_EXPORT int verbs_cmd_create_bare_cq(struct ibv_context *context,
					  const struct ibv_cq_init_attr_ex *attr, uint32_t flags,
					  uint32_t ring_cqe, struct ibv_cq *cq,
					  const struct verbs_udata *udata)
{
	return create_cq(context, attr, flags, ring_cqe, cq, udata);
}

VERBS_EXPORT int verbs_cmd_resize_cq(struct ibv_cq *cq, uint32_t cqe,
				     const struct verbs_udata *udata)
{
	const struct ib_uverbs_resize_cq req = { .cq_handle = cq->handle, .cqe = cqe };
	struct ib_uverbs_resize_cq_resp resp = {};
	int ret = verbs_cmd_run_write(cq->context, IB_USER_VERBS_CMD_RESIZE_CQ, &req, sizeof(req),
				      &resp, sizeof(resp), udata);

	if (ret) {
		verbs_warn("ibv_resize_cq: CQ %u cqe %u: %s", cq->handle, cqe, strerror(ret));
		return ret;
	}
	cq->cqe = (int)resp.cqe;
	return 0;
}

VERBS_EXPORT int verbs_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	const struct ib_uverbs_ex_modify_cq req = {
		.cq_handle = cq->handle,
		.attr_mask = attr->attr_mask,
		.attr.cq_count = attr->moderate.cq_count,
		.attr.cq_period = attr->moderate.cq_period,
	};
	int ret;

	if (attr->attr_mask >= IBV_CQ_ATTR_RESERVED) {
		verbs_warn("ibv_modify_cq: attr_mask 0x%x: no bit above 0x%x has a meaning",
			   attr->attr_mask, IBV_CQ_ATTR_RESERVED - 1);
		return EINVAL;
	}
	ret = verbs_cmd_run_write(cq->context,
				  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
				  &req, sizeof(req), NULL, 0, NULL);
	if (ret)
		verbs_warn("ibv_modify_cq: CQ %u attr_mask 0x%x cq_count %u cq_period %u: %s",
			   cq->handle, attr->attr_mask, attr->moderate.cq_count,
			   attr->moderate.cq_period, strerror(ret));
	return ret;
}

VERBS_EXPORT int verbs_cmd_destroy_cq(struct ibv_cq *cq)
{
	struct ib_uverbs_destroy_cq_resp resp;
	int ret;

	ret = verbs_cmd_destroy_answered(cq->context, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
					 UVERBS_ATTR_DESTROY_CQ_HANDLE, cq->handle,
					 UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	if (ret) {
		verbs_warn("ibv_destroy_cq: CQ %u: %s%s", cq->handle, strerror(ret),
			   ret == EBUSY
				   ? ": destroy the QPs, WQs and SRQs that complete to it first"
				   : "");
		return ret;
	}
	verbs_event_wait_acked("ibv_destroy_cq", &cq->mutex, &cq->cond, &cq->comp_events_completed,
			       resp.comp_events_reported);
	verbs_event_wait_acked("ibv_destroy_cq", &cq->mutex, &cq->cond, &cq->async_events_completed,
			       resp.async_events_reported);
	channel_count(cq->channel, -1);
	cq_fini(cq);
	return 0;
}
