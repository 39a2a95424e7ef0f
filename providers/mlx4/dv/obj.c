/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * obj.c - mlx4dv_init_obj(): returns the rings of a queue, for programs that build WQEs and read
 * CQEs by themselves.
 */
#include <unistd.h>

#include "prm/mlx4/uar.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/dv/dv.h"
#include "providers/mlx4/qp.h"
#include "providers/mlx4/srq.h"
#include "providers/mlx4/wq.h"

enum { REGISTER_PAGE = 0 };

static int show_qp(struct ibv_qp *ibqp, struct mlx4dv_qp *out)
{
	struct mlx4_qp *qp = to_mqp(ibqp);
	const uint8_t *buf = qp->buf.addr;
	uint64_t granted = 0;

	out->rdb = qp->rq.dbrec;
	out->sdb = (uint32_t *)qp->sq.doorbell;
	out->doorbell_qpn = qp->sq.qpn_be;
	out->sq.wqe_cnt = qp->sq.wq.mask + 1;
	out->sq.wqe_shift = (int)qp->sq.slot_log;
	out->sq.offset = (int)(qp->sq.buf - buf);
	out->rq.wqe_cnt = qp->rq.buf ? qp->rq.wq.mask + 1 : 0;
	out->rq.wqe_shift = (int)qp->rq.stride_log;
	out->rq.offset = qp->rq.buf ? (int)(qp->rq.buf - buf) : 0;
	out->buf.buf = qp->buf.addr;
	out->buf.length = qp->buf.size;
	if (out->comp_mask & MLX4DV_QP_MASK_UAR_MMAP_OFFSET) {
		out->uar_mmap_offset = (off_t)REGISTER_PAGE * sysconf(_SC_PAGESIZE);
		granted |= MLX4DV_QP_MASK_UAR_MMAP_OFFSET;
	}
	out->comp_mask = granted;
	return 0;
}

/* Describes a CQ. Afterwards, the program polls the ring itself and owns the consumer index. */
static int show_cq(struct ibv_cq *ibcq, struct mlx4dv_cq *out)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	uint64_t granted = 0;

	out->buf.buf = cq->buf.addr;
	out->buf.length = cq->buf.size;
	out->cqe_cnt = 1u << cq->count_log;
	out->cqn = cq->cqn;
	out->set_ci_db = &cq->dbrec[FLD_DWORD(M4_CQ_RECORD_CI)];
	out->arm_db = &cq->dbrec[FLD_DWORD(M4_CQ_RECORD_ARM)];
	out->arm_sn = (int)cq->arm_sn;
	out->cqe_size = 1 << cq->entry_log;
	if (out->comp_mask & MLX4DV_CQ_MASK_UAR) {
		out->cq_uar = cq->doorbell - M4_UAR_CQ;
		granted |= MLX4DV_CQ_MASK_UAR;
	}
	out->comp_mask = granted;
	qlock_enter(&cq->lock); /* needed, because a thread that destroys a QP may be moving CQEs */
	__atomic_store_n(&cq->taken, true, __ATOMIC_RELEASE);
	qlock_leave(&cq->lock);
	return 0;
}

static int show_srq(struct ibv_srq *ibsrq, struct mlx4dv_srq *out)
{
	struct mlx4_srq *srq = to_msrq(ibsrq);

	out->buf.buf = srq->buf.addr;
	out->buf.length = srq->buf.size;
	out->wqe_shift = (int)srq->stride_log;
	qlock_enter(&srq->lock);
	out->head = (int)srq->head;
	out->tail = (int)srq->tail;
	qlock_leave(&srq->lock);
	out->db = srq->dbrec;
	out->comp_mask = 0;
	return 0;
}

static int show_rwq(struct ibv_wq *ibwq, struct mlx4dv_rwq *out)
{
	const struct mlx4_qp *qp = mlx4_wq_queue(ibwq);

	out->rdb = qp->rq.dbrec;
	out->rq.wqe_cnt = qp->rq.wq.mask + 1;
	out->rq.wqe_shift = (int)qp->rq.stride_log;
	out->rq.offset = (int)(qp->rq.buf - (const uint8_t *)qp->buf.addr);
	out->buf.buf = qp->buf.addr;
	out->buf.length = qp->buf.size;
	out->comp_mask = 0;
	return 0;
}

static int check_obj(const struct mlx4dv_obj *obj, uint64_t types)
{
	int ret = 0;

	if (types & MLX4DV_OBJ_QP)
		ret = dv_check_context(obj->qp.in->context, "mlx4dv_init_obj");
	if (!ret && types & MLX4DV_OBJ_CQ)
		ret = dv_check_context(obj->cq.in->context, "mlx4dv_init_obj");
	if (!ret && types & MLX4DV_OBJ_SRQ)
		ret = dv_check_context(obj->srq.in->context, "mlx4dv_init_obj");
	if (!ret && types & MLX4DV_OBJ_RWQ)
		ret = dv_check_context(obj->rwq.in->context, "mlx4dv_init_obj");
	return ret;
}

/* Describes any number of objects. Writes nothing unless all of them belong to this provider. */
static int __attribute__((noinline)) init_all(struct mlx4dv_obj *obj, uint64_t obj_type)
{
	int ret = check_obj(obj, obj_type);

	if (ret)
		return verbs_result(ret);
	if (obj_type & MLX4DV_OBJ_QP)
		show_qp(obj->qp.in, obj->qp.out);
	if (obj_type & MLX4DV_OBJ_CQ)
		show_cq(obj->cq.in, obj->cq.out);
	if (obj_type & MLX4DV_OBJ_SRQ)
		show_srq(obj->srq.in, obj->srq.out);
	if (obj_type & MLX4DV_OBJ_RWQ)
		show_rwq(obj->rwq.in, obj->rwq.out);
	return 0;
}

/* Describes a single object without init_all(), because most programs ask for one: that takes one
 * check. */
DV_EXPORT int mlx4dv_init_obj(struct mlx4dv_obj *obj, uint64_t obj_type)
{
	if (obj_type == MLX4DV_OBJ_QP && context_is_mlx4(obj->qp.in->context))
		return show_qp(obj->qp.in, obj->qp.out);
	if (obj_type == MLX4DV_OBJ_CQ && context_is_mlx4(obj->cq.in->context))
		return show_cq(obj->cq.in, obj->cq.out);
	if (obj_type == MLX4DV_OBJ_SRQ && context_is_mlx4(obj->srq.in->context))
		return show_srq(obj->srq.in, obj->srq.out);
	if (obj_type == MLX4DV_OBJ_RWQ && context_is_mlx4(obj->rwq.in->context))
		return show_rwq(obj->rwq.in, obj->rwq.out);
	return init_all(obj, obj_type);
}
