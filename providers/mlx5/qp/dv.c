/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.c - features of a QP that only direct verbs have. See qp/dv.h.
 *
 * PRM: a QP copies memory, or stops at a signature error, only if its context enables that. The
 * kernel's modify command cannot, so a DevX command does in state INIT. The device writes the
 * status of each copy into memory of the QP's PD. Nothing reads that memory, because the completion
 * has the same status.
 */
#include "providers/mlx5/qp/dv.h"

#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/mr.h"
#include "util/log.h"

enum { OUTCOME_BYTES = 64 };

static bool dv_copies(const struct mlx5_qp_dv *dv)
{
	return dv->send_ops & MLX5DV_QP_EX_WITH_MEMCPY;
}

int mlx5_qp_dv_take(struct mlx5_context *ctx, struct ibv_pd *pd, const struct mlx5_qp_dv *dv,
		    struct mlx5_qp *qp)
{
	const struct mlx5_hca_caps *caps;
	int ret;

	qp->drains = dv->flags & MLX5DV_QP_CREATE_SIG_PIPELINING;
	if (!dv_copies(dv))
		return 0;
	ret = mlx5_hca_caps_get(ctx, &caps);
	if (ret)
		return ret;
	ret = provider_hwbuf_alloc(OUTCOME_BYTES, &qp->copy.buf);
	if (ret) {
		verbs_warn("create_qp: no memory for %d bytes", OUTCOME_BYTES);
		return ret;
	}
	ret = mlx5_mr_reg(pd, qp->copy.buf.addr, OUTCOME_BYTES, (uintptr_t)qp->copy.buf.addr,
			  IBV_ACCESS_LOCAL_WRITE, &qp->copy.mr);
	if (ret) {
		provider_hwbuf_free(&qp->copy.buf);
		return ret;
	}
	qp->copy.mr->mr.context = pd->context;
	qp->copy.max = caps->max_copy;
	return 0;
}

int mlx5_qp_dv_release(struct mlx5_qp *qp)
{
	int ret = qp->copy.max ? mlx5_mr_dereg(qp->copy.mr) : 0;

	if (ret || !qp->copy.max)
		return ret;
	provider_hwbuf_free(&qp->copy.buf);
	qp->copy.max = 0;
	return 0;
}

static int __attribute__((noinline)) qp_init_to_init(struct mlx5_qp *qp)
{
	uint8_t in[PRM_MODIFY_QP_EXT_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_INIT2INIT_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->vqp.qp.qp_num);
	if (qp->drains) {
		fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, PRM_OPTPAR_DRAIN_SIGERR);
		fld_set(fld_at(in, MODIFY_QP_IN_QPC), QPC_DRAIN_SIGERR, 1);
	}
	if (qp->copy.max) {
		fld_set(in, MODIFY_QP_IN_QPC_EXT, 1);
		fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK_32, PRM_OPTPAR_32_MMO);
		fld_set(fld_at(in, MODIFY_QP_IN_QPC_DATA_EXT), QPC_EXT_MMO, 1);
	}
	return mlx5_devx_qp_modify(&qp->vqp.qp, in, sizeof(in));
}

int mlx5_qp_dv_init(struct mlx5_qp *qp)
{
	return qp->copy.max || qp->drains ? qp_init_to_init(qp) : 0;
}

#define UMR_HEAD  (WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE)
#define SEND_LIST (MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED)

uint32_t mlx5_qp_dv_head(const struct mlx5_qp_dv *dv)
{
	return dv->send_ops & SEND_LIST ? UMR_HEAD + UMR_KLM_BLOCK : 0;
}

/* Returns extra ring space per request. A key configuration has up to as many entries as inline
 * data allows, after the head and before two BSF blocks (signature and encryption); two more WQEs
 * follow to set PSVs. */
uint32_t mlx5_qp_dv_room(const struct mlx5_qp_dv *dv)
{
	return dv->send_ops & MLX5DV_QP_EX_WITH_MKEY_CONFIGURE ? UMR_HEAD + 4 * WQE_BB : 0;
}
