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
#include "softhca/device/queue/recv_notes.h"

enum { RQ_SHIFT_MAX = 2 }; /* padding before a frame, so that its IP header is aligned */

struct cq;
struct hca;
struct q_counter;

struct eth_rq {
	uint32_t n;     /* before eth_rq_add(): the wanted number; 0: any */
	uint32_t users; /* number of TIRs and RQTs; the queue cannot be destroyed before them */
	enum prm_wq_state state;
	struct eth_wq wq;
	struct cq *cq;
	struct q_counter *counter; /* counts dropped frames, or NULL; has the queue as a user */
	uint32_t user_index;
	bool real_time; /* CQEs have the time of day, not clock ticks */
	bool strip_vlan, flush;
	uint16_t pi, ci;
	/* A striding queue puts several frames into one WQE; each frame begins at a stride. */
	uint32_t strides;    /* strides in a WQE; 0: each frame takes a WQE */
	uint32_t log_stride; /* log2 of a stride's bytes */
	uint32_t shift;      /* bytes of padding before a frame */
	uint32_t used;       /* strides used of the current WQE */
	/* The WQEs are a linked list: each has the index of its successor, which software writes
	 * before it counts the WQE as posted. */
	bool linked;
	uint16_t at, next;       /* indices of the current WQE and of its successor */
	struct recv_notes notes; /* digests of posted WQEs; strict adapters only */
	uint64_t frames, wqes;   /* striding: frames received, and WQEs they took */
	/* segments being merged, or NULL; allocated at first use, lro_free() frees it */
	struct lro_session *lro;
	LIST_ENTRY(eth_rq) in_collecting; /* on eth->collecting, while it holds segments */
	uint8_t context[CONTEXT_MAX];
};

/* A frame on its way to a receive queue, and what steering found out. */
struct eth_arrival {
	struct frame frame;
	const struct pd *sender; /* sender's transport domain if the frame loops back, else NULL */
	uint32_t tag;            /* from the flow table entry that forwarded it */
	uint32_t hash;
	uint8_t hash_type; /* as in the CQE; 0: no hash */
	struct lro_note lro;
	struct frame_copy *copies; /* buffers of changed frames, for frame_copies_free() */
};

/* Adds a queue whose other fields are set, and numbers it if rq->n is 0. Returns 0, ENOSPC, EEXIST
 * or ENOMEM. */
int eth_rq_add(struct hca *hca, struct eth_rq *rq);
void eth_rq_remove(struct hca *hca, struct eth_rq *rq);
void eth_rq_free(struct eth_rq *rq);
void eth_rq_set_state(struct hca *hca, struct eth_rq *rq, enum prm_wq_state state);
/* Makes COUNTER count the frames that the queue drops from now on. NULL: no counter does. */
void eth_rq_set_counter(struct eth_rq *rq, struct q_counter *counter);
void eth_rq_receive(struct hca *hca, struct eth_rq *rq, const struct eth_arrival *arrival);
/* Notes the posted WQEs of all queues, as their doorbell records count them; see recv_notes.h.
 * Strict adapters only. */
void eth_rqs_note(struct hca *hca);
/* Moves the queue to state ERR. If rq->flush is set, completes its posted WQEs with flush
 * errors. */
void eth_rq_fail(struct hca *hca, struct eth_rq *rq);

#endif
