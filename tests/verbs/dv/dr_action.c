/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dr_action.c - actions of direct rules, which are there before rules are: destinations.
 *
 * Covers: providers/mlx5/dv/dr_action.c
 */
#include <infiniband/mlx5dv.h>

#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

static void try_destination(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type, .cap = { 4, 4, 1, 1, 0 }
	};
	struct mlx5dv_dr_action *actions[2];
	struct ibv_qp *qp;

	qp = SAY_PTR(ibv_create_qp(pd, &attr), "a QP of type %d", (int)type);
	if (!qp)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		actions[i] = SAY_PTR(mlx5dv_dr_action_create_dest_ibv_qp(qp), "as a destination");
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (actions[i])
			SAY_RET(mlx5dv_dr_action_destroy(actions[i]), "destroy the action");
	SAY_RET(ibv_destroy_qp(qp), "destroy the QP");
}

void dv_dr_actions(struct rig *rig)
{
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	MUST(pd = ibv_alloc_pd(rig->ctx));
	MUST(cq = ibv_create_cq(rig->ctx, 8, NULL, NULL, 0));
	try_destination(pd, cq, IBV_QPT_RAW_PACKET);
	try_destination(pd, cq, IBV_QPT_RC);
	try_destination(pd, cq, IBV_QPT_UD);
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}
