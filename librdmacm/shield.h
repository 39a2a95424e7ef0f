/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield.h - disables pthread_cancel() around system calls whose results must not be lost.
 *
 * Shields nest, and only the outermost one changes the thread's setting: a command of rdma_cm
 * within a call of rsockets, which is shielded itself, costs no further call of the C library.
 */
#ifndef LIBRDMACM_SHIELD_H
#define LIBRDMACM_SHIELD_H

#include <pthread.h>

struct cm_shield {
	unsigned int depth;
	unsigned int sleeps; /* those that also cover sleeping, see rsocket/cancel.h */
	int state;           /* the thread's setting before the outermost one */
};

/* Not of the initial-exec model: a program with much thread-local memory could not load the library
 * by dlopen() then. */
extern __thread struct cm_shield rdmacm_shield __attribute__((visibility("hidden")));

/* Sets the depth first: a signal handler whose shield is the outermost one changes the state. */
static inline void shield_set(unsigned int depth, int state)
{
	rdmacm_shield.depth = depth;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	rdmacm_shield.state = state;
}

static inline void cm_shield_begin(void)
{
	int state;

	if (rdmacm_shield.depth) {
		rdmacm_shield.depth++;
		return;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	shield_set(1, state);
}

/* Reads the state before the depth is 0, for the same reason. */
static inline void cm_shield_end(void)
{
	const int state = rdmacm_shield.state;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!--rdmacm_shield.depth)
		pthread_setcancelstate(state, NULL);
}

#endif
