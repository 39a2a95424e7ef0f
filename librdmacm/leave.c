/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leave.c - frees what the library keeps for the lifetime of the process, but only when a program
 * unloads the library (dlclose). At process exit nothing is freed: other threads may still poll
 * queues during exit(), and the kernel closes everything anyway.
 *
 * Destructors run in both cases. An atexit() handler of this library tells them apart: at exit it
 * runs before the destructors, at dlclose() after them.
 */
#include "cma.h"

#include <stdlib.h>

#include "acm.h"

static bool process_ends;

static void note_exit(void)
{
	process_ends = true;
}

static void watch_exit_once(void)
{
	atexit(note_exit);
}

/* Registers the atexit() handler. A constructor would be too early: at exit, its handler would run
 * after the destructors of a library that is loaded at the start. */
void rdmacm_watch_exit(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_exit_once);
}

static void __attribute__((destructor)) library_leave(void)
{
	if (process_ends)
		return;
	rdmacm_device_close_all();
	rdmacm_id_free_spare();
	rdmacm_acm_disconnect();
}
