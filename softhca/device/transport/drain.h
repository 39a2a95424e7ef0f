/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain.h - a send queue that comes to rest: it finishes what was begun, and begins nothing more.
 * The states SQ_DRAINING and SQD; IBTA vol 1, 10.3.1.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_DRAIN_H
#define SOFTHCA_DEVICE_TRANSPORT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;

/* The QP, in state RTS, goes to SQ_DRAINING, and from there to SQD by itself, at once where nothing
 * is under way: with an event if TELL says so, unless a request fails first. */
void drain_begin(struct hca *hca, struct qp *qp, bool tell);
/* Returns up to where the send queue may go. */
uint16_t drain_limit(const struct qp *qp);
/* The requester has done what it can for now. */
void drain_look(struct hca *hca, struct qp *qp);
/* Nothing is under way any more: the QP is in state SQD. */
void drain_finish(struct hca *hca, struct qp *qp, bool tell);

#endif
