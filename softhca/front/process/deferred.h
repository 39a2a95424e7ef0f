/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deferred.h - trapped calls that wait for something to happen.
 *
 * The caller sleeps until it is answered; should it die before, the answer goes nowhere. A signal
 * ends the waiting as in the kernel: the call is restarted, or fails with EINTR, as the program has
 * said when it set the handler.
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
	int listener; /* -1: it is closed, or the caller has been answered */
	uint64_t id;
	pid_t tid;
	unsigned int doubts; /* how often it was not known whether a signal waits for it */
	uint64_t *slot;      /* in the mailbox, for the holder to answer it should we die; may be
			      * NULL */
};

/* To be called instead of an answer. DEFERRED must be returned or forgotten. */
void call_defer(struct call *call, struct deferred_call *deferred);
/* Asks whether the caller still waits. */
bool call_deferred_is_alive(const struct deferred_call *deferred);
/* A VALUE below 0 is minus an errno. */
void call_deferred_return(struct deferred_call *deferred, int64_t value);
void call_deferred_forget(struct deferred_call *deferred);
/* LISTENER, and the mailbox that belongs to it, are about to go. */
void deferred_end(int listener);

#endif
