/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pacing.h - rate limits of send queues: a table that software fills, and queues that name its
 * entries.
 *
 * A queue has a clock of its own that each frame moves on by the time it takes at the queue's rate.
 * While that clock is ahead of ours by more than the burst that is allowed, the queue waits.
 */
#ifndef SOFTHCA_DEVICE_ETH_PACING_H
#define SOFTHCA_DEVICE_ETH_PACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct eth_sq;
struct hca;

enum {
	PACING_RATES = 128,  /* entry 0 is no limit */
	PACING_MIN_RATE = 1, /* kbit/s */
	PACING_MAX_RATE = 10 * 1000 * 1000,
};

struct pacing_rate {
	uint32_t rate;  /* kbit/s; 0: not in use, and queues that still name it have no limit */
	uint32_t burst; /* bytes that may go at once; 0: a frame */
	uint16_t uid;   /* user id of the context that may use it, or PRM_SHARED_UID */
};

struct pacing {
	struct pacing_rate rate[PACING_RATES];
	LIST_HEAD(, eth_sq) waiting;
};

/* Returns whether there is such a limit to name for whom the command under way is. */
bool pacing_exists(const struct hca *hca, uint32_t index);
/* The queue names entry INDEX from now on. */
void pacing_choose(struct eth_sq *sq, uint32_t index);
/* A frame of LEN bytes has left the queue. */
void pacing_sent(struct hca *hca, struct eth_sq *sq, size_t len);
/* Returns whether the queue has to wait; if so, it is woken when its time has come. */
bool pacing_waits(struct hca *hca, struct eth_sq *sq);
void pacing_forget(struct eth_sq *sq);
/* Wakes the queues whose time has come, and returns when to be called again, or HCA_IDLE. */
uint64_t pacing_run(struct hca *hca);

#endif
