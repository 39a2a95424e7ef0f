/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch.h - descriptors in the daemon's one poll loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_WATCH_H
#define SOFTHCA_FRONT_PROCESS_WATCH_H

#include <stdint.h>

/* A descriptor and its callback. All callbacks run in the loop's thread. */
struct watch {
	int fd;
	void (*ready)(struct watch *watch, uint32_t epoll_events);
};

int watch_add(struct watch *watch, uint32_t epoll_events);
/* Changes the events to wait for. Any thread may call it. */
void watch_change(struct watch *watch, uint32_t epoll_events);
void watch_remove(struct watch *watch);

/* Creates the loop; called before any watch_add(). Returns 0 or a positive errno. */
int watch_start(void);
void watch_loop(void);
void watch_finish(void);
void watch_stop(void);

#endif
