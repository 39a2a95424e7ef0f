/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dci.h - initiators of the dynamically connected transport (DC): QPs whose requests name their
 * target.
 *
 * An initiator is in session with one target at a time. A request for another one, or of another
 * stream, waits until all before it is done. Where it has streams, an error puts the stream of its
 * request in error and leaves the others alone, until so many streams are in error as the initiator
 * was created to bear.
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
	uint8_t life;     /* another one after each reset */
	uint32_t session; /* as in messages */
	struct datagram_to to;
	uint8_t av[WQE_AV_EXTENDED]; /* that says so */
	uint16_t stream;
	bool has_streams;
	unsigned int bears;   /* so many streams in error are one too many */
	unsigned int errored; /* so many are */
	uint16_t stream_in_error[1 << DCI_LOG_ERRORED];
};

enum dci_turn {
	DCI_GO,
	DCI_WAIT,   /* until the requests before it are done */
	DCI_FLUSH,  /* its stream is in error */
	DCI_BAD_AV, /* its address leads nowhere */
};

/* Tells what becomes of the request that the requester has decoded. It begins a session where that
 * is due. */
enum dci_turn dci_take_turn(struct hca *hca, struct qp *qp);
/* Notes that a request of STREAM failed. It returns true when no more than that stream is in error
 * now, and the rest of the queue goes on. */
bool dci_bears(struct hca *hca, struct qp *qp, uint16_t stream);
/* Tells the target that its session is over. */
void dci_leave(struct hca *hca, struct qp *qp);
/* Makes a stream as new that is in error; it returns false when it is not. */
bool dci_reset_stream(struct qp *qp, uint16_t stream);
/* Forgets session and errors. */
void dci_reset(struct hca *hca, struct qp *qp);

#endif
