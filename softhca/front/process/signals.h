/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals.h - signals that wait for a thread which sleeps until its trapped call is answered.
 *
 * Such a thread wakes for nothing but the answer and its death (seccomp.c), as an answer must not
 * be lost. Where Linux would have it sleep so that signals wake it, the daemon has to look for
 * them: /proc/TID/status, proc(5).
 */
#ifndef SOFTHCA_FRONT_PROCESS_SIGNALS_H
#define SOFTHCA_FRONT_PROCESS_SIGNALS_H

#include <sys/types.h>

enum signals_verdict {
	SIGNALS_NONE,
	SIGNALS_PERHAPS, /* one of the process, which this thread or another may take */
	SIGNALS_WAIT,    /* the kernel acts on it as soon as the thread's call has ended */
};

/* Says what waits for thread TID, and adds to *READS how many threads it had to ask /proc about:
 * where one might be meant instead, it may be all of the process. */
enum signals_verdict signals_look(pid_t tid, unsigned int *reads);

#endif
