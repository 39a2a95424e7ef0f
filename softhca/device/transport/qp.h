/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - what the transport adds to the queues of a QP (queue/qp.h).
 * IBTA vol 1, 10.3.1 (states of a QP)
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_QP_H
#define SOFTHCA_DEVICE_TRANSPORT_QP_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct hca;
struct qp;
struct srq;

/* Returns a zeroed QP with the transport's operations, or NULL. Until the QP is in the table of
 * QPs, free() releases all of it. */
struct qp *qp_alloc(void);
void srq_take_back(struct hca *hca, const struct srq *srq);

/* Sends up to BUDGET bytes, so that other queues get their turn. Returns true if there is more to
 * do now. */
bool req_run(struct hca *hca, struct qp *qp, uint64_t budget);
void req_count_tries(struct qp *qp);
/* Counts outstanding READs anew, as software has posted more. Strict adapters only. */
void req_posted(struct qp *qp);
void req_timeout(struct hca *hca, struct qp *qp);
/* Restarts the requester at the WQE at sq.ci, as if nothing from there on had been sent. */
void req_go_on(struct hca *hca, struct qp *qp);
void req_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
void resp_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
void ud_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg);
void req_reset(struct qp *qp);
void resp_reset(struct qp *qp);
void resp_free(struct qp *qp);

#endif
