/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - what the transport adds to the queues of a QP (queue/qp.h).
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_QP_H
#define SOFTHCA_DEVICE_TRANSPORT_QP_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct hca;
struct qp;
struct srq;

/* Returns a QP that has a transport and nothing else, or NULL. Until it is in the table of QPs,
 * free() gives it back. */
struct qp *qp_alloc(void);
/* Takes back from QPs the WQEs of an SRQ that goes: they are gone with it. */
void srq_take_back(struct hca *hca, const struct srq *srq);

/* ---- req.c, resp.c, ud.c ---- */

/* Transmits up to BUDGET bytes and returns true when there is more to do now. */
bool req_run(struct hca *hca, struct qp *qp, uint64_t budget);
/* From now on requests are tried again as often as the attributes say. */
void req_count_tries(struct qp *qp);
/* Software has posted more: the strict adapter counts READs under way anew. */
void req_posted(struct qp *qp);
void req_timeout(struct hca *hca, struct qp *qp);
/* Goes on with the WQE at sq.ci, as if nothing had been sent of it or behind it. */
void req_go_on(struct hca *hca, struct qp *qp);
void req_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
void resp_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Delivers a datagram, to one QP or to those that joined its group. */
void ud_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg);
void req_reset(struct qp *qp);
void resp_reset(struct qp *qp);
/* The QP goes, and what its responder keeps. */
void resp_free(struct qp *qp);

#endif
