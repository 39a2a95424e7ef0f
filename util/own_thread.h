/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_thread.h - starts threads of the libraries' own, which nobody joins.
 */
#ifndef UTIL_OWN_THREAD_H
#define UTIL_OWN_THREAD_H

/* Runs RUN(OF) in a detached thread with all signals blocked, because they are for the program.
 * Returns 0 or an errno value. */
int verbs_own_thread_start(void *(*run)(void *of), void *of);

#endif
