/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_scan.c - see uar_scan.h. The lists of a UAR rotate: a queue that was read moves to the end,
 * where new queues go, too. So the queues that a scan has still to read are the first ones.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/eth_sq.h"
#include "softhca/device/uar_scan.h"

enum { PIECES = 2 /* of a turn of hca_progress() */ };

/* Ends the wait for queues that are gone. */
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

/* Moves the send queue N to the head of its list. */
static void sq_bring_forward(struct hca *hca, struct uar *uar, uint32_t n)
{
	struct qp *qp = res_get(&hca->qps, n);
	struct eth_sq *sq = qp ? NULL : res_get(&hca->eth->sqs, n);

	if (qp && qp->uar == uar) {
		TAILQ_REMOVE(&uar->qps, qp, in_uar);
		TAILQ_INSERT_HEAD(&uar->qps, qp, in_uar);
	} else if (sq && sq->uar == uar) {
		TAILQ_REMOVE(&uar->sqs, sq, in_uar);
		TAILQ_INSERT_HEAD(&uar->sqs, sq, in_uar);
	}
}

static void cq_bring_forward(struct hca *hca, struct uar *uar, uint32_t n)
{
	struct cq *cq = res_get(&hca->cqs, n);

	if (cq && cq->uar == uar) {
		TAILQ_REMOVE(&uar->cqs, cq, in_uar);
		TAILQ_INSERT_HEAD(&uar->cqs, cq, in_uar);
	}
}

/* Has a scan continue in later turns, unless it is complete. */
static void scan_put_off(struct hca *hca, struct uar *uar)
{
	const struct uar_left *left = &uar->left;

	if (uar->scanned || !(left->qps || left->cqs || left->sqs))
		return;
	uar->scanned = true;
	TAILQ_INSERT_TAIL(&hca->scans, uar, in_scans);
}

void uar_scan_sqs(struct hca *hca, struct uar *uar, const uint32_t *n, unsigned int count)
{
	uar->left.qps = uar->num_qps;
	uar->left.sqs = uar->num_sqs;
	for (unsigned int i = 0; i < count; i++)
		sq_bring_forward(hca, uar, n[i]);
	sq_scan_doorbells(hca, uar);
	eth_scan(hca, uar);
	scan_put_off(hca, uar);
}

void uar_scan_cqs(struct hca *hca, struct uar *uar, uint32_t n)
{
	uar->left.cqs = uar->num_cqs;
	cq_bring_forward(hca, uar, n);
	cq_scan_arms(hca, uar);
	scan_put_off(hca, uar);
}

void uar_scan_forget(struct hca *hca, struct uar *uar)
{
	if (uar->scanned)
		TAILQ_REMOVE(&hca->scans, uar, in_scans);
	uar->scanned = false;
}

void uar_scans_run(struct hca *hca)
{
	for (unsigned int i = 0; i < PIECES && !TAILQ_EMPTY(&hca->scans); i++) {
		struct uar *uar = TAILQ_FIRST(&hca->scans);

		uar_scan_forget(hca, uar);
		if (uar->left.qps)
			sq_scan_doorbells(hca, uar);
		if (uar->left.cqs)
			cq_scan_arms(hca, uar);
		if (uar->left.sqs)
			eth_scan(hca, uar);
		scan_put_off(hca, uar);
	}
}
