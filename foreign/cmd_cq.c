/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_cq.c - the guest's commands on completion queues.
 *
 * Our commands fill the public CQ, count it in its channel, and wait for its events at the end, so
 * nothing of that is left to do after the guest has returned.
 */
#include "guest.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

GUEST_CALL(int, ibv_cmd_create_cq,
	   (struct ibv_context * context, int cqe, struct ibv_comp_channel *channel,
	    int comp_vector, struct ibv_cq *cq, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_create_cq_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_create_cq), resp, resp_size,
			    sizeof(*resp));
	const struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cqe,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
	};
	int err = verbs_cmd_create_bare_cq(context, &attr, 0, 0, cq, &udata);

	if (!err && resp) {
		resp->cq_handle = cq->handle;
		resp->cqe = (uint32_t)cq->cqe;
	}
	return guest_result(err);
}

/* Flag in HOW: the kernel gets no flag for completion timestamps. All other flags in HOW belong to
 * private interface 65, and say that the provider supplies the CQ's memory. */
#define CQ_TIMESTAMP_IS_NO_FLAG 1u

static uint32_t cq_flags(const struct ibv_cq_init_attr_ex *attr, uint32_t how)
{
	uint32_t flags = 0;

	if (attr->wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) &&
	    !(how & CQ_TIMESTAMP_IS_NO_FLAG))
		flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
		flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	return flags;
}

#define KNOWN_MEMBERS (IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)

static int create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			struct ibv_cq *cq, struct verbs_udata *udata, uint32_t how,
			const struct guest_buffer *buffer)
{
	struct guest_attrs more;
	int err;

	if (attr->comp_mask & ~(uint32_t)KNOWN_MEMBERS)
		return guest_result(EOPNOTSUPP);
	err = guest_attrs_of(buffer, &more);
	udata->attrs = more.attrs;
	udata->nattrs = more.count;
	if (!err)
		err = verbs_cmd_create_bare_cq(context, attr, cq_flags(attr, how), 0, cq, udata);
	return guest_result(err);
}

#define CREATE_CQ_CORE EXTENDED_CORE(struct ib_uverbs_ex_create_cq)

#if HOST_NUMBER >= 65
/* Refuses a CQ in memory that the provider supplies, because the kernel's attributes for it are not
 * known here. Flags of HOW ask for it; PROV_ATTR is no sign, because efa passes one in every
 * call. */
static int check_memory(uint32_t how)
{
	return how & ~CQ_TIMESTAMP_IS_NO_FLAG
		       ? guest_refuse("create_cq with buffers of the provider")
		       : 0;
}

GUEST_CALL(int, ibv_cmd_create_cq_ex,
	   (struct ibv_context * context, const struct ibv_cq_init_attr_ex *attr, void *prov_attr,
	    struct ibv_cq *cq, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t how))
{
	struct verbs_udata udata =
		guest_udata(cmd, cmd_size, CREATE_CQ_CORE, resp, resp_size, sizeof(*resp));
	int err = check_memory(how);

	(void)prov_attr;
	return err ? guest_result(err) : create_cq_ex(context, attr, cq, &udata, how, NULL);
}

GUEST_CALL(int, ibv_cmd_create_cq_ex2,
	   (struct ibv_context * context, const struct ibv_cq_init_attr_ex *attr, void *prov_attr,
	    struct ibv_cq *cq, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t how,
	    const struct guest_buffer *buffer))
{
	struct verbs_udata udata =
		guest_udata(cmd, cmd_size, CREATE_CQ_CORE, resp, resp_size, sizeof(*resp));
	int err = check_memory(how);

	(void)prov_attr;
	return err ? guest_result(err) : create_cq_ex(context, attr, cq, &udata, how, buffer);
}
#else
GUEST_CALL(int, ibv_cmd_create_cq_ex,
	   (struct ibv_context * context, const struct ibv_cq_init_attr_ex *attr, struct ibv_cq *cq,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_ex_create_cq_resp *resp,
	    size_t resp_size, uint32_t how))
{
	struct verbs_udata udata =
		guest_udata(cmd, cmd_size, CREATE_CQ_CORE, resp, resp_size, sizeof(*resp));

	return create_cq_ex(context, attr, cq, &udata, how, NULL);
}

GUEST_CALL(int, ibv_cmd_create_cq_ex2,
	   (struct ibv_context * context, const struct ibv_cq_init_attr_ex *attr, struct ibv_cq *cq,
	    const void *cmd, size_t cmd_size, struct ib_uverbs_ex_create_cq_resp *resp,
	    size_t resp_size, uint32_t how, const struct guest_buffer *buffer))
{
	struct verbs_udata udata =
		guest_udata(cmd, cmd_size, CREATE_CQ_CORE, resp, resp_size, sizeof(*resp));

	return create_cq_ex(context, attr, cq, &udata, how, buffer);
}
#endif

GUEST_CALL(void, verbs_init_cq,
	   (struct ibv_cq * cq, struct ibv_context *context, struct ibv_comp_channel *channel,
	    void *cq_context))
{
	cq->context = context;
	cq->channel = channel;
	cq->cq_context = cq_context;
}

GUEST_CALL(int, ibv_cmd_resize_cq,
	   (struct ibv_cq * cq, int cqe, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_resize_cq_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_resize_cq), resp, resp_size,
			    sizeof(*resp));
	int err = verbs_cmd_resize_cq(cq, (uint32_t)cqe, &udata);

	if (!err && resp)
		resp->cqe = (uint32_t)cq->cqe;
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_modify_cq,
	   (struct ibv_cq * cq, struct ibv_modify_cq_attr *attr, void *cmd, size_t cmd_size))
{
	(void)cmd;
	(void)cmd_size;
	return guest_result(verbs_cmd_modify_cq(cq, attr));
}

GUEST_CALL(int, ibv_cmd_destroy_cq, (struct ibv_cq * cq))
{
	return guest_result(verbs_cmd_destroy_cq(cq));
}

/* Runs a command in the write() format, without driver data in the request and the response. */
static int run_write(struct ibv_context *context, uint32_t command, const void *req, size_t req_len,
		     void *resp, size_t resp_len)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_u64(UVERBS_ATTR_WRITE_CMD, command),
		verbs_attr_in(UVERBS_ATTR_CORE_IN, req, req_len),
		resp_len ? verbs_attr_out(UVERBS_ATTR_CORE_OUT, resp, resp_len) : verbs_attr_skip(),
	};

	return verbs_cmd_run(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attrs,
			     ARRAY_SIZE(attrs));
}

GUEST_CALL(int, ibv_cmd_req_notify_cq, (struct ibv_cq * cq, int solicited_only))
{
	const struct ib_uverbs_req_notify_cq req = {
		.cq_handle = cq->handle,
		.solicited_only = !!solicited_only,
	};

	return guest_result(run_write(cq->context, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &req,
				      sizeof(req), NULL, 0));
}

static void get_wc(struct ibv_wc *to, const struct ib_uverbs_wc *from)
{
	*to = (struct ibv_wc){
		.wr_id = from->wr_id,
		.status = (enum ibv_wc_status)from->status,
		.opcode = (enum ibv_wc_opcode)from->opcode,
		.vendor_err = from->vendor_err,
		.byte_len = from->byte_len,
		.imm_data = from->ex.imm_data,
		.qp_num = from->qp_num,
		.src_qp = from->src_qp,
		.wc_flags = from->wc_flags,
		.pkey_index = from->pkey_index,
		.slid = from->slid,
		.sl = from->sl,
		.dlid_path_bits = from->dlid_path_bits,
	};
}

/* Maximum of completions that one poll command returns. */
enum { POLL_AT_ONCE = 16 };

GUEST_CALL(int, ibv_cmd_poll_cq, (struct ibv_cq * cq, int num_entries, struct ibv_wc *wc))
{
	struct {
		uint32_t count, reserved;
		struct ib_uverbs_wc wc[POLL_AT_ONCE];
	} resp = { 0 };
	const struct ib_uverbs_poll_cq req = {
		.cq_handle = cq->handle,
		.ne = (uint32_t)min_of(num_entries < 0 ? 0 : num_entries, POLL_AT_ONCE),
	};
	int err = run_write(cq->context, IB_USER_VERBS_CMD_POLL_CQ, &req, sizeof(req), &resp,
			    sizeof(resp));

	if (err)
		return -guest_result(err);
	for (uint32_t i = 0; i < resp.count && i < POLL_AT_ONCE; i++)
		get_wc(&wc[i], &resp.wc[i]);
	return (int)min_of(resp.count, (uint32_t)POLL_AT_ONCE);
}
