/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command.c - the kernel's command that creates a QP.
 */
#include "providers/mlx5/qp/build.h"

#include <errno.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/qp/extra.h"

static uint32_t qp_dv_flags(uint32_t flags)
{
	static const struct {
		uint32_t dv, kernel;
	} table[] = {
		{ MLX5DV_QP_CREATE_TUNNEL_OFFLOADS, MLX5_QP_FLAG_TUNNEL_OFFLOADS },
		{ MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC },
		{ MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC },
		{ MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE,
		  MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE },
	};
	uint32_t kernel = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (flags & table[i].dv)
			kernel |= table[i].kernel;
	return kernel;
}

static uint32_t qp_vendor_flags(const struct mlx5_qp_dv *dv, const struct mlx5_qp *qp)
{
	uint32_t flags = qp_dv_flags(dv->flags);

	if (qp->rules == mlx5_qp_dct_rules())
		flags |= MLX5_QP_FLAG_TYPE_DCT;
	if (qp->rules == mlx5_qp_dci_rules())
		flags |= MLX5_QP_FLAG_TYPE_DCI;
	if (dv->has_streams)
		flags |= MLX5_QP_FLAG_DCI_STREAM;
	return flags;
}

/* Returns the driver's flags. Small payloads may arrive inside the CQE, except when the program's
 * memory is not accessible to the CPU. */
static uint32_t qp_kernel_flags(const struct mlx5_context *ctx, const struct mlx5_qp_dv *dv,
				const struct mlx5_qp *qp)
{
	const struct mlx5_bfreg *bfreg = qp->sq.bfreg;
	uint32_t flags = context_has_uar_objects(ctx) ? MLX5_QP_FLAG_UAR_PAGE_INDEX : 0;

	if (bfreg)
		flags = bfreg->uar->qp_flag;
	flags |= qp_vendor_flags(dv, qp);
	if (qp->has_signatures)
		flags |= MLX5_QP_FLAG_SIGNATURE;
	if (dv->flags & MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE)
		return flags;
	if (ctx->env.scatter_to_cqe)
		flags |= MLX5_QP_FLAG_SCATTER_CQE;
	if (dv->flags & MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE)
		flags |= MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE;
	return flags;
}

/* Finds the register that a kernel without UAR objects chose for a QP. */
static int qp_take_register(const struct mlx5_context *ctx, uint32_t number, struct mlx5_sq *sq)
{
	const struct mlx5_bfreg *bfreg = sq->bfreg;

	return bfreg && !bfreg->uar->qp_flag ? mlx5_uar_find_reg(ctx, number, &sq->db.reg) : 0;
}

/* Sets CAP to the granted capacities. If the QP has no send queue, the program's values for it stay
 * unchanged, as there is nothing to grant. */
static void qp_grant_cap(const struct ibv_qp_cap *granted, struct ibv_qp_cap *cap)
{
	struct ibv_qp_cap asked = *cap;

	*cap = *granted;
	if (granted->max_send_wr)
		return;
	cap->max_send_sge = asked.max_send_sge;
	cap->max_inline_data = asked.max_inline_data;
}

static bool qp_cq_is_of_day(struct ibv_cq *cq)
{
	return cq && to_mcq(cq)->kernel_flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
}

/* Logs why the kernel refused the timestamp formats. The adapter writes timestamps of one format
 * per QP, so both CQs must have the same; the kernel treats a CQ without timestamps as one with
 * ticks. The CQs were created without knowledge of their QPs. */
static void qp_explain_timestamps(const struct ibv_qp_init_attr_ex *attr, int ret)
{
	bool send = qp_cq_is_of_day(attr->send_cq), receive = qp_cq_is_of_day(attr->recv_cq);

	if (ret != EOPNOTSUPP || send == receive)
		return;
	verbs_warn("create_qp: %s has IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK alone, and %s "
		   "has not: a QP has timestamps of one format, so both or none, or raw timestamps "
		   "as well",
		   send ? "send_cq" : "recv_cq", send ? "recv_cq" : "send_cq");
}

static void qp_take_parts(const struct mlx5_ib_create_qp_resp *resp, struct mlx5_qp *qp)
{
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_TIRN)
		qp->parts.tirn = resp->tirn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_TISN)
		qp->parts.tisn = resp->tisn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_RQN)
		qp->parts.rqn = resp->rqn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_SQN)
		qp->parts.sqn = resp->sqn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR)
		qp->parts.tir_icm_addr = resp->tir_icm_addr;
}

int mlx5_qp_run_create(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
		       const struct qp_size *size, const struct mlx5_qp_dv *dv, struct mlx5_qp *qp)
{
	/* A copy, because qp_grant_cap() sets the capacities granted, not the kernel. */
	struct ibv_qp_init_attr_ex kernel_attr = *attr;
	const struct mlx5_ib_create_qp req = {
		.buf_addr = (uintptr_t)qp->buf.addr,
		.db_addr = (uintptr_t)qp->dbrec,
		.sq_wqe_count = size->sq_wqebbs,
		.rq_wqe_count = size->rq_wqes,
		.rq_wqe_shift = size->rq_stride_log,
		.flags = qp_kernel_flags(ctx, dv, qp),
		.uidx = context_has_user_index(ctx) ? qp->rq.rsn : PRM_NO_USER_INDEX,
		.bfreg_index = qp->sq.bfreg ? qp->sq.bfreg->index : 0,
		/* access_key of a DCT goes in here: the kernel's struct has both in a union,
		 * because a DCT has no send queue. */
		.sq_buf_addr = qp->rules->is_target ? dv->access_key
						    : (uint64_t)(uintptr_t)qp->sq_buf.addr,
		.ece_options = context_has_ece(ctx) ? ECE_VERSION_1 : 0,
		.dci_streams = { dv->streams.log_num_concurent, dv->streams.log_num_errored },
	};
	struct mlx5_ib_create_qp_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret = verbs_cmd_create_qp(&ctx->vctx.context, &kernel_attr, &qp->vqp, &udata);

	qp_explain_timestamps(attr, ret);
	if (ret)
		return ret;
	ret = qp_take_register(ctx, resp.bfreg_index, &qp->sq);
	if (ret) {
		verbs_cmd_destroy_qp(&qp->vqp.qp);
		return ret;
	}
	qp_take_parts(&resp, qp);
	qp->has_ece = context_has_ece(ctx);
	qp->ece_granted = resp.ece_options;
	qp->sq.qpn_shifted = (uint64_t)qp->vqp.qp.qp_num << 8;
	qp->rq.number = qp->sq.number = qp->vqp.qp.qp_num;
	qp->cap = (struct ibv_qp_cap){
		.max_send_wr = size->sq_max_post,
		.max_recv_wr = qp_rq_max_post(qp, size),
		.max_send_sge = size->sq_max_sge,
		.max_recv_sge = size->rq_max_sge,
		.max_inline_data = size->sq_max_inline,
	};
	qp_grant_cap(&qp->cap, &attr->cap);
	verbs_debug("create_qp: qp 0x%x: %s QP, %u send WQEBBs, %u receive WQEs of %u bytes",
		    qp->rq.number, qp->rules->name, size->sq_wqebbs, size->rq_wqes,
		    1u << size->rq_stride_log);
	return 0;
}

int mlx5_qp_run_create_rss(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			   const struct mlx5_qp_dv *dv, struct mlx5_qp *qp)
{
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;
	struct ibv_qp_init_attr_ex kernel_attr = *attr;
	struct mlx5_ib_create_qp_rss req = {
		.rx_hash_fields_mask = hash->rx_hash_fields_mask,
		.rx_hash_function = hash->rx_hash_function,
		.rx_key_len = hash->rx_hash_key_len,
		.flags = qp_dv_flags(dv->flags),
	};
	struct mlx5_ib_create_qp_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret;

	if (hash->rx_hash_key_len > sizeof(req.rx_hash_key)) {
		verbs_warn("create_qp: rx_hash_conf.rx_hash_key_len is %u, limit %zu",
			   hash->rx_hash_key_len, sizeof(req.rx_hash_key));
		return EINVAL;
	}
	memcpy(req.rx_hash_key, hash->rx_hash_key, hash->rx_hash_key_len);
	ret = verbs_cmd_create_qp(&ctx->vctx.context, &kernel_attr, &qp->vqp, &udata);
	if (!ret)
		qp_take_parts(&resp, qp);
	return ret;
}
