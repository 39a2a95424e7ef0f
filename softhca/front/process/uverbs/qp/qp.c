/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - creates and destroys QPs. qp/modify.c modifies them, qp/query.c queries them.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/wqe.h"
#include "softhca/front/process/driver/driver_objects.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/driver/queue_memory.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/mlx4/wq.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/qp/dct.h"
#include "softhca/front/process/uverbs/qp/request.h"
#include "util/bits.h"

static void count_users(const struct uverbs_qp *qp, int change)
{
	void *const used[] = { qp->pd, qp->send_cq, qp->recv_cq, qp->srq, qp->xrcd, qp->table };

	for (unsigned int i = 0; i < ARRAY_SIZE(used); i++)
		if (used[i])
			((struct object *)used[i])->users += change;
}

/* Destroys the device's QP. Returns 0, or an error if it still exists. */
static int destroy_real(struct adapter *adapter, struct real_qp *real, bool is_listed)
{
	int ret;

	if (real->users > 1) {
		real->users--;
		return 0;
	}
	if (real->target) {
		ret = qp_dct_destroy(adapter, real);
	} else if (real->raw) {
		ret = raw_qp_destroy(adapter, real->raw);
	} else {
		adapter_release(adapter, PRM_OP_2RST_QP, real->qpn);
		ret = adapter_release(adapter, PRM_OP_DESTROY_QP, real->qpn);
	}
	if (ret)
		return ret;
	if (is_listed)
		LIST_REMOVE(real, in_domain);
	free(real);
	return 0;
}

static int qp_destroy(struct object *object, pid_t tid)
{
	struct uverbs_qp *qp = (struct uverbs_qp *)object;
	int ret;

	mcast_detach_all(qp);
	ret = destroy_real(object->file->adapter, qp->real, qp->xrcd);
	if (ret)
		return ret;
	epitaph_remove_qp(&qp->epitaph);
	event_source_remove(&qp->events, tid);
	count_users(qp, -1);
	return 0;
}

int qp_service_type(unsigned int type)
{
	static const uint8_t service[] = {
		[IB_UVERBS_QPT_RC] = PRM_QP_ST_RC,       [IB_UVERBS_QPT_UC] = PRM_QP_ST_UC,
		[IB_UVERBS_QPT_UD] = PRM_QP_ST_UD,       [IB_UVERBS_QPT_XRC_INI] = PRM_QP_ST_XRC,
		[IB_UVERBS_QPT_XRC_TGT] = PRM_QP_ST_XRC, [QP_TYPE_DCI] = PRM_QP_ST_DCI,
	};

	return service[type];
}

/* Describes the send queue. Without one of the program, and with an SRQ for tag matching, the
 * device may use its own. */
static void fill_send_queue(const struct mlx5_ib_create_qp *driver, const struct uverbs_qp *qp,
			    uint8_t *qpc)
{
	if (driver->sq_wqe_count) {
		fld_set(qpc, QPC_LOG_SQ_SIZE, __builtin_ctz(driver->sq_wqe_count));
		return;
	}
	fld_set(qpc, QPC_NO_SQ, 1);
	if (qp->srq && qp->srq->type == IB_UVERBS_SRQT_TM)
		fld_set(qpc, QPC_OFFLOAD_TYPE, PRM_QPC_OFFLOAD_TYPE_RNDV);
}

static void fill_receive_queue(const struct qp_request *req, const struct uverbs_qp *qp,
			       uint8_t *qpc)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;

	if (qp->srq || req->type == IB_UVERBS_QPT_XRC_TGT || req->type == QP_TYPE_DCI) {
		fld_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_SRQ);
		if (qp->srq)
			fld_set(qpc, QPC_SRQN_RMPN_XRQN, qp->srq->srqn);
	} else if (driver->rq_wqe_count) {
		fld_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_RQ);
		fld_set(qpc, QPC_LOG_RQ_SIZE, __builtin_ctz(driver->rq_wqe_count));
		fld_set(qpc, QPC_LOG_RQ_STRIDE, driver->rq_wqe_shift - QP_MIN_RQ_SHIFT);
	} else {
		fld_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_ZERO_SIZE);
	}
}

/* Enables small payloads in CQEs; for requests only if each one has a CQE, as the data of the
 * others would have no place. */
static void fill_scatter_cqe(const struct qp_request *req, const struct uverbs_qp *qp, uint8_t *qpc)
{
	bool is_rc = req->type == IB_UVERBS_QPT_RC, is_dci = req->type == QP_TYPE_DCI;

	if (!(req->driver.flags & MLX5_QP_FLAG_SCATTER_CQE))
		return;
	if (is_rc || req->type == IB_UVERBS_QPT_UC)
		fld_set(qpc, QPC_CS_RES,
			qp->recv_cq->cqe_size == 128 ? PRM_CS_RES_64B : PRM_CS_RES_32B);
	if ((is_rc || is_dci) &&
	    (qp->sq_sig_all || req->driver.flags & MLX5_QP_FLAG_ALLOW_SCATTER_CQE))
		fld_set(qpc, QPC_CS_REQ,
			qp->send_cq->cqe_size == 128 ? PRM_CS_REQ_64B : PRM_CS_REQ_32B);
}

/* Fills in the objects. An XRC QP names the driver's own where it has none, as the fields must be
 * valid. */
static void fill_objects(const struct uverbs_qp *qp, const struct driver_objects *own, uint8_t *qpc)
{
	fld_set(qpc, QPC_PD, qp->pd ? qp->pd->pdn : own->pdn);
	fld_set(qpc, QPC_CQN_SND, qp->send_cq ? qp->send_cq->cqn : own->cqn);
	fld_set(qpc, QPC_CQN_RCV, qp->recv_cq ? qp->recv_cq->cqn : own->cqn);
	if (qp->xrcd) {
		fld_set(qpc, QPC_XRCD, xrc_domain_number(qp->xrcd->domain));
		fld_set(qpc, QPC_UAR_PAGE, own->uar);
	}
	if (!qp->srq && (qp->type == IB_UVERBS_QPT_XRC_INI || qp->type == QP_TYPE_DCI || qp->xrcd))
		fld_set(qpc, QPC_SRQN_RMPN_XRQN, own->srqn);
}

/* Returns the timestamp format for a CQ. All adapters here have ticks, so a CQ that asks for
 * nothing gets them, and so does a side without a CQ (get_ts_format in Linux 6.1's driver). */
static enum prm_ts_format ts_format(const struct uverbs_cq *cq)
{
	return cq && cq->real_time ? PRM_TS_REAL_TIME : PRM_TS_FREE_RUNNING;
}

/* Checks that the adapter supports the timestamp format, and that both CQs have the same, as Linux
 * does. */
static int check_ts_format(const struct uverbs_call *uc, const struct uverbs_qp *qp)
{
	enum prm_ts_format send = ts_format(qp->send_cq), receive = ts_format(qp->recv_cq);

	if (send != receive)
		return EOPNOTSUPP;
	return send == PRM_TS_REAL_TIME && !adapter_has_real_time(uc->adapter) ? EOPNOTSUPP : 0;
}

static void fill_streams(const struct mlx5_ib_create_qp *driver, uint8_t *qpc)
{
	if (!(driver->flags & MLX5_QP_FLAG_DCI_STREAM))
		return;
	fld_set(qpc, QPC_LOG_NUM_DCI_STREAM_CHANNELS, driver->dci_streams.log_num_concurent);
	fld_set(qpc, QPC_LOG_NUM_DCI_ERRORED_STREAMS, driver->dci_streams.log_num_errored);
}

static void fill_qpc(struct uverbs_call *uc, const struct qp_request *req,
		     const struct uverbs_qp *qp, const struct driver_objects *own, uint8_t *qpc)
{
	fld_set(qpc, QPC_ST, qp_service_type(req->type));
	fld_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	fld_set(qpc, QPC_BLOCK_LB_MC,
		!!(req->flags & IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK));
	fld_set(qpc, QPC_USER_INDEX, req->driver.uidx);
	fld_set(qpc, QPC_WQ_SIGNATURE, !!(req->driver.flags & MLX5_QP_FLAG_SIGNATURE));
	fill_streams(&req->driver, qpc);
	fill_send_queue(&req->driver, qp, qpc);
	fill_receive_queue(req, qp, qpc);
	fill_objects(qp, own, qpc);
	if (qp->xrcd)
		return; /* an XRC target has no queues, so there is nothing to fill in */
	fld_set(qpc, QPC_UAR_PAGE, req->driver.bfreg_index);
	fld_set(qpc, QPC_LOG_PAGE_SIZE, req->memory.log_page_size);
	fld_set(qpc, QPC_PAGE_OFFSET, req->memory.page_offset);
	fld_set(qpc, QPC_DBR_ADDR, client_bus_addr(uc->client, req->driver.db_addr));
	fill_scatter_cqe(req, qp, qpc);
	if (ts_format(qp->send_cq) == PRM_TS_REAL_TIME)
		fld_set(qpc, QPC_TS_FORMAT, PRM_TS_REAL_TIME);
}

static int create_in_device(struct uverbs_call *uc, const struct qp_request *req,
			    struct uverbs_qp *qp)
{
	size_t in_len = PRM_CREATE_QP_IN_SIZE + queue_memory_bytes(&req->memory);
	uint8_t *in = calloc(1, in_len), out[PRM_CMD_OUT_SIZE];
	struct driver_objects own = { 0 };
	int ret = 0;

	if (!in)
		return ENOMEM;
	if (req->type == IB_UVERBS_QPT_XRC_INI || req->type == IB_UVERBS_QPT_XRC_TGT ||
	    req->type == QP_TYPE_DCI)
		ret = driver_objects_get(uc->adapter, &own);
	if (ret)
		goto free_in;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	if (adapter_is_mlx4(uc->adapter))
		fld_set(in, CREATE_QP_IN_LOG_BLOCK, req->log_block);
	fill_qpc(uc, req, qp, &own, fld_at(in, CREATE_QP_IN_QPC));
	queue_memory_put(&req->memory, uc->client, fld_at(in, CREATE_QP_IN_PAS));
	if (adapter_cap(uc->adapter, HCA_CAP_ECE_SUPPORT))
		fld_set(in, CREATE_QP_IN_ECE, req->driver.ece_options);
	ret = adapter_command(uc->adapter, in, in_len, out, sizeof(out));
	if (!ret)
		qp->real->qpn = fld_get(out, CREATE_QP_OUT_QPN);
	if (!ret)
		qp->ece = fld_get(out, CREATE_QP_OUT_ECE);
free_in:
	free(in);
	return ret;
}

/* Returns the number of SGEs in a receive WQE. A signature takes the place of one SGE. */
static uint32_t receive_sges(const struct mlx5_ib_create_qp *driver)
{
	if (!driver->rq_wqe_count)
		return 0;
	return (1u << (driver->rq_wqe_shift - QP_MIN_RQ_SHIFT)) -
	       !!(driver->flags & MLX5_QP_FLAG_SIGNATURE);
}

static void take_request(struct uverbs_call *uc, const struct qp_request *req, struct uverbs_qp *qp)
{
	qp->type = req->type;
	qp->pd = uc_object(uc, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	qp->send_cq = uc_object(uc, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	qp->srq = uc_object(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	qp->xrcd = uc_object(uc, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
	if (req->type != IB_UVERBS_QPT_XRC_INI)
		qp->recv_cq = uc_object(uc, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	qp->table = uc_object(uc, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
	qp->is_underlay = req->is_underlay;
	qp->sq_sig_all = req->flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	qp->rq_wqe_count = req->driver.rq_wqe_count;
	qp->rq_sges = receive_sges(&req->driver);
	qp->events.adapter = uc->adapter;
	qp->events.kind = SOURCE_QP;
	qp->events.user_handle = req->user_handle;
}

static void describe_ring(const struct client *client, const struct qp_request *req,
			  const struct uverbs_qp *qp, struct eth_ring *ring)
{
	*ring = (struct eth_ring){
		.client = client,
		.record = req->driver.db_addr,
		.pdn = qp->pd->pdn,
		.uar = req->driver.bfreg_index,
		.user_index = req->driver.uidx,
		.strip_vlan = req->flags & IB_UVERBS_QP_CREATE_CVLAN_STRIPPING,
	};
}

static unsigned int self_lb_block(const struct qp_request *req)
{
	return (req->driver.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC ? PRM_BLOCK_UNICAST : 0) |
	       (req->driver.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC ? PRM_BLOCK_MULTICAST : 0);
}

/* Makes a raw packet QP, whose rings are in separate buffers and share the doorbell record. */
static int create_with_rings(struct uverbs_call *uc, const struct qp_request *req,
			     struct uverbs_qp *qp)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;
	struct raw_request request = {
		.self_lb_block = self_lb_block(req),
		.underlay_qpn = req->source_qpn,
	};
	struct eth_ring send, receive;

	describe_ring(uc->client, req, qp, &send);
	receive = send;
	send.buffer = driver->sq_buf_addr;
	receive.buffer = driver->buf_addr;
	send.cqn = qp->send_cq->cqn;
	receive.cqn = qp->recv_cq->cqn;
	send.real_time = qp->send_cq->real_time;
	receive.real_time = qp->recv_cq->real_time;
	if (driver->sq_wqe_count) {
		send.log_size = __builtin_ctz(driver->sq_wqe_count);
		send.log_stride = req->log_block;
		request.send = &send;
	}
	if (driver->rq_wqe_count) {
		receive.log_size = __builtin_ctz(driver->rq_wqe_count);
		receive.log_stride = driver->rq_wqe_shift;
		request.receive = &receive;
	}
	if (!request.send && !request.receive)
		return EINVAL;
	if (adapter_is_mlx4(uc->adapter))
		return mlx4_make_raw_qp(uc->adapter, &request, &send, &receive, &qp->real->raw);
	return raw_qp_make(uc->adapter, &request, &qp->real->raw);
}

static int create_raw(struct uverbs_call *uc, const struct qp_request *req, struct uverbs_qp *qp)
{
	int ret;

	if (!qp->table)
		ret = create_with_rings(uc, req, qp);
	else if (adapter_is_mlx4(uc->adapter))
		ret = mlx4_spread(uc, qp->table, &qp->real->raw);
	else
		ret = qp_spread(uc, qp->table, &qp->real->raw);

	if (!ret)
		qp->real->qpn = raw_qp_number(qp->real->raw);
	return ret;
}

static int create_real(struct uverbs_call *uc, const struct qp_request *req, struct uverbs_qp *qp)
{
	int ret;

	qp->real = calloc(1, sizeof(*qp->real));
	if (!qp->real)
		return ENOMEM;
	qp->real->users = 1;
	if (req->type == QP_TYPE_DCT)
		ret = qp_dct_prepare(uc, req, qp);
	else if (qp_request_has_rings_apart(req))
		ret = create_raw(uc, req, qp);
	else
		ret = create_in_device(uc, req, qp);
	if (ret)
		free(qp->real);
	else if (qp->xrcd)
		xrc_domain_add_qp(qp->xrcd->domain, qp->real);
	return ret;
}

static bool has_queues(const struct uverbs_qp *qp)
{
	return !qp->xrcd && !qp->table && qp->type != QP_TYPE_DCT;
}

static int qp_make(struct uverbs_call *uc, struct qp_request *req, struct uverbs_qp *qp)
{
	int ret = qp_request_read(uc, req);

	if (!ret)
		ret = qp_request_check(uc, req);
	if (!ret)
		ret = qp_request_pin_memory(uc, req);
	if (ret)
		return ret;
	take_request(uc, req, qp);
	if (has_queues(qp) && !adapter_is_mlx4(uc->adapter) &&
	    !uverbs_uar_by_number(uc->file, req->driver.bfreg_index))
		return EINVAL;
	if (!qp_request_has_rings_apart(req) && qp->type != QP_TYPE_DCT)
		ret = check_ts_format(uc, qp);
	if (ret)
		return ret;
	ret = uc_async_channel(uc, UVERBS_ATTR_CREATE_QP_EVENT_FD, &qp->events.async);
	if (ret)
		return ret;
	ret = create_real(uc, req, qp);
	ret = event_source_made(&qp->events, ret, ret ? 0 : qp->real->qpn);
	if (!ret)
		count_users(qp, 1);
	return ret;
}

int qp_reopen(struct uverbs_call *uc, struct uverbs_xrcd *xrcd, struct real_qp *real,
	      uint64_t user_handle, struct uverbs_qp **out)
{
	struct uverbs_qp *qp;
	int ret = object_new(sizeof(*qp), uc->file, UVERBS_OBJECT_QP, qp_destroy, &qp);

	if (ret)
		return ret;
	qp->type = IB_UVERBS_QPT_XRC_TGT;
	qp->real = real;
	qp->xrcd = xrcd;
	qp->events = (struct event_source){ .adapter = uc->adapter,
					    .kind = SOURCE_QP,
					    .number = real->qpn,
					    .user_handle = user_handle,
					    .async = uc->file->async };
	if (qp->events.async)
		event_channel_get(qp->events.async);
	event_source_add(&qp->events);
	real->users++;
	count_users(qp, 1);
	*out = qp;
	return uc_publish(uc, &qp->base);
}

/* Reports the objects of a raw packet QP (SQ, RQ, TIR) to programs that use DevX. */
static void put_parts(const struct raw_qp *raw, struct mlx5_ib_create_qp_resp *resp)
{
	if (raw->has_sq) {
		resp->tisn = raw->tisn;
		resp->sqn = raw->sqn;
		resp->comp_mask |=
			MLX5_IB_CREATE_QP_RESP_MASK_TISN | MLX5_IB_CREATE_QP_RESP_MASK_SQN;
	}
	if (raw->has_rq) {
		resp->rqn = raw->rqn;
		resp->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_RQN;
	}
	if (raw->has_tir) {
		resp->tirn = raw->tirn;
		resp->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TIRN;
	}
	if (raw->tir_addr) {
		resp->tir_icm_addr = raw->tir_addr;
		resp->comp_mask |= MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR;
	}
}

static int qp_respond(struct uverbs_call *uc, struct qp_request *req, const struct uverbs_qp *qp)
{
	struct mlx5_ib_create_qp_resp driver = { .bfreg_index = req->driver.bfreg_index,
						 .ece_options = qp->ece };

	if (adapter_is_mlx4(uc->adapter))
		mlx4_grant_qp(req);
	else if (uc->file->uid && qp->real->raw)
		put_parts(qp->real->raw, &driver);
	if (uc_out(uc, UVERBS_ATTR_CREATE_QP_RESP_CAP, &req->cap, sizeof(req->cap)) ||
	    uc_out(uc, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp->real->qpn, sizeof(uint32_t)) ||
	    (!adapter_is_mlx4(uc->adapter) &&
	     uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver))))
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
		.qpn = qp->real->qpn,
		.user_index = driver->uidx,
		.sq_blocks = driver->sq_wqe_count,
		.rq_wqes = driver->rq_wqe_count,
	};

	if (!has_queues(qp) || adapter_is_mlx4(uc->adapter))
		/* not entered, as it has no queues, or the holder cannot write mlx4's CQEs */
		return;
	if (qp->real->raw) {
		entry.sq = driver->sq_buf_addr;
		entry.by_index = 1;
	}
	uc_epitaph_entry(uc, &qp->base, &entry.entry);
	epitaph_add_qp(uc->call->epitaph, &entry, &qp->send_cq->epitaph,
		       qp->recv_cq ? &qp->recv_cq->epitaph : &qp->send_cq->epitaph, &qp->epitaph);
}

static int qp_create(struct uverbs_call *uc)
{
	struct qp_request req;
	struct uverbs_qp *qp;
	int ret = object_new(sizeof(*qp), uc->file, UVERBS_OBJECT_QP, qp_destroy, &qp);

	if (ret)
		return ret;
	ret = uc_return_made(uc, qp_make(uc, &req, qp), UVERBS_ATTR_CREATE_QP_HANDLE, &qp->base);
	if (ret)
		return ret;
	qp_describe(uc, &req, qp);
	return uc_answered(uc, qp_respond(uc, &req, qp), &qp->base);
}

static int qp_end(struct uverbs_call *uc, struct uverbs_qp *qp, uint16_t answer)
{
	if (!LIST_EMPTY(&qp->groups))
		return EBUSY;
	return uc_destroy_reporting(uc, &qp->base, &qp->events, answer);
}

static int qp_remove(struct uverbs_call *uc)
{
	return qp_end(uc, uc_object(uc, UVERBS_ATTR_DESTROY_QP_HANDLE),
		      UVERBS_ATTR_DESTROY_QP_RESP);
}

static int qp_remove_write(struct uverbs_call *uc)
{
	struct ib_uverbs_destroy_qp cmd;
	struct uverbs_qp *qp;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd.qp_handle, &qp);
	return ret ? ret : qp_end(uc, qp, UVERBS_ATTR_CORE_OUT);
}

static const struct uverbs_attr create_attrs[] = {
	{ UVERBS_ATTR_CREATE_QP_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_QP },
	{ UVERBS_ATTR_CREATE_QP_PD_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_XRCD },
	{ UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0,
	  UVERBS_OBJECT_RWQ_IND_TBL },
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
	  sizeof(struct ib_uverbs_destroy_qp_resp), sizeof(struct ib_uverbs_destroy_qp_resp), 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_QP", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, qp_create, create_attrs),
	METHOD("DESTROY_QP", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, qp_remove, destroy_attrs),
};

const struct uverbs_methods qp_methods = METHODS(method_table);

static const struct uverbs_write write_table[] = {
	{ "DESTROY_QP", IB_USER_VERBS_CMD_DESTROY_QP, sizeof(struct ib_uverbs_destroy_qp),
	  sizeof(struct ib_uverbs_destroy_qp_resp), qp_remove_write },
};

const struct uverbs_writes qp_writes = METHODS(write_table);
