/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - the transport's operations for queues (struct qp_transport). Queues call them through
 * pointers, so that calls between modules only go down.
 * IBTA vol 1, 10.3.1 (states of a QP)
 */
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/out_of_order.h"
#include "softhca/device/transport/qp.h"
#include "softhca/device/transport/tm.h"

static void transport_reset(struct qp *qp)
{
	req_reset(qp);
	resp_reset(qp);
}

static void transport_free(struct hca *hca, struct qp *qp)
{
	mcg_forget(hca, qp);
	resp_free(qp);
	free(qp->dci);
	free(qp->offload);
}

static const struct qp_transport transport = {
	.reset = transport_reset,
	.posted = req_posted,
	.survives = dci_bears,
	.flush = out_of_order_flush,
	.cancel = tm_cancel,
	.free = transport_free,
	.own_wqe = tm_offload_wqe,
	.own_done = tm_offload_complete,
};

struct qp *qp_alloc(void)
{
	struct qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->transport = &transport;
	TAILQ_INIT(&qp->early);
	return qp;
}

/* Takes the WQE of a destroyed SRQ from each QP that holds one. It visits all QPs: XRC requests
 * name the SRQ themselves, so an SRQ does not know the QPs that use it. */
void srq_take_back(struct hca *hca, const struct srq *srq)
{
	struct qp *qp;
	uint32_t i = 0;

	while ((qp = res_next(&hca->qps, &i)) != NULL) {
		if (qp->resp.held.srq == srq) {
			qp->resp.held.srq = NULL;
			qp->resp.receiving = false;
		}
		if (qp->resp.fault.srq == srq)
			qp->resp.fault.srq = NULL;
		out_of_order_leave_srq(qp, srq);
	}
}
