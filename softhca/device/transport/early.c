/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * early.c - see early.h. The responder (resp.c) places and executes; here is what was placed before
 * its turn, in the order of PSNs.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "softhca/device/transport/early.h"
#include "softhca/device/transport/resp.h"
#include "softhca/device/transport/tm.h"

enum {
	EARLY_MAX = 128, /* requests of one QP */
	INLINE_MAX = 64, /* bytes of payload that go into a CQE */
};

struct early {
	TAILQ_ENTRY(early) in_order;
	struct fabric_msg msg; /* whose payload is not kept */
	bool placed;           /* or else it is executed when its turn comes */
	bool received; /* a receive WQE was taken: that of INDEX, of SRQ or of the QP's own */
	uint16_t index;
	struct srq *srq;
	uint32_t inline_len;
	uint8_t inline_data[INLINE_MAX];
};

static struct early *early_find(const struct qp *qp, uint32_t psn)
{
	struct early *early;

	TAILQ_FOREACH(early, &qp->early, in_order)
		if (early->msg.psn == psn)
			return early;
	return NULL;
}

static void early_insert(struct qp *qp, struct early *early)
{
	struct early *next;

	qp->num_early++;
	TAILQ_FOREACH(next, &qp->early, in_order)
		if (psn_diff(next->msg.psn, early->msg.psn) > 0)
			break;
	if (next)
		TAILQ_INSERT_BEFORE(next, early, in_order);
	else
		TAILQ_INSERT_TAIL(&qp->early, early, in_order);
}

static void early_remove(struct qp *qp, struct early *early)
{
	TAILQ_REMOVE(&qp->early, early, in_order);
	qp->num_early--;
}

/* ---- placing ---- */

/* The function takes the next receive WQE for good. */
static bool receive_take(struct hca *hca, struct qp *qp, struct early *early)
{
	if (rq_fetch(hca, qp))
		return false;
	early->received = true;
	early->index = qp->resp.index;
	early->srq = qp->resp.srq;
	return true;
}

/* The WQE is this message's. One of an SRQ that is not used waits for the next message, as it
 * cannot be given back. */
static void receive_settle(struct qp *qp, const struct early *early, bool used)
{
	if (!early->received)
		return;
	qp->spare.there = early->srq && !used;
	qp->spare.recv = qp->resp.recv;
	qp->spare.index = early->index;
	qp->spare.srq = early->srq;
	if (!early->srq && used)
		qp->rq.ci++;
}

static bool send_place(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
		       struct early *early)
{
	if ((qp->srq && qp->srq->tm) || msg->invalidate || !receive_take(hca, qp, early))
		return false;
	if (msg->payload_len > qp->resp.recv.length ||
	    (qp->resp.srq && !srq_has_pages(hca, &qp->resp.recv, msg->payload_len)))
		return false;
	if (resp_fits_cqe(qp, msg)) {
		early->inline_len = msg->payload_len;
		memcpy(early->inline_data, msg->payload, msg->payload_len);
		return true;
	}
	return !resp_scatter(hca, qp, msg);
}

static bool write_place(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
			struct early *early)
{
	if (!qp->remote_write || (msg->has_imm && !receive_take(hca, qp, early)))
		return false;
	return !resp_write(hca, qp, msg);
}

static bool request_place(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
			  struct early *early)
{
	bool done;

	qp->resp.received = 0;
	done = msg->op == FABRIC_SEND ? send_place(hca, qp, msg, early)
				      : write_place(hca, qp, msg, early);
	receive_settle(qp, early, done);
	return done;
}

static bool may_be_early(const struct qp *qp, const struct fabric_msg *msg)
{
	return msg->first && msg->last && !qp->resp.under_way && !qp->resp.receiving &&
	       qp->num_early < EARLY_MAX;
}

bool early_take(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct early *early;

	if (early_find(qp, msg->psn))
		return true; /* it was sent again, and is here */
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
	early_insert(qp, early);
	return true;
}

/* ---- in order ---- */

static void early_complete(struct hca *hca, struct qp *qp, const struct early *early)
{
	const struct fabric_msg *msg = &early->msg;
	struct completion done = resp_completion(
		msg, msg->op == FABRIC_WRITE ? CQE_OP_RESP_WRITE_IMM : resp_send_opcode(msg),
		msg->payload_len);

	done.inline_data = early->inline_data;
	done.inline_len = early->inline_len;
	rq_complete_early(hca, qp, &done, early->index, early->srq);
}

static void early_finish(struct hca *hca, struct qp *qp, struct early *early)
{
	if (!early->placed) {
		resp_execute(hca, qp, &early->msg);
		return;
	}
	if (early->received)
		early_complete(hca, qp, early);
	resp_accept(hca, qp, &early->msg);
}

void early_go_on(struct hca *hca, struct qp *qp)
{
	struct early *early;

	while (qp_receives(qp) && (early = TAILQ_FIRST(&qp->early)) != NULL) {
		int32_t ahead = psn_diff(early->msg.psn, qp->resp.expected_psn);

		if (ahead > 0)
			return;
		early_remove(qp, early);
		if (!ahead)
			early_finish(hca, qp, early);
		free(early);
	}
}

static struct completion flushed(void)
{
	return (struct completion){
		.opcode = CQE_OP_RESP_ERR,
		.syndrome = SYND_FLUSH,
		.vendor_syndrome = VEND_FLUSH,
	};
}

static void spare_flush(struct hca *hca, struct qp *qp)
{
	struct completion done = flushed();

	if (!qp->spare.there)
		return;
	qp->spare.there = false;
	rq_complete_early(hca, qp, &done, qp->spare.index, qp->spare.srq);
}

void early_flush(struct hca *hca, struct qp *qp)
{
	struct early *early;

	while ((early = TAILQ_FIRST(&qp->early)) != NULL) {
		struct completion done = flushed();

		early_remove(qp, early);
		if (early->received)
			rq_complete_early(hca, qp, &done, early->index, early->srq);
		free(early);
	}
	spare_flush(hca, qp);
}

void early_forget(struct qp *qp)
{
	struct early *early;

	while ((early = TAILQ_FIRST(&qp->early)) != NULL) {
		early_remove(qp, early);
		free(early);
	}
	TAILQ_INIT(&qp->early); /* of a new QP, too */
	qp->spare.there = false;
}
