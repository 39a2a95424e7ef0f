/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.c - see dct.h. Each request of an initiator carries the access key and the first PSN of its
 * session. So whichever request arrives first can create the responder, and a responder recognises
 * requests of an earlier session.
 *
 * An initiator sends a message when it ends a session. If that is lost, the responder stays until
 * the initiator returns, the target is destroyed, or DCT_RESPONDERS is reached. IBTA does not
 * define DC. Context: prm/mlx5/dct.h. Decision: docs/adr/0034.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "softhca/device/core.h"
#include "softhca/device/transport/answer.h"
#include "softhca/device/transport/dct.h"
#include "softhca/device/transport/qp.h"

int dct_start(struct hca *hca, struct dct *dct, struct qp *model)
{
	int ret = res_add(&hca->dcts, dct, &dct->n);

	if (ret)
		return ret;
	TAILQ_INIT(&dct->responders);
	model->n = model->wire = dct->n;
	dct->model = model;
	dct->pd->users++;
	dct->cq->users++;
	dct->srq->users++;
	return 0;
}

static void responder_end(struct hca *hca, struct dct *dct, struct qp *qp)
{
	qp_fail(hca, qp, -1); /* completes a WQE that it holds */
	resp_free(qp);
	if (qp->ready)
		TAILQ_REMOVE(&hca->ready, qp, in_ready);
	TAILQ_REMOVE(&dct->responders, qp, in_dct);
	dct->count--;
	free(qp);
}

static bool is_initiator(const struct qp *qp, const struct fabric_msg *msg)
{
	const struct fabric_addr *addr = &qp->path.addr;

	if (qp->remote_qpn != msg->src_qpn || addr->grh != msg->addr.grh)
		return false;
	return addr->grh ? !memcmp(addr->dgid, msg->addr.sgid, sizeof(addr->dgid))
			 : addr->dlid == msg->addr.slid;
}

static struct qp *responder_find(struct dct *dct, const struct fabric_msg *msg)
{
	struct qp *qp;

	TAILQ_FOREACH(qp, &dct->responders, in_dct)
		if (is_initiator(qp, msg))
			return qp;
	return NULL;
}

static struct qp *responder_make(struct hca *hca, struct dct *dct, const struct fabric_msg *msg)
{
	struct qp *qp = malloc(sizeof(*qp));

	if (!qp)
		return NULL;
	*qp = *dct->model;
	if (!path_reverse(hca, dct->port, msg, &qp->path)) {
		free(qp);
		return NULL;
	}
	resp_reset(qp); /* the copied queue state is the model's, so start anew */
	qp->dct = dct;
	qp->session = msg->session;
	qp->remote_qpn = msg->src_qpn;
	qp->state = PRM_QP_STATE_RTR;
	qp->resp.established = true; /* set, as a responder reports no COMM_EST */
	qp->resp.expected_psn = msg->session & PSN_MASK;
	if (dct->count == DCT_RESPONDERS)
		responder_end(hca, dct, TAILQ_FIRST(&dct->responders));
	TAILQ_INSERT_TAIL(&dct->responders, qp, in_dct);
	dct->count++;
	return qp;
}

/* Returns whether SESSION precedes QP's session, without a reset of the initiator in between. */
static bool is_over(const struct qp *qp, uint32_t session)
{
	return qp->session >> 24 == session >> 24 &&
	       psn_diff(session & PSN_MASK, qp->session & PSN_MASK) < 0;
}

/* Finds or creates the responder for MSG. A newer session replaces the responder of the initiator's
 * last one. Returns NULL for a late message of an earlier session, as that has been answered long
 * ago. */
static struct qp *responder_of(struct hca *hca, struct dct *dct, const struct fabric_msg *msg)
{
	struct qp *qp = responder_find(dct, msg);

	if (qp && is_over(qp, msg->session))
		return NULL;
	if (qp && qp->session != msg->session) {
		responder_end(hca, dct, qp);
		qp = NULL;
	}
	if (!qp)
		return responder_make(hca, dct, msg);
	TAILQ_REMOVE(&dct->responders, qp, in_dct);
	TAILQ_INSERT_TAIL(&dct->responders, qp, in_dct);
	return qp;
}

static void request_refuse(struct hca *hca, unsigned int port, const struct fabric_msg *request,
			   enum fabric_nak nak)
{
	struct fabric_msg msg = {
		.service = FABRIC_DC,
		.op = FABRIC_NAK,
		.dest_qpn = request->src_qpn,
		.src_qpn = request->dest_qpn,
		.pkey = request->pkey,
		.psn = request->psn,
		.packets = 1,
		.nak = nak,
	};
	struct qp_path path;

	if (request->op == FABRIC_CLOSE || !path_reverse(hca, port, request, &path))
		return;
	path_address(hca, &path, &msg.addr);
	station_send(hca, &msg);
}

static void key_violated(struct hca *hca, struct dct *dct)
{
	dct->violations++;
	if (dct->armed)
		eq_qp_event(hca, PRM_EVENT_DCT_KEY_VIOLATION, dct->n);
	dct->armed = false;
}

static void close_session(struct hca *hca, struct dct *dct, const struct fabric_msg *msg)
{
	struct qp *qp = responder_find(dct, msg);

	if (qp && qp->session == msg->session)
		responder_end(hca, dct, qp);
}

static void request_execute(struct hca *hca, struct dct *dct, const struct fabric_msg *msg)
{
	struct qp *qp = responder_of(hca, dct, msg);

	if (!qp)
		return; /* dropped without a NAK: the sender repeats it if it still waits */
	resp_receive(hca, qp, msg);
	if (qp->state == PRM_QP_STATE_ERR && !answers_are_left(qp))
		responder_end(hca, dct, qp);
}

bool dct_run(struct hca *hca, struct qp *qp, uint64_t budget)
{
	if (answers_run(hca, qp, budget))
		return true;
	if (qp->state == PRM_QP_STATE_ERR)
		responder_end(hca, qp->dct, qp);
	return false;
}

void dct_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg)
{
	struct dct *dct = res_get(&hca->dcts, msg->dest_qpn);

	if (!dct || dct->state != DCT_ACTIVE || dct->port != port) {
		request_refuse(hca, port, msg, FABRIC_NAK_NO_TARGET);
		return;
	}
	if (!port_accepts_pkey(&hca->port[port - 1], dct->pkey, msg->pkey))
		return;
	if (dct->key != msg->dc_key) {
		key_violated(hca, dct);
		request_refuse(hca, port, msg, FABRIC_NAK_REMOTE_ACCESS);
	} else if (msg->op == FABRIC_CLOSE) {
		close_session(hca, dct, msg);
	} else {
		request_execute(hca, dct, msg);
	}
}

static void responders_end(struct hca *hca, struct dct *dct)
{
	while (!TAILQ_EMPTY(&dct->responders))
		responder_end(hca, dct, TAILQ_FIRST(&dct->responders));
}

void dct_drain(struct hca *hca, struct dct *dct)
{
	dct->state = DCT_DRAINED;
	responders_end(hca, dct);
	eq_qp_event(hca, PRM_EVENT_DCT_DRAINED, dct->n);
}

void dct_free(struct hca *hca, struct dct *dct)
{
	responders_end(hca, dct);
	dct->pd->users--;
	dct->cq->users--;
	dct->srq->users--;
	free((void *)(uintptr_t)dct->model);
	free(dct);
}
