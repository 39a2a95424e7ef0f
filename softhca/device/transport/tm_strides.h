/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_strides.h - unexpected messages in an XRQ whose WQEs have strides, buffers of one packet each.
 * A packet takes the next stride, whatever message or QP it belongs to, and has a CQE of its own.
 *
 * PRM: WQ, CQE
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_TM_STRIDES_H
#define SOFTHCA_DEVICE_TRANSPORT_TM_STRIDES_H

#include <stdbool.h>

struct fabric_msg;
struct hca;
struct qp;

/* Returns whether the message that has begun goes to strides. */
bool tm_takes_strides(const struct qp *qp);
/* Receives a part of a message that goes to strides, up to the first packet for which no stride is
 * left. */
void tm_receive_strides(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);

#endif
