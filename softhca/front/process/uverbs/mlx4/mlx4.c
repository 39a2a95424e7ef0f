/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4.c - mlx4_ib's part of calls. Layouts: rdma/mlx4-abi.h; limits are those that mlx4_ib reports
 * for a ConnectX-3.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx4-abi.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/wqe.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqe.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/driver/frame_qpns.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/qp/request.h"
#include "softhca/log.h"
#include "util/bits.h"

/* Pages of the uverbs file. */
enum { DOORBELL_PAGE = 0, BLUEFLAME_PAGE = 1 };

enum {
	BF_REG_SIZE = 512,
	SPARE_WQES = 33, /* WQEs that the driver keeps back, as the adapter prefetches */
	LOG_MAX_WQES = 14,
	MAX_SGE = 32,
	MAX_SGE_RD = 30,
	MAX_RQ_SGE = 32,
	MAX_INLINE_RECEIVE = MAX_RQ_SGE * M4_SEG,
	QPT_RAW_PACKET = 8,
	HASH_FIELDS = MLX4_IB_RX_HASH_SRC_IPV4 | MLX4_IB_RX_HASH_DST_IPV4 |
		      MLX4_IB_RX_HASH_SRC_IPV6 | MLX4_IB_RX_HASH_DST_IPV6 |
		      MLX4_IB_RX_HASH_SRC_PORT_TCP | MLX4_IB_RX_HASH_DST_PORT_TCP |
		      MLX4_IB_RX_HASH_SRC_PORT_UDP | MLX4_IB_RX_HASH_DST_PORT_UDP,
};

static int return_context(struct uverbs_call *uc, uint16_t vectors_id, uint16_t support_id,
			  uint16_t resp_id)
{
	static const uint32_t vectors = NUM_COMP_VECTORS;
	static const uint64_t support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	const struct mlx4_ib_alloc_ucontext_resp resp = {
		.dev_caps = MLX4_USER_DEV_CAP_LARGE_CQE,
		.qp_tab_size = 1u << M4_LOG_QPNS,
		.bf_reg_size = BF_REG_SIZE,
		.bf_regs_per_page = UAR_PAGE_SIZE / BF_REG_SIZE,
		.cqe_size = M4_CQE_LARGE,
	};

	if (uc_out(uc, vectors_id, &vectors, sizeof(vectors)) ||
	    uc_out(uc, support_id, &support, sizeof(support)) ||
	    uc_out(uc, resp_id, &resp, sizeof(resp)))
		return EFAULT;
	return 0;
}

int mlx4_open_context(struct uverbs_call *uc)
{
	struct uverbs_file *file = uc->file;
	int ret = adapter_allocate(uc->adapter, PRM_OP_ALLOC_UAR, &file->doorbells.uar);

	if (ret)
		return ret;
	file->page_used[DOORBELL_PAGE] = file->page_used[BLUEFLAME_PAGE] = true;
	file->doorbells.page = (volatile uint64_t *)(file->pages + DOORBELL_PAGE * UAR_PAGE_SIZE);
	engine_add_page(uc->adapter, &file->doorbells);
	ret = return_context(uc, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			     UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_UHW_OUT);
	if (ret)
		mlx4_close_context(file);
	return ret;
}

void mlx4_close_context(struct uverbs_file *file)
{
	if (!file->doorbells.page)
		return;
	engine_remove_page(file->adapter, &file->doorbells);
	adapter_release(file->adapter, PRM_OP_DEALLOC_UAR, file->doorbells.uar);
	file->doorbells.page = NULL;
}

uint64_t mlx4_ring_in(uint64_t addr)
{
	return addr & ~(uint64_t)(UAR_PAGE_SIZE - 1);
}

int mlx4_check_cq(uint32_t cqe, uint32_t flags)
{
	return !cqe || flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION ? EINVAL : 0;
}

int mlx4_read_cq(struct uverbs_call *uc, struct mlx5_ib_create_cq *driver, uint32_t *uar)
{
	struct mlx4_ib_create_cq part;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &part, sizeof(part)))
		return EFAULT;
	*driver = (struct mlx5_ib_create_cq){
		.buf_addr = mlx4_ring_in(part.buf_addr),
		.db_addr = part.db_addr,
		.cqe_size = M4_CQE_LARGE,
	};
	*uar = uc->file->doorbells.uar;
	return 0;
}

int mlx4_read_resize(struct uverbs_call *uc, struct mlx5_ib_resize_cq *driver)
{
	struct mlx4_ib_resize_cq part;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &part, sizeof(part)))
		return EFAULT;
	*driver = (struct mlx5_ib_resize_cq){ .buf_addr = mlx4_ring_in(part.buf_addr),
					      .cqe_size = M4_CQE_LARGE };
	return 0;
}

int mlx4_read_srq(struct uverbs_call *uc, struct mlx5_ib_create_srq *driver)
{
	struct mlx4_ib_create_srq part;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &part, sizeof(part)))
		return EFAULT;
	*driver = (struct mlx5_ib_create_srq){
		.buf_addr = mlx4_ring_in(part.buf_addr),
		.db_addr = part.db_addr,
		.uidx = PRM_NO_USER_INDEX,
	};
	return 0;
}

/* Sizes the queues. The program gives the send queue's size; the receive queue's follows from the
 * verb's capacities. */
static int size_queues(const struct mlx4_ib_create_qp *part, bool has_rq, struct qp_request *req)
{
	struct mlx5_ib_create_qp *driver = &req->driver;
	uint32_t sges = req->cap.max_recv_sge;

	if (part->log_sq_stride < M4_MIN_SLOT_LOG || part->log_sq_stride > M4_MAX_SLOT_LOG ||
	    part->log_sq_bb_count > 31 || part->reserved)
		return EINVAL;
	driver->sq_wqe_count = 1u << part->log_sq_bb_count;
	req->log_block = part->log_sq_stride;
	if (part->inl_recv_sz > (has_rq ? MAX_INLINE_RECEIVE : 0))
		return EINVAL;
	if (sges > MAX_RQ_SGE || req->cap.max_recv_wr > (1u << LOG_MAX_WQES) - SPARE_WQES)
		return EINVAL;
	if (!has_rq)
		return req->cap.max_recv_wr ? EINVAL : 0;
	if (!req->cap.max_recv_wr || !sges)
		return EINVAL;
	driver->rq_wqe_count = 1u << log2_ceil(req->cap.max_recv_wr);
	driver->rq_wqe_shift = log2_ceil((uint64_t)sges) + QP_MIN_RQ_SHIFT;
	return 0;
}

/* Checks an XRC target QP, which posts nothing. Yet mlx4_ib (create_qp_common in Linux 6.1) reads
 * the size of its send queue and takes memory for it, and so refuses the zeroes of the
 * distribution's libmlx4, which Linux before 5.2 accepted. Such programs work here. */
static int check_target(struct uverbs_call *uc, const struct mlx4_ib_create_qp *part,
			struct qp_request *req)
{
	int ret = 0;

	if (part->buf_addr || part->log_sq_stride || part->log_sq_bb_count)
		ret = size_queues(part, false, req);
	if (!ret && req->driver.sq_wqe_count)
		ret = uc_pin(uc, part->buf_addr,
			     (uint64_t)req->driver.sq_wqe_count << req->log_block, true);
	req->driver = (struct mlx5_ib_create_qp){ .uidx = PRM_NO_USER_INDEX };
	return ret;
}

int mlx4_read_qp(struct uverbs_call *uc, struct qp_request *req)
{
	struct mlx4_ib_create_qp part;
	bool has_rq = req->type != IB_UVERBS_QPT_XRC_INI && req->type != IB_UVERBS_QPT_XRC_TGT &&
		      !uc_object(uc, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	int ret;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &part, sizeof(part)))
		return EFAULT;
	req->driver = (struct mlx5_ib_create_qp){
		.buf_addr = mlx4_ring_in(part.buf_addr),
		.db_addr = part.db_addr,
		.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.bfreg_index = uc->file->doorbells.uar,
		.uidx = PRM_NO_USER_INDEX,
	};
	if (req->type == IB_UVERBS_QPT_XRC_TGT)
		return check_target(uc, &part, req);
	ret = size_queues(&part, has_rq, req);
	if (!ret && part.inl_recv_sz) {
		log_note("mlx4: a QP that receives into its WQEs: how adapters do is not known");
		return EOPNOTSUPP;
	}
	return ret;
}

void mlx4_grant_qp(struct qp_request *req)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;

	req->cap.max_recv_wr = driver->rq_wqe_count;
	req->cap.max_recv_sge =
		driver->rq_wqe_count ? 1u << (driver->rq_wqe_shift - QP_MIN_RQ_SHIFT) : 0;
}

/* Places the rings in the shared buffer: the one with the larger WQEs first, or the send ring if
 * they are equal. */
static void place_rings(struct eth_ring *send, struct eth_ring *receive)
{
	uint32_t sends = send->log_stride ? 1u << (send->log_size + send->log_stride) : 0;
	uint32_t receives =
		receive->log_stride ? 1u << (receive->log_size + receive->log_stride) : 0;

	send->buffer = receive->buffer;
	send->record = 0; /* 0, as each WQE has an ownership bit instead */
	if (receive->log_stride > send->log_stride)
		send->skip = receives;
	else
		receive->skip = sends;
}

int mlx4_make_raw_qp(struct adapter *adapter, struct raw_request *request, struct eth_ring *send,
		     struct eth_ring *receive, struct raw_qp **raw)
{
	int ret = frame_qpns_reserve(adapter, 1, true, &request->number);

	if (ret)
		return ret;
	send->number = receive->number = request->number;
	place_rings(send, receive);
	ret = raw_qp_make(adapter, request, raw);
	if (ret)
		frame_qpns_release(adapter, request->number, 1);
	return ret;
}

void mlx4_limit_device(struct ib_uverbs_query_device_resp *resp)
{
	resp->device_cap_flags |= IB_UVERBS_DEVICE_RAW_IP_CSUM;
	resp->max_qp_wr -= SPARE_WQES;
	resp->max_sge = MAX_SGE;
	resp->max_sge_rd = MAX_SGE_RD;
	resp->max_srq_sge = MAX_RQ_SGE - 1;
}

/* Limits the capabilities of Ethernet queues: on mlx4, these queues are QPs. */
void mlx4_limit_ethernet(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp)
{
	resp->rss_caps.max_rwq_indirection_tables = resp->base.max_qp;
	resp->rss_caps.max_rwq_indirection_table_size =
		1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RQT_SIZE);
	resp->rss_caps.supported_qpts = 1u << QPT_RAW_PACKET;
	resp->max_wq_type_rq = resp->base.max_qp;
}

int mlx4_answer_device(struct uverbs_call *uc)
{
	struct mlx4_uverbs_ex_query_device_resp part = { .max_inl_recv_sz = MAX_INLINE_RECEIVE };

	if (adapter_cap(uc->adapter, HCA_CAP_ETH_NET_OFFLOADS)) {
		part.rss_caps.rx_hash_function = MLX4_IB_RX_HASH_FUNC_TOEPLITZ;
		part.rss_caps.rx_hash_fields_mask = HASH_FIELDS;
		part.tso_caps.max_tso = 1u << fld_get(uc->adapter->eth_caps, ETH_CAP_MAX_LSO_CAP);
		part.tso_caps.supported_qpts = 1u << QPT_RAW_PACKET;
	}
	part.response_length = uc_response_length(uc, UVERBS_ATTR_UHW_OUT, sizeof(part));
	return uc_out(uc, UVERBS_ATTR_UHW_OUT, &part, sizeof(part));
}
