/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.c - doorbells of an mlx4 adapter: the registers of a UAR page, and the arm word of a
 * CQ's doorbell record. Sources: see prm/mlx4/uar.h.
 */
#include <endian.h>

#include "prm/mlx4/cmd.h"
#include "prm/mlx4/uar.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx4/mlx4.h"

struct cq_arm mlx4_decode_arm(uint32_t word_be)
{
	return (struct cq_arm){
		.solicited_only = fld_get(&word_be, M4_ARM_COMMAND) == M4_ARM_SOLICITED,
		.ci = fld_get(&word_be, M4_ARM_CI),
		.sn = fld_get(&word_be, M4_ARM_SN),
		.reserved = be32toh(word_be) & (3u << 30 | 1u << 27 | 1u << 26),
	};
}

uint32_t mlx4_rung_sq(uint64_t value_be)
{
	return fld_get(&value_be, M4_SEND_QPN);
}

uint32_t mlx4_rung_cq(uint64_t value_be)
{
	return fld_get(&value_be, M4_UAR_CQ_CQN);
}

/* Rings a send queue. The WQEs' ownership bits tell how many are posted, so the doorbell has no
 * index. */
static void ring_sq(struct hca *hca, uint32_t uar, uint64_t value_be)
{
	struct qp *qp = res_get(&hca->qps, mlx4_rung_sq(value_be));

	if (!qp)
		eth_ring(hca, uar, mlx4_rung_sq(value_be));
	else if (qp->uar && qp->uar->n == uar && sq_read_doorbell(hca, qp))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

/* Arms a CQ by register, which has the CQ's number; the consumer index is in the doorbell
 * record. */
static void ring_cq(struct hca *hca, uint32_t uar, uint64_t value_be)
{
	struct cq *cq = res_get(&hca->cqs, mlx4_rung_cq(value_be));
	uint32_t word = value_be;

	fld_set(&word, M4_ARM_CI, fld_get(&value_be, M4_UAR_CQ_CI));
	if (cq && cq->uar && cq->uar->n == uar)
		cq_arm(hca, cq, word);
}

static void ring_eq(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	struct eq *eq = res_get(&hca->eqs, uar * M4_EQS_PER_UAR + (offset - M4_UAR_EQ) / 8);

	if (eq)
		eq_update(hca, eq, fld_get(&value_be, M4_EQ_CI), fld_get(&value_be, M4_EQ_ARM));
}

void mlx4_ring_driver(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	if (offset >= M4_UAR_EQ && offset < M4_UAR_EQ + 8 * M4_EQS_PER_UAR && offset % 8 == 0)
		ring_eq(hca, uar, offset, value_be);
	else
		mlx4_ring(hca, uar, offset, value_be);
}

void mlx4_ring(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	if (offset == M4_UAR_SEND)
		ring_sq(hca, uar, value_be);
	else if (offset == M4_UAR_CQ)
		ring_cq(hca, uar, value_be);
}
