/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch.c - the watchdog: no call into the adapter may take long, whatever its arguments. It counts
 * processor time, because a busy machine is no fault. A signal ends a call that never returns.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/world.h"

enum { LIMIT_MS = 1000, NEVER_RETURNS_S = 10 };

static const char *running;
static uint64_t started;

static uint64_t cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void too_long(int signal)
{
	static const char text[] = ": does not return\n";

	(void)signal;
	if (running)
		(void)!write(STDERR_FILENO, running, strlen(running));
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

void watch_begin(const char *what)
{
	const struct itimerval timer = { .it_value.tv_sec = NEVER_RETURNS_S };
	static bool armed;

	if (!armed)
		signal(SIGPROF, too_long);
	armed = true;
	running = what;
	started = cpu_ms();
	setitimer(ITIMER_PROF, &timer, NULL);
}

void watch_end(void)
{
	uint64_t took = cpu_ms() - started;

	running = NULL;
	if (took <= LIMIT_MS)
		return;
	fprintf(stderr, "a call took %llu ms\n", (unsigned long long)took);
	abort();
}
