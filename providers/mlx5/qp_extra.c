/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_extra.c - what may be asked of a QP beyond its states: connection establishment options (ECE)
 * and packet pacing.
 */
#include <errno.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/qp.h"
#include "providers/mlx5/qp_extra.h"
#include "providers/mlx5/device.h"

#define MELLANOX 0x15b3

/* The kernel is told of the options at the next change of state. */
int mlx5_qp_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mlx5_qp *qp = to_mqp(ibqp);

	if (ece->comp_mask) {
		verbs_warn("set_ece: comp_mask is %#x, must be 0", ece->comp_mask);
		return EINVAL;
	}
	if (ece->vendor_id != MELLANOX) {
		verbs_warn("set_ece: vendor_id is %#x, must be %#x", ece->vendor_id, MELLANOX);
		return EINVAL;
	}
	qp->ece_asked = ece->options;
	qp->ece_granted = 0;
	return 0;
}

int mlx5_qp_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	ece->vendor_id = MELLANOX;
	ece->options = to_mqp(ibqp)->ece_granted;
	ece->comp_mask = 0;
	return 0;
}

static bool kernel_limits_bursts(struct mlx5_context *ctx)
{
	const struct mlx5_ib_query_device_resp *resp;

	return !mlx5_device_resp_get(ctx, &resp) &&
	       resp->packet_pacing_caps.cap_flags & MLX5_IB_PP_SUPPORT_BURST;
}

int mlx5_qp_modify_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	const struct mlx5_ib_modify_qp req = {
		.burst_info = { .max_burst_sz = attr->max_burst_sz,
				.typical_pkt_sz = attr->typical_pkt_sz },
	};
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	const struct ibv_qp_attr qp_attr = { .rate_limit = attr->rate_limit };

	if (attr->comp_mask) {
		verbs_warn("modify_qp_rate_limit: comp_mask is %#x, must be 0", attr->comp_mask);
		return EINVAL;
	}
	if ((attr->max_burst_sz || attr->typical_pkt_sz) &&
	    (!attr->rate_limit || !kernel_limits_bursts(to_mctx(qp->context)))) {
		verbs_warn("modify_qp_rate_limit: max_burst_sz or typical_pkt_sz is set: %s",
			   attr->rate_limit ? "the device does not limit bursts"
					    : "they need a rate_limit");
		return EINVAL;
	}
	return verbs_cmd_modify_qp(qp, &qp_attr, IBV_QP_RATE_LIMIT, &udata);
}
