/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_qp.c - the guest's commands on queue pairs. Our commands read and write the public part of a
 * QP alone, so an object of the guest is as good as one of ours.
 */
#include "guest.h"
#include "libibverbs/init_attr.h"

static void put_create_resp(struct ib_uverbs_create_qp_resp *resp, const struct ibv_qp *qp,
			    const struct ibv_qp_cap *cap)
{
	if (!resp)
		return;
	resp->qp_handle = qp->handle;
	resp->qpn = qp->qp_num;
	resp->max_send_wr = cap->max_send_wr;
	resp->max_recv_wr = cap->max_recv_wr;
	resp->max_send_sge = cap->max_send_sge;
	resp->max_recv_sge = cap->max_recv_sge;
	resp->max_inline_data = cap->max_inline_data;
}

GUEST_CALL(int, ibv_cmd_create_qp,
	   (struct ibv_pd * pd, struct ibv_qp *qp, struct ibv_qp_init_attr *attr, const void *cmd,
	    size_t cmd_size, struct ib_uverbs_create_qp_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_create_qp), resp, resp_size,
			    sizeof(*resp));
	struct ibv_qp_init_attr_ex ex = extend_qp_init_attr(pd, attr);
	int err = verbs_cmd_create_qp(pd->context, &ex, to_vqp(qp), &udata);

	if (err)
		return guest_result(err);
	attr->cap = ex.cap;
	put_create_resp(resp, qp, &ex.cap);
	return 0;
}

/* Returns EINVAL if a member that comp_mask names is missing, or if create_flags has the bit that
 * our command uses for sq_sig_all. Guests leave these checks to the command. */
static int check_members(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t mask = attr->comp_mask;
	const bool is_wrong = (mask & IBV_QP_INIT_ATTR_PD && !attr->pd) ||
			      (mask & IBV_QP_INIT_ATTR_XRCD && !attr->xrcd) ||
			      (mask & IBV_QP_INIT_ATTR_IND_TABLE && !attr->rwq_ind_tbl) ||
			      (mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
			       attr->create_flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL);

	return is_wrong ? EINVAL : 0;
}

GUEST_CALL(int, ibv_cmd_create_qp_ex,
	   (struct ibv_context * context, struct ibv_qp *qp, struct ibv_qp_init_attr_ex *attr,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
	    size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_create_qp), resp, resp_size,
			    sizeof(*resp));
	int err = check_members(attr);

	if (!err)
		err = verbs_cmd_create_qp(context, attr, to_vqp(qp), &udata);
	if (!err)
		put_create_resp(resp, qp, &attr->cap);
	return guest_result(err);
}

static int create_qp_ex2(struct ibv_context *context, struct ibv_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, struct verbs_udata *udata,
			 struct ib_uverbs_ex_create_qp_resp *resp,
			 const struct guest_buffer *buffer)
{
	struct guest_attrs more;
	int err = guest_attrs_of(buffer, &more);

	udata->attrs = more.attrs;
	udata->nattrs = more.count;
	if (!err)
		err = check_members(attr);
	if (!err)
		err = verbs_cmd_create_qp(context, attr, to_vqp(qp), udata);
	if (!err)
		put_create_resp(resp ? &resp->base : NULL, qp, &attr->cap);
	return guest_result(err);
}

#define CREATE_QP_CORE EXTENDED_CORE(struct ib_uverbs_ex_create_qp)

#if HOST_NUMBER >= 65
GUEST_CALL(int, ibv_cmd_create_qp_ex2,
	   (struct ibv_context * context, struct ibv_qp *qp, struct ibv_qp_init_attr_ex *attr,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
	    size_t resp_size, const struct guest_buffer *buffer))
{
	struct verbs_udata udata =
		guest_udata(cmd, cmd_size, CREATE_QP_CORE, resp, resp_size, sizeof(*resp));

	return create_qp_ex2(context, qp, attr, &udata, resp, buffer);
}
#else
GUEST_CALL(int, ibv_cmd_create_qp_ex2,
	   (struct ibv_context * context, struct ibv_qp *qp, struct ibv_qp_init_attr_ex *attr,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
	    size_t resp_size))
{
	struct verbs_udata udata =
		guest_udata(cmd, cmd_size, CREATE_QP_CORE, resp, resp_size, sizeof(*resp));

	return create_qp_ex2(context, qp, attr, &udata, resp, NULL);
}
#endif

GUEST_CALL(int, ibv_cmd_open_qp,
	   (struct ibv_context * context, struct ibv_qp *qp, int size,
	    const struct ibv_qp_open_attr *attr, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_create_qp_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_open_qp), resp, resp_size,
			    sizeof(*resp));

	(void)size;
	return guest_result(verbs_cmd_open_qp(context, attr, to_vqp(qp), &udata));
}

GUEST_CALL(int, ibv_cmd_modify_qp,
	   (struct ibv_qp * qp, const struct ibv_qp_attr *attr, int attr_mask, const void *cmd,
	    size_t cmd_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_modify_qp), NULL, 0, 0);

	return guest_result(verbs_cmd_modify_qp(qp, attr, attr_mask, &udata));
}

GUEST_CALL(int, ibv_cmd_modify_qp_ex,
	   (struct ibv_qp * qp, const struct ibv_qp_attr *attr, int attr_mask, const void *cmd,
	    size_t cmd_size, struct ib_uverbs_ex_modify_qp_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, EXTENDED_CORE(struct ib_uverbs_ex_modify_qp), resp,
			    resp_size, sizeof(*resp));

	return guest_result(verbs_cmd_modify_qp(qp, attr, attr_mask, &udata));
}

GUEST_CALL(int, ibv_cmd_query_qp,
	   (struct ibv_qp * qp, struct ibv_qp_attr *attr, int attr_mask,
	    struct ibv_qp_init_attr *init_attr, void *cmd, size_t cmd_size))
{
	(void)cmd;
	(void)cmd_size;
	return guest_result(verbs_cmd_query_qp(qp, attr, attr_mask, init_attr));
}

GUEST_CALL(int, ibv_cmd_destroy_qp, (struct ibv_qp * qp))
{
	return guest_result(verbs_cmd_destroy_qp(qp));
}

GUEST_CALL(int, ibv_cmd_attach_mcast, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid))
{
	return guest_result(verbs_cmd_attach_mcast(qp, gid, lid));
}

GUEST_CALL(int, ibv_cmd_detach_mcast, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid))
{
	return guest_result(verbs_cmd_detach_mcast(qp, gid, lid));
}

/* Refused: the kernel posts only for adapters whose queues no program can reach, those of hfi1 and
 * qib. */
GUEST_CALL(int, ibv_cmd_post_send,
	   (struct ibv_qp * qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr))
{
	(void)qp;
	*bad_wr = wr;
	return guest_result(guest_refuse("ibv_cmd_post_send"));
}

GUEST_CALL(int, ibv_cmd_post_recv,
	   (struct ibv_qp * qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr))
{
	(void)qp;
	*bad_wr = wr;
	return guest_result(guest_refuse("ibv_cmd_post_recv"));
}
