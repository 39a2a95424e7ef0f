/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.c - reads and checks a program's request to create a QP.
 */
#include <errno.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/wqe.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/qp/request.h"
#include "softhca/log.h"
#include "util/bits.h"

enum {
	SUPPORTED_DRIVER_FLAGS = MLX5_QP_FLAG_SIGNATURE | MLX5_QP_FLAG_SCATTER_CQE |
				 MLX5_QP_FLAG_ALLOW_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX |
				 MLX5_QP_FLAG_BFREG_INDEX,
	SELF_LB_FLAGS = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC,
	RAW_FLAGS = IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING,
	KNOWN_FLAGS = RAW_FLAGS | IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |
		      IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING,
	TYPE_FLAGS = MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT,
	MAX_RQ_SHIFT = 11,
};

static bool is_spread(struct uverbs_call *uc)
{
	return uc_attr(uc, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
}

/* Reads the driver's part. QPs without queues have no sizes there, or other data. */
static int read_driver_part(struct uverbs_call *uc, struct qp_request *req)
{
	req->driver = (struct mlx5_ib_create_qp){ 0 };
	req->log_block = WQE_BB_LOG;
	if (is_spread(uc))
		return 0; /* nothing, as qp/rss.c or mlx4/wq.c reads it */
	if (adapter_is_mlx4(uc->adapter))
		return mlx4_read_qp(uc, req);
	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &req->driver, sizeof(req->driver)))
		return EFAULT;
	if (req->type == IB_UVERBS_QPT_XRC_TGT)
		req->driver = (struct mlx5_ib_create_qp){ .uidx = req->driver.uidx };
	return 0;
}

/* Returns the type of a QP with the driver's own type: DCI or DCT. Others keep their type, which is
 * refused later. */
static uint32_t driver_type(const struct qp_request *req)
{
	switch (req->driver.flags & TYPE_FLAGS) {
	case MLX5_QP_FLAG_TYPE_DCI:
		return QP_TYPE_DCI;
	case MLX5_QP_FLAG_TYPE_DCT:
		return QP_TYPE_DCT;
	default:
		return req->type;
	}
}

int qp_request_read(struct uverbs_call *uc, struct qp_request *req)
{
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &req->user_handle, 8) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_CAP, &req->cap, sizeof(req->cap)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_TYPE, &req->type, sizeof(req->type)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_FLAGS, &req->flags, sizeof(req->flags)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_QP_SOURCE_QPN, &req->source_qpn, sizeof(req->source_qpn)))
		return EFAULT;
	req->is_underlay = uc_attr(uc, UVERBS_ATTR_CREATE_QP_SOURCE_QPN);
	ret = read_driver_part(uc, req);
	if (ret)
		return ret;
	if (req->type == IB_UVERBS_QPT_DRIVER)
		req->type = driver_type(req);
	return 0;
}

static int refuse_unsupported(struct uverbs_call *uc, const char *what, uint32_t value)
{
	log_note("%s: create_qp: %s %#x is not supported", uc->adapter->name, what, value);
	return EOPNOTSUPP;
}

/* Returns whether the QP has a receive queue: not with an SRQ, nor if it receives nothing. */
static bool has_receive_queue(struct uverbs_call *uc, const struct qp_request *req)
{
	return req->type != IB_UVERBS_QPT_XRC_INI && req->type != IB_UVERBS_QPT_XRC_TGT &&
	       req->type != QP_TYPE_DCI && !uc_object(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
}

static int check_sizes(struct uverbs_call *uc, const struct qp_request *req)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;
	uint32_t max = 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_QP_SZ);

	if (driver->sq_wqe_count && (!is_pow2(driver->sq_wqe_count) || driver->sq_wqe_count > max))
		return EINVAL;
	if (!driver->rq_wqe_count)
		return 0;
	if (!has_receive_queue(uc, req))
		return EINVAL;
	if (!is_pow2(driver->rq_wqe_count) || driver->rq_wqe_count > max)
		return EINVAL;
	if (driver->rq_wqe_shift < QP_MIN_RQ_SHIFT || driver->rq_wqe_shift > MAX_RQ_SHIFT)
		return EINVAL;
	return 0;
}

static int check_target(struct uverbs_call *uc)
{
	const struct uverbs_srq *srq = uc_object(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);

	if (uc_attr(uc, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
	    uc_attr(uc, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE) ||
	    uc_attr(uc, UVERBS_ATTR_CREATE_QP_PD_HANDLE))
		return EINVAL;
	if (!uc_attr(uc, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE))
		return ENOENT;
	return srq && srq->type != IB_UVERBS_SRQT_XRC ? EINVAL : 0;
}

/* Checks an RSS QP: the table's queues receive, so it has none itself. */
static int check_spread(struct uverbs_call *uc, const struct qp_request *req)
{
	if (req->type != IB_UVERBS_QPT_RAW_PACKET || req->cap.max_recv_wr ||
	    req->cap.max_recv_sge || uc_attr(uc, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
	    uc_attr(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
		return EINVAL;
	return req->cap.max_send_wr ? EOPNOTSUPP : 0;
}

static int check_objects(struct uverbs_call *uc, const struct qp_request *req)
{
	const struct uverbs_srq *srq = uc_object(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);

	if (req->type == IB_UVERBS_QPT_XRC_TGT)
		return check_target(uc);
	if (uc_attr(uc, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
	    (srq && req->type == IB_UVERBS_QPT_XRC_INI))
		return EINVAL;
	if (!uc_object(uc, UVERBS_ATTR_CREATE_QP_PD_HANDLE))
		return ENOENT;
	if (uc_attr(uc, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE))
		return check_spread(uc, req);
	if (!uc_object(uc, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE))
		return ENOENT;
	if (req->type != IB_UVERBS_QPT_XRC_INI &&
	    !uc_object(uc, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE))
		return ENOENT;
	return srq && srq->type == IB_UVERBS_SRQT_XRC ? EINVAL : 0;
}

static int check_raw_packets(struct uverbs_call *uc)
{
	if (!client_may(uc->tid, CLIENT_CAP_NET_RAW))
		return EPERM;
	return adapter_cap(uc->adapter, HCA_CAP_ETH_NET_OFFLOADS)
		       ? 0
		       : refuse_unsupported(uc, "type", 0);
}

/* Checks a DC QP: an initiator receives nothing, and a target only through an SRQ. */
static int check_driver_type(struct uverbs_call *uc, const struct qp_request *req)
{
	if (!adapter_cap(uc->adapter, HCA_CAP_DCT))
		return refuse_unsupported(uc, "type", req->type);
	if (req->type == QP_TYPE_DCI)
		return req->cap.max_recv_wr || req->cap.max_recv_sge ? EINVAL : 0;
	if (req->type == QP_TYPE_DCT)
		return uc_object(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) ? 0 : EINVAL;
	return EINVAL;
}

static int check_type(struct uverbs_call *uc, const struct qp_request *req)
{
	switch (req->type) {
	case IB_UVERBS_QPT_XRC_INI:
	case IB_UVERBS_QPT_XRC_TGT:
		return adapter_cap(uc->adapter, HCA_CAP_XRC)
			       ? 0
			       : refuse_unsupported(uc, "XRC", req->type);
	case IB_UVERBS_QPT_RC:
	case IB_UVERBS_QPT_UC:
	case IB_UVERBS_QPT_UD:
		return 0;
	case IB_UVERBS_QPT_RAW_PACKET:
		return check_raw_packets(uc);
	case IB_UVERBS_QPT_DRIVER:
	case QP_TYPE_DCI:
	case QP_TYPE_DCT:
		return check_driver_type(uc, req);
	default:
		return EINVAL;
	}
}

static int check_flags(struct uverbs_call *uc, const struct qp_request *req)
{
	uint32_t flags = req->flags & ~IB_UVERBS_QP_CREATE_SQ_SIG_ALL;

	if (flags & ~KNOWN_FLAGS || (flags && req->type == QP_TYPE_DCT))
		return EINVAL;
	if (flags && req->type != IB_UVERBS_QPT_RAW_PACKET && req->type != IB_UVERBS_QPT_UD)
		return EINVAL;
	if (flags & RAW_FLAGS && req->type == IB_UVERBS_QPT_UD)
		return EINVAL;
	if (fld_get(uc->adapter->eth_caps, ETH_CAP_VLAN_CAP) && !adapter_is_mlx4(uc->adapter))
		flags &= ~(uint32_t)IB_UVERBS_QP_CREATE_CVLAN_STRIPPING;
	if (adapter_cap(uc->adapter, HCA_CAP_BLOCK_LB_MC))
		flags &= ~IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (adapter_cap(uc->adapter, HCA_CAP_END_PAD))
		flags &= ~IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
	if (flags)
		return refuse_unsupported(uc, "flag", flags);
	if (req->is_underlay && (req->type != IB_UVERBS_QPT_UD || adapter_is_roce(uc->adapter)))
		return refuse_unsupported(uc, "a source QPN", req->source_qpn);
	return 0;
}

static int check_driver_part(struct uverbs_call *uc, const struct qp_request *req)
{
	uint32_t known = SUPPORTED_DRIVER_FLAGS;

	if (req->type == IB_UVERBS_QPT_XRC_TGT || is_spread(uc))
		return 0;
	if (req->type == IB_UVERBS_QPT_RAW_PACKET)
		known |= SELF_LB_FLAGS;
	if (req->type == QP_TYPE_DCI || req->type == QP_TYPE_DCT)
		known |= TYPE_FLAGS;
	if (req->type == QP_TYPE_DCI &&
	    adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_DCI_STREAM_CHANNELS))
		known |= MLX5_QP_FLAG_DCI_STREAM;
	if (req->driver.flags & ~known) {
		refuse_unsupported(uc, "driver flag", req->driver.flags);
		return EINVAL;
	}
	if (req->type == QP_TYPE_DCT)
		return 0; /* nothing, as it has no queues */
	if (!(req->driver.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX)) {
		refuse_unsupported(uc, "a static UAR", req->driver.bfreg_index);
		return EINVAL;
	}
	return check_sizes(uc, req);
}

int qp_request_check(struct uverbs_call *uc, const struct qp_request *req)
{
	int ret = check_type(uc, req);

	if (!ret)
		ret = check_objects(uc, req);
	if (!ret)
		ret = check_flags(uc, req);
	if (!ret)
		ret = check_driver_part(uc, req);
	return ret;
}

static uint64_t buffer_bytes(const struct qp_request *req)
{
	return ((uint64_t)req->driver.rq_wqe_count << req->driver.rq_wqe_shift) +
	       ((uint64_t)req->driver.sq_wqe_count << req->log_block);
}

/* Returns the size of the doorbell record; mlx4's is only for receives. */
static uint64_t record_bytes(const struct uverbs_call *uc, const struct qp_request *req)
{
	if (req->type == IB_UVERBS_QPT_XRC_TGT)
		return 0;
	if (adapter_is_mlx4(uc->adapter))
		return req->driver.rq_wqe_count ? sizeof(uint32_t) : 0;
	return 2 * sizeof(uint32_t);
}

/* Pins a raw packet QP's rings, which are in separate buffers (on mlx4 in one). */
static int pin_rings_apart(struct uverbs_call *uc, const struct qp_request *req)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;
	uint64_t receives = (uint64_t)driver->rq_wqe_count << driver->rq_wqe_shift;
	uint64_t sends = (uint64_t)driver->sq_wqe_count << req->log_block;
	int ret = 0;

	if (adapter_is_mlx4(uc->adapter))
		return receives + sends ? uc_pin(uc, driver->buf_addr, receives + sends, true) : 0;
	if (sends)
		ret = uc_pin(uc, driver->sq_buf_addr, sends, true);
	if (!ret && receives)
		ret = uc_pin(uc, driver->buf_addr, receives, true);
	return ret;
}

static int pin_buffer(struct uverbs_call *uc, struct qp_request *req)
{
	uint64_t bytes = buffer_bytes(req);
	int ret;

	req->memory = (struct queue_memory){ 0 };
	if (!bytes)
		return 0; /* nothing, as a missing queue has nothing to describe */
	ret = queue_memory_describe(req->driver.buf_addr, bytes, QUEUE_MEMORY_OFFSETS,
				    &req->memory);
	return ret ? ret : uc_pin(uc, req->driver.buf_addr, bytes, true);
}

int qp_request_pin_memory(struct uverbs_call *uc, struct qp_request *req)
{
	int ret = 0;

	if (req->type == QP_TYPE_DCT || is_spread(uc))
		return 0;
	if (record_bytes(uc, req))
		ret = uc_pin_record(uc, req->driver.db_addr, record_bytes(uc, req));
	if (ret)
		return ret;
	return qp_request_has_rings_apart(req) ? pin_rings_apart(uc, req) : pin_buffer(uc, req);
}
