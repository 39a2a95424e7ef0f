/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timer.h - timers in the daemon's poll loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_TIMER_H
#define SOFTHCA_FRONT_PROCESS_TIMER_H

#include <stdint.h>

struct timer {
	uint64_t deadline; /* ns; 0: off */
	/* Called once the timer is off again, so the function may restart it. */
	void (*expired)(struct timer *timer);
	/* Private to timer.c. LINK: the place of the pointer to this timer. */
	struct timer *child, *next, **link;
};

#define NS_PER_MS 1000000ull

/* Returns 0 or an errno. */
int timers_open(void);
void timers_close(void);

uint64_t timer_now(void);
void timer_start(struct timer *timer, uint64_t deadline);
void timer_stop(struct timer *timer);

#endif
