/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiter.c - records sleeping threads and what they wait for, and wakes them by eventfds. An
 * eventfd lives only as long as the sleep: a program may close all descriptors in between, and the
 * number of a kept one could then be another file's.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/poll/waiter.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BLIND_MS = 10 };

/* Guards all lists. It is the innermost lock: a waking thread also holds its socket's lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct rs_waiter *own;

void rdmacm_rs_waiter_begin(struct rs_waiter *waiter, void (*undo)(void *of), void *of)
{
	*waiter = (struct rs_waiter){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				      .undo = undo,
				      .of = of };
	own = waiter;
}

/* Clears the eventfd before `woken`, because a thread that sees `woken` unset writes to the eventfd
 * again. */
static void waiter_clear(struct rs_waiter *waiter)
{
	eventfd_t none;

	rdmacm_rs_shield();
	eventfd_read(waiter->fd, &none);
	rdmacm_rs_unshield();
	__atomic_store_n(&waiter->woken, false, __ATOMIC_SEQ_CST);
}

/* Ends a waiter that watches nothing any more, so that no thread can wake it. */
void rdmacm_rs_waiter_end(struct rs_waiter *waiter)
{
	own = NULL;
	rdmacm_rs_shield();
	if (waiter->fd >= 0)
		close(waiter->fd);
	rdmacm_rs_unshield();
}

static int min_timeout(int timeout_ms, int most_ms)
{
	return timeout_ms < 0 || timeout_ms > most_ms ? most_ms : timeout_ms;
}

/* Polls in pieces: looks at all entries, then waits for a short time. Linux' poll() refuses more
 * entries than the process's descriptor limit, which a program may have lowered, and an rsocket
 * needs two entries. Fails with EINVAL if the limit is not the reason. */
static int poll_in_pieces(const struct rs_waiter *waiter, struct pollfd *fds, nfds_t count,
			  int timeout_ms)
{
	struct rlimit limit;
	int ready = 0, got;
	nfds_t piece;

	if (getrlimit(RLIMIT_NOFILE, &limit) || !limit.rlim_cur || count <= limit.rlim_cur) {
		errno = EINVAL;
		return -1;
	}
	for (nfds_t at = 0; at < count; at += piece) {
		piece = count - at < limit.rlim_cur ? count - at : limit.rlim_cur;
		got = poll(&fds[at], piece, 0);
		if (got < 0)
			return -1;
		ready += got;
	}
	if (ready)
		return ready;
	return rdmacm_rs_cancel_poll(fds, limit.rlim_cur, min_timeout(timeout_ms, BLIND_MS),
				     waiter->undo, waiter->of);
}

/* Sleeps. Without an eventfd (the process has no descriptor left), limits the sleep and looks
 * again. */
int rdmacm_rs_waiter_sleep(struct rs_waiter *waiter, struct pollfd *fds, int count, int timeout_ms)
{
	int ret;

	fds[count] = (struct pollfd){ .fd = waiter->fd, .events = POLLIN };
	if (waiter->fd < 0)
		timeout_ms = min_timeout(timeout_ms, BLIND_MS);
	ret = rdmacm_rs_cancel_poll(fds, count + 1, timeout_ms, waiter->undo, waiter->of);
	if (ret < 0 && errno == EINVAL)
		ret = poll_in_pieces(waiter, fds, (nfds_t)count + 1, timeout_ms);
	if (ret > 0 && fds[count].revents)
		waiter_clear(waiter);
	return ret;
}

static void waiter_wake(struct rs_waiter *waiter)
{
	if (waiter != own && waiter->fd >= 0 &&
	    !__atomic_exchange_n(&waiter->woken, true, __ATOMIC_SEQ_CST))
		eventfd_write(waiter->fd, 1);
}

void rdmacm_rs_watch(struct rs_waiters *waiters, struct rs_watch *watch, struct rs_waiter *waiter)
{
	watch->waiter = waiter;
	pthread_mutex_lock(&lock);
	__atomic_store_n(&watch->at, waiters, __ATOMIC_RELAXED);
	LIST_INSERT_HEAD(&waiters->all, watch, entry);
	__atomic_add_fetch(&waiters->count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

static void watch_remove_locked(struct rs_watch *watch)
{
	LIST_REMOVE(watch, entry);
	/* A socket without waiters may be freed without the lock: release the count last, after the
	 * watch is unlinked. */
	__atomic_sub_fetch(&watch->at->count, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&watch->at, NULL, __ATOMIC_RELAXED);
}

void rdmacm_rs_unwatch(struct rs_watch *watch)
{
	pthread_mutex_lock(&lock);
	if (watch->at)
		watch_remove_locked(watch);
	pthread_mutex_unlock(&lock);
}

bool rdmacm_rs_is_watched(const struct rs_watch *watch)
{
	return __atomic_load_n(&watch->at, __ATOMIC_RELAXED);
}

/* Wakes the waiters. The caller has changed something under its lock. A waiter adds itself to the
 * count before it takes that lock for its last query, so either the query sees the change, or this
 * function sees the count. */
void rdmacm_rs_wake(struct rs_waiters *waiters)
{
	struct rs_watch *watch;

	if (!__atomic_load_n(&waiters->count, __ATOMIC_RELAXED))
		return;
	rdmacm_rs_shield();
	pthread_mutex_lock(&lock);
	LIST_FOREACH(watch, &waiters->all, entry)
		waiter_wake(watch->waiter);
	pthread_mutex_unlock(&lock);
	rdmacm_rs_unshield();
}

void rdmacm_rs_waiters_dismiss(struct rs_waiters *waiters)
{
	struct rs_watch *watch;

	rdmacm_rs_shield();
	pthread_mutex_lock(&lock);
	while ((watch = LIST_FIRST(&waiters->all))) {
		waiter_wake(watch->waiter);
		watch_remove_locked(watch);
	}
	pthread_mutex_unlock(&lock);
	rdmacm_rs_unshield();
}

void rdmacm_rs_waiters_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	own = NULL;
}

/* Detaches all watches from the lists, which are the parent's. The forking thread may continue in
 * the child with its watches, if a signal handler forked. */
void rdmacm_rs_waiters_inherit(struct rs_waiters *waiters)
{
	struct rs_watch *watch;

	LIST_FOREACH(watch, &waiters->all, entry)
		watch->at = NULL;
	rdmacm_rs_waiters_forget(waiters);
}

void rdmacm_rs_waiters_forget(struct rs_waiters *waiters)
{
	*waiters = (struct rs_waiters){ .all = LIST_HEAD_INITIALIZER(all) };
}
