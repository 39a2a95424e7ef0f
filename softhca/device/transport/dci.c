/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dci.c - see dci.h. IBTA does not define DC. PRM: Address Vector (prm/mlx5/av.h). Decision:
 * docs/adr/0034.
 */
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/qp.h"

/* Ends the session with a CLOSE message. Not for callers inside the delivery of an answer: the
 * CLOSE would free the responder while it sends that answer. */
void dci_leave(struct hca *hca, struct qp *qp)
{
	struct fabric_msg msg = {
		.op = FABRIC_CLOSE,
		.psn = qp->req.next_psn,
		.packets = 1,
		.first = true,
		.last = true,
	};

	if (!qp->dci || !qp->dci->in_session)
		return;
	qp_address(hca, qp, &msg);
	qp->dci->in_session = false;
	station_send(hca, &msg);
}

static bool is_same_target(const struct dci *dci, const struct send_wqe *wqe)
{
	return dci->in_session && dci->stream == wqe->stream &&
	       !memcmp(dci->av, wqe->av, sizeof(dci->av));
}

static bool begin_session(struct hca *hca, struct qp *qp)
{
	const struct send_wqe *wqe = &qp->req.wqe;
	struct dci *dci = qp->dci;
	struct datagram_to to;

	hca->format->decode_av(wqe->av, station_is_ethernet(hca), &to);
	if (!path_take_port(hca, &qp->path, &to.path))
		return false;
	dci->to = to;
	memcpy(dci->av, wqe->av, sizeof(dci->av));
	dci->stream = wqe->stream;
	dci->session = (uint32_t)dci->life << 24 | qp->req.next_psn;
	dci->in_session = true;
	trace_line(hca->config.trace, "QP 0x%06x: a session with target 0x%06x on stream %u", qp->n,
		   to.qpn, dci->stream);
	return true;
}

static bool is_in_error(const struct dci *dci, uint16_t stream)
{
	for (unsigned int i = 0; i < dci->errored; i++)
		if (dci->stream_in_error[i] == stream)
			return true;
	return false;
}

enum dci_turn dci_take_turn(struct hca *hca, struct qp *qp)
{
	bool alone = qp->sq.ci == qp->sq.next;
	const struct send_wqe *wqe = &qp->req.wqe;
	struct dci *dci = qp->dci;

	if (qp->req.offset)
		return DCI_GO;
	if (is_in_error(dci, wqe->stream))
		return alone ? DCI_FLUSH : DCI_WAIT;
	if (is_same_target(dci, wqe))
		return DCI_GO;
	if (!alone)
		return DCI_WAIT;
	dci_leave(hca, qp);
	return begin_session(hca, qp) ? DCI_GO : DCI_BAD_AV;
}

bool dci_bears(struct hca *hca, struct qp *qp, uint16_t stream)
{
	struct dci *dci = qp->dci;

	if (!dci || !dci->has_streams || qp->state != PRM_QP_STATE_RTS)
		return false;
	if (!is_in_error(dci, stream)) {
		dci->stream_in_error[dci->errored++] = stream;
		if (dci->errored >= dci->bears)
			return false;
	}
	dci->in_session = false;
	req_go_on(hca, qp);
	return true;
}

bool dci_reset_stream(struct qp *qp, uint16_t stream)
{
	struct dci *dci = qp->dci;

	for (unsigned int i = 0; i < dci->errored; i++) {
		if (dci->stream_in_error[i] != stream)
			continue;
		dci->stream_in_error[i] = dci->stream_in_error[--dci->errored];
		return true;
	}
	return false;
}

void dci_reset(struct hca *hca, struct qp *qp)
{
	if (!qp->dci)
		return;
	dci_leave(hca, qp);
	qp->dci->errored = 0;
	qp->dci->life = hca->dci_lives++;
}
