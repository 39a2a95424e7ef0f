/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals.c - what signals are to this library: its own threads get none, and what SA_RESTART means
 * for calls that wait by poll(), which a signal always ends.
 *
 * Neither poll() nor anything else tells which handler has run. A program all of whose handlers ask
 * for SA_RESTART does not expect EINTR from anywhere; one with another handler has to expect it
 * from each call that waits. Where there is no handler, the one that has run is gone, as that of
 * SIGINT often is, so that the second one kills: it meant to end the wait.
 *
 * The C library's setuid() and its like have each thread of the program change its user, by a
 * signal whose handler is the library's own. No program expects EINTR of that, so a thread that is
 * another user than before it slept goes on.
 */
#include "librdmacm/rsocket/rs.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "util/threads.h"

/* Returns whether a signal comes from what a thread does itself, so never while it sleeps. Crash
 * reporters have handlers for these. */
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

/* A thread that is alone changes its user in a handler of the program's, whose signal counts as any
 * other does. So it saves itself three calls of the system before each sleep. */
void rdmacm_rs_who(struct rs_user *user)
{
	memset(user, 0, sizeof(*user)); /* users are compared byte by byte */
	user->is_alone = process_has_one_thread();
	if (user->is_alone)
		return;
	getresuid(&user->uids[0], &user->uids[1], &user->uids[2]);
	getresgid(&user->gids[0], &user->gids[1], &user->gids[2]);
	user->group_count = getgroups(RS_USER_GROUPS, user->groups);
	if (user->group_count < 0) /* there are more */
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

/* A new thread begins with the mask of the one that makes it. That there may be no more threads is
 * ENOMEM here: EAGAIN means that there is nothing yet, and is waited for. */
int rdmacm_rs_start_thread(void *(*run)(void *unused))
{
	sigset_t all_signals, before;
	pthread_t thread;
	int ret;

	sigfillset(&all_signals);
	pthread_sigmask(SIG_SETMASK, &all_signals, &before);
	ret = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		pthread_detach(thread);
	return ret == EAGAIN ? ENOMEM : ret;
}
