/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_queues.c - see uar_queues.h. The lists of a UAR rotate: a queue that was read moves to the
 * end, where new queues go, too. So the queues that a scan has still to read are the first ones.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth_sq.h"
#include "softhca/device/uar_queues.h"

/* Lowers a scan's number of queues left to read to NUM, the length that the list now has. */
static void left_limit(uint32_t *left, uint32_t num)
{
	if (*left > num)
		*left = num;
}

void uar_add_qp(struct qp *qp)
{
	TAILQ_INSERT_TAIL(&qp->uar->qps, qp, in_uar);
	qp->uar->num_qps++;
}

void uar_remove_qp(struct qp *qp)
{
	if (!qp->uar)
		return;
	TAILQ_REMOVE(&qp->uar->qps, qp, in_uar);
	qp->uar->num_qps--;
	left_limit(&qp->uar->left.qps, qp->uar->num_qps);
}

void uar_add_cq(struct cq *cq)
{
	TAILQ_INSERT_TAIL(&cq->uar->cqs, cq, in_uar);
	cq->uar->num_cqs++;
}

void uar_remove_cq(struct cq *cq)
{
	if (!cq->uar)
		return;
	TAILQ_REMOVE(&cq->uar->cqs, cq, in_uar);
	cq->uar->num_cqs--;
	left_limit(&cq->uar->left.cqs, cq->uar->num_cqs);
	cq->uar = NULL;
}

void uar_add_sq(struct eth_sq *sq)
{
	TAILQ_INSERT_TAIL(&sq->uar->sqs, sq, in_uar);
	sq->uar->num_sqs++;
}

void uar_remove_sq(struct eth_sq *sq)
{
	TAILQ_REMOVE(&sq->uar->sqs, sq, in_uar);
	sq->uar->num_sqs--;
	left_limit(&sq->uar->left.sqs, sq->uar->num_sqs);
}

void uar_forget_scan(struct hca *hca, struct uar *uar)
{
	if (uar->scanned)
		TAILQ_REMOVE(&hca->scans, uar, in_scans);
	uar->scanned = false;
}
