/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag.c - bonded ports: chooses the port that a QP sends on.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/lag.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/tir.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/qp/qp.h"

static int lag_check(const char *call, struct ibv_qp *qp, const struct mlx5_hca_caps **caps)
{
	int ret = dv_check_context(call, qp->context);

	if (ret)
		return ret;
	ret = mlx5_hca_caps_get(to_mctx(qp->context), caps);
	if (ret && ret != EOPNOTSUPP)
		return ret;
	if (!ret && (*caps)->lag_ports && (*caps)->lag_chooses_port)
		return 0;
	verbs_warn("%s: %s has no bonded ports to choose from, or the context is without DevX",
		   call, qp->context->device->name);
	return EOPNOTSUPP;
}

/* Queries the port of a raw packet QP, which its TIS determines: the QP exists only as an SQ and an
 * RQ in the device. */
static int qp_get_tis_port(struct ibv_qp *qp, uint8_t *port)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[16 + PRM_TISC_SIZE] = { 0 };
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_TIS);
	fld_set(in, QUERY_TIS_IN_TISN, to_mqp(qp)->parts.tisn);
	ret = mlx5_devx_qp_query(qp, in, sizeof(in), out, sizeof(out));
	*port = (uint8_t)fld_get(fld_at(out, QUERY_TIS_OUT_TIS_CONTEXT), TISC_LAG_TX_PORT_AFFINITY);
	return ret;
}

static int qp_get_port(struct ibv_qp *qp, uint8_t *port)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_QP_OUT_SIZE] = { 0 };
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_QP_IN_QPN, qp->qp_num);
	ret = mlx5_devx_qp_query(qp, in, sizeof(in), out, sizeof(out));
	*port = (uint8_t)fld_get(fld_at(out, QUERY_QP_OUT_QPC), QPC_LAG_TX_PORT_AFFINITY);
	return ret;
}

/* Sets *ACTIVE to the port that QPs of PORT currently send on; it differs from PORT while PORT is
 * down. PRM: the LAG context has this for the first two ports only. */
static int lag_get_active(struct mlx5_context *ctx, uint8_t port, uint8_t *active)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_LAG_OUT_SIZE] = { 0 };
	const uint8_t *lag = fld_at(out, QUERY_LAG_OUT_CTX);
	int ret;

	if (port > 2) {
		verbs_warn("mlx5dv_query_qp_lag_port: the device does not tell which port stands "
			   "for port %u",
			   port);
		return EOPNOTSUPP;
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_LAG);
	ret = mlx5_devx_run(ctx, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	if (!fld_get(lag, LAGC_LAG_STATE))
		return EOPNOTSUPP;
	*active = (uint8_t)(port == 1 ? fld_get(lag, LAGC_TX_REMAP_AFFINITY_1)
				      : fld_get(lag, LAGC_TX_REMAP_AFFINITY_2));
	return 0;
}

static int lag_get_port(const char *call, struct ibv_qp *qp, uint8_t *port)
{
	int ret = qp->qp_type == IBV_QPT_RAW_PACKET ? qp_get_tis_port(qp, port)
						    : qp_get_port(qp, port);

	if (ret || *port)
		return ret;
	verbs_warn("%s: qp 0x%x: the device has given it no port", call, qp->qp_num);
	return EOPNOTSUPP;
}

DV_EXPORT int mlx5dv_query_qp_lag_port(struct ibv_qp *qp, uint8_t *port_num,
				       uint8_t *active_port_num)
{
	const struct mlx5_hca_caps *caps;
	int ret = lag_check("mlx5dv_query_qp_lag_port", qp, &caps);

	if (!ret)
		ret = lag_get_port("mlx5dv_query_qp_lag_port", qp, port_num);
	if (ret)
		return verbs_result(ret);
	return verbs_result(lag_get_active(to_mctx(qp->context), *port_num, active_port_num));
}

static int qp_set_tis_port(struct ibv_qp *qp, uint8_t port)
{
	uint8_t in[32 + PRM_TISC_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_TIS);
	fld_set(in, MODIFY_TIS_IN_TISN, to_mqp(qp)->parts.tisn);
	fld_set(fld_at(in, MODIFY_TIS_IN_BITMASK), MODIFY_TIS_BITMASK_LAG_PORT, 1);
	fld_set(fld_at(in, MODIFY_TIS_IN_CTX), TISC_LAG_TX_PORT_AFFINITY, port);
	return mlx5_devx_qp_modify(qp, in, sizeof(in));
}

static int qp_set_port(struct ibv_qp *qp, const struct mlx5_hca_caps *caps, uint8_t port)
{
	uint8_t in[PRM_MODIFY_QP_EXT_IN_SIZE] = { 0 };

	if (qp->state != IBV_QPS_RTS || !caps->lag_changes_qp) {
		verbs_warn("mlx5dv_modify_qp_lag_port: qp 0x%x is in state %d, must be RTS, on a "
			   "device that changes it there",
			   qp->qp_num, (int)qp->state);
		return EOPNOTSUPP;
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_RTS2RTS_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->qp_num);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, PRM_OPTPAR_LAG_TX_AFF);
	fld_set(fld_at(in, MODIFY_QP_IN_QPC), QPC_LAG_TX_PORT_AFFINITY, port);
	return mlx5_devx_qp_modify(qp, in, sizeof(in));
}

/* If the ports are not bonded now, sends no command. */
DV_EXPORT int mlx5dv_modify_qp_lag_port(struct ibv_qp *qp, uint8_t port_num)
{
	const struct mlx5_hca_caps *caps;
	uint8_t now, active;
	int ret = lag_check("mlx5dv_modify_qp_lag_port", qp, &caps);

	if (!ret)
		ret = lag_get_port("mlx5dv_modify_qp_lag_port", qp, &now);
	if (!ret)
		ret = lag_get_active(to_mctx(qp->context), 1, &active);
	if (ret)
		return verbs_result(ret);
	return verbs_result(qp->qp_type == IBV_QPT_RAW_PACKET ? qp_set_tis_port(qp, port_num)
							      : qp_set_port(qp, caps, port_num));
}
