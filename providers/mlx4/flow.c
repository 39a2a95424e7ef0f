/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - flows: which frames a QP receives.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx4/flow.h"
#include "util/alloc.h"

struct ibv_flow *mlx4_flow_create(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = calloc_for("create_flow", 1, sizeof(*flow));
	int ret = flow ? verbs_cmd_create_flow(qp, attr, flow, NULL) : ENOMEM;

	if (!ret)
		return flow;
	free(flow);
	errno = ret;
	return NULL;
}

int mlx4_flow_destroy(struct ibv_flow *flow)
{
	int ret = verbs_cmd_destroy_flow(flow);

	if (!ret)
		free(flow);
	return ret;
}
