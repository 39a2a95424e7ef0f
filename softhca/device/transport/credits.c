/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credits.c - see credits.h. Codes: IBTA vol 1, 9.7.7.2.2; the responder: 9.7.7.2.4; the requester:
 * 9.7.7.2.5.
 *
 * The responder counts the receives that the last doorbell record it has read covers. There may be
 * more by now, which the answer to the next request that takes one announces.
 */
#include "ib/packet.h"
#include "softhca/device/core.h"
#include "softhca/device/transport/credits.h"
#include "util/bits.h"

static const uint16_t counts[AETH_NO_CREDITS] = {
	0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

uint8_t credits_code(uint32_t count)
{
	uint8_t code = ARRAY_SIZE(counts) - 1;

	while (counts[code] > count)
		code--;
	return code;
}

uint32_t credits_count(uint8_t code)
{
	return counts[code];
}

uint8_t credits_offer(const struct qp *qp)
{
	uint16_t posted = qp->rq.pi - qp->rq.ci;

	if (qp->service != FABRIC_RC || qp->srq)
		return AETH_NO_CREDITS;
	return credits_code(qp->rq.stride ? posted : 0);
}

void credits_reset(struct qp *qp)
{
	qp->req.ssn = 1;
	qp->req.sent_ssn = 0;
	qp->req.lsn = 0;
	qp->req.msn_shift = 0;
	qp->req.unlimited = false;
}

/* Returns the number of the request that a response's MSN stands for. It must be between DONE, the
 * last request that the response acknowledges, and the last one sent. With any other MSN the peer
 * has begun to count anew, so older limits are void. */
static uint32_t request_of(struct qp *qp, uint32_t msn, uint32_t done)
{
	struct requester *req = &qp->req;

	if (((msn + req->msn_shift - done) & PSN_MASK) > ((req->sent_ssn - done) & PSN_MASK)) {
		req->msn_shift = (done - msn) & PSN_MASK;
		req->lsn = done;
	}
	return (msn + req->msn_shift) & PSN_MASK;
}

void credits_take(struct qp *qp, const struct fabric_msg *msg, uint32_t done)
{
	uint32_t limit;

	if (msg->credits >= AETH_NO_CREDITS) {
		qp->req.unlimited = true;
		return;
	}
	qp->req.unlimited = false;
	limit = (request_of(qp, msg->msn, done) + credits_count(msg->credits)) & PSN_MASK;
	if (psn_diff(limit, qp->req.lsn) > 0)
		qp->req.lsn = limit;
}

void credits_sent(struct qp *qp, uint32_t count, bool takes_receive)
{
	if (!takes_receive)
		qp->req.lsn = (qp->req.lsn + count) & PSN_MASK;
}

bool credits_are_short(const struct qp *qp)
{
	return qp->service == FABRIC_RC && !qp->req.unlimited &&
	       psn_diff(qp->req.ssn, qp->req.lsn) > 0;
}
