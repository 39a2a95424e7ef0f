/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - shared receive queues.
 */
#include "providers/mlx4/srq.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/common/owner.h"
#include "providers/common/pd.h"
#include "util/alloc.h"

static int srq_check_attr(struct mlx4_context *ctx, const struct ibv_srq_init_attr_ex *attr)
{
	const struct ibv_device_attr *device;
	int ret = provider_device_attr_get(&ctx->common.device, &device);

	if (ret)
		return ret;
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC &&
	    attr->srq_type != IBV_SRQT_XRC) {
		verbs_warn("create_srq: srq_type is %d: IBV_SRQT_BASIC and IBV_SRQT_XRC are "
			   "supported",
			   (int)attr->srq_type);
		return EOPNOTSUPP;
	}
	if (attr->attr.max_wr <= (unsigned int)device->max_srq_wr &&
	    attr->attr.max_sge <= (unsigned int)device->max_srq_sge)
		return 0;
	verbs_warn("create_srq: attr.max_wr is %u and attr.max_sge %u, limits %d and %d",
		   attr->attr.max_wr, attr->attr.max_sge, device->max_srq_wr, device->max_srq_sge);
	return EINVAL;
}

/* Computes the sizes as the kernel does from the same attributes, because the command does not
 * report them. */
static void srq_size(const struct ibv_srq_attr *attr, struct mlx4_srq *srq)
{
	uint64_t wqe = pow2_ceil(M4_SEG + (uint64_t)attr->max_sge * M4_SEG);

	srq->stride_log = log2_floor(max_of(wqe, (uint64_t)2 * M4_SEG));
	srq->max_sge = (1u << srq->stride_log) / M4_SEG - 1;
	srq->wqes = (uint32_t)pow2_ceil((uint64_t)attr->max_wr + 1);
}

static void srq_list_init(struct mlx4_srq *srq)
{
	for (uint32_t i = 0; i < srq->wqes; i++) {
		uint8_t *wqe = srq_wqe(srq, i);

		*srq_link(wqe) = htobe32((i + 1) & (srq->wqes - 1));
		for (uint32_t at = M4_SEG; at < 1u << srq->stride_log; at += M4_SEG)
			fld_set(wqe + at, M4_DATA_LKEY, M4_TERMINATOR_LKEY);
	}
	srq->tail = srq->wqes - 1;
}

static int srq_alloc(struct mlx4_context *ctx, struct ibv_pd *pd, struct mlx4_srq *srq)
{
	const struct queue_mem_request request = {
		.size = (size_t)srq->wqes << srq->stride_log,
		.place = { .align = ctx->common.queue_bufs.page },
		.alloc = ENV_ALLOC_ANON,
	};
	int ret = mlx4_queue_mem_alloc(ctx, pd, &request, &srq->buf);

	if (ret)
		return ret;
	srq->ring = srq->buf.addr;
	srq_list_init(srq);
	ret = ENOMEM;
	srq->wr_ids = calloc_for("create_srq", srq->wqes, sizeof(*srq->wr_ids));
	if (!srq->wr_ids)
		goto free_buf;
	ret = provider_queue_rec_alloc(&ctx->common.dbrecs, pd, 0, &srq->rec);
	if (ret)
		goto free_ids;
	srq->dbrec = srq->rec.words;
	return 0;
free_ids:
	free(srq->wr_ids);
free_buf:
	provider_queue_mem_free(&srq->buf);
	return ret;
}

static void srq_free(struct mlx4_context *ctx, struct mlx4_srq *srq)
{
	free(srq->wr_ids);
	provider_queue_mem_free(&srq->buf);
	provider_queue_rec_free(&ctx->common.dbrecs, 0, &srq->rec);
	free_aligned(srq);
}

/* Adds an XRC SRQ to the lookup table, because CQEs of its messages have the SRQ's number, but no
 * QP number of this process. */
static int srq_index(struct mlx4_context *ctx, struct mlx4_srq *srq, uint32_t srqn)
{
	int ret;

	srq->srqn = srqn;
	if (srq->vsrq.type != IBV_SRQT_XRC)
		return 0;
	srq->vsrq.srq_num = srqn;
	ret = provider_id_set(&ctx->common.ids, srq_id(srqn), srq);
	if (ret)
		verbs_cmd_destroy_srq(&srq->vsrq.srq);
	return ret;
}

static int srq_run_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			  struct mlx4_srq *srq)
{
	const struct mlx4_ib_create_srq req = {
		.buf_addr = (uintptr_t)srq->buf.addr,
		.db_addr = (uintptr_t)srq->dbrec,
	};
	struct mlx4_ib_create_srq_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret;

	srq->vsrq.ring_wr = srq->wqes - 1;
	srq->vsrq.ring_sge = srq->max_sge;
	ret = verbs_cmd_create_srq(context, attr, &srq->vsrq, &udata);
	if (ret)
		return ret;
	attr->attr.max_wr = srq->wqes - 1;
	return srq_index(to_mctx(context), srq, resp.srqn);
}

int mlx4_srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		    struct verbs_srq **vsrq)
{
	struct ibv_pd *pd = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL;
	struct mlx4_context *ctx = to_mctx(context);
	int ret = srq_check_attr(ctx, attr);
	struct mlx4_srq *srq;

	if (!ret)
		ret = provider_srq_check_owners(context, attr);
	if (ret)
		return ret;
	srq = zalloc_aligned_for("create_srq", CACHE_LINE, sizeof(*srq));
	if (!srq)
		return ENOMEM;
	srq_size(&attr->attr, srq);
	verbs_threads_look();
	qlock_init(&srq->lock, !pd_thread_domain(pd));
	srq->post = mlx4_datapath()->post_srq_routine(srq->stride_log, srq->lock.shared);
	ret = srq_alloc(ctx, pd, srq);
	if (ret) {
		free_aligned(srq);
		return ret;
	}
	ret = srq_run_create(context, attr, srq);
	if (ret) {
		srq_free(ctx, srq);
		return ret;
	}
	*vsrq = &srq->vsrq;
	return 0;
}

int mlx4_srq_destroy(struct ibv_srq *ibsrq)
{
	struct mlx4_context *ctx = to_mctx(ibsrq->context);
	struct mlx4_srq *srq = to_msrq(ibsrq);
	int ret = verbs_cmd_destroy_srq(ibsrq);

	if (ret)
		return ret;
	if (srq->vsrq.type == IBV_SRQT_XRC) {
		mlx4_cq_clean_srq(to_mcq(srq->vsrq.cq), srq->vsrq.srq_num);
		provider_id_clear(&ctx->common.ids, srq_id(srq->vsrq.srq_num));
	}
	srq_free(ctx, srq);
	return 0;
}
