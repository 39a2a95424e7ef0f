/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cancel.h - handles pthread_cancel() of a thread inside a call of this library.
 *
 * read(), write() and close() are cancellation points, but the library calls them while it holds
 * locks. So it has only one cancellation point, sleeping, for which the sleeper names the function
 * that releases its resources. A data path call that does not need to sleep is no cancellation
 * point; around system calls, cancellation is disabled (shielded).
 */
#ifndef RSOCKET_CANCEL_H
#define RSOCKET_CANCEL_H

#include "librdmacm/lock.h"

#include <poll.h>
#include <pthread.h>

/* Begin and end a shield; they nest. In between, only rdmacm_rs_cancel_poll() is a cancellation
 * point. */
void rdmacm_rs_shield(void);
void rdmacm_rs_unshield(void);
/* Begin and end a shield in which rdmacm_rs_cancel_poll() is no cancellation point, either. */
void rdmacm_rs_shield_sleep(void);
void rdmacm_rs_unshield_sleep(void);

/* Runs poll() as a cancellation point. A thread that is cancelled in it calls UNDO(OF). */
int rdmacm_rs_cancel_poll(struct pollfd *fds, nfds_t count, int timeout_ms, void (*undo)(void *of),
			  void *of);

/* Records a LOCK (or NULL) that the thread holds in addition to those that its sleep releases: if
 * the thread is cancelled, it releases LOCK, too. */
void rdmacm_rs_cancel_has(struct cm_lock *lock);
void rdmacm_rs_cancel_unlock(void);

#endif
