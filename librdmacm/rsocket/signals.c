/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals.c - the library's threads block all signals; and SA_RESTART for calls that wait in
 * poll(), which a signal always interrupts.
 *
 * The library cannot know which handler has run. If all handlers of the program have SA_RESTART, it
 * does not expect EINTR at all; if one has not, it must expect EINTR from each waiting call. If
 * there is no handler, the one that has run was removed, as is common for SIGINT so that the second
 * one kills: it meant to end the wait.
 *
 * setuid() and its relatives in the C library make each thread change its user, by a signal with an
 * internal handler. No program expects EINTR of that, so a thread whose user has changed during its
 * sleep continues.
 */
#include "librdmacm/rsocket/rs.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "util/own_thread.h"
#include "util/threads.h"

/* Returns whether the signal is synchronous, and so never interrupts a sleep. Crash reporters have
 * handlers for these, and must not make calls end with EINTR. */
static bool is_of_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGTRAP || number == SIGABRT || number == SIGSYS;
}

static bool is_handled(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* Stores the thread's user. In a process with one thread, skips three system calls before each
 * sleep: there, only a signal handler of the program can change the user, and its signal is treated
 * like others. */
void rdmacm_rs_who(struct rs_user *user)
{
	/* padding must be 0, because users are compared with memcmp() */
	memset(user, 0, sizeof(*user));
	user->is_alone = process_has_one_thread();
	if (user->is_alone)
		return;
	getresuid(&user->uids[0], &user->uids[1], &user->uids[2]);
	getresgid(&user->gids[0], &user->gids[1], &user->gids[2]);
	user->group_count = getgroups(RS_USER_GROUPS, user->groups);
	if (user->group_count < 0) /* more than fit */
		user->group_count = getgroups(0, NULL);
}

static bool is_other_user(const struct rs_user *before)
{
	struct rs_user now;

	if (before->is_alone)
		return false;
	rdmacm_rs_who(&now);
	return memcmp(&now, before, sizeof(now)) != 0;
}

static bool handlers_restart(void)
{
	struct sigaction action;
	bool any = false;

	for (int number = 1; number <= SIGRTMAX; number++) {
		if (is_of_fault(number) || sigaction(number, NULL, &action) || !is_handled(&action))
			continue;
		if (!(action.sa_flags & SA_RESTART))
			return false;
		any = true;
	}
	return any;
}

bool rdmacm_rs_restarts(const struct rs_user *before)
{
	return is_other_user(before) || handlers_restart();
}

/* EAGAIN becomes ENOMEM, because callers treat EAGAIN as "nothing yet" and would wait. */
int rdmacm_rs_start_thread(void *(*run)(void *unused))
{
	const int ret = verbs_own_thread_start(run, NULL);

	return ret == EAGAIN ? ENOMEM : ret;
}
