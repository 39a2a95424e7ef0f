/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resp.h - the parts of the responder, for requests that come before their turn (out_of_order.c),
 * and for answers that take several (answer.c).
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_RESP_H
#define SOFTHCA_DEVICE_TRANSPORT_RESP_H

#include "softhca/device/core.h"

/* Finds the SRQ that a request of XRC names; others need none. */
bool resp_find_srq(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Sends a NAK for missing packets, once for each gap. */
void resp_ask_again(struct hca *hca, struct qp *qp);
/* Place the payload of a whole request: a SEND's in the receive WQE that was fetched, which has
 * room for it. ACCESS is what its keys must allow. They return 0, or what is wrong. */
int resp_scatter(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, unsigned int access);
int resp_write(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, unsigned int access);
/* Reads the bytes of a piece of a READ's answer to hca->bounce, and returns 0 or the NAK. */
int resp_read(struct hca *hca, struct qp *qp, const struct fabric_msg *piece);
/* Refuses for good what was asked for from PSN on. */
void resp_refuse(struct hca *hca, struct qp *qp, enum fabric_nak nak, uint32_t psn);
/* Returns whether the payload goes into the CQE. */
bool resp_fits_cqe(const struct qp *qp, const struct fabric_msg *msg);
uint8_t resp_send_opcode(const struct fabric_msg *msg);
struct completion resp_completion(const struct fabric_msg *msg, uint8_t opcode, uint64_t length);
/* The request, whose turn it is, was executed: it is counted, and acknowledged. */
void resp_accept(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Executes the request, whose turn it is. */
void resp_perform(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);

#endif
