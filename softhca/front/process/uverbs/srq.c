/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - shared receive queues.
 *
 * As in Linux' driver, the device gets an RMP for a basic SRQ, an XRC SRQ for one with a domain,
 * and an XRQ for one with tag matching. Programs give the number of WQEs and SGEs; the ring's size
 * follows by the same rule as in the library.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/wq.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/driver/queue_memory.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"
#include "util/bits.h"

enum {
	NEXT_SEG = 16, /* link to the next free WQE */
	DATA_SEG = 16,
	MIN_WQE_SHIFT = 5,
	STRIDE_UNIT_SHIFT = 4,
	LIMIT = 1 << 1, /* bits of attr_mask */
	MAX_WR = 1 << 0,
};

/* What a program asks for, by the ioctl method or by the older command. */
struct srq_request {
	uint64_t user_handle;
	uint32_t type, max_wr, max_sge, limit, max_tags;
	struct mlx5_ib_create_srq driver;
	unsigned int log_wqes, wqe_shift, log_tags;
	struct queue_memory memory;
};

static bool is_xrc(uint32_t type)
{
	return type == IB_UVERBS_SRQT_XRC;
}

static bool is_tm(uint32_t type)
{
	return type == IB_UVERBS_SRQT_TM;
}

/* The device's commands and layouts for each kind. */
static const struct kind {
	uint32_t create, destroy, query;
	uint32_t context, limit; /* fields in the answer of the query command */
	size_t create_size, query_size;
	uint32_t context_in, pas; /* fields in the creating command */
} kinds[] = {
	[IB_UVERBS_SRQT_BASIC] = { PRM_OP_CREATE_RMP, PRM_OP_DESTROY_RMP, PRM_OP_QUERY_RMP,
				   QUERY_RMP_OUT_RMP_CONTEXT, FLD_IN(RMPC_WQ, WQ_LWM),
				   PRM_CREATE_RMP_IN_SIZE, PRM_QUERY_RMP_OUT_SIZE,
				   CREATE_RMP_IN_CTX, CREATE_SRQ_IN_PAS },
	[IB_UVERBS_SRQT_XRC] = { PRM_OP_CREATE_XRC_SRQ, PRM_OP_DESTROY_XRC_SRQ,
				 PRM_OP_QUERY_XRC_SRQ, QUERY_XRC_SRQ_OUT_XRC_SRQ_CONTEXT_ENTRY,
				 XRC_SRQC_LWM, PRM_CREATE_XRC_SRQ_IN_SIZE,
				 PRM_QUERY_XRC_SRQ_OUT_SIZE,
				 CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY, CREATE_SRQ_IN_PAS },
	[IB_UVERBS_SRQT_TM] = { PRM_OP_CREATE_XRQ, PRM_OP_DESTROY_XRQ, PRM_OP_QUERY_XRQ,
				QUERY_XRQ_OUT_XRQ_CONTEXT, FLD_IN(XRQC_WQ, WQ_LWM),
				PRM_CREATE_XRQ_IN_SIZE, PRM_QUERY_XRQ_OUT_SIZE,
				CREATE_XRQ_IN_XRQ_CONTEXT, CREATE_XRQ_IN_PAS },
};

static void count_users(const struct uverbs_srq *srq, int change)
{
	srq->pd->base.users += change;
	if (srq->xrcd)
		srq->xrcd->base.users += change;
	if (srq->cq)
		srq->cq->base.users += change;
}

static int srq_destroy(struct object *object, pid_t tid)
{
	struct uverbs_srq *srq = (struct uverbs_srq *)object;
	int ret = adapter_release(object->file->adapter, (enum prm_opcode)kinds[srq->type].destroy,
				  srq->srqn);

	if (ret)
		return ret;
	event_source_remove(&srq->events, tid);
	count_users(srq, -1);
	return 0;
}

static int read_request(struct uverbs_call *uc, struct srq_request *req)
{
	if (uc_in(uc, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, &req->user_handle, 8) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_SRQ_TYPE, &req->type, sizeof(req->type)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_SRQ_MAX_WR, &req->max_wr, sizeof(req->max_wr)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, &req->max_sge, sizeof(req->max_sge)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_SRQ_LIMIT, &req->limit, sizeof(req->limit)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, &req->max_tags, sizeof(req->max_tags)))
		return EFAULT;
	if (adapter_is_mlx4(uc->adapter))
		return mlx4_read_srq(uc, &req->driver);
	return uc_in(uc, UVERBS_ATTR_UHW_IN, &req->driver, sizeof(req->driver));
}

/* Checks the number of tags. The device gets one more than its log2, as Linux' driver does, so that
 * an index remains that is no tag. */
static int check_tags(struct uverbs_call *uc, struct srq_request *req)
{
	if (!adapter_cap(uc->adapter, HCA_CAP_TAG_MATCHING))
		return EOPNOTSUPP;
	while (req->max_tags >> req->log_tags)
		req->log_tags++;
	return req->log_tags > adapter_cap(uc->adapter, HCA_CAP_LOG_TAG_MATCHING_LIST_SZ) ? EINVAL
											  : 0;
}

static int check_type(struct uverbs_call *uc, struct srq_request *req)
{
	switch (req->type) {
	case IB_UVERBS_SRQT_BASIC:
		return 0;
	case IB_UVERBS_SRQT_XRC:
		return uc_object(uc, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE) &&
				       uc_object(uc, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE)
			       ? 0
			       : ENOENT;
	case IB_UVERBS_SRQT_TM:
		return uc_object(uc, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE) &&
				       uc_attr(uc, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS)
			       ? check_tags(uc, req)
			       : ENOENT;
	default:
		return EINVAL;
	}
}

static int check_request(struct uverbs_call *uc, struct srq_request *req)
{
	int ret = check_type(uc, req);

	if (ret)
		return ret;
	if (!adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_SRQ))
		return EOPNOTSUPP;
	if (req->max_wr >= 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_SRQ_SZ) ||
	    req->max_sge > adapter_cap(uc->adapter, HCA_CAP_MAX_WQE_SZ_RQ) / DATA_SEG)
		return EINVAL;
	if (uc_has_tail(uc, UVERBS_ATTR_UHW_IN, sizeof(req->driver)))
		return EINVAL;
	if (req->driver.reserved0 || req->driver.reserved1)
		return EINVAL;
	req->log_wqes = log2_ceil((uint64_t)req->max_wr + 1);
	req->wqe_shift = log2_ceil(NEXT_SEG + (uint64_t)req->max_sge * DATA_SEG);
	if (req->wqe_shift < MIN_WQE_SHIFT)
		req->wqe_shift = MIN_WQE_SHIFT;
	return 0;
}

static int pin_memory(struct uverbs_call *uc, struct srq_request *req)
{
	uint64_t bytes = 1ull << (req->log_wqes + req->wqe_shift);
	unsigned int offsets = is_xrc(req->type) ? QUEUE_MEMORY_OFFSETS : QUEUE_MEMORY_RMP_OFFSETS;
	int ret = queue_memory_describe(req->driver.buf_addr, bytes, offsets, &req->memory);

	if (!ret)
		ret = uc_pin(uc, req->driver.buf_addr, bytes, true);
	if (!ret)
		ret = uc_pin_record(uc, req->driver.db_addr, adapter_is_mlx4(uc->adapter) ? 4 : 8);
	return ret;
}

static void fill_wq(struct uverbs_call *uc, const struct srq_request *req,
		    const struct uverbs_srq *srq, uint8_t *wq)
{
	fld_set(wq, WQ_WQ_SIGNATURE, !!(req->driver.flags & MLX5_SRQ_FLAG_SIGNATURE));
	fld_set(wq, WQ_LOG_WQ_STRIDE, req->wqe_shift);
	fld_set(wq, WQ_LOG_WQ_SZ, req->log_wqes);
	fld_set(wq, WQ_LOG_WQ_PG_SZ, req->memory.log_page_size);
	fld_set(wq, WQ_PAGE_OFFSET, req->memory.page_offset);
	fld_set(wq, WQ_PD, srq->pd->pdn);
	fld_set(wq, WQ_DBR_ADDR, client_bus_addr(uc->client, req->driver.db_addr));
}

static void fill_rmp(struct uverbs_call *uc, const struct srq_request *req,
		     const struct uverbs_srq *srq, uint8_t *context)
{
	fld_set(context, RMPC_STATE, PRM_RMPC_STATE_RDY);
	fill_wq(uc, req, srq, fld_at(context, RMPC_WQ));
}

static uint32_t user_index(struct uverbs_call *uc, const struct srq_request *req)
{
	return uc_len(uc, UVERBS_ATTR_UHW_IN) >= sizeof(req->driver) ? req->driver.uidx
								     : PRM_NO_USER_INDEX;
}

static void fill_xrq(struct uverbs_call *uc, const struct srq_request *req,
		     const struct uverbs_srq *srq, uint8_t *context)
{
	fld_set(context, XRQC_TOPOLOGY, PRM_XRQC_TOPOLOGY_TAG_MATCHING);
	fld_set(context, XRQC_OFFLOAD, PRM_XRQC_OFFLOAD_RNDV);
	fld_set(context, XRQC_LOG_MATCHING_LIST_SZ, req->log_tags);
	fld_set(context, XRQC_CQN, srq->cq->cqn);
	fld_set(context, XRQC_USER_INDEX, user_index(uc, req));
	fill_wq(uc, req, srq, fld_at(context, XRQC_WQ));
}

static void fill_xrc_srq(struct uverbs_call *uc, const struct srq_request *req,
			 const struct uverbs_srq *srq, uint8_t *context)
{
	fld_set(context, XRC_SRQC_WQ_SIGNATURE, !!(req->driver.flags & MLX5_SRQ_FLAG_SIGNATURE));
	fld_set(context, XRC_SRQC_LOG_XRC_SRQ_SIZE, req->log_wqes);
	fld_set(context, XRC_SRQC_LOG_RQ_STRIDE, req->wqe_shift - STRIDE_UNIT_SHIFT);
	fld_set(context, XRC_SRQC_LOG_PAGE_SIZE, req->memory.log_page_size);
	fld_set(context, XRC_SRQC_PAGE_OFFSET, req->memory.page_offset);
	fld_set(context, XRC_SRQC_XRCD, xrc_domain_number(srq->xrcd->domain));
	fld_set(context, XRC_SRQC_CQN, srq->cq->cqn);
	fld_set(context, XRC_SRQC_USER_INDEX, user_index(uc, req));
	fld_set(context, XRC_SRQC_PD, srq->pd->pdn);
	fld_set(context, XRC_SRQC_DBR_ADDR, client_bus_addr(uc->client, req->driver.db_addr));
}

static int create_in_device(struct uverbs_call *uc, const struct srq_request *req,
			    struct uverbs_srq *srq)
{
	static void (*const fill[])(struct uverbs_call * uc, const struct srq_request *req,
				    const struct uverbs_srq *srq, uint8_t *context) = {
		[IB_UVERBS_SRQT_BASIC] = fill_rmp,
		[IB_UVERBS_SRQT_XRC] = fill_xrc_srq,
		[IB_UVERBS_SRQT_TM] = fill_xrq,
	};
	const struct kind *kind = &kinds[req->type];
	size_t in_len = kind->create_size + queue_memory_bytes(&req->memory);
	uint8_t *in = calloc(1, in_len), out[PRM_CMD_OUT_SIZE];
	int ret;

	if (!in)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, kind->create);
	fill[req->type](uc, req, srq, fld_at(in, kind->context_in));
	queue_memory_put(&req->memory, uc->client, fld_at(in, kind->pas));
	ret = adapter_command(uc->adapter, in, in_len, out, sizeof(out));
	if (!ret)
		srq->srqn = fld_get(out, CREATE_SRQ_OUT_SRQN);
	free(in);
	return ret;
}

static void take_request(struct uverbs_call *uc, const struct srq_request *req,
			 struct uverbs_srq *srq)
{
	srq->type = req->type;
	srq->pd = uc_object(uc, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	if (is_xrc(req->type))
		srq->xrcd = uc_object(uc, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
	if (req->type != IB_UVERBS_SRQT_BASIC)
		srq->cq = uc_object(uc, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
	srq->wqes = 1u << req->log_wqes;
	srq->sges = req->max_sge;
	srq->events.adapter = uc->adapter;
	srq->events.kind = SOURCE_SRQ;
	srq->events.user_handle = req->user_handle;
}

static int srq_make(struct uverbs_call *uc, struct srq_request *req, struct uverbs_srq *srq)
{
	int ret = read_request(uc, req);

	if (!ret)
		ret = check_request(uc, req);
	if (!ret)
		ret = pin_memory(uc, req);
	if (ret)
		return ret;
	take_request(uc, req, srq);
	ret = uc_async_channel(uc, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, &srq->events.async);
	if (ret)
		return ret;
	ret = create_in_device(uc, req, srq);
	ret = event_source_made(&srq->events, ret, srq->srqn);
	if (!ret)
		count_users(srq, 1);
	return ret;
}

static int srq_respond(struct uverbs_call *uc, const struct uverbs_srq *srq)
{
	struct mlx5_ib_create_srq_resp driver = { .srqn = srq->srqn };
	uint32_t max_wr = srq->wqes - 1;

	if (uc_out(uc, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr, sizeof(max_wr)) ||
	    uc_out(uc, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &srq->sges, sizeof(srq->sges)) ||
	    uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver)))
		return EFAULT;
	if (is_xrc(srq->type))
		return uc_out(uc, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &srq->srqn,
			      sizeof(srq->srqn));
	return 0;
}

static int srq_create(struct uverbs_call *uc)
{
	struct srq_request req = { 0 };
	struct uverbs_srq *srq;
	int ret = object_new(sizeof(*srq), uc->file, UVERBS_OBJECT_SRQ, srq_destroy, &srq);

	if (ret)
		return ret;
	ret = uc_return_made(uc, srq_make(uc, &req, srq), UVERBS_ATTR_CREATE_SRQ_HANDLE,
			     &srq->base);
	if (ret)
		return ret;
	return uc_answered(uc, srq_respond(uc, srq), &srq->base);
}

static int srq_remove(struct uverbs_call *uc)
{
	struct uverbs_srq *srq = uc_object(uc, UVERBS_ATTR_DESTROY_SRQ_HANDLE);

	return uc_destroy_reporting(uc, &srq->base, &srq->events, UVERBS_ATTR_DESTROY_SRQ_RESP);
}

static int srq_remove_write(struct uverbs_call *uc)
{
	struct ib_uverbs_destroy_srq cmd;
	struct uverbs_srq *srq;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	ret = object_find(uc->file, UVERBS_OBJECT_SRQ, cmd.srq_handle, &srq);
	return ret ? ret : uc_destroy_reporting(uc, &srq->base, &srq->events, UVERBS_ATTR_CORE_OUT);
}

static_assert(ARM_XRC_SRQ_IN_XRC_SRQN == ARM_RQ_IN_SRQ_NUMBER &&
		      ARM_XRC_SRQ_IN_LWM == ARM_RQ_IN_LWM,
	      "one layout for both");

static int arm_numbered(struct adapter *adapter, const struct uverbs_srq *srq, uint32_t limit)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, is_tm(srq->type) ? PRM_OP_ARM_RQ : PRM_OP_ARM_XRC_SRQ);
	fld_set(in, CMD_IN_OP_MOD, is_tm(srq->type) ? PRM_ARM_RQ_XRQ : PRM_ARM_XRC_SRQ);
	fld_set(in, ARM_XRC_SRQ_IN_XRC_SRQN, srq->srqn);
	fld_set(in, ARM_XRC_SRQ_IN_LWM, limit);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

static int limit_arm(struct adapter *adapter, const struct uverbs_srq *srq, uint32_t limit)
{
	uint8_t in[PRM_MODIFY_RMP_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *context = fld_at(in, MODIFY_RMP_IN_CTX);

	if (srq->type != IB_UVERBS_SRQT_BASIC)
		return arm_numbered(adapter, srq, limit);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_RMP);
	fld_set(in, MODIFY_RMP_IN_RMP_STATE, PRM_RMPC_STATE_RDY);
	fld_set(in, MODIFY_RMP_IN_RMPN, srq->srqn);
	fld_set(in, MODIFY_RMP_IN_BITMASK_LWM, 1);
	fld_set(context, RMPC_STATE, PRM_RMPC_STATE_RDY);
	fld_set(fld_at(context, RMPC_WQ), WQ_LWM, limit);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

static int srq_modify(struct uverbs_call *uc)
{
	struct ib_uverbs_modify_srq cmd;
	struct uverbs_srq *srq;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_SRQ, cmd.srq_handle, &srq);
	if (ret)
		return ret;
	if (cmd.attr_mask & MAX_WR)
		return EINVAL; /* resizing is not supported */
	if (!(cmd.attr_mask & LIMIT))
		return 0;
	return cmd.srq_limit >= srq->wqes ? EINVAL : limit_arm(uc->adapter, srq, cmd.srq_limit);
}

static int query_limit(struct adapter *adapter, const struct uverbs_srq *srq, uint32_t *limit)
{
	const struct kind *kind = &kinds[srq->type];
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_XRQ_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, kind->query);
	fld_set(in, QUERY_RMP_IN_RMPN, srq->srqn);
	ret = adapter_command(adapter, in, sizeof(in), out, kind->query_size);
	if (!ret)
		*limit = fld_get(fld_at(out, kind->context), kind->limit);
	return ret;
}

static int srq_query(struct uverbs_call *uc)
{
	struct ib_uverbs_query_srq_resp resp = { 0 };
	struct ib_uverbs_query_srq cmd;
	struct uverbs_srq *srq;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_SRQ, cmd.srq_handle, &srq);
	if (!ret)
		ret = query_limit(uc->adapter, srq, &resp.srq_limit);
	if (ret)
		return ret;
	resp.max_wr = srq->wqes - 1;
	resp.max_sge = srq->sges;
	return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct uverbs_attr create_attrs[] = {
	{ UVERBS_ATTR_CREATE_SRQ_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_SRQ },
	{ UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_CREATE_SRQ_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_MAX_WR, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_MAX_SGE, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_LIMIT, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_XRCD },
	{ UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_CQ },
	{ UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, ATTR_IN, OPTIONAL, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_EVENT_FD, ATTR_FD, OPTIONAL, 0, 0, UVERBS_OBJECT_ASYNC_EVENT },
	{ UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, ATTR_OUT, OPTIONAL, 4, 4, 0 },
	UHW_ATTRS,
};

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_SRQ_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_SRQ },
	{ UVERBS_ATTR_DESTROY_SRQ_RESP, ATTR_OUT, MANDATORY,
	  sizeof(struct ib_uverbs_destroy_srq_resp), sizeof(struct ib_uverbs_destroy_srq_resp), 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_SRQ", UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, srq_create, create_attrs),
	METHOD("DESTROY_SRQ", UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, srq_remove,
	       destroy_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "DESTROY_SRQ", IB_USER_VERBS_CMD_DESTROY_SRQ, sizeof(struct ib_uverbs_destroy_srq),
	  sizeof(struct ib_uverbs_destroy_srq_resp), srq_remove_write },
	{ "MODIFY_SRQ", IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(struct ib_uverbs_modify_srq), 0,
	  srq_modify },
	{ "QUERY_SRQ", IB_USER_VERBS_CMD_QUERY_SRQ, sizeof(struct ib_uverbs_query_srq),
	  sizeof(struct ib_uverbs_query_srq_resp), srq_query },
};

const struct uverbs_methods srq_methods = METHODS(method_table);
const struct uverbs_writes srq_writes = METHODS(write_table);
