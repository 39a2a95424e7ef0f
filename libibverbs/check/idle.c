/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * idle.c - the status of a program that has done nothing for VERBS_STATUS_IDLE seconds, although
 * requests have not completed.
 *
 * A thread looks once a second whether a post was accepted or a completion polled since. It says
 * the status once, and again only after the program has moved.
 */
#include "check.h"

#include "util/own_thread.h"

#include <time.h>

enum { SECOND_NS = 1000000000 };

bool verbs_check_idle_look(struct check_idle *idle, uint64_t now)
{
	bool waits;
	const unsigned int moves = verbs_check_moves(&waits);

	if (moves != idle->moves || !idle->since_ns) {
		*idle = (struct check_idle){ idle->patience_ns, now, moves, false };
		return false;
	}
	if (idle->is_said || !waits || now - idle->since_ns < idle->patience_ns)
		return false;
	idle->is_said = true;
	return true;
}

/* The program may change its environment meanwhile, so the caller has read it. */
static void *idle_watch(void *patience)
{
	const unsigned int seconds = (unsigned int)(uintptr_t)patience;
	struct check_idle idle = { .patience_ns = (uint64_t)seconds * SECOND_NS };
	const struct timespec second = { .tv_sec = 1 };

	for (;;) {
		nanosleep(&second, NULL);
		if (verbs_check_idle_look(&idle, verbs_check_now()))
			verbs_check_status_say_idle(seconds);
	}
	return NULL;
}

int verbs_check_idle_start(int seconds)
{
	return verbs_own_thread_start(idle_watch, (void *)(uintptr_t)seconds);
}
