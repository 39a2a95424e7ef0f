/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_thread.c - see own_thread.h. A thread inherits the mask of its creator.
 */
#include "util/own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

int verbs_own_thread_start(void *(*run)(void *of), void *of)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, run, of);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		pthread_detach(thread);
	return err;
}
