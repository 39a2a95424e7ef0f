/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_mlx4dv.c - instructions of the calls of mlx4dv, on a ConnectX-3.
 */
#include <errno.h>
#include <infiniband/mlx4dv.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_wq *wq;
	void *object[EACH];
};

static bool device_query(struct world *w, int i)
{
	struct mlx4dv_context attr = { 0 };

	(void)i;
	return step_done(mlx4dv_query_device(w->rig.ctx, &attr));
}

static bool context_set(struct world *w, int i)
{
	struct mlx4dv_ctx_allocators none = { 0 };

	(void)i;
	return step_done(
		mlx4dv_set_context_attr(w->rig.ctx, MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS, &none));
}

static bool init_of_qp(struct world *w, int i)
{
	struct mlx4dv_qp out = { 0 };
	struct mlx4dv_obj obj = { .qp = { w->qp, &out } };

	(void)i;
	return step_done(mlx4dv_init_obj(&obj, MLX4DV_OBJ_QP));
}

static bool init_of_cq(struct world *w, int i)
{
	struct mlx4dv_cq out = { 0 };
	struct mlx4dv_obj obj = { .cq = { w->cq, &out } };

	(void)i;
	return step_done(mlx4dv_init_obj(&obj, MLX4DV_OBJ_CQ));
}

static bool init_of_srq(struct world *w, int i)
{
	struct mlx4dv_srq out = { 0 };
	struct mlx4dv_obj obj = { .srq = { w->srq, &out } };

	(void)i;
	return step_done(mlx4dv_init_obj(&obj, MLX4DV_OBJ_SRQ));
}

static bool init_of_wq(struct world *w, int i)
{
	struct mlx4dv_rwq out = { 0 };
	struct mlx4dv_obj obj = { .rwq = { w->wq, &out } };

	(void)i;
	return step_done(mlx4dv_init_obj(&obj, MLX4DV_OBJ_RWQ));
}

static bool qp_make(struct world *w, int i)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = w->cq,
					    .recv_cq = w->cq,
					    .cap = { 8, 8, 1, 1, 0 },
					    .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = w->pd };
	struct mlx4dv_qp_init_attr dv = { 0 };

	w->object[i] = mlx4dv_create_qp(w->rig.ctx, &attr, &dv);
	return step_done(w->object[i] ? 0 : errno);
}

static bool qp_end(struct world *w, int i)
{
	return step_done(ibv_destroy_qp(w->object[i]));
}

static const struct row rows[] = {
	{ "mlx4dv_query_device", NULL, device_query, NULL },
	{ "mlx4dv_set_context_attr", NULL, context_set, NULL },
	{ "mlx4dv_init_obj of a QP", NULL, init_of_qp, NULL },
	{ "mlx4dv_init_obj of a CQ", NULL, init_of_cq, NULL },
	{ "mlx4dv_init_obj of an SRQ", NULL, init_of_srq, NULL },
	{ "mlx4dv_init_obj of a WQ", NULL, init_of_wq, NULL },
	{ "mlx4dv_create_qp", NULL, qp_make, qp_end },
};

static void world_make(struct world *w)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1 };

	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	MUST(w->srq = ibv_create_srq(w->pd, &srq));
	MUST(qp_make(w, 0));
	w->qp = w->object[0];
	wq.pd = w->pd;
	wq.cq = w->cq;
	MUST(w->wq = ibv_create_wq(w->rig.ctx, &wq));
}

static void world_end(struct world *w)
{
	MUST(!ibv_destroy_wq(w->wq));
	MUST(!ibv_destroy_qp(w->qp));
	MUST(!ibv_destroy_srq(w->srq));
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}
