/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_rq.h - receive queues of frames.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_RQ_H
#define SOFTHCA_DEVICE_ETH_ETH_RQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/eth/eth_wq.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/lro.h"
#include "softhca/device/format/format.h"

enum { RQ_SHIFT_MAX = 2 }; /* bytes in front of a frame */

struct cq;
struct hca;
struct q_counter;

struct eth_rq {
	uint32_t n;     /* that the driver wants, or 0; then the one it has */
	uint32_t users; /* TIRs and RQTs */
	enum prm_wq_state state;
	struct eth_wq wq;
	struct cq *cq;
	struct q_counter *counter; /* or NULL */
	uint32_t user_index;
	bool real_time; /* timestamps of its CQEs */
	bool strip_vlan, flush;
	uint16_t pi, ci;
	/* A striding queue puts several frames into a WQE. Each begins at a stride. */
	uint32_t strides;    /* of a WQE; 0: each frame has a WQE */
	uint32_t log_stride; /* of bytes */
	uint32_t shift;      /* bytes in front of a frame */
	uint32_t used;       /* strides of the WQE that is in use */
	/* A linked one: each WQE says which is behind it. Software links one before it counts the
	 * one in front of it as posted. */
	bool linked;
	uint16_t at, next;       /* indices of the WQE that is in use, and of the one behind it */
	uint64_t frames, wqes;   /* that striding queue has received, and used up for them */
	struct lro_session *lro; /* or NULL */
	LIST_ENTRY(eth_rq) in_collecting; /* while it collects segments */
	uint8_t context[CONTEXT_MAX];
};

/* An arrival holds what a frame on its way to a queue carries. */
struct eth_arrival {
	struct frame frame;
	const struct pd *sender; /* transport domain of a frame that loops back, else NULL */
	uint32_t tag;            /* of the flow table entry that forwarded it */
	uint32_t hash;
	uint8_t hash_type; /* as in the CQE; 0: no hash */
	struct lro_note lro;
};

/* Gives a queue, whose other fields are set, a number, if it has none. It returns 0, ENOSPC, EEXIST
 * or ENOMEM. */
int eth_rq_add(struct hca *hca, struct eth_rq *rq);
/* Takes a queue that has no users out of the adapter, and frees it. */
void eth_rq_remove(struct hca *hca, struct eth_rq *rq);
void eth_rq_free(struct eth_rq *rq);
void eth_rq_set_state(struct hca *hca, struct eth_rq *rq, enum prm_wq_state state);
/* Counts with COUNTER from now on; NULL: not at all. */
void eth_rq_set_counter(struct eth_rq *rq, struct q_counter *counter);
void eth_rq_receive(struct hca *hca, struct eth_rq *rq, const struct eth_arrival *arrival);
/* Moves the queue to state ERR; what is posted is flushed. */
void eth_rq_fail(struct hca *hca, struct eth_rq *rq);

#endif
