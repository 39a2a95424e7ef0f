/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resp.h - parts of the responder that out_of_order.c (early requests) and answer.c (long answers)
 * use.
 * IBTA vol 1, 9.7.4 (responder), 9.7.5 (acknowledges)
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_RESP_H
#define SOFTHCA_DEVICE_TRANSPORT_RESP_H

#include "softhca/device/core.h"

/* Finds the SRQ that an XRC request names. Returns false if it does not exist; true for other
 * services. */
bool resp_find_srq(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Sends one NAK for each gap in the PSNs. */
void resp_ask_again(struct hca *hca, struct qp *qp);
/* Place the payload of a whole request: resp_scatter() a SEND's in the fetched receive WQE, which
 * is large enough, resp_write() a WRITE's at its remote address. ACCESS is what the keys must
 * allow. Return 0, or a vendor syndrome or NAK code. */
int resp_scatter(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, unsigned int access);
int resp_write(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, unsigned int access);
/* Reads one piece of a READ's data into hca->bounce. Returns 0 or the NAK code. */
int resp_read(struct hca *hca, struct qp *qp, const struct fabric_msg *piece);
/* Refuses requests from PSN on with a fatal NAK. */
void resp_refuse(struct hca *hca, struct qp *qp, enum fabric_nak nak, uint32_t psn);
/* Refuses a request because its receive buffer is at fault, and completes the WQE in error. */
void resp_fail_receive(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor,
		       enum fabric_nak nak);
/* Returns the key that a SEND with invalidate names, or NULL if the SEND may not invalidate that
 * key. */
struct mkey *resp_key_to_invalidate(struct hca *hca, const struct qp *qp,
				    const struct fabric_msg *msg);
bool resp_fits_cqe(const struct qp *qp, const struct fabric_msg *msg);
uint8_t resp_send_opcode(const struct fabric_msg *msg);
struct completion resp_completion(const struct fabric_msg *msg, uint8_t opcode, uint64_t length);
/* Counts and acknowledges the request with expected_psn, which has been executed. */
void resp_accept(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
void resp_perform(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);

#endif
