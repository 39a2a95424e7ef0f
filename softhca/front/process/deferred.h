/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deferred.h - trapped calls that wait for an event.
 *
 * The caller sleeps until it is answered; if it dies before, the answer is dropped. A signal ends
 * the wait as in the kernel: the call is restarted, or fails with EINTR, depending on SA_RESTART.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DEFERRED_H
#define SOFTHCA_FRONT_PROCESS_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct call;

struct deferred_call {
	TAILQ_ENTRY(deferred_call) entry;
	int listener; /* -1: the listener is closed, or the call was answered */
	uint64_t id;
	pid_t tid;
	unsigned int doubts; /* how often a pending signal was uncertain */
	/* id of the call in the mailbox, so that the holder answers the call if we die; NULL: no
	 * slot was free */
	uint64_t *slot;
};

/* Defers the answer of a call. The caller must return or forget DEFERRED later. */
void call_defer(struct call *call, struct deferred_call *deferred);
bool call_deferred_is_alive(const struct deferred_call *deferred);
/* Answers the call. A VALUE below 0 is minus an errno. */
void call_deferred_return(struct deferred_call *deferred, int64_t value);
void call_deferred_forget(struct deferred_call *deferred);
/* Makes sure that waiting calls of LISTENER are not answered, as LISTENER and its mailbox are being
 * closed. */
void deferred_end(int listener);

#endif
