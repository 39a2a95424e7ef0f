/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pacing.h - rate limits of send queues: a table of rates that software fills, and queues that name
 * its entries.
 *
 * Each queue has a clock, which each frame advances by its duration at the queue's rate. While that
 * clock is ahead of the device's by more than the allowed burst, the queue waits.
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
	PACING_RATES = 128,  /* entry 0: no limit */
	PACING_MIN_RATE = 1, /* kbit/s */
	PACING_MAX_RATE = 10 * 1000 * 1000,
};

struct pacing_rate {
	uint32_t rate;  /* kbit/s; 0: unused, and queues that still name it are not limited */
	uint32_t burst; /* bytes that may be sent at once; 0: one frame */
	uint16_t uid;   /* user that owns the entry; RES_FOR_ALL: all may use it */
};

struct pacing {
	struct pacing_rate rate[PACING_RATES];
	LIST_HEAD(, eth_sq) waiting;
};

/* Returns whether the sender of the current command may use rate INDEX. */
bool pacing_exists(const struct hca *hca, uint32_t index);
void pacing_choose(struct eth_sq *sq, uint32_t index);
/* Advances the queue's clock for a frame of LEN bytes. */
void pacing_sent(struct hca *hca, struct eth_sq *sq, size_t len);
/* Returns whether the queue must wait; pacing_run() then wakes it in time. */
bool pacing_waits(struct hca *hca, struct eth_sq *sq);
void pacing_forget(struct eth_sq *sq);
/* Wakes the queues whose time has come. Returns the device time at which to call it again, or
 * HCA_IDLE. */
uint64_t pacing_run(struct hca *hca);

#endif
