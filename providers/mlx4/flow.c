/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - flows, which direct frames to a QP.
 */
#include <errno.h>

#include "providers/mlx4/flow.h"
#include "providers/mlx4/context.h"

struct ibv_flow *mlx4_flow_create(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct cells *cells = &to_mctx(qp->context)->common.cells;
	struct ibv_flow *flow = provider_cells_take(cells, "create_flow", sizeof(*flow));
	int ret = ENOMEM;

	if (flow) {
		*flow = (struct ibv_flow){ .context = qp->context };
		ret = verbs_cmd_create_flow(qp, attr, flow, NULL);
	}
	if (!ret)
		return flow;
	if (flow)
		provider_cells_give(cells, flow, sizeof(*flow));
	errno = ret;
	return NULL;
}

int mlx4_flow_destroy(struct ibv_flow *flow)
{
	struct cells *cells = &to_mctx(flow->context)->common.cells;
	int ret = verbs_cmd_destroy_flow(flow);

	if (!ret)
		provider_cells_give(cells, flow, sizeof(*flow));
	return ret;
}
