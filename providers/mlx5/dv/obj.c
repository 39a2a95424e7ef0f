/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * obj.c - mlx5dv_init_obj(): exposes the rings, records and registers of an object to a program
 * that operates them by itself.
 */
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/dm.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/vfio/vfio.h"
#include "providers/mlx5/wq.h"

#define SUPPORTED_OBJECTS                                                                  \
	(MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ | MLX5DV_OBJ_SRQ | MLX5DV_OBJ_RWQ | MLX5DV_OBJ_DM | \
	 MLX5DV_OBJ_AH | MLX5DV_OBJ_PD | MLX5DV_OBJ_DEVX)

static void init_qp_parts(const struct mlx5_qp *qp, uint64_t asked, struct mlx5dv_qp *out)
{
	if (asked & MLX5DV_QP_MASK_RAW_QP_HANDLES) {
		out->tirn = qp->parts.tirn;
		out->tisn = qp->parts.tisn;
		out->rqn = qp->parts.rqn;
		out->sqn = qp->parts.sqn;
		out->comp_mask |= MLX5DV_QP_MASK_RAW_QP_HANDLES;
	}
	if (asked & MLX5DV_QP_MASK_RAW_QP_TIR_ADDR) {
		out->tir_icm_addr = qp->parts.tir_icm_addr;
		out->comp_mask |= MLX5DV_QP_MASK_RAW_QP_TIR_ADDR;
	}
}

static void init_qp(struct ibv_qp *ibqp, struct mlx5dv_qp *out)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	const struct mlx5_bfreg *bfreg = qp->sq.bfreg;
	uint64_t asked = out->comp_mask;

	out->comp_mask = 0;
	out->dbrec = qp->dbrec;
	out->sq.buf = qp->sq.buf;
	out->sq.wqe_cnt = qp->sq.wq.mask + 1;
	out->sq.stride = WQE_BB;
	out->rq.buf = qp->buf.addr;
	out->rq.wqe_cnt = qp->rq.wq.mask + 1;
	out->rq.stride = 1u << qp->rq.stride_log;
	init_qp_parts(qp, asked, out);
	out->bf.reg = NULL;
	out->bf.size = 0;
	if (!bfreg)
		return; /* an XRC receive QP has no send queue, so these fields stay 0 */
	out->bf.reg = bfreg->pushes ? bfreg->reg : qp->sq.db.reg;
	/* For a shared register, reg is the neighbour that the library rings but never pushes
	 * through, so the program's pushes cannot mix with the library's. They can meet a ring of
	 * 8 bytes for another queue of the library, though, which takes no lock. If several threads
	 * of the program push through it, they need a lock of their own, as with release 65.0. */
	out->bf.size = (uint32_t)qp->sq.db.push[PUSH_INLINE] * WQE_BB;
	if (asked & MLX5DV_QP_MASK_UAR_MMAP_OFFSET) {
		out->uar_mmap_offset = (off_t)bfreg->uar->mmap_offset;
		out->comp_mask |= MLX5DV_QP_MASK_UAR_MMAP_OFFSET;
	}
}

static void init_cq(struct ibv_cq *ibcq, struct mlx5dv_cq *out)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	out->comp_mask = 0;
	out->cqn = cq->cqn;
	out->cqe_cnt = 1u << cq->count_log;
	out->cqe_size = 1u << cq->entry_log;
	out->buf = cq->buf.addr;
	out->dbrec = cq->dbrec;
	out->cq_uar = cq->uar->page;
	mlx5_cq_show(cq);
}

static void init_srq(struct ibv_srq *ibsrq, struct mlx5dv_srq *out)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);
	struct srq_ends ends = srq_show(srq);
	uint64_t asked = out->comp_mask;

	out->comp_mask = 0;
	out->buf = srq->buf.addr;
	out->dbrec = srq->dbrec;
	out->stride = 1u << srq->stride_log;
	out->head = ends.head;
	out->tail = ends.tail;
	if (asked & MLX5DV_SRQ_MASK_SRQN) {
		out->srqn = srq->srqn;
		out->comp_mask |= MLX5DV_SRQ_MASK_SRQN;
	}
}

static void init_ah(struct ibv_ah *ah, struct mlx5dv_ah *out)
{
	out->comp_mask = 0;
	out->av = &to_mah(ah)->av;
}

static void init_pd(struct ibv_pd *pd, struct mlx5dv_pd *out)
{
	out->comp_mask = 0;
	out->pdn = to_ppd(pd)->pdn;
}

/* Returns the context of the object of TYPE, one MLX5DV_OBJ_*. DevX objects are skipped: they are
 * only numbers. */
static struct ibv_context *context_of(const struct mlx5dv_obj *obj, uint64_t type)
{
	switch (type) {
	case MLX5DV_OBJ_QP:
		return obj->qp.in->context;
	case MLX5DV_OBJ_CQ:
		return obj->cq.in->context;
	case MLX5DV_OBJ_SRQ:
		return obj->srq.in->context;
	case MLX5DV_OBJ_RWQ:
		return obj->rwq.in->context;
	case MLX5DV_OBJ_DM:
		return obj->dm.in->context;
	case MLX5DV_OBJ_AH:
		return obj->ah.in->context;
	case MLX5DV_OBJ_PD:
		return obj->pd.in->context;
	default:
		return NULL;
	}
}

static int check_one(const struct mlx5dv_obj *obj, uint64_t type)
{
	struct ibv_context *context = context_of(obj, type);

	return context ? dv_check_context("mlx5dv_init_obj", context) : 0;
}

static void init_one(struct mlx5dv_obj *obj, uint64_t type)
{
	switch (type) {
	case MLX5DV_OBJ_QP:
		init_qp(obj->qp.in, obj->qp.out);
		break;
	case MLX5DV_OBJ_CQ:
		init_cq(obj->cq.in, obj->cq.out);
		break;
	case MLX5DV_OBJ_SRQ:
		init_srq(obj->srq.in, obj->srq.out);
		break;
	case MLX5DV_OBJ_RWQ:
		mlx5_wq_describe(obj->rwq.in, obj->rwq.out);
		break;
	case MLX5DV_OBJ_DM:
		mlx5_dm_describe(obj->dm.in, obj->dm.out);
		break;
	case MLX5DV_OBJ_AH:
		init_ah(obj->ah.in, obj->ah.out);
		break;
	case MLX5DV_OBJ_PD:
		init_pd(obj->pd.in, obj->pd.out);
		break;
	default:
		obj->devx.out->handle = obj->devx.in->handle;
	}
}

/* Writes nothing unless all objects belong to this provider, so that a refused call has no
 * effect. */
static int __attribute__((noinline)) init_all(struct mlx5dv_obj *obj, uint64_t types)
{
	int ret = 0;

	if (!types || types & ~(uint64_t)SUPPORTED_OBJECTS) {
		verbs_warn("mlx5dv_init_obj: obj_type is %#llx, known are %#x",
			   (unsigned long long)types, SUPPORTED_OBJECTS);
		return EINVAL;
	}
	for (uint64_t left = types; left && !ret; left &= left - 1)
		ret = check_one(obj, left & -left);
	for (uint64_t left = types; left && !ret; left &= left - 1)
		init_one(obj, left & -left);
	return ret;
}

static bool is_one_object(uint64_t types)
{
	return types & SUPPORTED_OBJECTS && !(types & (types - 1));
}

static int init_alone(struct mlx5dv_obj *obj, uint64_t type)
{
	int ret = check_one(obj, type);

	if (!ret)
		init_one(obj, type);
	return ret;
}

/* Returns whether CONTEXT belongs to mlx5 or its VFIO driver. In a VFIO context, mlx5dv_init_obj()
 * describes PDs only, which have the same struct there. */
static bool is_ours(const struct ibv_context *context)
{
	const struct verbs_driver *driver = verbs_driver_of(context->device);

	return driver == &verbs_provider_mlx5 || driver == &mlx5_vfio_driver;
}

/* Answers a single QP, CQ, SRQ or PD without the loop, as programs ask for these most. */
static int init_obj(struct mlx5dv_obj *obj, uint64_t obj_type)
{
	if (obj_type == MLX5DV_OBJ_QP && context_is_mlx5(obj->qp.in->context)) {
		init_qp(obj->qp.in, obj->qp.out);
		return 0;
	}
	if (obj_type == MLX5DV_OBJ_CQ && context_is_mlx5(obj->cq.in->context)) {
		init_cq(obj->cq.in, obj->cq.out);
		return 0;
	}
	if (obj_type == MLX5DV_OBJ_SRQ && context_is_mlx5(obj->srq.in->context)) {
		init_srq(obj->srq.in, obj->srq.out);
		return 0;
	}
	if (obj_type == MLX5DV_OBJ_PD && is_ours(obj->pd.in->context)) {
		init_pd(obj->pd.in, obj->pd.out);
		return 0;
	}
	return is_one_object(obj_type) ? init_alone(obj, obj_type) : init_all(obj, obj_type);
}

#ifdef VERBS_STATIC_PROVIDER
int mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t obj_type)
{
	return init_obj(obj, obj_type);
}
#else
int init_obj_1_2(struct mlx5dv_obj *obj, uint64_t obj_type);
int init_obj_1_0(struct mlx5dv_obj *obj, uint64_t obj_type);

DV_EXPORT int init_obj_1_2(struct mlx5dv_obj *obj, uint64_t obj_type)
{
	return verbs_result(init_obj(obj, obj_type));
}

/* Answers programs linked with the first version of the ABI, for which cq_uar is the address of a
 * pointer to the page. */
DV_EXPORT int init_obj_1_0(struct mlx5dv_obj *obj, uint64_t obj_type)
{
	int ret = init_obj(obj, obj_type);

	if (!ret && obj_type & MLX5DV_OBJ_CQ)
		obj->cq.out->cq_uar = &to_mcq(obj->cq.in)->uar->page;
	return verbs_result(ret);
}

__asm__(".symver init_obj_1_2, mlx5dv_init_obj@@MLX5_1.2");
__asm__(".symver init_obj_1_0, mlx5dv_init_obj@MLX5_1.0");
#endif
