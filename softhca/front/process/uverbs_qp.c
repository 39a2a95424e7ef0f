/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_qp.c - queue pairs: create and destroy. Changing and querying them is in uverbs_qp_modify.c.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "softhca/front/process/notify.h"
#include "softhca/front/process/queue_memory.h"
#include "softhca/front/process/uverbs_objects.h"
#include "softhca/log.h"

enum {
	SUPPORTED_DRIVER_FLAGS = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |
				 MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_BFREG_INDEX,
	WQEBB = 64,
	MIN_RQ_SHIFT = 4, /* one data segment */
	MAX_RQ_SHIFT = 11,
};

/* What a program asked for, wherever it said so. */
struct qp_request {
	uint64_t user_handle;
	struct ib_uverbs_qp_cap cap;
	uint32_t type, flags;
	struct mlx5_ib_create_qp driver;
	struct queue_memory memory;
};

static int qp_destroy(struct object *object, pid_t tid)
{
	struct uverbs_qp *qp = (struct uverbs_qp *)object;
	struct adapter *adapter = object->file->adapter;
	uint32_t none;
	int ret;

	adapter_release(adapter, PRM_OP_2RST_QP, qp->qpn);
	ret = adapter_release(adapter, PRM_OP_DESTROY_QP, qp->qpn);
	if (ret)
		return ret;
	epitaph_remove_qp(&qp->epitaph);
	event_source_remove(&qp->events, tid, &none, &qp->async_read);
	qp->pd->base.users--;
	qp->send_cq->base.users--;
	qp->recv_cq->base.users--;
	if (qp->uar)
		qp->uar->base.users--;
	return 0;
}

static int read_request(struct uverbs_call *uc, struct qp_request *req)
{
	if (uc_in(uc, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &req->user_handle, 8) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_CAP, &req->cap, sizeof(req->cap)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_TYPE, &req->type, sizeof(req->type)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_FLAGS, &req->flags, sizeof(req->flags)) ||
	    uc_in(uc, UVERBS_ATTR_UHW_IN, &req->driver, sizeof(req->driver)))
		return EFAULT;
	return 0;
}

static int unsupported(struct uverbs_call *uc, const char *what, uint32_t value)
{
	log_note("%s: create_qp: %s %#x is not supported", uc->adapter->name, what, value);
	return EOPNOTSUPP;
}

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

static int check_sizes(struct uverbs_call *uc, const struct mlx5_ib_create_qp *driver)
{
	uint32_t max = 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_QP_SZ);

	if (driver->sq_wqe_count &&
	    (!is_power_of_two(driver->sq_wqe_count) || driver->sq_wqe_count > max))
		return EINVAL;
	if (!driver->rq_wqe_count)
		return 0;
	if (!is_power_of_two(driver->rq_wqe_count) || driver->rq_wqe_count > max)
		return EINVAL;
	if (driver->rq_wqe_shift < MIN_RQ_SHIFT || driver->rq_wqe_shift > MAX_RQ_SHIFT)
		return EINVAL;
	return 0;
}

static int check_request(struct uverbs_call *uc, const struct qp_request *req)
{
	if (req->type != IB_UVERBS_QPT_RC)
		return unsupported(uc, "type", req->type);
	if (req->flags & ~IB_UVERBS_QP_CREATE_SQ_SIG_ALL)
		return unsupported(uc, "flag", req->flags);
	if (req->driver.flags & ~SUPPORTED_DRIVER_FLAGS)
		return unsupported(uc, "driver flag", req->driver.flags);
	if (!(req->driver.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX))
		return unsupported(uc, "a static UAR", req->driver.bfreg_index);
	if (uc_attr(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
		return unsupported(uc, "an SRQ", 0);
	if (!uc_object(uc, UVERBS_ATTR_CREATE_QP_PD_HANDLE) ||
	    !uc_object(uc, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE) ||
	    !uc_object(uc, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE))
		return EINVAL;
	return check_sizes(uc, &req->driver);
}

/* The buffer has the receive queue first, then the send queue. */
static uint64_t buffer_bytes(const struct mlx5_ib_create_qp *driver)
{
	return ((uint64_t)driver->rq_wqe_count << driver->rq_wqe_shift) +
	       (uint64_t)driver->sq_wqe_count * WQEBB;
}

static int check_memory(struct uverbs_call *uc, struct qp_request *req)
{
	uint64_t bytes = buffer_bytes(&req->driver);
	int ret = client_check_range(uc->client, req->driver.db_addr, 8, true);

	if (!bytes) /* neither queue: nothing to describe */
		req->memory = (struct queue_memory){ 0 };
	else if (!ret)
		ret = queue_memory_describe(req->driver.buf_addr, bytes, &req->memory);
	if (!ret && bytes)
		ret = client_check_range(uc->client, req->driver.buf_addr, bytes, true);
	return ret;
}

static void fill_sizes(const struct mlx5_ib_create_qp *driver, uint8_t *qpc)
{
	if (driver->rq_wqe_count) {
		prm_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_RQ);
		prm_set(qpc, QPC_LOG_RQ_SIZE, __builtin_ctz(driver->rq_wqe_count));
		prm_set(qpc, QPC_LOG_RQ_STRIDE, driver->rq_wqe_shift - MIN_RQ_SHIFT);
	} else {
		prm_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_ZERO_SIZE);
	}
	if (driver->sq_wqe_count)
		prm_set(qpc, QPC_LOG_SQ_SIZE, __builtin_ctz(driver->sq_wqe_count));
	else
		prm_set(qpc, QPC_NO_SQ, 1);
}

/* Small payloads may come inside the CQE; for requests only when every one of them has a CQE. */
static void fill_scatter_cqe(const struct qp_request *req, const struct uverbs_qp *qp, uint8_t *qpc)
{
	if (!(req->driver.flags & MLX5_QP_FLAG_SCATTER_CQE))
		return;
	prm_set(qpc, QPC_CS_RES, qp->recv_cq->cqe_size == 128 ? PRM_CS_RES_64B : PRM_CS_RES_32B);
	if (qp->sq_sig_all || req->driver.flags & MLX5_QP_FLAG_ALLOW_SCATTER_CQE)
		prm_set(qpc, QPC_CS_REQ,
			qp->send_cq->cqe_size == 128 ? PRM_CS_REQ_64B : PRM_CS_REQ_32B);
}

static void fill_qpc(struct uverbs_call *uc, const struct qp_request *req,
		     const struct uverbs_qp *qp, uint8_t *qpc)
{
	prm_set(qpc, QPC_ST, PRM_QP_ST_RC);
	prm_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	prm_set(qpc, QPC_PD, qp->pd->pdn);
	prm_set(qpc, QPC_UAR_PAGE, req->driver.bfreg_index);
	prm_set(qpc, QPC_USER_INDEX, req->driver.uidx);
	prm_set(qpc, QPC_CQN_SND, qp->send_cq->cqn);
	prm_set(qpc, QPC_CQN_RCV, qp->recv_cq->cqn);
	prm_set(qpc, QPC_LOG_PAGE_SIZE, req->memory.log_page_size);
	prm_set(qpc, QPC_PAGE_OFFSET, req->memory.page_offset);
	prm_set(qpc, QPC_DBR_ADDR, client_bus_addr(uc->client, req->driver.db_addr));
	fill_sizes(&req->driver, qpc);
	fill_scatter_cqe(req, qp, qpc);
}

static int create_in_device(struct uverbs_call *uc, const struct qp_request *req,
			    struct uverbs_qp *qp)
{
	size_t in_len = PRM_CREATE_QP_IN_SIZE + queue_memory_bytes(&req->memory);
	uint8_t *in = calloc(1, in_len), out[PRM_CMD_OUT_SIZE];
	int ret;

	if (!in)
		return ENOMEM;
	prm_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	fill_qpc(uc, req, qp, prm_at(in, CREATE_QP_IN_QPC));
	queue_memory_put(&req->memory, uc->client, prm_at(in, CREATE_QP_IN_PAS));
	ret = adapter_command(uc->adapter, in, in_len, out, sizeof(out));
	if (!ret)
		qp->qpn = prm_get(out, CREATE_QP_OUT_QPN);
	free(in);
	return ret;
}

static void take_request(struct uverbs_call *uc, const struct qp_request *req, struct uverbs_qp *qp)
{
	qp->pd = uc_object(uc, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	qp->send_cq = uc_object(uc, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	qp->recv_cq = uc_object(uc, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	qp->uar = uverbs_uar_by_number(uc->file, req->driver.bfreg_index);
	qp->sq_sig_all = req->flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	qp->rq_wqe_count = req->driver.rq_wqe_count;
	qp->rq_sges = qp->rq_wqe_count ? 1u << (req->driver.rq_wqe_shift - MIN_RQ_SHIFT) : 0;
	qp->events.adapter = uc->adapter;
	qp->events.kind = SOURCE_QP;
	qp->events.user_handle = req->user_handle;
}

static void hold_users(struct uverbs_qp *qp)
{
	qp->pd->base.users++;
	qp->send_cq->base.users++;
	qp->recv_cq->base.users++;
	if (qp->uar)
		qp->uar->base.users++;
}

static int qp_make(struct uverbs_call *uc, struct qp_request *req, struct uverbs_qp *qp)
{
	int ret = read_request(uc, req);

	if (!ret)
		ret = check_request(uc, req);
	if (!ret)
		ret = check_memory(uc, req);
	if (ret)
		return ret;
	take_request(uc, req, qp);
	if (!qp->uar)
		return EINVAL;
	ret = uc_async_channel(uc, UVERBS_ATTR_CREATE_QP_EVENT_FD, &qp->events.async);
	if (ret)
		return ret;
	ret = create_in_device(uc, req, qp);
	if (ret) {
		event_source_drop(&qp->events);
		return ret;
	}
	qp->events.number = qp->qpn;
	event_source_add(&qp->events);
	hold_users(qp);
	return 0;
}

static int qp_respond(struct uverbs_call *uc, const struct qp_request *req,
		      const struct uverbs_qp *qp)
{
	struct mlx5_ib_create_qp_resp driver = { .bfreg_index = req->driver.bfreg_index };

	if (uc_out(uc, UVERBS_ATTR_CREATE_QP_RESP_CAP, &req->cap, sizeof(req->cap)) ||
	    uc_out(uc, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp->qpn, sizeof(qp->qpn)) ||
	    uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver)))
		return EFAULT;
	return 0;
}

static void qp_describe(const struct uverbs_call *uc, const struct qp_request *req,
			struct uverbs_qp *qp)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;
	struct epitaph_qp entry = {
		.sq = driver->buf_addr + ((uint64_t)driver->rq_wqe_count << driver->rq_wqe_shift),
		.dbrec = driver->db_addr,
		.qpn = qp->qpn,
		.user_index = driver->uidx,
		.sq_blocks = driver->sq_wqe_count,
		.rq_wqes = driver->rq_wqe_count,
	};

	uc_epitaph_entry(uc, &qp->base, &entry.entry);
	epitaph_add_qp(uc->call->epitaph, &entry, &qp->send_cq->epitaph, &qp->recv_cq->epitaph,
		       &qp->epitaph);
}

static int qp_create(struct uverbs_call *uc)
{
	struct qp_request req;
	struct uverbs_qp *qp;
	int ret = object_new(sizeof(*qp), uc->file, UVERBS_OBJECT_QP, qp_destroy, &qp);

	if (ret)
		return ret;
	ret = qp_make(uc, &req, qp);
	if (ret) {
		object_free(&qp->base);
		return ret;
	}
	ret = uc_return_object(uc, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->base);
	if (ret)
		return ret;
	qp_describe(uc, &req, qp);
	ret = qp_respond(uc, &req, qp);
	if (ret)
		object_destroy(&qp->base, uc->tid);
	return ret;
}

static int qp_remove(struct uverbs_call *uc)
{
	struct uverbs_qp *qp = uc_object(uc, UVERBS_ATTR_DESTROY_QP_HANDLE);
	struct ib_uverbs_destroy_qp_resp resp;
	int ret;

	if (qp->base.users)
		return EBUSY;
	ret = qp_destroy(&qp->base, uc->tid);
	if (ret)
		return ret;
	resp.events_reported = qp->async_read;
	object_forget(&qp->base);
	return uc_out(uc, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
}

static const struct uverbs_attr create_attrs[] = {
	{ UVERBS_ATTR_CREATE_QP_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_QP },
	{ UVERBS_ATTR_CREATE_QP_PD_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_SRQ },
	{ UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_CQ },
	{ UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_CQ },
	{ UVERBS_ATTR_CREATE_QP_USER_HANDLE, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_QP_CAP, ATTR_STRUCT, MANDATORY, sizeof(struct ib_uverbs_qp_cap),
	  sizeof(struct ib_uverbs_qp_cap), 0 },
	{ UVERBS_ATTR_CREATE_QP_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_QP_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ UVERBS_ATTR_CREATE_QP_SOURCE_QPN, ATTR_IN, OPTIONAL, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_QP_EVENT_FD, ATTR_FD, OPTIONAL, 0, 0, UVERBS_OBJECT_ASYNC_EVENT },
	{ UVERBS_ATTR_CREATE_QP_RESP_CAP, ATTR_OUT, MANDATORY, sizeof(struct ib_uverbs_qp_cap),
	  ANY_SIZE, 0 },
	{ UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, ATTR_OUT, MANDATORY, 4, 4, 0 },
	UHW_ATTRS,
};

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_QP_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_QP },
	{ UVERBS_ATTR_DESTROY_QP_RESP, ATTR_OUT, MANDATORY,
	  sizeof(struct ib_uverbs_destroy_qp_resp), ANY_SIZE, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_QP", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, qp_create, create_attrs),
	METHOD("DESTROY_QP", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, qp_remove, destroy_attrs),
};

const struct uverbs_methods qp_methods = METHODS(method_table);
