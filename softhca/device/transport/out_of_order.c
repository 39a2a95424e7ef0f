/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * out_of_order.c - see out_of_order.h. Keeps the requests that were taken early, in PSN order; the
 * responder (resp.c) places and executes them. Attribute: dp_ordering_1 in prm/mlx5/qpc.h. Answers
 * stay in order, IBTA vol 1, 9.7.5.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/transport/out_of_order.h"
#include "softhca/device/transport/resp.h"

enum {
	EARLY_MAX = 128,
	INLINE_MAX = 64,
};

#define PATIENCE (1000 * NS_PER_MS) /* time to wait for missing packets before a NAK */

struct early {
	TAILQ_ENTRY(early) in_order;
	struct fabric_msg msg; /* without its payload */
	bool placed;           /* its payload is in memory; else it is executed in order */
	bool received;         /* it took the receive WQE that held names */
	struct held_receive held;
	uint32_t inline_len;
	uint8_t inline_data[INLINE_MAX];
};

static struct early *out_of_order_find(const struct qp *qp, uint32_t psn)
{
	struct early *early;

	TAILQ_FOREACH(early, &qp->early, in_order)
		if (early->msg.psn == psn)
			return early;
	return NULL;
}

static void gap_end(struct qp *qp)
{
	if (qp->has_gap)
		LIST_REMOVE(qp, in_gaps);
	qp->has_gap = false;
}

static void out_of_order_insert(struct hca *hca, struct qp *qp, struct early *early)
{
	struct early *next;

	if (!qp->has_gap) {
		LIST_INSERT_HEAD(&hca->gaps, qp, in_gaps);
		qp->has_gap = true;
		qp->gap_since = hca->now;
	}
	qp->num_early++;
	TAILQ_FOREACH(next, &qp->early, in_order)
		if (psn_diff(next->msg.psn, early->msg.psn) > 0)
			break;
	if (next)
		TAILQ_INSERT_BEFORE(next, early, in_order);
	else
		TAILQ_INSERT_TAIL(&qp->early, early, in_order);
}

static void out_of_order_remove(struct qp *qp, struct early *early)
{
	TAILQ_REMOVE(&qp->early, early, in_order);
	qp->num_early--;
	if (!qp->num_early)
		gap_end(qp);
}

/* Returns how many packets are missing before MSG. Each may be a message of its own. */
static uint32_t missing_before(const struct qp *qp, const struct fabric_msg *msg)
{
	uint32_t missing = (uint32_t)psn_diff(msg->psn, qp->resp.expected_psn);
	const struct early *early;

	TAILQ_FOREACH(early, &qp->early, in_order)
		if (psn_diff(early->msg.psn, msg->psn) < 0)
			missing -= early->msg.packets;
	return missing;
}

/* Reads the next WQE of the QP's own queue. Software frees slots by the number of completions, not
 * by index. The messages that are missing complete first, and if they were half a ring or more,
 * software could overwrite this WQE before it completes. */
static bool own_look(struct hca *hca, struct qp *qp, uint32_t missing)
{
	return missing < 1u << qp->rq.log_size >> 1 && !rq_fetch(hca, qp) &&
	       (uint16_t)(qp->rq.pi - qp->rq.ci) > missing;
}

/* Reads the next WQE of the SRQ, unless the SRQ must take WQEs in order: software reuses a cyclic
 * queue's slots by the number of completions, as with own_look(); tags match in order; and a
 * message with absent pages is repeated anyway. */
static bool srq_look(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, uint32_t missing)
{
	struct responder *resp = &qp->resp;
	struct srq *srq = resp->held.srq;

	return !srq->tm && !srq->cyclic && !srq_peek(hca, srq, &resp->recv, &resp->held.index) &&
	       (uint16_t)(srq->pi - srq->taken) > missing &&
	       srq_has_pages(hca, &resp->recv, msg->payload_len);
}

/* Reads the next receive WQE for MSG. Leaves enough WQEs for the missing messages, which may each
 * need one and complete first. */
static bool receive_look(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
			 struct early *early)
{
	uint32_t missing = missing_before(qp, msg);

	if (qp->srq)
		qp->resp.held.srq = qp->srq;
	early->received =
		qp->resp.held.srq ? srq_look(hca, qp, msg, missing) : own_look(hca, qp, missing);
	early->held = qp->resp.held;
	return early->received;
}

static bool receive_take(struct hca *hca, struct qp *qp)
{
	if (qp->resp.held.srq)
		return !rq_fetch(hca, qp);
	qp->rq.ci++;
	return true;
}

/* Places a SEND. Only plain keys (MKEY_PLAIN) take part: a key that computes signatures or ciphers
 * needs the blocks in order, since its state passes from block to block. */
static bool send_place(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
		       struct early *early)
{
	if (msg->invalidate || !receive_look(hca, qp, msg, early) ||
	    msg->payload_len > qp->resp.recv.length)
		return false;
	if (!resp_fits_cqe(qp, msg))
		return !resp_scatter(hca, qp, msg, MKEY_LOCAL_WRITE | MKEY_PLAIN);
	early->inline_len = msg->payload_len;
	memcpy(early->inline_data, msg->payload, msg->payload_len);
	return true;
}

static bool write_place(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
			struct early *early)
{
	if (!qp->remote_write || (msg->has_imm && !receive_look(hca, qp, msg, early)))
		return false;
	return !resp_write(hca, qp, msg, MKEY_REMOTE_WRITE | MKEY_PLAIN);
}

static bool request_place(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
			  struct early *early)
{
	bool done;

	if (!resp_find_srq(hca, qp, msg))
		return false;
	qp->resp.received = 0;
	done = msg->op == FABRIC_SEND ? send_place(hca, qp, msg, early)
				      : write_place(hca, qp, msg, early);
	return done && (!early->received || receive_take(hca, qp));
}

static bool may_be_early(const struct qp *qp, const struct fabric_msg *msg)
{
	return msg->first && msg->last && !qp->resp.under_way && !qp->resp.receiving &&
	       qp->num_early < EARLY_MAX && (msg->op > FABRIC_WRITE || packets_fit(msg, qp->mtu));
}

bool out_of_order_take(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct early *early;

	if (out_of_order_find(qp, msg->psn))
		return true; /* a repeat of a request that was taken */
	if (!may_be_early(qp, msg))
		return false;
	early = calloc(1, sizeof(*early));
	if (!early)
		return false;
	early->msg = *msg;
	early->msg.payload = NULL;
	early->placed = msg->op <= FABRIC_WRITE;
	if (early->placed && !request_place(hca, qp, msg, early)) {
		free(early);
		return false;
	}
	trace_line(hca->config.trace, "QP 0x%06x: PSN 0x%06x is taken early, 0x%06x is missing",
		   qp->n, msg->psn, qp->resp.expected_psn);
	out_of_order_insert(hca, qp, early);
	return true;
}

static void out_of_order_complete(struct hca *hca, struct qp *qp, const struct early *early)
{
	const struct fabric_msg *msg = &early->msg;
	struct completion done = resp_completion(
		msg, msg->op == FABRIC_WRITE ? CQE_OP_RESP_WRITE_IMM : resp_send_opcode(msg),
		msg->payload_len);

	done.inline_data = early->inline_data;
	done.inline_len = early->inline_len;
	rq_complete_early(hca, qp, &done, &early->held);
}

static void out_of_order_finish(struct hca *hca, struct qp *qp, struct early *early)
{
	if (!early->placed) {
		resp_perform(hca, qp, &early->msg);
		return;
	}
	if (early->msg.op == FABRIC_WRITE)
		q_count(hca, qp, Q_RX_WRITE);
	if (early->received)
		out_of_order_complete(hca, qp, early);
	resp_accept(hca, qp, &early->msg);
}

/* Finishes early requests in order. If the last request's packets overlap the next early one, the
 * sender numbers its packets wrongly, so the QP fails. */
void out_of_order_go_on(struct hca *hca, struct qp *qp)
{
	struct early *early;

	while (qp_receives(qp) && (early = TAILQ_FIRST(&qp->early)) != NULL) {
		int32_t ahead = psn_diff(early->msg.psn, qp->resp.expected_psn);

		if (ahead > 0)
			return;
		if (ahead < 0) {
			qp_fail(hca, qp, PRM_EVENT_WQ_INVAL_REQ_ERROR);
			return;
		}
		out_of_order_remove(qp, early);
		out_of_order_finish(hca, qp, early);
		free(early);
	}
}

void out_of_order_flush(struct hca *hca, struct qp *qp)
{
	struct early *early;

	while ((early = TAILQ_FIRST(&qp->early)) != NULL) {
		struct completion done = {
			.opcode = CQE_OP_RESP_ERR,
			.syndrome = SYND_FLUSH,
			.vendor_syndrome = VEND_FLUSH,
		};

		out_of_order_remove(qp, early);
		if (early->received) {
			q_count(hca, qp, Q_RESP_FLUSH);
			rq_complete_early(hca, qp, &done, &early->held);
		}
		free(early);
	}
}

void out_of_order_leave_srq(struct qp *qp, const struct srq *srq)
{
	struct early *early, *next;

	for (early = TAILQ_FIRST(&qp->early); early; early = next) {
		next = TAILQ_NEXT(early, in_order);
		if (!early->received || early->held.srq != srq)
			continue;
		out_of_order_remove(qp, early);
		free(early);
	}
}

void out_of_order_forget(struct qp *qp)
{
	struct early *early;

	while ((early = TAILQ_FIRST(&qp->early)) != NULL) {
		out_of_order_remove(qp, early);
		free(early);
	}
	TAILQ_INIT(&qp->early); /* also initialises the list of a new QP */
}

uint64_t out_of_order_run(struct hca *hca)
{
	uint64_t next = HCA_IDLE;
	struct qp *qp;

	LIST_FOREACH(qp, &hca->gaps, in_gaps) {
		if (hca->now >= qp->gap_since + PATIENCE) {
			resp_ask_again(hca, qp);
			qp->gap_since = hca->now;
		}
		if (qp->gap_since + PATIENCE < next)
			next = qp->gap_since + PATIENCE;
	}
	return next;
}
