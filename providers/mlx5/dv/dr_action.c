/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dr_action.c - actions of direct rules: that packets go to a QP. Rules, which would use it, are
 * not there yet (absent.c); programs make it beside rules of ibv_create_flow() as well, as DPDK
 * does.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/dv/dv.h"
#include "util/log.h"

struct mlx5dv_dr_action {
	struct ibv_qp *qp;
};

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_ibv_qp(struct ibv_qp *qp)
{
	struct mlx5dv_dr_action *action;

	if (qp->qp_type != IBV_QPT_RAW_PACKET) {
		verbs_warn(
			"mlx5dv_dr_action_create_dest_ibv_qp: qp_type is %d; frames go to QPs of "
			"type RAW_PACKET",
			(int)qp->qp_type);
		errno = EINVAL;
		return NULL;
	}
	action = malloc(sizeof(*action));
	if (!action) {
		errno = ENOMEM;
		return NULL;
	}
	action->qp = qp;
	return action;
}

DV_EXPORT int mlx5dv_dr_action_destroy(struct mlx5dv_dr_action *action)
{
	free(action);
	return 0;
}
