/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc.c - opens further handles of an XRC receive QP.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/qp/xrc.h"
#include "util/alloc.h"

struct ibv_qp *mlx5_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	const struct datapath *routines = mlx5_datapath();
	struct mlx5_qp *qp = mlx5_qp_new("open_qp");
	int ret;

	if (!qp) {
		errno = ENOMEM;
		return NULL;
	}
	qp->rules = mlx5_qp_rules_of(IBV_QPT_XRC_RECV);
	qp->rq.rsn = PRM_NO_USER_INDEX;
	qp->post_send = routines->post_send_routine(qp->rules->kind, false, BFREG_OWN);
	qp->bind_mw = routines->bind_mw_any;
	qp->rq.post = routines->post_recv_routine(0, 0, false);
	ret = verbs_cmd_open_qp(context, attr, &qp->vqp, NULL);
	if (!ret)
		return &qp->vqp.qp;
	free_aligned(qp);
	errno = ret;
	return NULL;
}
