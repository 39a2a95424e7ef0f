/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * extra.c - attributes of a QP beyond its states: connection establishment options (ECE), packet
 * pacing, and the order of data.
 */
#include <errno.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/extra.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/device.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

#define MELLANOX 0x15b3

/* Stores the options of ECE. The next change of state passes them to the kernel. */
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
	if (!qp->has_ece) {
		verbs_warn("set_ece: qp 0x%x: the device, or its kernel, has no such options",
			   ibqp->qp_num);
		return EOPNOTSUPP;
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

static bool qp_keeps_order(const struct ibv_qp *qp)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_QP_OUT_SIZE] = { 0 };
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, qp->handle),
		verbs_attr_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, sizeof(in)),
		verbs_attr_out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, sizeof(out)),
	};
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_QP_IN_QPN, qp->qp_num);
	ret = verbs_cmd_run(qp->context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY,
			    attrs, ARRAY_SIZE(attrs));
	return !ret && !fld_get(out, CMD_OUT_STATUS) &&
	       fld_get(fld_at(out, QUERY_QP_OUT_QPC), QPC_STATE) >= PRM_QP_STATE_RTR &&
	       fld_get(fld_at(out, QUERY_QP_OUT_QPC), QPC_DATA_IN_ORDER);
}

/* Returns whether a message is written from its first byte to its last. The device reports it for
 * each connected QP. Returns 0 without DevX, for flags that no release defines, and for a QP that
 * is not in RTS. Also returns 0 for a QP that the device implements by an RQ and an SQ: its number
 * does not name a QP in the device, or names another one. */
int mlx5_qp_query_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	const uint32_t known =
		IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS | IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY;
	struct mlx5_context *ctx = to_mctx(qp->context);
	const struct mlx5_hca_caps *caps;

	(void)op;
	if (flags & ~known || qp->state != IBV_QPS_RTS || !ctx->has_devx ||
	    to_mqp(qp)->rules->rings_apart || mlx5_hca_caps_get(ctx, &caps))
		return 0;
	return caps->writes_in_order && qp_keeps_order(qp) ? IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG
							   : 0;
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
