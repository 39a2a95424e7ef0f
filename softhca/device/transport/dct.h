/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.h - targets of the dynamically connected transport (DC).
 *
 * A target has no connection of its own. Each initiator that names the target and its access key
 * gets a responder: a struct qp in no table, with the target's number and protection domain, that
 * receives through the target's SRQ. It lives for one session, which is all that an initiator sends
 * to this target until it sends to another one.
 * IBTA does not define DC.
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
	/* responders of a target; a new session ends the least recently used, as IBTA does not
	 * bound them */
	DCT_RESPONDERS = 1024,
};

enum dct_state { DCT_ACTIVE, DCT_DRAINED };

struct dct {
	uint32_t n;
	enum dct_state state;
	uint64_t key;
	uint32_t violations; /* number of requests with a wrong access key */
	/* report the next violation by an event, which disarms it, so that a flood of bad requests
	 * raises one */
	bool armed;
	unsigned int port;
	uint16_t pkey;
	struct pd *pd;
	struct cq *cq;
	struct srq *srq;
	/* least recently used first; the first one ends when a new session finds DCT_RESPONDERS of
	 * them */
	TAILQ_HEAD(, qp) responders;
	unsigned int count;
	const struct qp *model; /* attributes that all responders copy; owned by the target */
	uint8_t context[CONTEXT_MAX];
};

/* Creates a target from DCT and MODEL, and takes ownership of both. Returns 0, ENOSPC or ENOMEM. */
int dct_start(struct hca *hca, struct dct *dct, struct qp *model);
/* Ends all sessions and accepts no new ones. */
void dct_drain(struct hca *hca, struct dct *dct);
void dct_free(struct hca *hca, struct dct *dct);
/* Delivers a request to PORT, or refuses it if the target does not exist. */
void dct_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg);
/* Sends up to BUDGET bytes of a responder's answers. Returns true if some are left. A failed
 * responder is freed after its last answer. */
bool dct_run(struct hca *hca, struct qp *qp, uint64_t budget);

#endif
