/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiter.h - threads asleep on sockets and sets of this library, woken by other threads.
 *
 * A completion's event wakes a thread by its descriptor, once. Whichever thread handles it may find
 * what another one sleeps for, so each thread that sleeps is noted, before it asks for the last
 * time, at everything that it sleeps for, and whoever changes something there wakes it.
 */
#ifndef RSOCKET_WAITER_H
#define RSOCKET_WAITER_H

#include <poll.h>
#include <stdbool.h>
#include <sys/queue.h>

/* A thread that is about to sleep. */
struct rs_waiter {
	int fd;     /* an eventfd to sleep on, too; -1 if there was none to be had */
	bool woken; /* the eventfd was written to, so once is enough */
	/* what a thread calls that is cancelled while it sleeps; rdmacm_rs_waiter_end() is a part
	 * of it */
	void (*undo)(void *of);
	void *of;
};

/* A note of the waiter at one thing that it sleeps for. */
struct rs_watch {
	LIST_ENTRY(rs_watch) entry;
	struct rs_waiter *waiter;
	struct rs_waiters *at; /* NULL once that has gone */
};

/* All who sleep for one thing. */
struct rs_waiters {
	LIST_HEAD(, rs_watch) all;
	unsigned int count;
};

void rdmacm_rs_waiter_begin(struct rs_waiter *waiter, void (*undo)(void *of), void *of);
void rdmacm_rs_waiter_end(struct rs_waiter *waiter);

void rdmacm_rs_watch(struct rs_waiters *waiters, struct rs_watch *watch, struct rs_waiter *waiter);
void rdmacm_rs_unwatch(struct rs_watch *watch);
/* Returns whether what is watched is still there. */
bool rdmacm_rs_is_watched(const struct rs_watch *watch);

/* Sleeps as poll() does. FDS[COUNT] is the function's, for the waiter's eventfd. */
int rdmacm_rs_waiter_sleep(struct rs_waiter *waiter, struct pollfd *fds, int count, int timeout_ms);

/* Wakes all but the calling thread, to ask again. */
void rdmacm_rs_wake(struct rs_waiters *waiters);
/* Wakes all: the socket they sleep for is being closed. */
void rdmacm_rs_waiters_dismiss(struct rs_waiters *waiters);

/* In a forked child nobody sleeps. */
void rdmacm_rs_waiters_forked(void);
void rdmacm_rs_waiters_inherit(struct rs_waiters *waiters);

/* At the beginning nobody sleeps. */
void rdmacm_rs_waiters_forget(struct rs_waiters *waiters);

#endif
