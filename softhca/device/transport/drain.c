/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain.c - draining a send queue: which requests had begun, and when they are done.
 *
 * A request has begun if one of its packets was ever sent, even if a retry has moved the queue back
 * since. ACKs, losses and RNR NAKs work as usual while the queue drains (req.c). A request that
 * fails moves the QP to the same state as from RTS; then no drained event is raised. IBTA vol 1,
 * 10.3.1 (states of a QP).
 */
#include "softhca/device/transport/drain.h"

#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"

/* Returns the end of the requests that had begun. After a retry moved back, requests at and behind
 * sq.next have begun if their PSNs were sent before. */
static uint16_t begun_end(const struct qp *qp)
{
	const struct requester *req = &qp->req;
	bool is_begun = req->offset || psn_diff(req->sent_psn, req->next_psn) > 0;
	uint16_t end = qp->sq.next;

	while (is_begun && sq_has_entry(qp, end)) {
		const struct sq_entry *entry = &qp->sq.entry[end & sq_mask(qp)];

		end += entry->bbs;
		is_begun = psn_diff(req->sent_psn, (entry->psn + entry->packets) & PSN_MASK) > 0;
	}
	return end;
}

void drain_begin(struct hca *hca, struct qp *qp, bool tell)
{
	qp->sq.drain_end = begun_end(qp);
	qp->tells_drained = tell;
	qp->state = PRM_QP_STATE_SQ_DRAINING;
	drain_look(hca, qp);
}

uint16_t drain_limit(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_SQ_DRAINING ? qp->sq.drain_end : qp->sq.pi;
}

void drain_look(struct hca *hca, struct qp *qp)
{
	if (qp->state == PRM_QP_STATE_SQ_DRAINING && qp->sq.ci == qp->sq.drain_end)
		drain_finish(hca, qp, qp->tells_drained);
}

void drain_finish(struct hca *hca, struct qp *qp, bool tell)
{
	qp->state = PRM_QP_STATE_SQD;
	if (tell)
		eq_qp_event(hca, PRM_EVENT_SQ_DRAINED, qp->n);
}
