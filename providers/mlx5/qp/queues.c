/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - the memory of a QP: one piece holds the receive ring, followed by the send ring; both
 * share one doorbell record. The send queue also has a doorbell register.
 */
#include "providers/mlx5/qp/build.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/pd.h"
#include "util/alloc.h"

static int wq_alloc(struct wq *wq, uint32_t units, uint32_t max_post, size_t slot)
{
	wq->mask = units - 1;
	wq->max_post = max_post;
	wq_reset(wq);
	wq->slots = units ? calloc_for("create_qp", units, slot) : NULL;
	return units && !wq->slots ? ENOMEM : 0;
}

static int qp_alloc_rings(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp,
			  const struct qp_size *size)
{
	size_t rq_bytes = (size_t)size->rq_wqes << size->rq_stride_log;
	size_t sq_bytes = (size_t)size->sq_wqebbs << WQE_BB_LOG;
	size_t first = rq_bytes + sq_bytes;
	int ret = 0;

	/* The adapter creates a separate RQ and SQ for such a QP. The context of a WQ has few bits
	 * for the offset in a page, so each ring starts on a page of its own. */
	if (qp->rules->rings_apart) {
		first = align_up(rq_bytes, ctx->common.queue_bufs.page);
		sq_bytes = align_up(sq_bytes, ctx->common.queue_bufs.page);
	}

	if (first)
		ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_QP, first,
					   (size_t)1 << size->rq_stride_log, &qp->buf);
	if (!ret && qp->rules->rings_apart && sq_bytes)
		ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_QP, sq_bytes, WQE_BB,
					   &qp->sq_buf);
	if (ret) {
		provider_queue_mem_free(&qp->buf);
		return ret;
	}
	qp->sq.buf = qp->rules->rings_apart ? qp->sq_buf.addr : (uint8_t *)qp->buf.addr + rq_bytes;
	return 0;
}

static uint32_t qp_recv_head(const struct mlx5_qp *qp)
{
	return qp->has_signatures ? RECV_SIGNATURE_SIZE : 0;
}

void mlx5_qp_set_limits(const struct qp_size *size, struct mlx5_qp *qp)
{
	qp->rq.stride_log = size->rq_stride_log;
	qp->rq.max_sge = size->rq_max_sge;
	qp->sq.max_sge = size->sq_max_sge;
	qp->sq.max_inline = size->sq_max_inline;
	/* The length field of the control segment counts at most 63 units (PRM: ds, 6 bits), even
	 * if the ring has room for 64. */
	qp->sq.wqe_bytes = min_of(size->sq_wqe_bytes, (uint32_t)FLD_MASK(CTRL_DS) * WQE_SEG);
	sq_prepare_inline(&qp->sq,
			  mlx5_qp_usual_inline(qp->rules, size->sq_max_inline, qp->sq.wqe_bytes));
}

int mlx5_qp_alloc_queues(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp,
			 const struct qp_size *size)
{
	size_t sq_bytes = (size_t)size->sq_wqebbs << WQE_BB_LOG;
	int ret = qp_alloc_rings(ctx, pd, qp, size);

	if (ret)
		return ret;
	if (qp->buf.addr)
		qp->rq.buf = (uint8_t *)qp->buf.addr + qp_recv_head(qp);
	qp->sq.end = qp->sq.buf + sq_bytes;
	ret = wq_alloc(&qp->rq.wq, size->rq_wqes, qp_rq_max_post(qp, size), sizeof(uint64_t));
	if (ret)
		goto free_buf;
	ret = wq_alloc(&qp->sq.wq, size->sq_wqebbs, size->sq_max_post, sizeof(struct wq_slot));
	if (ret)
		goto free_rq;
	sq_set_slots(&qp->sq);
	return 0;
free_rq:
	free(qp->rq.wq.wr_ids);
free_buf:
	provider_queue_mem_free(&qp->sq_buf);
	provider_queue_mem_free(&qp->buf);
	return ret;
}

void mlx5_qp_free_queues(struct mlx5_qp *qp)
{
	free(qp->sq.wq.slots);
	free(qp->rq.wq.wr_ids);
	provider_queue_mem_free(&qp->sq_buf);
	provider_queue_mem_free(&qp->buf);
}

static int qp_get_bfreg(struct mlx5_context *ctx, struct provider_td *td, struct mlx5_sq *sq)
{
	if (!td)
		return mlx5_uar_get_bfreg(ctx, &sq->bfreg);
	sq->bfreg = to_mtd(td)->bfreg;
	mlx5_uar_share_bfreg(ctx, sq->bfreg);
	return 0;
}

static void qp_choose_register(struct mlx5_context *ctx, struct mlx5_sq *sq)
{
	struct mlx5_bfreg *bfreg = sq->bfreg;
	struct mlx5_doorbell *db = &sq->db;
	uint32_t half = ctx->caps.bf_reg_size / 2;

	db->use = bfreg->use;
	/* A single-threaded program needs no lock for the register, either. */
	if (bfreg->use == BFREG_SHARED && ctx->env.single_threaded)
		db->use = BFREG_DOMAIN;
	if (bfreg->use == BFREG_OWN)
		db->reg = bfreg->half;
	else
		db->bfreg = bfreg;
	if (!bfreg->pushes)
		return;
	db->toggle = half;
	db->push[PUSH_INLINE] = (uint8_t)(half / WQE_BB);
	db->push[PUSH_PLAIN] = ctx->env.prefer_bf ? db->push[PUSH_INLINE] : 0;
}

int mlx5_qp_alloc_doorbell(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp)
{
	int ret;

	if (!qp_has_queues(qp))
		return 0;
	ret = mlx5_queue_rec_alloc(ctx, pd, &qp->rec);
	if (ret)
		return ret;
	qp->dbrec = qp->rec.words;
	ret = qp_get_bfreg(ctx, pd_thread_domain(pd), &qp->sq);
	if (ret) {
		mlx5_queue_rec_free(ctx, &qp->rec);
		return ret;
	}
	qp->rq.dbrec = qp_withholds(qp) ? qp->withheld : qp->dbrec;
	qp->sq.db.dbrec = qp->dbrec;
	qp_choose_register(ctx, &qp->sq);
	return 0;
}

void mlx5_qp_free_doorbell(struct mlx5_context *ctx, struct mlx5_qp *qp)
{
	struct mlx5_bfreg *bfreg = qp->sq.bfreg;

	if (!qp_has_queues(qp))
		return;
	/* The two halves of a register are used in turns, so the next queue continues with this
	 * half. */
	if (bfreg->use == BFREG_OWN && bfreg->pushes)
		bfreg->half = qp->sq.db.reg;
	mlx5_uar_put_bfreg(ctx, bfreg);
	mlx5_queue_rec_free(ctx, &qp->rec);
}

void mlx5_qp_clean_cqs(struct mlx5_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct ibv_cq *send = ibqp->send_cq, *recv = ibqp->recv_cq;

	if (ibqp->qp_type == IBV_QPT_XRC_RECV)
		return;
	if (ibqp->qp_type == IBV_QPT_XRC_SEND)
		recv = NULL;
	if (recv)
		mlx5_cq_clean(to_mcq(recv), &qp->rq);
	if (send && send != recv)
		mlx5_cq_clean(to_mcq(send), &qp->rq);
}
