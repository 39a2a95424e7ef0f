/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - creates and destroys shared receive queues. Messages of a basic SRQ complete in the CQs
 * of their QPs; messages of XRC and tag-matching SRQs (tm.c) complete in the SRQ's own CQ.
 */
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/srq.h"

#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/device.h"
#include "providers/common/owner.h"
#include "util/alloc.h"
#include "providers/mlx5/tm.h"

static int srq_check_limit(const char *field, uint32_t value, uint32_t limit, const char *rule)
{
	if (value <= limit)
		return 0;
	verbs_warn("create_srq: %s is %u, limit %u: %s", field, value, limit, rule);
	return EINVAL;
}

static int srq_check_type(const struct mlx5_context *ctx, const struct ibv_srq_init_attr_ex *attr)
{
	switch (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC) {
	case IBV_SRQT_BASIC:
		return 0;
	case IBV_SRQT_XRC:
	case IBV_SRQT_TM:
		if (context_has_user_index(ctx))
			return attr->srq_type == IBV_SRQT_TM ? mlx5_tm_check_attr(attr) : 0;
		verbs_warn("create_srq: srq_type is XRC or TM, which need CQEs of version 1");
		return EOPNOTSUPP;
	default:
		verbs_warn("create_srq: srq_type is %d, which is not in enum ibv_srq_type",
			   (int)attr->srq_type);
		return EINVAL;
	}
}

static int srq_check_attr(const struct mlx5_context *ctx, const struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t max_sge =
		(ctx->caps.max_rq_desc_sz - (uint32_t)sizeof(struct mlx5_wqe_srq_next_seg)) /
		WQE_SEG;
	int ret = srq_check_type(ctx, attr);

	if (!ret)
		ret = srq_check_limit("attr.max_wr", attr->attr.max_wr, ctx->caps.max_srq_recv_wr,
				      "the longest shared receive queue of the device");
	if (!ret)
		ret = srq_check_limit("attr.max_sge", attr->attr.max_sge, max_sge,
				      "the longest receive WQE of the device");
	return ret;
}

/* Computes the ring size as the kernel does from the same attributes. The ring has one WQE more
 * than may be posted, and each WQE is a power of two, for the link and the segments. If the device
 * supports buffers on demand and rings of that length, doubles the ring: the second half is room
 * for WQEs that met a page fault. */
static void srq_size(struct mlx5_context *ctx, struct mlx5_srq *srq,
		     const struct ibv_srq_attr *attr)
{
	uint64_t wqe = sizeof(struct mlx5_wqe_srq_next_seg) + (uint64_t)attr->max_sge * WQE_SEG;

	wqe = max_of(pow2_ceil(wqe), (uint64_t)2 * WQE_SEG);
	srq->stride_log = log2_floor(wqe);
	srq->max_sge = (uint32_t)(wqe / WQE_SEG) - 1;
	srq->wqes = (uint32_t)pow2_ceil((uint64_t)attr->max_wr + 1);
	srq->max_wr = srq->wqes - 1;
	if (2 * srq->wqes - 1 <= ctx->caps.max_srq_recv_wr && mlx5_device_faults_srqs(ctx))
		srq->wqes *= 2;
}

static int srq_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_srq *srq)
{
	size_t bytes = (size_t)srq->wqes << srq->stride_log;
	int ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_SRQ, bytes,
				       (size_t)1 << srq->stride_log, &srq->buf);

	if (ret)
		return ret;
	srq->ring = srq->buf.addr;
	ret = ENOMEM;
	srq->wr_ids = calloc_for("create_srq", srq->max_wr + 1, sizeof(*srq->wr_ids));
	if (!srq->wr_ids)
		goto free_buf;
	ret = mlx5_srq_ring_init(srq);
	if (ret)
		goto free_ids;
	ret = mlx5_queue_rec_alloc(ctx, pd, &srq->rec);
	if (ret)
		goto free_ring;
	srq->dbrec = srq->rec.words;
	return 0;
free_ring:
	mlx5_srq_ring_free(srq);
free_ids:
	free(srq->wr_ids);
free_buf:
	provider_queue_mem_free(&srq->buf);
	return ret;
}

static void srq_free(struct mlx5_context *ctx, struct mlx5_srq *srq)
{
	mlx5_tm_free(srq);
	mlx5_srq_ring_free(srq);
	free(srq->wr_ids);
	provider_queue_mem_free(&srq->buf);
	mlx5_queue_rec_free(ctx, &srq->rec);
	free(srq);
}

static void srq_choose_routines(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_srq *srq)
{
	bool shared = !ctx->env.single_threaded && !pd_thread_domain(pd);

	verbs_threads_look();
	qlock_init(&srq->lock, shared);
	srq->post = mlx5_datapath()->post_srq_routine(srq->max_sge, shared);
	qlock_init(&srq->rq.lock, shared);
	srq->rq.owner = RQ_OF_SRQ;
	srq->rq.special = RQ_SHARED;
	srq->rq.srq = srq;
}

static int srq_run_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			  struct mlx5_srq *srq)
{
	const struct mlx5_ib_create_srq req = {
		.buf_addr = (uintptr_t)srq->buf.addr,
		.db_addr = (uintptr_t)srq->dbrec,
		.flags = to_mctx(context)->env.srq_signatures ? MLX5_SRQ_FLAG_SIGNATURE : 0,
		.uidx = srq->rq.rsn,
	};
	struct mlx5_ib_create_srq_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret;

	/* The kernel gets the real size of the ring, so that its checks and its answer to queries
	 * match. */
	srq->vsrq.ring_wr = srq->wqes - 1;
	srq->vsrq.ring_sge = srq->max_sge;
	ret = verbs_cmd_create_srq(context, attr, &srq->vsrq, &udata);
	if (ret)
		return ret;
	attr->attr.max_wr = srq->max_wr;
	srq->srqn = resp.srqn;
	srq->rq.number = resp.srqn;
	srq->vsrq.srq_num = resp.srqn;
	return 0;
}

static bool srq_completes_itself(const struct ibv_srq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC;
}

/* Creates the SRQ. If the SRQ has its own CQ, its completions have a user index of the SRQ.
 * Otherwise they lead to the QP of the message. */
static int srq_create_indexed(struct mlx5_context *ctx, struct ibv_srq_init_attr_ex *attr,
			      struct mlx5_srq *srq)
{
	int ret = 0;

	srq->rq.rsn = PRM_NO_USER_INDEX;
	if (srq_completes_itself(attr))
		ret = provider_id_alloc(&ctx->common.ids, &srq->rq, &srq->rq.rsn);
	if (ret) {
		verbs_warn("create_srq: no user index is free");
		return ret;
	}
	ret = srq_run_create(&ctx->vctx.context, attr, srq);
	if (ret && srq->rq.rsn != PRM_NO_USER_INDEX)
		provider_id_clear(&ctx->common.ids, srq->rq.rsn);
	return ret;
}

/* Adds the matching list to the SRQ, which must exist because the list refers to it. */
static int srq_add_tags(struct mlx5_context *ctx, struct mlx5_srq *srq,
			const struct ibv_srq_init_attr_ex *attr)
{
	int ret = mlx5_tm_create(srq, attr);

	if (ret) {
		verbs_cmd_destroy_srq(&srq->vsrq.srq);
		provider_id_clear(&ctx->common.ids, srq->rq.rsn);
		return ret;
	}
	mlx5_datapath()->cq_ex_read_tags(to_mcq(attr->cq));
	return 0;
}

int mlx5_srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		    struct verbs_srq **vsrq)
{
	struct ibv_pd *pd = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL;
	struct mlx5_context *ctx = to_mctx(context);
	struct mlx5_srq *srq;
	int ret = srq_check_attr(ctx, attr);

	if (!ret)
		ret = provider_srq_check_owners(context, attr);
	if (ret)
		return ret;
	srq = calloc_for("create_srq", 1, sizeof(*srq));
	if (!srq)
		return ENOMEM;
	srq_size(ctx, srq, &attr->attr);
	srq_choose_routines(ctx, pd, srq);
	ret = srq_alloc(ctx, pd, srq);
	if (ret) {
		free(srq);
		return ret;
	}
	ret = srq_create_indexed(ctx, attr, srq);
	if (ret) {
		srq_free(ctx, srq);
		return ret;
	}
	if (srq->vsrq.type == IBV_SRQT_TM)
		ret = srq_add_tags(ctx, srq, attr);
	if (ret) {
		srq_free(ctx, srq);
		return ret;
	}
	*vsrq = &srq->vsrq;
	return 0;
}

/* Queries the SRQ. Returns the size that the library granted, because the kernel reports the whole
 * ring, and some of its WQEs are not for requests. */
int mlx5_srq_query(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	int ret = verbs_cmd_query_srq(ibsrq, attr);

	if (!ret)
		attr->max_wr = to_msrq(ibsrq)->max_wr;
	return ret;
}

int mlx5_srq_destroy(struct ibv_srq *ibsrq)
{
	struct mlx5_context *ctx = to_mctx(ibsrq->context);
	struct mlx5_srq *srq = to_msrq(ibsrq);
	int ret = srq->tm ? mlx5_tm_destroy(srq) : 0;

	if (!ret)
		ret = verbs_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;
	if (srq->rq.rsn != PRM_NO_USER_INDEX) {
		mlx5_cq_clean(to_mcq(srq->vsrq.cq), &srq->rq);
		provider_id_clear(&ctx->common.ids, srq->rq.rsn);
	}
	srq_free(ctx, srq);
	return 0;
}
