/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_scan.c - see uar_scan.h.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/eth_sq.h"
#include "softhca/device/uar_queues.h"
#include "softhca/device/uar_scan.h"

/* most unfinished scans that one hca_progress() continues, so that a turn stays short */
enum { PIECES = 2 };

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

/* Puts a scan that is not complete on hca->scans, so that later turns continue it. */
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

void uar_scans_run(struct hca *hca)
{
	for (unsigned int i = 0; i < PIECES && !TAILQ_EMPTY(&hca->scans); i++) {
		struct uar *uar = TAILQ_FIRST(&hca->scans);

		uar_forget_scan(hca, uar);
		if (uar->left.qps)
			sq_scan_doorbells(hca, uar);
		if (uar->left.cqs)
			cq_scan_arms(hca, uar);
		if (uar->left.sqs)
			eth_scan(hca, uar);
		scan_put_off(hca, uar);
	}
}
