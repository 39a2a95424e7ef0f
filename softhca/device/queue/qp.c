/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - queue pairs: scheduling in the device's loop, timers, errors, flushing and freeing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/umr_delay.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

void qp_wake(struct hca *hca, struct qp *qp)
{
	if (qp->ready)
		return;
	qp->ready = true;
	TAILQ_INSERT_TAIL(&hca->ready, qp, in_ready);
}

static void qp_wake_scheduled(struct hca *hca, struct sched_queue *queue)
{
	qp_wake(hca, container_of(queue, struct qp, sched));
}

/* Makes requests wait for their scheduling group. Responses do not wait: their bytes are charged to
 * a group, so that requests of that group wait longer. */
void qp_schedule(struct hca *hca, struct qp *qp, struct sched_element *requests,
		 struct sched_element *responses)
{
	qp->sched.wake = qp_wake_scheduled;
	sched_join(hca, &qp->sched, requests);
	if (qp->response_group)
		qp->response_group->users--;
	qp->response_group = responses;
	if (responses)
		responses->users++;
}

void qp_set_timer(struct hca *hca, struct qp *qp, uint64_t deadline)
{
	qp->req.deadline = deadline;
	if (deadline == HCA_IDLE) {
		if (qp->timed)
			TAILQ_REMOVE(&hca->timed, qp, in_timed);
		qp->timed = false;
		return;
	}
	if (!qp->timed)
		TAILQ_INSERT_TAIL(&hca->timed, qp, in_timed);
	qp->timed = true;
	if (deadline < hca->next_timer)
		hca->next_timer = deadline;
}

/* Completes the SRQ's WQE that the QP holds, or cancels its tag, then reports that the QP takes no
 * more WQEs of the SRQ. */
static void leave_srq(struct hca *hca, struct qp *qp)
{
	if (qp->resp.receiving && qp->resp.matched)
		qp->transport->cancel(hca, qp);
	else if (qp->resp.held.srq && qp->resp.receiving)
		rq_fail(hca, qp, SYND_FLUSH, VEND_FLUSH);
	qp->owes_last_wqe = qp->srq && !qp->dct;
	qp_report_last_wqe(hca, qp);
}

void qp_report_last_wqe(struct hca *hca, struct qp *qp)
{
	bool fetches = qp->offload && qp->sq.ci != qp->sq.pi;

	if (!qp->owes_last_wqe || fetches)
		return;
	qp->owes_last_wqe = false;
	eq_qp_event(hca, PRM_EVENT_SRQ_LAST_WQE, qp->n);
}

void qp_fail(struct hca *hca, struct qp *qp, int event)
{
	enum { FIRST_FLUSH_POLL = 100 * NS_PER_US };

	if (qp->state == PRM_QP_STATE_ERR)
		return;
	qp->state = PRM_QP_STATE_ERR;
	qp->transport->flush(hca, qp);
	/* a DCT's responder ends with its session, as software does not know this QP */
	if (qp->dct) {
		leave_srq(hca, qp);
		return;
	}
	umr_forget(qp);
	sched_rests(&qp->sched);
	qp->req.rnr_wait = false;
	qp->flush_poll = FIRST_FLUSH_POLL;
	qp_set_timer(hca, qp, hca->now + qp->flush_poll);
	qp_wake(hca, qp);
	if (event >= 0)
		eq_qp_event(hca, event, qp->n);
	leave_srq(hca, qp);
}

void qp_fail_send(struct hca *hca, struct qp *qp)
{
	if (qp_is_reliable(qp) || qp->service == FABRIC_NONE || qp->state == PRM_QP_STATE_ERR) {
		qp_fail(hca, qp, -1);
		return;
	}
	qp->state = PRM_QP_STATE_SQER;
	umr_forget(qp);
	sched_rests(&qp->sched);
	qp_wake(hca, qp);
}

void qp_reset_queues(struct qp *qp)
{
	umr_forget(qp);
	sched_rests(&qp->sched);
	qp->sq.pi = qp->sq.next = qp->sq.ci = 0;
	qp->sq.cache_bbs = 0;
	qp->sq.unrung_since = 0;
	qp->sq.is_ahead = false;
	qp->rq.pi = qp->rq.ci = qp->rq.noted_pi = 0;
	qp->rq.cache_count = 0;
	qp->owes_last_wqe = false;
	qp->transport->reset(qp);
}

void qp_leave_port(struct hca *hca, struct qp *qp)
{
	unsigned int port = qp->path.addr.port;

	if (qp->special >= 0 && port && hca->port[port - 1].special[qp->special] == qp)
		hca->port[port - 1].special[qp->special] = NULL;
}

void qp_free(struct hca *hca, struct qp *qp)
{
	qp_set_timer(hca, qp, HCA_IDLE);
	qp_leave_port(hca, qp);
	umr_forget(qp);
	qp_schedule(hca, qp, NULL, NULL);
	if (qp->ready)
		TAILQ_REMOVE(&hca->ready, qp, in_ready);
	uar_remove_qp(qp);
	dma_unmap(&qp->map);
	qp->transport->free(hca, qp);
	free(qp->sq.entry);
	free(qp->sq.digest);
	free(qp->rq.digest);
	free(qp);
}
