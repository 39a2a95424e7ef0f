/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain.h - draining: the send queue finishes the requests that have begun, and begins no more.
 * States SQ_DRAINING and SQD; IBTA vol 1, 10.3.1.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_DRAIN_H
#define SOFTHCA_DEVICE_TRANSPORT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;

/* Moves the QP from RTS to SQ_DRAINING. The QP moves on to SQD when its requests are done, which
 * may be now, and raises an event if TELL. If a request fails first, it does neither. */
void drain_begin(struct hca *hca, struct qp *qp, bool tell);
/* Returns the index at which the requester must stop. */
uint16_t drain_limit(const struct qp *qp);
/* Ends draining if all requests that had begun are done. The requester calls it whenever it
 * stops. */
void drain_look(struct hca *hca, struct qp *qp);
/* Moves a drained QP to SQD, with an event if TELL. */
void drain_finish(struct hca *hca, struct qp *qp, bool tell);

#endif
