/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch.h - descriptors in the daemon's one poll loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_WATCH_H
#define SOFTHCA_FRONT_PROCESS_WATCH_H

#include <stdint.h>

/* A descriptor and what to do when it is ready; all callbacks run in that loop's thread. */
struct watch {
	int fd;
	void (*ready)(struct watch *watch, uint32_t epoll_events);
};

int watch_add(struct watch *watch, uint32_t epoll_events);
/* May be called from any thread. */
void watch_change(struct watch *watch, uint32_t epoll_events);
void watch_remove(struct watch *watch);

/* To be called before anything is added; returns 0 or a positive errno. */
int watch_start(void);
/* Calls back until watch_finish(). */
void watch_loop(void);
void watch_finish(void);
void watch_stop(void);

#endif
