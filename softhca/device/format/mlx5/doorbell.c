/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.c - doorbells of an mlx5 adapter: registers of UAR pages, and the arm word of a CQ's
 * doorbell record. PRM: UAR Page Format, Doorbell Record
 */
#include <endian.h>

#include "prm/mlx5/eqe.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/mlx5.h"

struct cq_arm mlx5_decode_arm(uint32_t word_be)
{
	return (struct cq_arm){
		.solicited_only = fld_get(&word_be, CQ_ARM_SOLICITED_ONLY),
		.ci = fld_get(&word_be, CQ_ARM_CI),
		.sn = fld_get(&word_be, CQ_ARM_SN),
		.reserved = be32toh(word_be) & (3u << 30 | 7u << 25),
	};
}

uint32_t mlx5_rung_sq(uint64_t value_be)
{
	return fld_get(&value_be, CTRL_QPN);
}

uint32_t mlx5_rung_cq(uint64_t value_be)
{
	return fld_get(&value_be, UAR_CQ_CQN);
}

/* Rings a send queue. The value is the start of a control segment, which names the QP, and the
 * doorbell record tells the index, so other bytes of a BlueFlame write are not needed. */
static void ring_sq(struct hca *hca, uint32_t uar, uint64_t value_be)
{
	uint32_t n = mlx5_rung_sq(value_be);
	struct qp *qp = res_get(&hca->qps, n);

	if (!qp)
		eth_ring(hca, uar, n);
	else if (qp->uar && qp->uar->n == uar && sq_read_doorbell(hca, qp))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

static void ring_cq(struct hca *hca, uint32_t uar, uint64_t value_be)
{
	struct cq *cq = res_get(&hca->cqs, mlx5_rung_cq(value_be));

	if (cq && cq->uar && cq->uar->n == uar)
		cq_arm(hca, cq, htobe32(fld_get(&value_be, UAR_CQ_ARM)));
}

static void ring_eq(struct hca *hca, uint64_t value_be, bool arm)
{
	struct eq *eq = res_get(&hca->eqs, fld_get(&value_be, UAR_EQ_EQN));

	if (eq)
		eq_update(hca, eq, fld_get(&value_be, UAR_EQ_CI), arm);
}

void mlx5_ring(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	if (offset >= PRM_UAR_SQ && offset % PRM_UAR_SQ_SIZE == 0)
		ring_sq(hca, uar, value_be);
	else if (offset == PRM_UAR_CQ)
		ring_cq(hca, uar, value_be);
	else if (offset == PRM_EQ_ARM || offset == PRM_EQ_UPDATE)
		ring_eq(hca, value_be, offset == PRM_EQ_ARM);
}
