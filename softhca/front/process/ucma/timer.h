/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timer.h - timers of rdma_cm, in the daemon's poll loop: few at a time, as connections share one
 * (cm.h).
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_TIMER_H
#define SOFTHCA_FRONT_PROCESS_UCMA_TIMER_H

#include <stdint.h>
#include <sys/queue.h>

/* A timer of zeroes is off. */
struct ucma_timer {
	TAILQ_ENTRY(ucma_timer) entry;
	uint64_t deadline;                         /* ns; 0: off */
	void (*expired)(struct ucma_timer *timer); /* it is off then, and may be started again */
};

#define NS_PER_MS 1000000ull

/* The function returns 0 or an errno. */
int timers_open(void);
void timers_close(void);

uint64_t timer_now(void);
void timer_start(struct ucma_timer *timer, uint64_t deadline);
void timer_stop(struct ucma_timer *timer);

#endif
