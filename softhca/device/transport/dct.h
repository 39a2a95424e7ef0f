/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.h - targets of the dynamically connected transport (DC).
 *
 * A target has no connection of its own. Each initiator that names it, with its access key, gets a
 * responder: a struct qp that is in no table, has the target's number and domain, and receives
 * through the target's SRQ. It lasts for a session, which is what one initiator sends to one target
 * without another in between.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_DCT_H
#define SOFTHCA_DEVICE_TRANSPORT_DCT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/format/format.h"

struct cq;
struct hca;
struct pd;
struct qp;
struct srq;

enum {
	LOG_MAX_DCT = 16,
	DCT_RESPONDERS = 1024, /* of one target; then the one that was used least recently goes */
};

enum dct_state { DCT_ACTIVE, DCT_DRAINED };

struct dct {
	uint32_t n;
	enum dct_state state;
	uint64_t key;
	uint32_t violations; /* requests with another key */
	bool armed;          /* the next of them is reported */
	unsigned int port;
	uint16_t pkey;
	struct pd *pd;
	struct cq *cq;
	struct srq *srq;
	TAILQ_HEAD(, qp) responders; /* the least recently used first */
	unsigned int count;
	const struct qp *model; /* what responders have in common */
	uint8_t context[CONTEXT_MAX];
};

/* Makes a target of what is in DCT and MODEL, which it takes; 0, ENOSPC or ENOMEM. */
int dct_start(struct hca *hca, struct dct *dct, struct qp *model);
/* Ends all sessions, and lets none begin. */
void dct_drain(struct hca *hca, struct dct *dct);
void dct_free(struct hca *hca, struct dct *dct);
/* Delivers a request to PORT, or answers that there is no such target. */
void dct_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg);
/* Sends up to BUDGET bytes of a responder's answers, and returns true when some are left. One that
 * has failed ends with its last. */
bool dct_run(struct hca *hca, struct qp *qp, uint64_t budget);

#endif
