/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - receive work queues, and the indirection tables over which a QP with receive side scaling
 * spreads frames.
 *
 * For the adapter and the poller, a WQ is a QP that only receives. A table's WQs are addressed by
 * the number of the first one, so the kernel numbers WQs from a range, whose size the program sets
 * before it creates the first of them (mlx4dv_set_context_attr()).
 */
#include "providers/mlx4/wq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/common/pd.h"
#include "util/alloc.h"

enum { LOG_MAX_WQES = 14, SPARE_WQES = 33, MAX_SGE = 32, HASH_KEY_SIZE = 40 };

struct mlx4_wq {
	struct ibv_wq wq;
	struct mlx4_qp qp; /* receive ring, and the object that CQEs lead to */
};

static struct mlx4_wq *to_mwq(struct ibv_wq *wq)
{
	return container_of(wq, struct mlx4_wq, wq);
}

const struct mlx4_qp *mlx4_wq_queue(struct ibv_wq *wq)
{
	return &to_mwq(wq)->qp;
}

static int wq_post_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx4_rq *rq = &to_mwq(wq)->qp.rq;

	return rq->post(rq, wr, bad_wr);
}

static int wq_refuse(const char *field, uint32_t value, uint32_t limit)
{
	verbs_warn("create_wq: %s is %u, limit %u", field, value, limit);
	return EINVAL;
}

static int wq_check_attr(const struct ibv_wq_init_attr *attr)
{
	const uint32_t max_wr = (1u << LOG_MAX_WQES) - SPARE_WQES;

	if (attr->wq_type != IBV_WQT_RQ) {
		verbs_warn("create_wq: wq_type is %d, must be IBV_WQT_RQ", (int)attr->wq_type);
		return EOPNOTSUPP;
	}
	if (attr->comp_mask & ~(uint32_t)IBV_WQ_INIT_ATTR_FLAGS) {
		verbs_warn("create_wq: comp_mask is %#x, supported are %#x", attr->comp_mask,
			   IBV_WQ_INIT_ATTR_FLAGS);
		return EOPNOTSUPP;
	}
	if (attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS &&
	    attr->create_flags & ~(uint32_t)IBV_WQ_FLAGS_SCATTER_FCS) {
		verbs_warn("create_wq: create_flags is %#x, supported are %#x", attr->create_flags,
			   IBV_WQ_FLAGS_SCATTER_FCS);
		return EOPNOTSUPP;
	}
	if (attr->max_wr > max_wr)
		return wq_refuse("max_wr", attr->max_wr, max_wr);
	return attr->max_sge > MAX_SGE ? wq_refuse("max_sge", attr->max_sge, MAX_SGE) : 0;
}

/* Places the receive ring next to a send slot, which is never used and must not look posted. The
 * larger one is first, or the send slot if both are equal. */
static void place_ring(struct mlx4_qp *qp)
{
	const size_t receives = (size_t)(qp->rq.wq.mask + 1) << qp->rq.stride_log;
	uint8_t *buf = qp->buf.addr;
	bool first = qp->rq.stride_log > M4_MIN_SLOT_LOG;

	qp->rq.buf = first ? buf : buf + M4_PIECE;
	*(__be32 *)(first ? buf + receives : buf) = htobe32(FLD_BITS(M4_CTRL_OWNER));
}

static int wq_alloc(struct mlx4_context *ctx, const struct ibv_wq_init_attr *attr,
		    struct mlx4_qp *qp)
{
	const uint32_t wqes = (uint32_t)pow2_ceil(max_of(attr->max_wr, 1u));
	struct mlx4_rq *rq = &qp->rq;
	struct queue_mem_request request = {
		.place = { .align = ctx->common.queue_bufs.page },
		.alloc = ENV_ALLOC_ANON,
	};
	int ret;

	rq->stride_log = log2_ceil(pow2_ceil(max_of(attr->max_sge, 1u)) * M4_SEG);
	rq->max_sge = (1u << rq->stride_log) / M4_SEG;
	rq->wq.mask = wqes - 1;
	rq->wq.max_post = wqes;
	wq_reset(&rq->wq);
	request.size = ((size_t)wqes << rq->stride_log) + M4_PIECE;
	ret = mlx4_queue_mem_alloc(ctx, attr->pd, &request, &qp->buf);
	if (ret) {
		verbs_warn("create_wq: no memory for a ring of %zu bytes", request.size);
		return ret;
	}
	place_ring(qp);
	rq->wq.wr_ids = calloc_for("create_wq", wqes, sizeof(*rq->wq.wr_ids));
	if (!rq->wq.wr_ids)
		return ENOMEM;
	ret = provider_queue_rec_alloc(&ctx->common.dbrecs, attr->pd, 0, &qp->rec);
	rq->dbrec = qp->rec.words;
	return ret;
}

static void wq_free(struct mlx4_context *ctx, struct mlx4_wq *wq)
{
	struct mlx4_qp *qp = &wq->qp;

	free(qp->rq.wq.wr_ids);
	if (qp->buf.addr)
		provider_queue_mem_free(&qp->buf);
	if (qp->rec.words)
		provider_queue_rec_free(&ctx->common.dbrecs, 0, &qp->rec);
	free_aligned(wq);
}

/* Runs CREATE_WQ. A requested range of numbers begins with this WQ, and later WQs get the next
 * numbers of it, because an RSS QP needs consecutive numbers. */
static int wq_ask_kernel(struct mlx4_context *ctx, struct ibv_wq_init_attr *granted,
			 struct mlx4_wq *wq)
{
	struct mlx4_ib_create_wq req = {
		.buf_addr = (uintptr_t)wq->qp.buf.addr,
		.db_addr = (uintptr_t)wq->qp.rq.dbrec,
	};
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	int ret;

	pthread_mutex_lock(&ctx->wqs_lock);
	req.log_range_size = ctx->log_wqs_range;
	ret = verbs_cmd_create_wq(&ctx->vctx.context, granted, &wq->wq, &udata);
	if (!ret)
		ctx->log_wqs_range = 0;
	pthread_mutex_unlock(&ctx->wqs_lock);
	return ret;
}

static int wq_run_create(struct mlx4_context *ctx, struct ibv_wq_init_attr *attr,
			 struct mlx4_wq *wq)
{
	struct ibv_wq_init_attr granted = *attr;
	int ret;

	granted.max_wr = max_of(attr->max_wr, 1u);
	granted.max_sge = max_of(attr->max_sge, 1u);
	ret = wq_ask_kernel(ctx, &granted, wq);
	if (ret)
		return ret;
	wq->qp.vqp.qp.qp_num = wq->wq.wq_num;
	ret = provider_id_set(&ctx->common.ids, wq->wq.wq_num, &wq->qp);
	if (ret) {
		verbs_cmd_destroy_wq(&wq->wq);
		return ret;
	}
	attr->max_wr = granted.max_wr;
	attr->max_sge = granted.max_sge;
	return 0;
}

/* Chooses the routines. Receives may be posted in any state, because they wait until the WQ is
 * ready, so sge_limit permits them at once. */
static void wq_choose_routines(struct mlx4_context *ctx, struct ibv_pd *pd, struct mlx4_wq *wq)
{
	const struct ibv_device_attr *device;
	struct mlx4_qp *qp = &wq->qp;

	verbs_threads_look();
	qlock_init(&qp->rq.lock, !pd_thread_domain(pd));
	qp->kind = SEND_RAW;
	qp->rq.post = mlx4_datapath()->post_recv_routine(qp->rq.stride_log, qp->rq.lock.shared);
	qp->rq.sge_limit = qp->rq.max_sge + 1;
	qp->is_ethernet = true;
	qp->sl_shift = FLD_SHIFT(M4_CQE_ETH_PRIO);
	qp->has_checksums = !provider_device_attr_get(&ctx->common.device, &device) &&
			    device->device_cap_flags & IBV_DEVICE_RAW_IP_CSUM;
	wq->wq.post_recv = wq_post_recv;
}

static int wq_build(struct mlx4_context *ctx, struct ibv_wq_init_attr *attr, struct mlx4_wq *wq)
{
	int ret = wq_alloc(ctx, attr, &wq->qp);

	if (ret)
		return ret;
	wq_choose_routines(ctx, attr->pd, wq);
	return wq_run_create(ctx, attr, wq);
}

struct ibv_wq *mlx4_wq_create(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	struct mlx4_wq *wq = NULL;
	int ret = wq_check_attr(attr);

	if (!ret) {
		wq = zalloc_aligned_for("create_wq", CACHE_LINE, sizeof(*wq));
		ret = wq ? wq_build(to_mctx(context), attr, wq) : ENOMEM;
	}
	if (!ret)
		return &wq->wq;
	if (wq)
		wq_free(to_mctx(context), wq);
	errno = ret;
	return NULL;
}

/* Empties the WQ after a reset. CQEs from before the reset would otherwise complete requests of the
 * new use. */
static void wq_renew(struct mlx4_wq *wq)
{
	struct mlx4_rq *rq = &wq->qp.rq;

	mlx4_cq_clean(to_mcq(wq->wq.cq), &wq->qp);
	qlock_enter(&rq->lock);
	wq_reset(&rq->wq);
	*rq->dbrec = 0;
	qlock_leave(&rq->lock);
	__atomic_store_n(&wq->qp.error_reported, false, __ATOMIC_RELAXED);
}

int mlx4_wq_modify(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	const struct mlx4_ib_modify_wq req = { 0 };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	int ret = verbs_cmd_modify_wq(ibwq, attr, &udata);

	if (!ret && attr->attr_mask & IBV_WQ_ATTR_STATE && attr->wq_state == IBV_WQS_RESET)
		wq_renew(to_mwq(ibwq));
	return ret;
}

int mlx4_wq_destroy(struct ibv_wq *ibwq)
{
	struct mlx4_context *ctx = to_mctx(ibwq->context);
	struct mlx4_wq *wq = to_mwq(ibwq);
	int ret = verbs_cmd_destroy_wq(ibwq);

	if (ret)
		return ret;
	mlx4_cq_clean(to_mcq(ibwq->cq), &wq->qp);
	provider_id_clear(&ctx->common.ids, ibwq->wq_num);
	wq_free(ctx, wq);
	return 0;
}

int mlx4_qp_create_spreading(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			     struct verbs_qp *qp)
{
	const struct ibv_rx_hash_conf *conf = &attr->rx_hash_conf;
	struct mlx4_ib_create_qp_rss req = {
		.rx_hash_fields_mask = conf->rx_hash_fields_mask,
		.rx_hash_function = conf->rx_hash_function,
	};
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };

	if (conf->rx_hash_key_len != HASH_KEY_SIZE) {
		verbs_warn("create_qp: rx_hash_key_len is %u, must be %d", conf->rx_hash_key_len,
			   HASH_KEY_SIZE);
		return EOPNOTSUPP;
	}
	memcpy(req.rx_hash_key, conf->rx_hash_key, HASH_KEY_SIZE);
	return verbs_cmd_create_qp(context, attr, qp, &udata);
}
