/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter.h - counter sets: events on the queues that name a set.
 */
#ifndef SOFTHCA_DEVICE_Q_COUNTER_H
#define SOFTHCA_DEVICE_Q_COUNTER_H

#include <stdint.h>

struct hca;
struct qp;

enum q_event {
	Q_RX_WRITE,
	Q_RX_READ,
	Q_RX_ATOMIC,
	Q_OUT_OF_BUFFER,
	Q_OUT_OF_SEQUENCE,
	Q_DUPLICATE,
	Q_RNR_NAK,
	Q_SEQUENCE_NAK,
	Q_IMPLIED_NAK,
	Q_TIMEOUT,
	Q_RESP_LENGTH,
	Q_RESP_CQE_ERROR,
	Q_REQ_CQE_ERROR,
	Q_REQ_REMOTE_INVALID,
	Q_REQ_REMOTE_ACCESS,
	Q_RESP_REMOTE_ACCESS,
	Q_RESP_FLUSH,
	Q_REQ_FLUSH,
	Q_COUNTERS,
};

enum { MAX_Q_COUNTERS = 255 };

struct q_counter {
	uint32_t n;
	uint32_t users;
	uint32_t value[Q_COUNTERS];
};

void q_count(struct hca *hca, const struct qp *qp, enum q_event event);
/* Adds a set of counters, all 0. Returns 0, ENOSPC or ENOMEM. */
int q_counter_add(struct hca *hca, struct q_counter **counter);
void q_counter_remove(struct hca *hca, struct q_counter *counter);

#endif
