/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.c - see steps.h.
 */
#include "steps.h"

/* ThreadSanitizer delays signal handlers, and so would trap for ever. */
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__SANITIZE_THREAD__)
#include <signal.h>
#include <ucontext.h>

/* Intel SDM vol. 3, "Single-Step Exception Condition": with this flag, a trap follows each
 * instruction. */
enum { TRAP_FLAG = 1 << 8 };

static volatile sig_atomic_t is_stepping;
static volatile unsigned long steps;
static void (*watcher)(void);

/* Changes the flags with which the interrupted function resumes. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal;
	(void)info;
	if (!is_stepping) {
		*flags &= ~(greg_t)TRAP_FLAG;
		return;
	}
	if (*flags & TRAP_FLAG) {
		steps++;
		watcher();
	}
	*flags |= TRAP_FLAG;
}

unsigned long steps_run(void (*run)(void *arg), void *arg, void (*look)(void))
{
	struct sigaction before, action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	watcher = look;
	steps = 0;
	sigaction(SIGTRAP, &action, &before);
	is_stepping = 1;
	raise(SIGTRAP);
	run(arg);
	is_stepping = 0;
	sigaction(SIGTRAP, &before, NULL);
	return steps;
}
#else
unsigned long steps_run(void (*run)(void *arg), void *arg, void (*look)(void))
{
	(void)look;
	run(arg);
	return 0;
}
#endif
