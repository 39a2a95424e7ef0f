/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - receive work queues, and the indirection tables over which a QP with receive side scaling
 * spreads packets.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/wq.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/qp/size.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/wq.h"
#include "providers/mlx5/device.h"
#include "util/alloc.h"

struct mlx5_wq {
	struct ibv_wq wq;
	struct mlx5_rq rq;
	struct queue_mem buf;
	struct queue_rec rec;
	/* valid during creation; NULL: an ordinary WQ */
	const struct mlx5dv_striding_rq_init_attr *strides;
};

static struct mlx5_wq *to_mwq(struct ibv_wq *wq)
{
	return container_of(wq, struct mlx5_wq, wq);
}

void mlx5_wq_describe(struct ibv_wq *ibwq, struct mlx5dv_rwq *out)
{
	const struct mlx5_rq *rq = &to_mwq(ibwq)->rq;

	out->comp_mask = 0;
	out->buf = to_mwq(ibwq)->buf.addr;
	out->dbrec = rq->dbrec;
	out->wqe_cnt = rq->wq.mask + 1;
	out->stride = 1u << rq->stride_log;
}

#define CREATE_FLAGS_SUPPORTED                                                               \
	(IBV_WQ_FLAGS_CVLAN_STRIPPING | IBV_WQ_FLAGS_SCATTER_FCS | IBV_WQ_FLAGS_DELAY_DROP | \
	 IBV_WQ_FLAGS_PCI_WRITE_END_PADDING)

static int wq_post_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_rq *rq = &to_mwq(wq)->rq;

	return rq->post(rq, wr, bad_wr);
}

static int wq_check_attr(const struct ibv_wq_init_attr *attr)
{
	if (attr->wq_type != IBV_WQT_RQ) {
		verbs_warn("create_wq: wq_type is %d, must be IBV_WQT_RQ", (int)attr->wq_type);
		return EINVAL;
	}
	if (attr->comp_mask & ~(uint32_t)IBV_WQ_INIT_ATTR_FLAGS) {
		verbs_warn("create_wq: comp_mask is %#x, supported are %#x", attr->comp_mask,
			   IBV_WQ_INIT_ATTR_FLAGS);
		return EINVAL;
	}
	if (attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS &&
	    attr->create_flags & ~(uint32_t)CREATE_FLAGS_SUPPORTED) {
		verbs_warn("create_wq: create_flags is %#x, supported are %#x", attr->create_flags,
			   CREATE_FLAGS_SUPPORTED);
		return EOPNOTSUPP;
	}
	if (!attr->max_wr) {
		verbs_warn("create_wq: max_wr is 0, must be 1 or more");
		return EINVAL;
	}
	return 0;
}

static uint32_t wq_recv_head(const struct mlx5_context *ctx, const struct mlx5_wq *wq)
{
	return (ctx->env.wq_signatures ? RECV_SIGNATURE_SIZE : 0) +
	       (wq->strides ? PRM_STRIDING_HEAD : 0);
}

static int rq_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, const struct qp_size *size,
		    struct mlx5_wq *wq)
{
	struct mlx5_rq *rq = &wq->rq;
	int ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_RWQ,
				       (size_t)size->rq_wqes << size->rq_stride_log,
				       (size_t)1 << size->rq_stride_log, &wq->buf);

	if (ret)
		return ret;
	rq->buf = (uint8_t *)wq->buf.addr + wq_recv_head(ctx, wq);
	rq->stride_log = size->rq_stride_log;
	rq->max_sge = size->rq_max_sge;
	rq->wq.mask = size->rq_wqes - 1;
	rq->wq.max_post = size->rq_wqes;
	wq_reset(&rq->wq);
	ret = ENOMEM;
	rq->wq.wr_ids = calloc_for("create_wq", size->rq_wqes, sizeof(*rq->wq.wr_ids));
	if (!rq->wq.wr_ids)
		goto free_buf;
	ret = mlx5_queue_rec_alloc(ctx, pd, &wq->rec);
	if (ret)
		goto free_ids;
	rq->dbrec = wq->rec.words;
	return 0;
free_ids:
	free(rq->wq.wr_ids);
free_buf:
	provider_queue_mem_free(&wq->buf);
	return ret;
}

static void rq_free(struct mlx5_context *ctx, struct mlx5_wq *wq)
{
	free(wq->rq.wq.wr_ids);
	provider_queue_mem_free(&wq->buf);
	mlx5_queue_rec_free(ctx, &wq->rec);
}

static int wq_run_create(struct mlx5_context *ctx, struct ibv_wq_init_attr *attr,
			 const struct qp_size *size, struct mlx5_wq *wq)
{
	const struct mlx5dv_striding_rq_init_attr none = { 0 },
						  *strides = wq->strides ? wq->strides : &none;
	const struct mlx5_ib_create_wq req = {
		.buf_addr = (uintptr_t)wq->buf.addr,
		.db_addr = (uintptr_t)wq->rq.dbrec,
		.rq_wqe_count = size->rq_wqes,
		.rq_wqe_shift = size->rq_stride_log,
		.user_index = wq->rq.rsn,
		.flags = ctx->env.wq_signatures ? MLX5_WQ_FLAG_SIGNATURE : 0,
		.comp_mask = wq->strides ? MLX5_IB_CREATE_WQ_STRIDING_RQ : 0,
		.single_stride_log_num_of_bytes = strides->single_stride_log_num_of_bytes,
		.single_wqe_log_num_of_strides = strides->single_wqe_log_num_of_strides,
		.two_byte_shift_en = strides->two_byte_shift_en,
	};
	struct mlx5_ib_create_wq_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret = verbs_cmd_create_wq(&ctx->vctx.context, attr, &wq->wq, &udata);

	if (ret)
		return ret;
	wq->wq.post_recv = wq_post_recv;
	/* Receives may be posted in any state, and wait until the WQ is ready, so the gate stays
	 * open from here on. */
	rq_set_gate(&wq->rq, true);
	wq->rq.number = wq->wq.wq_num;
	return 0;
}

/* Creates a WQ. CQEs identify a WQ only by user index, so CQE version 0 does not support it. */
static int wq_create_indexed(struct mlx5_context *ctx, struct ibv_wq_init_attr *attr,
			     const struct qp_size *size, struct mlx5_wq *wq)
{
	int ret;

	if (!context_has_user_index(ctx)) {
		verbs_warn("create_wq: WQs need CQEs of version 1");
		return EOPNOTSUPP;
	}
	ret = provider_id_alloc(&ctx->common.ids, &wq->rq, &wq->rq.rsn);
	if (ret) {
		verbs_warn("create_wq: no user index is free");
		return ret;
	}
	ret = wq_run_create(ctx, attr, size, wq);
	if (ret)
		provider_id_clear(&ctx->common.ids, wq->rq.rsn);
	return ret;
}

static void wq_choose_routines(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_rq *rq)
{
	bool shared = !ctx->env.single_threaded && !pd_thread_domain(pd);

	verbs_threads_look();
	qlock_init(&rq->lock, shared);
	rq->post =
		ctx->env.wq_signatures
			? mlx5_datapath()->post_recv_signed
			: mlx5_datapath()->post_recv_routine(rq->max_sge, rq->stride_log, shared);
	rq->owner = RQ_OF_WQ;
	rq_choose_checksums(rq, mlx5_device_checks_ip(ctx));
}

static int wq_build(struct mlx5_context *ctx, struct ibv_wq_init_attr *attr, struct mlx5_wq *wq)
{
	const struct ibv_qp_cap cap = { .max_recv_wr = attr->max_wr,
					.max_recv_sge = attr->max_sge };
	const struct wqe_heads heads = { .recv = wq_recv_head(ctx, wq) };
	struct qp_size size;
	int ret = wq_check_attr(attr);

	if (!ret)
		ret = mlx5_qp_size_queues(&ctx->caps, &cap, &heads, &size);
	if (!ret)
		ret = rq_alloc(ctx, attr->pd, &size, wq);
	if (ret)
		return ret;
	wq_choose_routines(ctx, attr->pd, &wq->rq);
	ret = wq_create_indexed(ctx, attr, &size, wq);
	if (ret)
		rq_free(ctx, wq);
	return ret;
}

int mlx5_wq_create_with(struct ibv_context *context, struct ibv_wq_init_attr *attr,
			const struct mlx5dv_striding_rq_init_attr *strides, struct ibv_wq **out)
{
	struct mlx5_wq *wq = calloc_for("create_wq", 1, sizeof(*wq));
	int ret;

	if (!wq)
		return ENOMEM;
	wq->strides = strides;
	ret = wq_build(to_mctx(context), attr, wq);
	wq->strides = NULL;
	if (ret)
		free(wq);
	else
		*out = &wq->wq;
	return ret;
}

struct ibv_wq *mlx5_wq_create(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	struct ibv_wq *wq;
	int ret = mlx5_wq_create_with(context, attr, NULL, &wq);

	if (!ret)
		return wq;
	errno = ret;
	return NULL;
}

/* Empties the WQ before it is used again: otherwise CQEs of its earlier use would complete requests
 * of the new one. */
static void wq_renew(struct mlx5_wq *wq)
{
	mlx5_cq_clean(to_mcq(wq->wq.cq), &wq->rq);
	qlock_enter(&wq->rq.lock);
	wq_reset(&wq->rq.wq);
	wq->rq.dbrec[MLX5_RCV_DBR] = 0;
	qlock_leave(&wq->rq.lock);
	__atomic_store_n(&wq->rq.error_reported, false, __ATOMIC_RELAXED);
}

int mlx5_wq_modify(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	const struct mlx5_ib_modify_wq req = { 0 };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	struct mlx5_wq *wq = to_mwq(ibwq);
	int ret;

	ret = verbs_cmd_modify_wq(ibwq, attr, &udata);
	if (ret || !(attr->attr_mask & IBV_WQ_ATTR_STATE))
		return ret;
	if (attr->wq_state == IBV_WQS_RESET)
		wq_renew(wq);
	return 0;
}

int mlx5_wq_destroy(struct ibv_wq *ibwq)
{
	struct mlx5_context *ctx = to_mctx(ibwq->context);
	struct mlx5_wq *wq = to_mwq(ibwq);
	int ret = verbs_cmd_destroy_wq(ibwq);

	if (ret)
		return ret;
	mlx5_cq_clean(to_mcq(ibwq->cq), &wq->rq);
	provider_id_clear(&ctx->common.ids, wq->rq.rsn);
	rq_free(ctx, wq);
	free(wq);
	return 0;
}
