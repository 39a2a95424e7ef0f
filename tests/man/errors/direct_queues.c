/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * direct_queues.c - pages on queues that direct verbs create: queue pairs, DC, streams, completion
 * and work queues, and requests on them.
 *
 * Covers: providers/mlx5/dv/qp.c, providers/mlx5/dv/cq.c, providers/mlx5/dv/wq.c,
 * providers/mlx5/data/send_wr_dv.c
 */
#include <infiniband/mlx5dv.h>

#include "errors.h"

enum { MANY = 2000 };

static int create_qp(struct bed *bed, struct ibv_qp_init_attr_ex attr,
		     struct mlx5dv_qp_init_attr mlx5)
{
	return OBJ(mlx5dv_create_qp(bed->ctx, &attr, &mlx5));
}

static struct mlx5dv_qp_init_attr with_ops(uint64_t ops)
{
	return (struct mlx5dv_qp_init_attr){ .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					     .send_ops_flags = ops };
}

static struct mlx5dv_qp_init_attr with_flags(uint32_t flags)
{
	return (struct mlx5dv_qp_init_attr){ .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					     .create_flags = flags };
}

static struct mlx5dv_qp_init_attr dc_of(enum mlx5dv_dc_type type)
{
	return (struct mlx5dv_qp_init_attr){ .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
					     .dc_init_attr = { .dc_type = type } };
}

/* Right for a DC target, but for the SRQ. */
static struct ibv_qp_init_attr_ex target_attr(struct bed *bed)
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.qp_type = IBV_QPT_DRIVER;
	attr.cap = (struct ibv_qp_cap){ 0 };
	return attr;
}

static struct ibv_qp_init_attr_ex initiator_attr(struct bed *bed)
{
	struct ibv_qp_init_attr_ex attr = target_attr(bed);

	attr.cap = (struct ibv_qp_cap){ .max_send_wr = 16, .max_send_sge = 2 };
	return attr;
}

CASE(mlx5dv_create_qp, EOPNOTSUPP, "or is for an XRC receive queue pair")
{
	struct ibv_xrcd_init_attr xrcd = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1
	};
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD };

	MUST(attr.xrcd = ibv_open_xrcd(bed->ctx, &xrcd));
	return create_qp(bed, attr, with_ops(MLX5DV_QP_EX_WITH_RAW_WQE));
}

CASE_ON(ON_ROCE, mlx5dv_create_qp, EOPNOTSUPP, "Data is to be placed out of order")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.qp_type = IBV_QPT_RAW_PACKET;
	return create_qp(bed, attr, with_flags(MLX5DV_QP_CREATE_OOO_DP));
}

CASE(mlx5dv_create_qp, EINVAL, "comp_mask or create_flags has something unknown or contradictory")
{
	return create_qp(bed, bed_qp_attr_ex(bed), with_flags(1u << 30));
}

CASE(mlx5dv_create_qp, EINVAL, "comp_mask or create_flags has something unknown or contradictory")
{
	return create_qp(bed, bed_qp_attr_ex(bed),
			 with_flags(MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE |
				    MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE));
}

CASE(mlx5dv_create_qp, EINVAL, "or what neither the type nor the device has")
{
	return create_qp(bed, bed_qp_attr_ex(bed), with_flags(MLX5DV_QP_CREATE_TUNNEL_OFFLOADS));
}

CASE(mlx5dv_create_qp, EINVAL, "or that type without it")
{
	return create_qp(bed, initiator_attr(bed),
			 with_flags(MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE));
}

CASE(mlx5dv_create_qp, EINVAL, "a target lacks its SRQ or its completion queue")
{
	return create_qp(bed, target_attr(bed), dc_of(MLX5DV_DCTYPE_DCT));
}

CASE(mlx5dv_create_qp, EINVAL, "a target lacks its SRQ or its completion queue")
{
	struct ibv_qp_init_attr_ex attr = target_attr(bed);

	attr.srq = bed_srq(bed);
	attr.recv_cq = NULL;
	return create_qp(bed, attr, dc_of(MLX5DV_DCTYPE_DCT));
}

CASE(mlx5dv_create_qp, EINVAL, "an initiator has receives")
{
	struct ibv_qp_init_attr_ex attr = initiator_attr(bed);

	attr.cap.max_recv_wr = attr.cap.max_recv_sge = 1;
	return create_qp(bed, attr, dc_of(MLX5DV_DCTYPE_DCI));
}

CASE(mlx5dv_create_qp, EINVAL, "there are more streams than the device has")
{
	struct mlx5dv_qp_init_attr mlx5 = dc_of(MLX5DV_DCTYPE_DCI);

	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	mlx5.dc_init_attr.dci_streams.log_num_concurent = 200;
	return create_qp(bed, initiator_attr(bed), mlx5);
}

CASE(mlx5dv_create_qp, EINVAL, "mlx5_qp_attr has operations, and a target")
{
	struct mlx5dv_qp_init_attr mlx5 = dc_of(MLX5DV_DCTYPE_DCT);
	struct ibv_qp_init_attr_ex attr = target_attr(bed);

	attr.srq = bed_srq(bed);
	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
	mlx5.send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE;
	return create_qp(bed, attr, mlx5);
}

CASE(mlx5dv_create_qp, EINVAL, "or as for ibv_create_qp_ex(3)")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.cap.max_recv_sge = 10000;
	return create_qp(bed, attr, with_ops(MLX5DV_QP_EX_WITH_RAW_WQE));
}

CASE(mlx5dv_create_cq, EINVAL, "or not one, of what the device has")
{
	struct ibv_cq_init_attr_ex basic = { .cqe = 16 };
	struct mlx5dv_cq_init_attr attr = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
		.cqe_comp_res_format = MLX5DV_CQE_RES_FORMAT_HASH | MLX5DV_CQE_RES_FORMAT_CSUM,
	};

	return OBJ(mlx5dv_create_cq(bed->ctx, &basic, &attr));
}

CASE(mlx5dv_create_cq, EINVAL, "or as for ibv_create_cq_ex(3)")
{
	struct ibv_cq_init_attr_ex basic = { .cqe = 0 };
	struct mlx5dv_cq_init_attr attr = { .comp_mask = 0 };

	return OBJ(mlx5dv_create_cq(bed->ctx, &basic, &attr));
}

static int create_wq(struct bed *bed, uint32_t max_wr)
{
	struct mlx5dv_wq_init_attr attr = { .comp_mask = 0 };
	struct ibv_wq_init_attr basic = {
		.wq_type = IBV_WQT_RQ, .max_wr = max_wr, .max_sge = 2, .pd = bed->pd, .cq = bed->cq
	};

	return OBJ(mlx5dv_create_wq(bed->ctx, &basic, &attr));
}

CASE(mlx5dv_create_wq, EOPNOTSUPP, "or its device has no queues of Ethernet frames")
{
	return create_wq(bed, 8);
}

CASE_ON(ON_ROCE, mlx5dv_create_wq, EINVAL, "or as for ibv_create_wq(3)")
{
	return create_wq(bed, 0);
}

/* A program that polls by itself moves the index in the record, so the library must not move it. */
CASE(ibv_create_cq, EINVAL, "or the program reads the ring itself")
{
	struct ibv_cq *cq = ibv_create_cq(bed->ctx, 16, NULL, NULL, 0);
	struct mlx5dv_cq view = { 0 };
	struct mlx5dv_obj obj = { .cq = { cq, &view } };

	MUST(cq && !mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	*view.dbrec = htobe32(1);
	return RET(ibv_resize_cq(cq, 100));
}

static struct ibv_qp *streams_ready(struct bed *bed)
{
	struct mlx5dv_qp_init_attr mlx5 = dc_of(MLX5DV_DCTYPE_DCI);
	struct ibv_qp_init_attr_ex attr = initiator_attr(bed);
	struct ibv_qp_attr to = { .port_num = RIG_PORT, .path_mtu = IBV_MTU_1024 };
	static const int masks[] = {
		[IBV_QPS_INIT] = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
		[IBV_QPS_RTR] = IBV_QP_STATE | IBV_QP_PATH_MTU,
		[IBV_QPS_RTS] = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN,
	};
	struct ibv_qp *qp;

	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	mlx5.dc_init_attr.dci_streams.log_num_concurent = 3;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	MUST(qp = mlx5dv_create_qp(bed->ctx, &attr, &mlx5));
	for (to.qp_state = IBV_QPS_INIT; to.qp_state <= IBV_QPS_RTS; to.qp_state++)
		MUST(!ibv_modify_qp(qp, &to, masks[to.qp_state]));
	return qp;
}

CASE(mlx5dv_dci_stream_id_reset, EINVAL, "or the stream is not in error")
{
	return RET(mlx5dv_dci_stream_id_reset(streams_ready(bed), 1));
}

CASE(mlx5dv_dci_stream_id_reset, EOPNOTSUPP, "qp is not in RTS")
{
	return RET(mlx5dv_dci_stream_id_reset(bed->rc, 1));
}

static struct ibv_qp_ex *qp_of_ops(struct bed *bed, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct mlx5dv_qp_init_attr mlx5 = with_ops(ops);
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp;

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	MUST(qp = mlx5dv_create_qp(bed->ctx, &attr, &mlx5));
	rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	ibv_wr_start(ibv_qp_to_qp_ex(qp));
	return ibv_qp_to_qp_ex(qp);
}

static int post_raw(struct bed *bed, uint32_t octwords, int count)
{
	struct ibv_qp_ex *qp = qp_of_ops(bed, MLX5DV_QP_EX_WITH_RAW_WQE);
	uint32_t wqe[256] = { htobe32(MLX5_OPCODE_NOP), htobe32(octwords) };

	for (int i = 0; i < count; i++)
		mlx5dv_wr_raw_wqe(mlx5dv_qp_ex_from_ibv_qp_ex(qp), wqe);
	return RET(ibv_wr_complete(qp));
}

CASE(mlx5dv_wr_post, ENOMEM, "or larger than a WQE of the queue pair may be")
{
	return post_raw(bed, 63, 1);
}

CASE(mlx5dv_wr_post, ENOMEM, "or the send queue is full")
{
	return post_raw(bed, 1, MANY);
}

static int post_copy(struct bed *bed, size_t length)
{
	struct ibv_qp_ex *qp = qp_of_ops(bed, MLX5DV_QP_EX_WITH_MEMCPY);

	mlx5dv_wr_memcpy(mlx5dv_qp_ex_from_ibv_qp_ex(qp), bed->mr->lkey, (uintptr_t)bed->buf,
			 bed->mr->lkey, (uintptr_t)bed->buf + BED_BUF / 2, length);
	return RET(ibv_wr_complete(qp));
}

CASE(mlx5dv_wr_post, EINVAL, "mlx5dv_wr_memcpy(): length is out of range")
{
	return post_copy(bed, 0);
}

CASE(mlx5dv_wr_post, EINVAL, "mlx5dv_wr_memcpy(): length is out of range")
{
	return post_copy(bed, (size_t)1 << 31);
}

CASE(mlx5dv_qp_cancel_posted_send_wrs, EINVAL, "The send queue has not stopped")
{
	struct ibv_qp_ex *qp = qp_of_ops(bed, MLX5DV_QP_EX_WITH_RAW_WQE);

	ibv_wr_abort(qp);
	return RET(-mlx5dv_qp_cancel_posted_send_wrs(mlx5dv_qp_ex_from_ibv_qp_ex(qp), 1));
}
