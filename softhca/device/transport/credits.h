/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credits.h - end-to-end credits of RC: a responder announces in each AETH how many receives are
 * posted, and a requester sends no more requests that take one. A responder with an SRQ announces
 * no limit. XRC and DC have no credits. IBTA vol 1, 9.7.7.2
 *
 * A request has a sequence number (SSN), from 1. An acknowledge of MSN requests with C credits
 * moves the limit (LSN) to MSN + C. The one request behind the limit may be tried: a SEND with its
 * first packet, whose acknowledge brings new credits.
 *
 * A responder that was reset alone counts from 0 again, while its requester's numbers go on. So a
 * requester that sees an impossible MSN adds the difference to all that follow.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_CREDITS_H
#define SOFTHCA_DEVICE_TRANSPORT_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct qp;

/* Returns the largest code that promises no more than COUNT receives. */
uint8_t credits_code(uint32_t count);
/* Returns how many receives a code promises, except for AETH_NO_CREDITS. */
uint32_t credits_count(uint8_t code);
uint8_t credits_offer(const struct qp *qp);

/* Forgets all limits and numbers, as a new connection does. */
void credits_reset(struct qp *qp);
/* Takes the credits of a response. DONE is the number of the last request that it acknowledges. */
void credits_take(struct qp *qp, const struct fabric_msg *msg, uint32_t done);
/* Notes that COUNT requests have left for the first time. If TAKES_RECEIVE, each needs a credit. */
void credits_sent(struct qp *qp, uint32_t count, bool takes_receive);
bool credits_are_short(const struct qp *qp);

#endif
