/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_sq.h - send queues of frames.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_SQ_H
#define SOFTHCA_DEVICE_ETH_ETH_SQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/eth/eth_wq.h"
#include "softhca/device/format/format.h"

struct cq;
struct frame_send;
struct hca;
struct tis;
struct uar;

enum { LOG_MAX_LSO = 16 }; /* log2 of the bytes of a large send */

struct eth_sq {
	uint32_t n; /* before eth_sq_add(): the wanted number; 0: any */
	enum prm_wq_state state;
	struct eth_wq wq;
	struct cq *cq;
	struct tis *tis;
	struct uar *uar;
	uint32_t user_index;
	bool real_time; /* CQEs have the time of day, not clock ticks */
	bool flush;
	bool has_umr; /* its WQEs may change memory keys */
	bool spans;   /* WQEs may have several blocks, even if format->wqe_is_block is set */
	bool rests;   /* mlx4, state SQD: posted WQEs wait */
	uint16_t pi, ci;
	bool ready;
	TAILQ_ENTRY(eth_sq) in_ready;
	TAILQ_ENTRY(eth_sq) in_uar;
	/* entry of eth->pacing.rate; 0: no limit */
	uint32_t pacing_index;
	/* device time at which the bytes sent so far end at the queue's rate */
	uint64_t paced_until;
	bool waits;
	LIST_ENTRY(eth_sq) in_waiting;
	struct sched_queue sched;
	uint8_t context[CONTEXT_MAX];
};

/* Adds a queue whose other fields are set, and numbers it if sq->n is 0. Returns 0, ENOSPC, EEXIST
 * or ENOMEM. */
int eth_sq_add(struct hca *hca, struct eth_sq *sq);
void eth_sq_remove(struct hca *hca, struct eth_sq *sq);
void eth_sq_free(struct eth_sq *sq);
void eth_sq_schedule(struct hca *hca, struct eth_sq *sq, struct sched_element *group);
void eth_sq_set_state(struct hca *hca, struct eth_sq *sq, enum prm_wq_state state);
/* Makes a queue in state RDY stop sending posted WQEs if RESTS, else send again. */
void eth_sq_set_rest(struct hca *hca, struct eth_sq *sq, bool rests);
int eth_sq_read_doorbell(struct hca *hca, struct eth_sq *sq);
void eth_sq_wake(struct hca *hca, struct eth_sq *sq);
void eth_sq_fail(struct hca *hca, struct eth_sq *sq);
/* Copies to BYTES the headers, and behind them LEN bytes of payload from OFFSET on. Returns 0 or a
 * vendor syndrome. */
int eth_gather(struct hca *hca, struct eth_sq *sq, const struct frame_send *send, uint8_t *bytes,
	       uint64_t offset, uint64_t len);
/* Copies BBS blocks of the ring from INDEX on, whether posted or not. Returns 0 or EFAULT. */
int eth_sq_copy(struct hca *hca, const struct eth_sq *sq, uint16_t index, uint32_t bbs,
		uint8_t *raw);
/* Sends a bounded number of frames. Returns true if there is more to do now. */
bool eth_sq_run(struct hca *hca, struct eth_sq *sq);

#endif
