/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.h - the answers of a responder, in the order of their requests.
 *
 * An answer is sent at once unless an earlier one is still being sent. A long READ is answered one
 * message at a time, one for each turn of the QP in the loop, so that other QPs get their turns.
 * Its memory is read when each piece is sent. A QP keeps as many READs and atomics as log_rra_max
 * allows, and an acknowledge behind each of them. IBTA vol 1, 9.7.5.1
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_ANSWER_H
#define SOFTHCA_DEVICE_TRANSPORT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

struct hca;
struct qp;

void answer_ack(struct hca *hca, struct qp *qp, uint32_t psn);
void answer_nak(struct hca *hca, struct qp *qp, enum fabric_nak nak, uint32_t psn);
void answer_atomic(struct hca *hca, struct qp *qp, uint32_t psn, uint64_t value);
/* Answers READ request MSG, whose first and last byte the caller has checked. Returns 0, or the NAK
 * code if the first piece cannot be read. */
int answer_read(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
bool answers_have_room(const struct qp *qp);
/* Drops queued answers from PSN on, as the peer repeats these requests. */
void answers_repeat_from(struct qp *qp, uint32_t psn);
bool answers_are_left(const struct qp *qp);
/* Sends up to BUDGET bytes. Returns true if answers are left. */
bool answers_run(struct hca *hca, struct qp *qp, uint64_t budget);
void answers_forget(struct qp *qp);

#endif
