/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * udp_sport.c - sets the UDP source port of a RoCE QP, by which switches choose among equal paths.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"

DV_EXPORT int mlx5dv_modify_qp_udp_sport(struct ibv_qp *qp, uint16_t udp_sport)
{
	uint8_t in[PRM_MODIFY_QP_EXT_IN_SIZE] = { 0 };
	int ret = dv_check_context("mlx5dv_modify_qp_udp_sport", qp->context);
	const struct mlx5_hca_caps *caps;

	if (ret)
		return verbs_result(ret);
	ret = mlx5_hca_caps_get(to_mctx(qp->context), &caps);
	if (ret && ret != EOPNOTSUPP)
		return verbs_result(ret);
	if (ret || !caps->changes_udp_port) {
		verbs_warn("mlx5dv_modify_qp_udp_sport: %s does not change the port, or the "
			   "context is without DevX",
			   qp->context->device->name);
		return verbs_result(EOPNOTSUPP);
	}
	if (qp->state != IBV_QPS_RTS || (qp->qp_type != IBV_QPT_RC && qp->qp_type != IBV_QPT_UC)) {
		verbs_warn("mlx5dv_modify_qp_udp_sport: qp 0x%x is of type %d and in state %d, "
			   "must be RC or UC and in RTS",
			   qp->qp_num, (int)qp->qp_type, (int)qp->state);
		return verbs_result(EOPNOTSUPP);
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_RTS2RTS_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->qp_num);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK_32, PRM_OPTPAR_32_UDP_SPORT);
	fld_set(fld_at(in, MODIFY_QP_IN_QPC), FLD_IN(QPC_PRIMARY_PATH, ADS_UDP_SPORT), udp_sport);
	return verbs_result(mlx5_devx_qp_modify(qp, in, sizeof(in)));
}
