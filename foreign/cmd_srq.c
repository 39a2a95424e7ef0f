/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_srq.c - the guest's commands on shared receive queues, XRC domains and work queues.
 *
 * An SRQ of the basic command ends with its public part, so what our command stores behind that is
 * a variable here.
 */
#include "guest.h"
#include "libibverbs/init_attr.h"

static void put_create_resp(struct ib_uverbs_create_srq_resp *resp, const struct ibv_srq *srq,
			    const struct verbs_srq *tail, const struct ibv_srq_attr *attr)
{
	if (!resp)
		return;
	resp->srq_handle = srq->handle;
	resp->max_wr = attr->max_wr;
	resp->max_sge = attr->max_sge;
	resp->srqn = tail->srq_num;
}

GUEST_CALL(int, ibv_cmd_create_srq,
	   (struct ibv_pd * pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
	    size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_create_srq), resp, resp_size,
			    sizeof(*resp));
	struct ibv_srq_init_attr_ex ex = extend_srq_init_attr(pd, attr);
	struct verbs_srq tail = { .ring_wr = 0 };
	int err = verbs_cmd_create_bare_srq(pd->context, &ex, srq, &tail, &udata);

	if (err)
		return guest_result(err);
	attr->attr = ex.attr;
	put_create_resp(resp, srq, &tail, &ex.attr);
	return 0;
}

GUEST_CALL(int, ibv_cmd_create_srq_ex,
	   (struct ibv_context * context, struct guest_srq *srq, struct ibv_srq_init_attr_ex *attr,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
	    size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_create_xsrq), resp,
			    resp_size, sizeof(*resp));
	struct verbs_srq tail = { .ring_wr = 0 };
	int err = verbs_cmd_create_bare_srq(context, attr, &srq->srq, &tail, &udata);

	if (err)
		return guest_result(err);
	srq->type = tail.type;
	srq->xrcd = tail.xrcd;
	srq->cq = tail.cq;
	srq->srq_num = tail.srq_num;
	put_create_resp(resp, &srq->srq, &tail, &attr->attr);
	return 0;
}

GUEST_CALL(int, ibv_cmd_modify_srq,
	   (struct ibv_srq * srq, struct ibv_srq_attr *attr, int attr_mask, void *cmd,
	    size_t cmd_size))
{
	(void)cmd;
	(void)cmd_size;
	return guest_result(verbs_cmd_modify_srq(srq, attr, attr_mask));
}

GUEST_CALL(int, ibv_cmd_query_srq,
	   (struct ibv_srq * srq, struct ibv_srq_attr *attr, void *cmd, size_t cmd_size))
{
	(void)cmd;
	(void)cmd_size;
	return guest_result(verbs_cmd_query_srq(srq, attr));
}

GUEST_CALL(int, ibv_cmd_destroy_srq, (struct ibv_srq * srq))
{
	return guest_result(verbs_cmd_destroy_srq(srq));
}

GUEST_CALL(int, ibv_cmd_post_srq_recv,
	   (struct ibv_srq * srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr))
{
	(void)srq;
	*bad_wr = wr;
	return guest_result(guest_refuse("ibv_cmd_post_srq_recv"));
}

GUEST_CALL(int, ibv_cmd_open_xrcd,
	   (struct ibv_context * context, struct guest_xrcd *xrcd, int size,
	    const struct ibv_xrcd_init_attr *attr, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_open_xrcd), resp, resp_size,
			    sizeof(*resp));
	int err = verbs_cmd_open_xrcd(context, attr, (struct verbs_xrcd *)xrcd, &udata);

	(void)size;
	if (!err)
		xrcd->handle = xrcd->handle_of_ours;
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_close_xrcd, (struct guest_xrcd * xrcd))
{
	return guest_result(verbs_cmd_close_xrcd((struct verbs_xrcd *)xrcd));
}

GUEST_CALL(int, ibv_cmd_create_wq,
	   (struct ibv_context * context, struct ibv_wq_init_attr *attr, struct ibv_wq *wq,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_ex_create_wq_resp *resp,
	    size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, EXTENDED_CORE(struct ib_uverbs_ex_create_wq), resp,
			    resp_size, sizeof(*resp));

	return guest_result(verbs_cmd_create_wq(context, attr, wq, &udata));
}

GUEST_CALL(int, ibv_cmd_modify_wq,
	   (struct ibv_wq * wq, const struct ibv_wq_attr *attr, const void *cmd, size_t cmd_size))
{
	const struct verbs_udata udata = guest_udata(
		cmd, cmd_size, EXTENDED_CORE(struct ib_uverbs_ex_modify_wq), NULL, 0, 0);

	return guest_result(verbs_cmd_modify_wq(wq, attr, &udata));
}

GUEST_CALL(int, ibv_cmd_destroy_wq, (struct ibv_wq * wq))
{
	return guest_result(verbs_cmd_destroy_wq(wq));
}

GUEST_CALL(int, ibv_cmd_create_rwq_ind_table,
	   (struct ibv_context * context, const struct ibv_rwq_ind_table_init_attr *attr,
	    struct ibv_rwq_ind_table *table, struct ib_uverbs_ex_create_rwq_ind_table_resp *resp,
	    size_t resp_size))
{
	const struct verbs_udata udata = guest_udata(NULL, 0, 0, resp, resp_size, sizeof(*resp));

	return guest_result(verbs_cmd_create_rwq_ind_table(context, attr, table, &udata));
}

GUEST_CALL(int, ibv_cmd_destroy_rwq_ind_table, (struct ibv_rwq_ind_table * table))
{
	return guest_result(verbs_cmd_destroy_rwq_ind_table(table));
}
