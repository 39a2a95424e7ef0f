/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.h - the answers of a responder, in the order of their requests.
 *
 * An answer leaves at once, unless one before it is still being sent: a READ of more than a message
 * holds is answered piece by piece, one in each turn of the QP, so that others get theirs. Memory
 * is read when its piece leaves. A QP keeps as many READs and atomics as log_rra_max allows, and
 * one acknowledge behind each of them. IBTA vol 1, 9.7.5.1
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
/* The request MSG has been looked at: its first byte and its last are there for it. Returns 0, or
 * the NAK when the first piece cannot be read. */
int answer_read(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Returns whether the QP may keep one READ or atomic more. */
bool answers_have_room(const struct qp *qp);
/* The peer asks again for PSN and what is behind it. */
void answers_repeat_from(struct qp *qp, uint32_t psn);
bool answers_are_left(const struct qp *qp);
/* Sends up to BUDGET bytes and returns true when answers are left. */
bool answers_run(struct hca *hca, struct qp *qp, uint64_t budget);
void answers_forget(struct qp *qp);

#endif
