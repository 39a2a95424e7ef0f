/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals.h - signals for a thread that sleeps in a trapped call.
 *
 * Only the answer or its death wakes such a thread (seccomp.c), so that no answer is lost. Where
 * Linux' call would be interruptible, the daemon has to look for pending signals: /proc/TID/status,
 * proc(5).
 */
#ifndef SOFTHCA_FRONT_PROCESS_SIGNALS_H
#define SOFTHCA_FRONT_PROCESS_SIGNALS_H

#include <sys/types.h>

enum signals_verdict {
	SIGNALS_NONE,
	/* a signal is pending for the process; this thread or another one may take it */
	SIGNALS_PERHAPS,
	SIGNALS_WAIT, /* a signal is pending that this thread handles when its call ends */
};

/* Returns whether signals are pending for thread TID. Adds to *READS the number of threads that it
 * has read from /proc: up to all threads of the process. */
enum signals_verdict signals_look(pid_t tid, unsigned int *reads);

#endif
