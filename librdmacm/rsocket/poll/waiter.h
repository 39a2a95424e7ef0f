/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiter.h - threads that sleep on sockets and sets of this library, and are woken by other
 * threads.
 *
 * The event of a completion wakes only one thread through its descriptor, and that thread may
 * handle a completion that another thread waits for. So each thread registers at every object that
 * it sleeps on, before it queries the object for the last time. A thread that changes an object
 * wakes all threads that are registered there.
 */
#ifndef RSOCKET_WAITER_H
#define RSOCKET_WAITER_H

#include <poll.h>
#include <stdbool.h>
#include <sys/queue.h>

/* A thread that sleeps or is about to */
struct rs_waiter {
	int fd;     /* an eventfd; -1 if none is available */
	bool woken; /* the eventfd is already written to, and once is enough */
	/* called if the thread is cancelled while it sleeps; must call rdmacm_rs_waiter_end() */
	void (*undo)(void *of);
	void *of;
};

struct rs_watch {
	LIST_ENTRY(rs_watch) entry;
	struct rs_waiter *waiter;
	struct rs_waiters *at; /* list of the watched object; NULL if unwatched or gone */
};

struct rs_waiters {
	LIST_HEAD(, rs_watch) all;
	unsigned int count;
};

void rdmacm_rs_waiter_begin(struct rs_waiter *waiter, void (*undo)(void *of), void *of);
void rdmacm_rs_waiter_end(struct rs_waiter *waiter);

void rdmacm_rs_watch(struct rs_waiters *waiters, struct rs_watch *watch, struct rs_waiter *waiter);
void rdmacm_rs_unwatch(struct rs_watch *watch);
bool rdmacm_rs_is_watched(const struct rs_watch *watch);

/* Sleeps like poll(). FDS[COUNT] must be free, for the waiter's eventfd. */
int rdmacm_rs_waiter_sleep(struct rs_waiter *waiter, struct pollfd *fds, int count, int timeout_ms);

/* Wakes all waiters except the calling thread, so that they query again. */
void rdmacm_rs_wake(struct rs_waiters *waiters);
/* Wakes all waiters, because the object is being destroyed. */
void rdmacm_rs_waiters_dismiss(struct rs_waiters *waiters);

/* Called in a forked child: resets the lock, because another thread of the parent may have held
 * it. */
void rdmacm_rs_waiters_forked(void);
void rdmacm_rs_waiters_inherit(struct rs_waiters *waiters);

void rdmacm_rs_waiters_forget(struct rs_waiters *waiters);

#endif
