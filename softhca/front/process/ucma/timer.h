/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timer.h - timers of rdma_cm and umad, in the daemon's event loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_TIMER_H
#define SOFTHCA_FRONT_PROCESS_UCMA_TIMER_H

#include <stdint.h>

/* A timer; zeroed: off. */
struct ucma_timer {
	uint64_t deadline; /* ns; 0: off */
	/* Called when it is off again, so it may restart it */
	void (*expired)(struct ucma_timer *timer);
	/* Private to timer.c; link: the pointer to this timer */
	struct ucma_timer *child, *next, **link;
};

#define NS_PER_MS 1000000ull

/* Returns 0 or an errno. */
int timers_open(void);
void timers_close(void);

uint64_t timer_now(void);
void timer_start(struct ucma_timer *timer, uint64_t deadline);
void timer_stop(struct ucma_timer *timer);

#endif
