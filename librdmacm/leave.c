/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leave.c - what the library keeps for the whole process goes when a program unloads the library
 * (dlclose), and stays when the process ends: other threads may still poll its queues during
 * exit(), and the kernel closes everything anyway.
 *
 * Destructors run in both cases. What atexit() was given by this library runs before them when the
 * process ends, and after them when the library is unloaded.
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

/* A constructor would be too early: what it gives to atexit() runs after the destructors of a
 * library that is there from the start. */
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
