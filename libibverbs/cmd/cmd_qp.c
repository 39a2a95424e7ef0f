/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_qp.c - commands on queue pairs.
 */
#include "cmd/cmd.h"
#include "util/mutex.h"
#include "util/order.h"

static void init_locks(struct ibv_qp *qp)
{
	qp->events_completed = 0;
	mutex_init(&qp->mutex);
	cond_init(&qp->cond);
	order_publish(qp);
}

/* Initialises the QP before the command runs, because right after it another thread may read an
 * event that points to the QP. */
static void qp_init(struct verbs_qp *vqp, struct ibv_context *context,
		    const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = &vqp->qp;

	qp->context = context;
	qp->qp_context = attr->qp_context;
	qp->pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->qp_type = attr->qp_type;
	qp->state = IBV_QPS_RESET;
	init_locks(qp);
}

static void qp_fini(struct ibv_qp *qp)
{
	pthread_cond_destroy(&qp->cond);
	pthread_mutex_destroy(&qp->mutex);
}

static uint32_t qp_create_flags(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t flags = attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;

	flags &= ~(uint32_t)IBV_QP_CREATE_SOURCE_QPN; /* passed as an attribute of its own */
	return flags | (attr->sq_sig_all ? IB_UVERBS_QP_CREATE_SQ_SIG_ALL : 0);
}

static struct verbs_attr cq_attr(uint16_t id, const struct ibv_cq *cq)
{
	return cq ? verbs_attr_handle(id, cq->handle) : verbs_attr_skip();
}

static int run_create_qp(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			 struct verbs_qp *vqp, struct ib_uverbs_qp_cap *granted,
			 const struct verbs_udata *udata)
{
	const struct ib_uverbs_qp_cap cap = {
		.max_send_wr = attr->cap.max_send_wr,
		.max_recv_wr = attr->cap.max_recv_wr,
		.max_send_sge = attr->cap.max_send_sge,
		.max_recv_sge = attr->cap.max_recv_sge,
		.max_inline_data = attr->cap.max_inline_data,
	};
	const bool has_table = attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE;
	const bool has_source = attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
				attr->create_flags & IBV_QP_CREATE_SOURCE_QPN;
	const uint32_t flags = qp_create_flags(attr);
	const bool is_initiator = attr->qp_type == IBV_QPT_XRC_SEND;
	const bool is_target = attr->qp_type == IBV_QPT_XRC_RECV;
	const struct ibv_pd *pd = is_target ? NULL : vqp->qp.pd;
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_QP_HANDLE, &vqp->qp.handle),
		is_target && attr->comp_mask & IBV_QP_INIT_ATTR_XRCD
			? verbs_attr_handle(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE,
					    to_vxrcd(attr->xrcd)->handle)
			: verbs_attr_skip(),
		pd ? verbs_attr_handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd->handle)
		   : verbs_attr_skip(),
		attr->srq ? verbs_attr_handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, attr->srq->handle)
			  : verbs_attr_skip(),
		cq_attr(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, is_target ? NULL : attr->send_cq),
		cq_attr(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE,
			is_target || is_initiator ? NULL : attr->recv_cq),
		has_table ? verbs_attr_handle(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE,
					      (uint32_t)attr->rwq_ind_tbl->ind_tbl_handle)
			  : verbs_attr_skip(),
		verbs_attr_u64(UVERBS_ATTR_CREATE_QP_USER_HANDLE, (uintptr_t)&vqp->qp),
		verbs_attr_in(UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap)),
		verbs_attr_u64(UVERBS_ATTR_CREATE_QP_TYPE, attr->qp_type),
		flags ? verbs_attr_u32(UVERBS_ATTR_CREATE_QP_FLAGS, flags) : verbs_attr_skip(),
		has_source ? verbs_attr_u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, attr->source_qpn)
			   : verbs_attr_skip(),
		verbs_attr_fd(UVERBS_ATTR_CREATE_QP_EVENT_FD, context->async_fd),
		verbs_attr_out(UVERBS_ATTR_CREATE_QP_RESP_CAP, granted, sizeof(*granted)),
		verbs_attr_out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &vqp->qp.qp_num,
			       sizeof(vqp->qp.qp_num)),
	};

	return verbs_cmd_run_core(context, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, attrs,
				  ARRAY_SIZE(attrs), udata);
}

VERBS_EXPORT int verbs_cmd_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				     struct verbs_qp *vqp, const struct verbs_udata *udata)
{
	struct ib_uverbs_qp_cap granted = {};
	int ret;

	qp_init(vqp, context, attr);
	ret = run_create_qp(context, attr, vqp, &granted, udata);
	if (ret) {
		verbs_qp_explain_create(context, attr, ret);
		qp_fini(&vqp->qp);
		return ret;
	}
	attr->cap = (struct ibv_qp_cap){
		.max_send_wr = granted.max_send_wr,
		.max_recv_wr = granted.max_recv_wr,
		.max_send_sge = granted.max_send_sge,
		.max_recv_sge = granted.max_recv_sge,
		.max_inline_data = granted.max_inline_data,
	};
	return 0;
}

static void put_dest(struct ib_uverbs_qp_dest *dest, const struct ibv_ah_attr *ah)
{
	memcpy(dest->dgid, ah->grh.dgid.raw, sizeof(dest->dgid));
	dest->flow_label = ah->grh.flow_label;
	dest->sgid_index = ah->grh.sgid_index;
	dest->hop_limit = ah->grh.hop_limit;
	dest->traffic_class = ah->grh.traffic_class;
	dest->dlid = ah->dlid;
	dest->sl = ah->sl;
	dest->src_path_bits = ah->src_path_bits;
	dest->static_rate = ah->static_rate;
	dest->is_global = ah->is_global;
	dest->port_num = ah->port_num;
}

static void get_dest(struct ibv_ah_attr *ah, const struct ib_uverbs_qp_dest *dest)
{
	memcpy(ah->grh.dgid.raw, dest->dgid, sizeof(dest->dgid));
	ah->grh.flow_label = dest->flow_label;
	ah->grh.sgid_index = dest->sgid_index;
	ah->grh.hop_limit = dest->hop_limit;
	ah->grh.traffic_class = dest->traffic_class;
	ah->dlid = dest->dlid;
	ah->sl = dest->sl;
	ah->src_path_bits = dest->src_path_bits;
	ah->static_rate = dest->static_rate;
	ah->is_global = dest->is_global;
	ah->port_num = dest->port_num;
}

#define STATE_ALONE (uint32_t)(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY)

/* Copies only the fields in MASK, because a program need not initialise the others. */
static void put_modify(struct ib_uverbs_modify_qp *req, const struct ibv_qp *qp,
		       const struct ibv_qp_attr *attr, uint32_t mask)
{
	*req = (struct ib_uverbs_modify_qp){ .qp_handle = qp->handle, .attr_mask = mask };
#define PUT(bit, field)                           \
	do {                                      \
		if (mask & (bit))                 \
			req->field = attr->field; \
	} while (0)
	PUT(IBV_QP_STATE, qp_state);
	PUT(IBV_QP_CUR_STATE, cur_qp_state);
	PUT(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	if (!(mask & ~STATE_ALONE))
		return;
	PUT(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	PUT(IBV_QP_PKEY_INDEX, pkey_index);
	PUT(IBV_QP_PORT, port_num);
	PUT(IBV_QP_QKEY, qkey);
	PUT(IBV_QP_PATH_MTU, path_mtu);
	PUT(IBV_QP_TIMEOUT, timeout);
	PUT(IBV_QP_RETRY_CNT, retry_cnt);
	PUT(IBV_QP_RNR_RETRY, rnr_retry);
	PUT(IBV_QP_RQ_PSN, rq_psn);
	PUT(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	PUT(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	PUT(IBV_QP_SQ_PSN, sq_psn);
	PUT(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	PUT(IBV_QP_PATH_MIG_STATE, path_mig_state);
	PUT(IBV_QP_DEST_QPN, dest_qp_num);
	PUT(IBV_QP_ALT_PATH, alt_pkey_index);
	PUT(IBV_QP_ALT_PATH, alt_port_num);
	PUT(IBV_QP_ALT_PATH, alt_timeout);
#undef PUT
	if (mask & IBV_QP_AV)
		put_dest(&req->dest, &attr->ah_attr);
	if (mask & IBV_QP_ALT_PATH)
		put_dest(&req->alt_dest, &attr->alt_ah_attr);
}

static int __attribute__((cold, noinline))
refuse_width(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, uint32_t mask)
{
	const struct {
		uint32_t bit;
		const char *name;
		unsigned int value;
	} fields[] = {
		{ IBV_QP_STATE, "qp_state", attr->qp_state },
		{ IBV_QP_CUR_STATE, "cur_qp_state", attr->cur_qp_state },
		{ IBV_QP_PATH_MTU, "path_mtu", attr->path_mtu },
		{ IBV_QP_PATH_MIG_STATE, "path_mig_state", attr->path_mig_state },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (mask & fields[i].bit && fields[i].value > UINT8_MAX)
			verbs_warn("ibv_modify_qp: QP 0x%x %s %u: there is no such value%s",
				   qp->qp_num, fields[i].name, fields[i].value,
				   fields[i].bit == IBV_QP_PATH_MTU
					   ? ": it is an enum ibv_mtu, IBV_MTU_256 (1) to "
					     "IBV_MTU_4096 (5), not bytes"
					   : "");
	}
	return EINVAL;
}

/* Checks fields that are 8 bits wide in the command, since truncation could turn a wrong value into
 * a valid one. */
static inline int check_widths(const struct ibv_qp *qp, const struct ibv_qp_attr *attr,
			       uint32_t mask)
{
	unsigned int all = mask & IBV_QP_STATE ? attr->qp_state : 0;

	if (mask & IBV_QP_CUR_STATE)
		all |= attr->cur_qp_state;
	if (mask & IBV_QP_PATH_MTU)
		all |= attr->path_mtu;
	if (mask & IBV_QP_PATH_MIG_STATE)
		all |= attr->path_mig_state;
	return all <= UINT8_MAX ? 0 : refuse_width(qp, attr, mask);
}

/* Runs the extended command, which alone has a rate limit and a response of the driver. All other
 * changes use the older command, which every kernel has. */
static int __attribute__((noinline))
run_extended_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, uint32_t mask,
		    const struct verbs_udata *udata)
{
	struct ib_uverbs_ex_modify_qp req = {};
	struct ib_uverbs_ex_modify_qp_resp resp = {};

	put_modify(&req.base, qp, attr, mask);
	if (mask & IBV_QP_RATE_LIMIT)
		req.rate_limit = attr->rate_limit;
	return verbs_cmd_run_write(qp->context,
				   IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
				   &req, sizeof(req), &resp, sizeof(resp), udata);
}

static inline int run_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, uint32_t mask,
				const struct verbs_udata *udata)
{
	struct ib_uverbs_modify_qp req;

	if (mask & IBV_QP_RATE_LIMIT || (udata && udata->resp_len))
		return run_extended_modify(qp, attr, mask, udata);
	put_modify(&req, qp, attr, mask);
	return verbs_cmd_run_write(qp->context, IB_USER_VERBS_CMD_MODIFY_QP, &req, sizeof(req),
				   NULL, 0, udata);
}

VERBS_EXPORT int verbs_cmd_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
				     int attr_mask, const struct verbs_udata *udata)
{
	int ret = check_widths(qp, attr, (uint32_t)attr_mask);

	if (ret)
		return ret;
	ret = run_modify_qp(qp, attr, (uint32_t)attr_mask, udata);
	if (ret)
		verbs_qp_explain_modify(qp, attr, attr_mask, ret);
	else if (attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return ret;
}

static void get_attr(struct ibv_qp_attr *attr, const struct ib_uverbs_query_qp_resp *resp)
{
	attr->qp_state = resp->qp_state;
	attr->cur_qp_state = resp->cur_qp_state;
	attr->path_mtu = resp->path_mtu;
	attr->path_mig_state = resp->path_mig_state;
	attr->qkey = resp->qkey;
	attr->rq_psn = resp->rq_psn;
	attr->sq_psn = resp->sq_psn;
	attr->dest_qp_num = resp->dest_qp_num;
	attr->qp_access_flags = resp->qp_access_flags;
	attr->pkey_index = resp->pkey_index;
	attr->alt_pkey_index = resp->alt_pkey_index;
	attr->sq_draining = resp->sq_draining;
	attr->max_rd_atomic = resp->max_rd_atomic;
	attr->max_dest_rd_atomic = resp->max_dest_rd_atomic;
	attr->min_rnr_timer = resp->min_rnr_timer;
	attr->port_num = resp->port_num;
	attr->timeout = resp->timeout;
	attr->retry_cnt = resp->retry_cnt;
	attr->rnr_retry = resp->rnr_retry;
	attr->alt_port_num = resp->alt_port_num;
	attr->alt_timeout = resp->alt_timeout;
	attr->cap = (struct ibv_qp_cap){
		.max_send_wr = resp->max_send_wr,
		.max_recv_wr = resp->max_recv_wr,
		.max_send_sge = resp->max_send_sge,
		.max_recv_sge = resp->max_recv_sge,
		.max_inline_data = resp->max_inline_data,
	};
	get_dest(&attr->ah_attr, &resp->dest);
	get_dest(&attr->alt_ah_attr, &resp->alt_dest);
}

/* Attributes that the kernel returns: all before the rate limit. */
#define QUERY_MASK (IBV_QP_RATE_LIMIT - 1)

VERBS_EXPORT int verbs_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				    struct ibv_qp_init_attr *init_attr)
{
	const struct ib_uverbs_query_qp req = { .qp_handle = qp->handle,
						.attr_mask = (uint32_t)attr_mask };
	struct ib_uverbs_query_qp_resp resp = {};
	int ret;

	if (attr_mask & ~QUERY_MASK) {
		verbs_warn("ibv_query_qp: QP 0x%x: attr_mask 0x%x: 0x%x cannot be queried",
			   qp->qp_num, attr_mask, attr_mask & ~QUERY_MASK);
		return EOPNOTSUPP;
	}
	ret = verbs_cmd_run_write(qp->context, IB_USER_VERBS_CMD_QUERY_QP, &req, sizeof(req), &resp,
				  sizeof(resp), NULL);
	if (ret) {
		verbs_warn("ibv_query_qp: QP 0x%x attr_mask 0x%x: %s", qp->qp_num, attr_mask,
			   strerror(ret));
		return ret;
	}
	get_attr(attr, &resp);
	*init_attr = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.qp_type = qp->qp_type,
		.cap = attr->cap,
		.sq_sig_all = resp.sq_sig_all,
	};
	return 0;
}

VERBS_EXPORT int verbs_cmd_destroy_qp(struct ibv_qp *qp)
{
	struct ib_uverbs_destroy_qp_resp resp;
	int ret;

	ret = verbs_cmd_destroy_answered(qp->context, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
					 UVERBS_ATTR_DESTROY_QP_HANDLE, qp->handle,
					 UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	if (ret) {
		verbs_warn("ibv_destroy_qp: QP 0x%x: %s%s", qp->qp_num, strerror(ret),
			   ret == EBUSY ? ": detach it from its multicast groups and flows first"
					: "");
		return ret;
	}
	verbs_event_wait_acked("ibv_destroy_qp", &qp->mutex, &qp->cond, &qp->events_completed,
			       resp.events_reported);
	qp_fini(qp);
	return 0;
}

static int check_open_attr(const struct ibv_qp_open_attr *attr)
{
	const uint32_t needed =
		IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE;

	if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED) {
		verbs_warn("ibv_open_qp: comp_mask 0x%x: no bit above 0x%x has a meaning",
			   attr->comp_mask, IBV_QP_OPEN_ATTR_RESERVED - 1);
		return EOPNOTSUPP;
	}
	if ((attr->comp_mask & needed) != needed) {
		verbs_warn("ibv_open_qp: comp_mask 0x%x: must have IBV_QP_OPEN_ATTR_XRCD, _NUM and "
			   "_TYPE",
			   attr->comp_mask);
		return EINVAL;
	}
	return 0;
}

VERBS_EXPORT int verbs_cmd_open_qp(struct ibv_context *context, const struct ibv_qp_open_attr *attr,
				   struct verbs_qp *vqp, const struct verbs_udata *udata)
{
	struct ib_uverbs_open_qp req = { .user_handle = (uintptr_t)&vqp->qp };
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_qp *qp = &vqp->qp;
	int ret = check_open_attr(attr);

	if (ret)
		return ret;
	qp->context = context;
	qp->qp_context = attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT ? attr->qp_context : NULL;
	qp->qp_type = attr->qp_type;
	qp->state = IBV_QPS_UNKNOWN;
	init_locks(qp);
	req.pd_handle = to_vxrcd(attr->xrcd)->handle;
	req.qpn = attr->qp_num;
	req.qp_type = (uint8_t)attr->qp_type;
	ret = verbs_cmd_run_write(context, IB_USER_VERBS_CMD_OPEN_QP, &req, sizeof(req), &resp,
				  sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_open_qp: qp_num 0x%x qp_type %d: %s%s", attr->qp_num, attr->qp_type,
			   strerror(ret),
			   ret == EINVAL ? ": the XRC domain has no such receive QP" : "");
		qp_fini(qp);
		return ret;
	}
	qp->handle = resp.qp_handle;
	qp->qp_num = resp.qpn;
	return 0;
}

static int run_mcast(struct ibv_qp *qp, uint32_t command, const union ibv_gid *gid, uint16_t lid)
{
	struct ib_uverbs_attach_mcast req = { .qp_handle = qp->handle, .mlid = lid };

	memcpy(req.gid, gid->raw, sizeof(req.gid));
	return verbs_cmd_run_write(qp->context, command, &req, sizeof(req), NULL, 0, NULL);
}

VERBS_EXPORT int verbs_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	const char *why = "";
	int ret = run_mcast(qp, IB_USER_VERBS_CMD_ATTACH_MCAST, gid, lid);

	if (!ret)
		return 0;
	if (qp->qp_type != IBV_QPT_UD)
		why = ": the QP must be of type UD";
	else if (gid->raw[0] != 0xff)
		why = ": gid must be a multicast address, that is start with 0xff";
	verbs_warn("ibv_attach_mcast: QP 0x%x lid 0x%x: %s%s", qp->qp_num, lid, strerror(ret), why);
	return ret;
}

VERBS_EXPORT int verbs_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int ret = run_mcast(qp, IB_USER_VERBS_CMD_DETACH_MCAST, gid, lid);

	if (ret)
		verbs_warn("ibv_detach_mcast: QP 0x%x lid 0x%x: %s%s", qp->qp_num, lid,
			   strerror(ret),
			   ret == EINVAL ? ": it is not attached to that group" : "");
	return ret;
}
