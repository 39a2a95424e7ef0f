/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * out_of_order.h - requests that a responder takes before those which were sent first, for a QP of
 * a reliable service whose software allows that (out-of-order data placement).
 *
 * SENDs and WRITEs are placed in memory when they arrive, the former in the next receive WQE,
 * whichever message that was meant for. READs and atomics wait. All of them count, complete and are
 * acknowledged in their order, when what was missing has come; it is asked for after a while. What
 * is not one whole message, or would be refused, is not taken: it will be sent again, in order. Nor
 * is what needs a WQE that a missing message may need.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_OUT_OF_ORDER_H
#define SOFTHCA_DEVICE_TRANSPORT_OUT_OF_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct hca;
struct qp;
struct srq;

/* The request is ahead of its turn. Returns false when it has not been taken. */
bool out_of_order_take(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Finishes all requests whose turn in the order has come. */
void out_of_order_go_on(struct hca *hca, struct qp *qp);
/* The QP is in error: receive WQEs that were taken early are flushed. */
void out_of_order_flush(struct hca *hca, struct qp *qp);
/* Forgets what has a WQE of SRQ, which goes; it will be sent again. */
void out_of_order_leave_srq(struct qp *qp, const struct srq *srq);
/* Forgets what was taken early. */
void out_of_order_forget(struct qp *qp);
/* Asks for what has been missing for too long, and returns when to look again, or HCA_IDLE. */
uint64_t out_of_order_run(struct hca *hca);

#endif
