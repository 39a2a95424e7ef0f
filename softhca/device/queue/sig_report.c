/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig_report.c - posts CQEs for the signature errors that transfers have found (memory/sig.c puts
 * the keys on hca->sig_failed). PRM: Signature Error CQE
 */
#include "softhca/device/queue/sig_report.h"

#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"

static void report_key(struct hca *hca, struct qp *qp, struct cq *cq, struct mkey *mkey)
{
	uint8_t cqe[CQE_MAX] = { 0 };

	hca->format->encode_sig_error(mkey, qp->n, cqe);
	if (cq_post_cqe(hca, cq, cqe, false, NULL))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

void sig_report(struct hca *hca, struct qp *qp, bool of_send)
{
	struct cq *cq = of_send ? qp->send_cq : rq_cq(qp);
	struct mkey *mkey;

	while ((mkey = LIST_FIRST(&hca->sig_failed)) != NULL) {
		LIST_REMOVE(mkey, in_sig_failed);
		mkey->sig_state.unreported = false;
		if (of_send && qp->drains)
			qp->draining = true;
		if (cq)
			report_key(hca, qp, cq, mkey);
	}
}
