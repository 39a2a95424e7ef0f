/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cancel.h - threads that pthread_cancel() ends in a call of this library.
 *
 * Reading, writing and closing are points where a thread may be cancelled, and calls do all of it
 * with locks in their hands. So the library has one such point of its own, the sleep, where who
 * sleeps says what is to be given back. Calls on the data path have no other point as long as they
 * find what they look for; where they may have one they are shielded.
 */
#ifndef RSOCKET_CANCEL_H
#define RSOCKET_CANCEL_H

#include "librdmacm/lock.h"

#include <poll.h>
#include <pthread.h>

/* From the one to the other, which nest, the thread is cancelled nowhere but in
 * rdmacm_rs_cancel_poll(). */
void rdmacm_rs_shield(void);
void rdmacm_rs_unshield(void);
/* The same, and not there either. */
void rdmacm_rs_shield_sleep(void);
void rdmacm_rs_unshield_sleep(void);

/* poll(); a thread that is cancelled there calls UNDO with OF. */
int rdmacm_rs_cancel_poll(struct pollfd *fds, nfds_t count, int timeout_ms, void (*undo)(void *of),
			  void *of);

/* LOCK, or NULL, is what the thread has locked beside what its sleep lets go of. */
void rdmacm_rs_cancel_has(struct cm_lock *lock);
/* To be called by UNDO. */
void rdmacm_rs_cancel_unlock(void);

#endif
