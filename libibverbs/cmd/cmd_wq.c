/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_wq.c - commands on receive work queues and on their indirection tables.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"
#include "util/order.h"

#include <stdlib.h>
#include <string.h>

static int check_init_attr(const struct ibv_wq_init_attr *attr)
{
	if (attr->comp_mask < IBV_WQ_INIT_ATTR_RESERVED)
		return 0;
	verbs_warn("ibv_create_wq: comp_mask 0x%x: no bit above 0x%x has a meaning",
		   attr->comp_mask, IBV_WQ_INIT_ATTR_RESERVED - 1);
	return EINVAL;
}

static int run_create(struct ibv_context *context, struct ibv_wq_init_attr *attr, struct ibv_wq *wq,
		      const struct verbs_udata *udata)
{
	const uint32_t flags = attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS ? attr->create_flags : 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_WQ_HANDLE, &wq->handle),
		verbs_attr_handle(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, attr->pd->handle),
		verbs_attr_handle(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, attr->cq->handle),
		verbs_attr_u64(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, (uintptr_t)wq),
		verbs_attr_u64(UVERBS_ATTR_CREATE_WQ_TYPE, attr->wq_type),
		verbs_attr_fd(UVERBS_ATTR_CREATE_WQ_EVENT_FD, context->async_fd),
		verbs_attr_u32(UVERBS_ATTR_CREATE_WQ_MAX_WR, attr->max_wr),
		verbs_attr_u32(UVERBS_ATTR_CREATE_WQ_MAX_SGE, attr->max_sge),
		verbs_attr_u32(UVERBS_ATTR_CREATE_WQ_FLAGS, flags),
		verbs_attr_out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &attr->max_wr,
			       sizeof(attr->max_wr)),
		verbs_attr_out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &attr->max_sge,
			       sizeof(attr->max_sge)),
		verbs_attr_out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &wq->wq_num, sizeof(wq->wq_num)),
	};

	return verbs_cmd_run_core(context, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, attrs,
				  ARRAY_SIZE(attrs), udata);
}

/* Creates a WQ. Must not touch the WQ's locks, because the inline ibv_create_wq() initialises them
 * after the provider has returned. */
VERBS_EXPORT int verbs_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
				     struct ibv_wq *wq, const struct verbs_udata *udata)
{
	int ret = check_init_attr(attr);

	if (ret)
		return ret;
	order_publish(wq);
	ret = run_create(context, attr, wq, udata);
	if (ret) {
		verbs_warn("ibv_create_wq: wq_type %d max_wr %u max_sge %u create_flags 0x%x: %s",
			   attr->wq_type, attr->max_wr, attr->max_sge,
			   attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS ? attr->create_flags : 0,
			   strerror(ret));
		return ret;
	}
	wq->context = context;
	wq->pd = attr->pd;
	wq->cq = attr->cq;
	wq->wq_type = attr->wq_type;
	wq->state = IBV_WQS_RESET;
	return 0;
}

static int check_state(uint32_t mask, uint32_t bit, const char *name, enum ibv_wq_state state)
{
	if (!(mask & bit) || (uint32_t)state <= IBV_WQS_ERR)
		return 0;
	verbs_warn("ibv_modify_wq: %s %d: there is no state above %d", name, state, IBV_WQS_ERR);
	return EINVAL;
}

/* Checks the states. Linux (6.1 to 7.2) also refuses an invalid state, but then counts the WQ as in
 * use, so that it could never be destroyed. */
static int check_modify_attr(const struct ibv_wq_attr *attr)
{
	const uint32_t mask = attr->attr_mask;
	int ret;

	if (mask >= IBV_WQ_ATTR_RESERVED) {
		verbs_warn("ibv_modify_wq: attr_mask 0x%x: no bit above 0x%x has a meaning", mask,
			   IBV_WQ_ATTR_RESERVED - 1);
		return EINVAL;
	}
	ret = check_state(mask, IBV_WQ_ATTR_STATE, "wq_state", attr->wq_state);
	return ret ? ret
		   : check_state(mask, IBV_WQ_ATTR_CURR_STATE, "curr_wq_state",
				 attr->curr_wq_state);
}

VERBS_EXPORT int verbs_cmd_modify_wq(struct ibv_wq *wq, const struct ibv_wq_attr *attr,
				     const struct verbs_udata *udata)
{
	const struct ib_uverbs_ex_modify_wq req = {
		.attr_mask = attr->attr_mask,
		.wq_handle = wq->handle,
		.wq_state = attr->wq_state,
		.curr_wq_state = attr->curr_wq_state,
		.flags = attr->flags,
		.flags_mask = attr->flags_mask,
	};
	int ret = check_modify_attr(attr);

	if (ret)
		return ret;
	ret = verbs_cmd_run_write(wq->context,
				  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
				  &req, sizeof(req), NULL, 0, udata);
	if (ret)
		verbs_warn("ibv_modify_wq: WQ 0x%x attr_mask 0x%x wq_state %d flags 0x%x: %s",
			   wq->wq_num, attr->attr_mask, attr->wq_state, attr->flags, strerror(ret));
	else if (attr->attr_mask & IBV_WQ_ATTR_STATE)
		wq->state = attr->wq_state;
	return ret;
}

VERBS_EXPORT int verbs_cmd_destroy_wq(struct ibv_wq *wq)
{
	uint32_t events_reported;
	int ret = verbs_cmd_destroy_answered(
		wq->context, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY,
		UVERBS_ATTR_DESTROY_WQ_HANDLE, wq->handle, UVERBS_ATTR_DESTROY_WQ_RESP,
		&events_reported, sizeof(events_reported));

	if (ret) {
		verbs_warn("ibv_destroy_wq: WQ 0x%x: %s%s", wq->wq_num, strerror(ret),
			   ret == EBUSY ? ": destroy the indirection tables that hold it first"
					: "");
		return ret;
	}
	verbs_event_wait_acked("ibv_destroy_wq", &wq->mutex, &wq->cond, &wq->events_completed,
			       events_reported);
	pthread_cond_destroy(&wq->cond);
	pthread_mutex_destroy(&wq->mutex);
	return 0;
}

static int check_table_attr(const struct ibv_rwq_ind_table_init_attr *attr)
{
	if (attr->comp_mask >= IBV_CREATE_IND_TABLE_RESERVED) {
		verbs_warn("ibv_create_rwq_ind_table: comp_mask 0x%x: no bit has a meaning",
			   attr->comp_mask);
		return EINVAL;
	}
	if (attr->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE) {
		verbs_warn("ibv_create_rwq_ind_table: log_ind_tbl_size %u: must be at most %u",
			   attr->log_ind_tbl_size, IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE);
		return EINVAL;
	}
	return 0;
}

enum { USUAL_ENTRIES = 64 };

static int run_create_table(struct ibv_context *context,
			    const struct ibv_rwq_ind_table_init_attr *attr,
			    struct ib_uverbs_ex_create_rwq_ind_table_resp *resp,
			    const struct verbs_udata *udata)
{
	const size_t entries = (size_t)1 << attr->log_ind_tbl_size;
	struct ib_uverbs_ex_create_rwq_ind_table *req;
	const size_t size = align_up(sizeof(*req) + entries * sizeof(req->wq_handles[0]), 8);
	uint64_t usual[(sizeof(*req) + USUAL_ENTRIES * sizeof(req->wq_handles[0])) / 8];
	int ret;

	req = size > sizeof(usual) ? malloc_for("ibv_create_rwq_ind_table", size) : (void *)usual;
	if (!req)
		return ENOMEM;
	*req = (struct ib_uverbs_ex_create_rwq_ind_table){ .log_ind_tbl_size =
								   attr->log_ind_tbl_size };
	/* one entry leaves half of the last word unused */
	memset((char *)req + size - sizeof(uint64_t), 0, sizeof(uint64_t));
	for (size_t i = 0; i < entries; i++)
		req->wq_handles[i] = attr->ind_tbl[i]->handle;
	ret = verbs_cmd_run_write(
		context, IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
		req, size, resp, sizeof(*resp), udata);
	if (size > sizeof(usual))
		free(req);
	return ret;
}

VERBS_EXPORT int verbs_cmd_create_rwq_ind_table(struct ibv_context *context,
						const struct ibv_rwq_ind_table_init_attr *attr,
						struct ibv_rwq_ind_table *table,
						const struct verbs_udata *udata)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {};
	int ret = check_table_attr(attr);

	if (ret)
		return ret;
	ret = run_create_table(context, attr, &resp, udata);
	if (ret) {
		verbs_warn("ibv_create_rwq_ind_table: log_ind_tbl_size %u: %s",
			   attr->log_ind_tbl_size, strerror(ret));
		return ret;
	}
	table->context = context;
	table->ind_tbl_handle = (int)resp.ind_tbl_handle;
	table->ind_tbl_num = (int)resp.ind_tbl_num;
	return 0;
}

VERBS_EXPORT int verbs_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	int ret = verbs_cmd_destroy(
		table->context, UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
		UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, (uint32_t)table->ind_tbl_handle);

	if (ret)
		verbs_warn("ibv_destroy_rwq_ind_table: table %d: %s%s", table->ind_tbl_num,
			   strerror(ret),
			   ret == EBUSY ? ": destroy the QPs that receive through it first" : "");
	return ret;
}
