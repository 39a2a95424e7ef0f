/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.c - sends a responder's answers; see answer.h. The responder (resp.c) decides their
 * contents.
 *
 * A QP in error sends no answers, with one exception: the NAK that reports why the QP failed, and
 * the answers queued before it, which the peer still waits for. IBTA vol 1, 9.7.5 (responses).
 */
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/transport/answer.h"
#include "softhca/device/transport/credits.h"
#include "softhca/device/transport/resp.h"
#include "util/bits.h"

struct answer {
	TAILQ_ENTRY(answer) in_order;
	/* The answer; of a READ, the part that is not sent yet. */
	struct fabric_msg msg;
	uint64_t value;
};

static bool has_data(const struct answer *answer)
{
	return answer->msg.op == FABRIC_READ_RESPONSE || answer->msg.op == FABRIC_ATOMIC_RESPONSE;
}

static bool is_refusal(const struct answer *answer)
{
	return answer->msg.op == FABRIC_NAK && answer->msg.nak != FABRIC_NAK_PSN &&
	       answer->msg.nak != FABRIC_NAK_RNR;
}

static void message_send(struct hca *hca, struct qp *qp, struct fabric_msg *msg)
{
	qp_address(hca, qp, msg);
	station_send(hca, msg);
}

/* Reads the next piece of a READ's data. Returns 0 or the NAK code. */
static int piece_read(struct hca *hca, struct qp *qp, const struct answer *answer,
		      struct fabric_msg *piece)
{
	uint64_t left = answer->msg.length;

	piece->payload = hca->bounce;
	piece->payload_len = min_of(left, (uint64_t)FABRIC_PAYLOAD_MAX);
	piece->packets = packets_of(piece->payload_len, qp->mtu);
	piece->last = piece->payload_len == left;
	return resp_read(hca, qp, piece);
}

/* Sends one message of the answer. Returns 0, or the NAK code if the data cannot be read any
 * more. */
static int answer_send(struct hca *hca, struct qp *qp, struct answer *answer, uint64_t *bytes)
{
	struct fabric_msg msg = answer->msg;
	int nak;

	if (msg.op == FABRIC_ATOMIC_RESPONSE)
		msg.payload = (const uint8_t *)&answer->value;
	if (msg.op == FABRIC_READ_RESPONSE) {
		nak = piece_read(hca, qp, answer, &msg);
		if (nak)
			return nak;
		sched_sent(hca, qp->response_group, msg.payload_len);
		answer->msg.psn = (msg.psn + msg.packets) & PSN_MASK;
		answer->msg.raddr += msg.payload_len;
		answer->msg.length -= msg.payload_len;
		answer->msg.first = false;
		answer->msg.last = msg.last;
	}
	*bytes = msg.payload_len;
	message_send(hca, qp, &msg);
	return 0;
}

static void answer_remove(struct qp *qp, struct answer *answer)
{
	TAILQ_REMOVE(&qp->answers, answer, in_order);
	free(answer);
}

/* Returns whether NAK already acknowledges the PSNs of ANSWER, the ACK of a duplicate. The ACK must
 * not replace such a NAK, as a responder sends each NAK once. */
static bool nak_covers(const struct answer *nak, const struct answer *answer)
{
	return nak->msg.op == FABRIC_NAK && answer->msg.op == FABRIC_ACK &&
	       psn_diff(answer->msg.psn, nak->msg.psn) < 0;
}

/* Queues an answer. An ACK or NAK replaces the one before it, as it acknowledges all earlier PSNs.
 * If memory runs out the answer is lost, and the peer's timeout repeats the request. */
static void answer_queue(struct hca *hca, struct qp *qp, const struct answer *answer)
{
	struct answer *last = TAILQ_LAST(&qp->answers, answers), *copy;

	if (last && !has_data(last) && !has_data(answer)) {
		if (!nak_covers(last, answer))
			last->msg = answer->msg;
		return;
	}
	copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	*copy = *answer;
	TAILQ_INSERT_TAIL(&qp->answers, copy, in_order);
	qp_wake(hca, qp);
}

/* Sends an answer, or queues it behind earlier ones. Sends nothing if the QP's program has ended
 * and only its queues still exist: the peer then runs into its retry limit. */
static int answer_give(struct hca *hca, struct qp *qp, struct answer *answer)
{
	uint64_t bytes;
	int nak = 0;

	answer->msg.msn = qp->resp.msn;
	answer->msg.credits = credits_offer(qp);
	if (hca->owner_gone || !qp_is_reliable(qp))
		return 0;
	if (TAILQ_EMPTY(&qp->answers)) {
		nak = answer_send(hca, qp, answer, &bytes);
		if (nak || answer->msg.last)
			return nak;
	}
	answer_queue(hca, qp, answer);
	return 0;
}

static struct answer answer_of(enum fabric_op op, uint32_t psn)
{
	return (struct answer){
		.msg = { .op = op, .psn = psn, .packets = 1, .first = true, .last = true }
	};
}

void answer_ack(struct hca *hca, struct qp *qp, uint32_t psn)
{
	struct answer answer = answer_of(FABRIC_ACK, psn);

	answer_give(hca, qp, &answer);
}

void answer_nak(struct hca *hca, struct qp *qp, enum fabric_nak nak, uint32_t psn)
{
	struct answer answer = answer_of(FABRIC_NAK, psn);

	answer.msg.nak = nak;
	answer.msg.rnr_timer = qp->min_rnr_timer;
	answer_give(hca, qp, &answer);
}

void answer_atomic(struct hca *hca, struct qp *qp, uint32_t psn, uint64_t value)
{
	struct answer answer = answer_of(FABRIC_ATOMIC_RESPONSE, psn);

	answer.value = value;
	answer.msg.payload_len = sizeof(value);
	answer_give(hca, qp, &answer);
}

int answer_read(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct answer answer = answer_of(FABRIC_READ_RESPONSE, msg->psn);

	answer.msg.raddr = msg->raddr;
	answer.msg.rkey = msg->rkey;
	answer.msg.length = msg->length;
	answer.msg.last = false; /* false, as answer_send() sets this with the last packet */
	return answer_give(hca, qp, &answer);
}

bool answers_have_room(const struct qp *qp)
{
	const struct answer *answer;
	unsigned int count = 0;

	TAILQ_FOREACH(answer, &qp->answers, in_order)
		count += has_data(answer);
	return !count || count < qp->max_reads_in;
}

void answers_repeat_from(struct qp *qp, uint32_t psn)
{
	struct answer *last;

	while ((last = TAILQ_LAST(&qp->answers, answers)) != NULL &&
	       psn_diff(last->msg.psn, psn) >= 0)
		answer_remove(qp, last);
}

bool answers_are_left(const struct qp *qp)
{
	return !TAILQ_EMPTY(&qp->answers);
}

static bool may_answer(const struct qp *qp)
{
	const struct answer *last = TAILQ_LAST(&qp->answers, answers);

	return qp_receives(qp) || (qp->state == PRM_QP_STATE_ERR && last && is_refusal(last));
}

/* Refuses a READ whose memory has disappeared since the request was accepted. */
static void answer_fail(struct hca *hca, struct qp *qp, int nak, uint32_t psn)
{
	answers_forget(qp);
	resp_refuse(hca, qp, nak, psn);
}

bool answers_run(struct hca *hca, struct qp *qp, uint64_t budget)
{
	struct answer *answer;
	uint64_t bytes, spent = 0;
	int nak;

	if (!may_answer(qp))
		answers_forget(qp);
	while ((answer = TAILQ_FIRST(&qp->answers)) != NULL) {
		if (spent >= budget || fabric_is_congested(hca->fabric))
			return true;
		hca->owner_gone = false;
		nak = answer_send(hca, qp, answer, &bytes);
		if (nak) {
			answer_fail(hca, qp, nak, answer->msg.psn);
			return answers_are_left(qp);
		}
		spent += bytes;
		if (answer->msg.last)
			answer_remove(qp, answer);
	}
	return false;
}

void answers_forget(struct qp *qp)
{
	struct answer *answer;

	while ((answer = TAILQ_FIRST(&qp->answers)) != NULL)
		answer_remove(qp, answer);
	TAILQ_INIT(&qp->answers); /* also initialises the list of a new QP */
}
