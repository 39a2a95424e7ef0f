/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * out_of_order.h - takes requests ahead of missing ones, for a QP of a reliable service whose
 * software allows it (out-of-order data placement).
 *
 * SENDs and WRITEs are placed in memory when they arrive; a SEND uses the next receive WQE. READs
 * and atomics wait. All of them are counted, completed and acknowledged in PSN order, once the
 * missing packets have come; after PATIENCE a NAK asks for these.
 *
 * Not taken, so repeated later in order: a message in several parts, a request that would be
 * refused, and one that needs a WQE which a missing message may need.
 * IBTA vol 1, 9.7.5 (in order)
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_OUT_OF_ORDER_H
#define SOFTHCA_DEVICE_TRANSPORT_OUT_OF_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct hca;
struct qp;
struct srq;

/* Takes a request that is ahead of expected_psn. Returns false if it must be repeated in order. */
bool out_of_order_take(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
void out_of_order_go_on(struct hca *hca, struct qp *qp);
/* Flushes the receive WQEs of early requests, as the QP is in error. */
void out_of_order_flush(struct hca *hca, struct qp *qp);
/* Drops early requests that hold a WQE of SRQ, which is being destroyed; the sender repeats
 * them. */
void out_of_order_leave_srq(struct qp *qp, const struct srq *srq);
void out_of_order_forget(struct qp *qp);
/* Sends NAKs for packets that are missing for too long. Returns when to look again, or HCA_IDLE. */
uint64_t out_of_order_run(struct hca *hca);

#endif
