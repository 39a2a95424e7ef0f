/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dci.h - initiators of the dynamically connected transport (DC): QPs whose requests name their
 * target.
 *
 * An initiator has a session with one target at a time. A request for another target or stream
 * waits until all requests before it are done. An initiator with streams survives errors: a failed
 * request puts only its stream in error, until as many streams are in error as the program allowed
 * at creation.
 * IBTA does not define DC. PRM: Address Vector
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_DCI_H
#define SOFTHCA_DEVICE_TRANSPORT_DCI_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/queue/work_request.h"
#include "softhca/device/transport/path.h"

struct hca;
struct qp;

enum { DCI_LOG_STREAMS = 6, DCI_LOG_ERRORED = 5 };

struct dci {
	bool in_session;
	/* changes with each reset, so that a target tells a new session from an earlier one with
	 * the same PSN */
	uint8_t life;
	uint32_t session; /* current session, as in packets: life and its first PSN */
	struct datagram_to to;
	uint8_t av[WQE_AV_EXTENDED]; /* address vector that names the target */
	uint16_t stream;
	bool has_streams;
	unsigned int bears;   /* number of errored streams that puts the QP in error */
	unsigned int errored; /* entries of stream_in_error */
	uint16_t stream_in_error[1 << DCI_LOG_ERRORED];
};

enum dci_turn {
	DCI_GO,
	DCI_WAIT,   /* the request waits until all before it are done */
	DCI_FLUSH,  /* the request's stream is in error */
	DCI_BAD_AV, /* the request's address vector has no usable path */
};

/* Decides what happens to the decoded request, and begins a session if it needs a new one. */
enum dci_turn dci_take_turn(struct hca *hca, struct qp *qp);
/* Puts STREAM in error. Returns true if the queue continues, and false if too many streams are in
 * error now. */
bool dci_bears(struct hca *hca, struct qp *qp, uint16_t stream);
void dci_leave(struct hca *hca, struct qp *qp);
/* Takes STREAM out of error. Returns false if it is not in error. */
bool dci_reset_stream(struct qp *qp, uint16_t stream);
void dci_reset(struct hca *hca, struct qp *qp);

#endif
