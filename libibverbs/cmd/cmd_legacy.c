/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_legacy.c - commands that older kernels only accept as a write() payload (Linux 5.4 is the
 * oldest).
 *
 * Each command is described only once, as attributes. If the kernel lacks the method, an entry here
 * packs the attributes into the payload, and unpacks the answer to the attributes' addresses.
 * verbs_cmd_run_core() remembers the methods that a kernel lacks.
 */
#include "cmd/cmd.h"
#include "cmd/cmd_legacy.h"

#define EX(command) (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##command)

static const struct verbs_attr *find_attr(const struct cmd_call *call, uint16_t id)
{
	for (unsigned int i = 0; i < call->nattrs; i++)
		if (verbs_attr_kind(&call->attrs[i]) != VERBS_ATTR_SKIP && call->attrs[i].id == id)
			return &call->attrs[i];
	return NULL;
}

static uint64_t value_of(const struct cmd_call *call, uint16_t id)
{
	const struct verbs_attr *attr = find_attr(call, id);

	return attr ? attr->value : 0;
}

static void *place_of(const struct cmd_call *call, uint16_t id)
{
	return (void *)(uintptr_t)value_of(call, id);
}

/* Gets a context. The older form also opens the channel of async events. It cannot pass
 * descriptors, so a command with the attribute FD_ARR is refused. */
static int get_context(const struct cmd_call *call)
{
	const struct ib_uverbs_get_context req = {};
	struct ib_uverbs_get_context_resp resp = {};
	uint32_t *num_comp_vectors = place_of(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS);
	int ret;

	if (find_attr(call, UVERBS_ATTR_GET_CONTEXT_FD_ARR))
		return EPROTONOSUPPORT;
	ret = verbs_cmd_run_write(call->context, IB_USER_VERBS_CMD_GET_CONTEXT, &req, sizeof(req),
				  &resp, sizeof(resp), call->udata);
	if (ret)
		return ret;
	*num_comp_vectors = resp.num_comp_vectors;
	call->context->async_fd = (int)resp.async_fd;
	return 0;
}

static void pack_create_qp(const struct cmd_call *call, struct ib_uverbs_ex_create_qp *req)
{
	const struct ib_uverbs_qp_cap *cap = place_of(call, UVERBS_ATTR_CREATE_QP_CAP);
	const uint32_t flags = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_QP_FLAGS);
	const struct verbs_attr *table = find_attr(call, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);

	*req = (struct ib_uverbs_ex_create_qp){
		.user_handle = value_of(call, UVERBS_ATTR_CREATE_QP_USER_HANDLE),
		/* For an XRC receive QP, this field has the XRC domain. */
		.pd_handle = (uint32_t)(value_of(call, UVERBS_ATTR_CREATE_QP_PD_HANDLE) |
					value_of(call, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE)),
		.send_cq_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE),
		.recv_cq_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE),
		.srq_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE),
		.is_srq = find_attr(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) != NULL,
		.qp_type = (uint8_t)value_of(call, UVERBS_ATTR_CREATE_QP_TYPE),
		.sq_sig_all = !!(flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL),
		.create_flags = flags & ~(uint32_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL,
		.source_qpn = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_QP_SOURCE_QPN),
		.comp_mask = table ? IB_UVERBS_CREATE_QP_MASK_IND_TABLE : 0,
		.rwq_ind_tbl_handle = table ? (uint32_t)table->value : 0,
	};
	if (find_attr(call, UVERBS_ATTR_CREATE_QP_SOURCE_QPN))
		req->create_flags |= IBV_QP_CREATE_SOURCE_QPN;
	if (!cap)
		return;
	req->max_send_wr = cap->max_send_wr;
	req->max_recv_wr = cap->max_recv_wr;
	req->max_send_sge = cap->max_send_sge;
	req->max_recv_sge = cap->max_recv_sge;
	req->max_inline_data = cap->max_inline_data;
}

static void unpack_create_qp(const struct cmd_call *call,
			     const struct ib_uverbs_create_qp_resp *resp)
{
	struct ib_uverbs_qp_cap *granted = place_of(call, UVERBS_ATTR_CREATE_QP_RESP_CAP);
	uint32_t *handle = place_of(call, UVERBS_ATTR_CREATE_QP_HANDLE);
	uint32_t *qp_num = place_of(call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM);

	*handle = resp->qp_handle;
	*qp_num = resp->qpn;
	granted->max_send_wr = resp->max_send_wr;
	granted->max_recv_wr = resp->max_recv_wr;
	granted->max_send_sge = resp->max_send_sge;
	granted->max_recv_sge = resp->max_recv_sge;
	granted->max_inline_data = resp->max_inline_data;
}

static int create_qp(const struct cmd_call *call)
{
	struct ib_uverbs_ex_create_qp_resp resp = {};
	struct ib_uverbs_ex_create_qp req;
	int ret;

	pack_create_qp(call, &req);
	ret = verbs_cmd_run_write(call->context,
				  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_QP,
				  &req, sizeof(req), &resp, sizeof(resp), call->udata);
	if (!ret)
		unpack_create_qp(call, &resp.base);
	return ret;
}

static int destroy_qp(const struct cmd_call *call)
{
	const struct ib_uverbs_destroy_qp req = {
		.qp_handle = (uint32_t)value_of(call, UVERBS_ATTR_DESTROY_QP_HANDLE),
	};
	struct ib_uverbs_destroy_qp_resp *resp = place_of(call, UVERBS_ATTR_DESTROY_QP_RESP);

	return verbs_cmd_run_write(call->context, IB_USER_VERBS_CMD_DESTROY_QP, &req, sizeof(req),
				   resp, sizeof(*resp), NULL);
}

static int create_srq(const struct cmd_call *call)
{
	const struct ib_uverbs_create_xsrq req = {
		.user_handle = value_of(call, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE),
		.srq_type = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_TYPE),
		.pd_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE),
		.max_wr = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_MAX_WR),
		.max_sge = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_MAX_SGE),
		.srq_limit = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_LIMIT),
		.max_num_tags = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS),
		.xrcd_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE),
		.cq_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE),
	};
	struct ib_uverbs_create_srq_resp resp = {};
	int ret = verbs_cmd_run_write(call->context, IB_USER_VERBS_CMD_CREATE_XSRQ, &req,
				      sizeof(req), &resp, sizeof(resp), call->udata);

	if (ret)
		return ret;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_SRQ_HANDLE) = resp.srq_handle;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR) = resp.max_wr;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE) = resp.max_sge;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM) = resp.srqn;
	return 0;
}

static int destroy_srq(const struct cmd_call *call)
{
	const struct ib_uverbs_destroy_srq req = {
		.srq_handle = (uint32_t)value_of(call, UVERBS_ATTR_DESTROY_SRQ_HANDLE),
	};
	struct ib_uverbs_destroy_srq_resp *resp = place_of(call, UVERBS_ATTR_DESTROY_SRQ_RESP);

	return verbs_cmd_run_write(call->context, IB_USER_VERBS_CMD_DESTROY_SRQ, &req, sizeof(req),
				   resp, sizeof(*resp), NULL);
}

static int create_wq(const struct cmd_call *call)
{
	const struct ib_uverbs_ex_create_wq req = {
		.wq_type = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_WQ_TYPE),
		.user_handle = value_of(call, UVERBS_ATTR_CREATE_WQ_USER_HANDLE),
		.pd_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_WQ_PD_HANDLE),
		.cq_handle = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE),
		.max_wr = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_WQ_MAX_WR),
		.max_sge = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_WQ_MAX_SGE),
		.create_flags = (uint32_t)value_of(call, UVERBS_ATTR_CREATE_WQ_FLAGS),
	};
	struct ib_uverbs_ex_create_wq_resp resp = {};
	int ret = verbs_cmd_run_write(call->context, EX(CREATE_WQ), &req, sizeof(req), &resp,
				      sizeof(resp), call->udata);

	if (ret)
		return ret;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_WQ_HANDLE) = resp.wq_handle;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR) = resp.max_wr;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE) = resp.max_sge;
	*(uint32_t *)place_of(call, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM) = resp.wqn;
	return 0;
}

static int destroy_wq(const struct cmd_call *call)
{
	const struct ib_uverbs_ex_destroy_wq req = {
		.wq_handle = (uint32_t)value_of(call, UVERBS_ATTR_DESTROY_WQ_HANDLE),
	};
	struct ib_uverbs_ex_destroy_wq_resp resp = {};
	int ret = verbs_cmd_run_write(call->context, EX(DESTROY_WQ), &req, sizeof(req), &resp,
				      sizeof(resp), NULL);

	*(uint32_t *)place_of(call, UVERBS_ATTR_DESTROY_WQ_RESP) = resp.events_reported;
	return ret;
}

/* Runs a command that destroys an object and has no response. The handle is attribute 0 of all such
 * methods. */
static int destroy_by(const struct cmd_call *call, uint32_t command)
{
	const uint32_t handle = (uint32_t)value_of(call, 0);

	return verbs_cmd_run_write(call->context, command, &handle, sizeof(handle), NULL, 0, NULL);
}

static int destroy_ex_by(const struct cmd_call *call, uint32_t command)
{
	const uint32_t req[] = { 0, (uint32_t)value_of(call, 0) };

	return verbs_cmd_run_write(call->context, command, req, sizeof(req), NULL, 0, NULL);
}

static int destroy_pd(const struct cmd_call *call)
{
	return destroy_by(call, IB_USER_VERBS_CMD_DEALLOC_PD);
}

static int destroy_mr(const struct cmd_call *call)
{
	return destroy_by(call, IB_USER_VERBS_CMD_DEREG_MR);
}

static int destroy_ah(const struct cmd_call *call)
{
	return destroy_by(call, IB_USER_VERBS_CMD_DESTROY_AH);
}

static int destroy_mw(const struct cmd_call *call)
{
	return destroy_by(call, IB_USER_VERBS_CMD_DEALLOC_MW);
}

static int destroy_xrcd(const struct cmd_call *call)
{
	return destroy_by(call, IB_USER_VERBS_CMD_CLOSE_XRCD);
}

static int destroy_flow(const struct cmd_call *call)
{
	return destroy_ex_by(call, EX(DESTROY_FLOW));
}

static int destroy_rwq_ind_table(const struct cmd_call *call)
{
	return destroy_ex_by(call, EX(DESTROY_RWQ_IND_TBL));
}

static const struct cmd_legacy table[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 1 << 0, get_context },
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1 << 1, destroy_pd },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 1 << 2, destroy_mr },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 1 << 3, create_qp },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 1 << 4, destroy_qp },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, 1 << 5, create_srq },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, 1 << 6, destroy_srq },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, 1 << 7, create_wq },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, 1 << 8, destroy_wq },
	{ UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 1 << 9, destroy_ah },
	{ UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, 1 << 10, destroy_mw },
	{ UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, 1 << 11, destroy_xrcd },
	{ UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, 1 << 12, destroy_flow },
	{ UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, 1 << 13,
	  destroy_rwq_ind_table },
};

const struct cmd_legacy *verbs_cmd_legacy_find(uint16_t object, uint16_t method)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].object == object && table[i].method == method)
			return &table[i];
	return NULL;
}
