/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credentials.c - records changes of user and group when they are trapped; see credentials.h. Only
 * for processes with rdma_cm files.
 *
 * Changes by capset() and setfsuid() are not seen.
 */
#include "softhca/front/process/program/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "softhca/log.h"
#include "util/bits.h"

static uint64_t last_change;

/* Returns whether TID is still the thread of CHANGE. If a start time is unknown, assumes so while a
 * thread TID exists. */
static bool is_of(const struct credentials_change *change, pid_t tid)
{
	uint64_t started;

	if (change->tid != tid)
		return false;
	started = client_thread_start(tid);
	if (!started || !change->started)
		return client_thread_is_there(tid);
	return change->started == started;
}

static struct credentials_change *change_find(const struct client *client, pid_t tid)
{
	struct credentials_change *change;

	LIST_FOREACH(change, &client->changes, entry)
		if (is_of(change, tid))
			return change;
	return NULL;
}

/* Drops the changes of ended threads. Otherwise a file server that changes the user in a new thread
 * for each request would fill the memory. */
static void changes_drop_ended(struct client *client)
{
	struct credentials_change *change, *next;

	for (change = LIST_FIRST(&client->changes); change; change = next) {
		next = LIST_NEXT(change, entry);
		if (is_of(change, change->tid))
			continue;
		LIST_REMOVE(change, entry);
		free(change);
	}
}

static void change_note(struct client *client, pid_t tid)
{
	struct credentials_change *change;

	changes_drop_ended(client);
	change = change_find(client, tid);
	if (!change) {
		change = calloc(1, sizeof(*change));
		if (!change) {
			log_error("thread %d: no memory for a change of its user", tid);
			return;
		}
		change->tid = tid;
		change->started = client_thread_start(tid);
		LIST_INSERT_HEAD(&client->changes, change, entry);
	}
	change->number = ++last_change;
}

/* ---- calls that will succeed, as a failed one changes nothing ---- */

enum { CAP_SETGID = 6, CAP_SETUID = 7 };

static const struct {
	int nr;
	unsigned int capability, args;
} calls[] = {
	{ __NR_setuid, CAP_SETUID, 1 },    { __NR_setgid, CAP_SETGID, 1 },
	{ __NR_setreuid, CAP_SETUID, 2 },  { __NR_setregid, CAP_SETGID, 2 },
	{ __NR_setresuid, CAP_SETUID, 3 }, { __NR_setresgid, CAP_SETGID, 3 },
	{ __NR_setgroups, CAP_SETGID, 0 },
};

enum { IDS = 3 }; /* real, effective, saved */

static bool is_own(const unsigned int *ids, uint32_t id)
{
	return id == (uint32_t)-1 || id == ids[0] || id == ids[1] || id == ids[2];
}

/* Returns whether the call will succeed: without CAPABILITY, a thread may only choose among its
 * three ids. If the ids are unknown, returns true, as programs seldom try what they may not do. */
static bool is_allowed(const struct call *call, unsigned int capability, unsigned int args)
{
	unsigned int ids[IDS];

	if (client_may(call->tid, capability))
		return true;
	if (!client_thread_ids(call->tid, capability == CAP_SETUID ? "Uid" : "Gid", ids))
		return true;
	if (!args)
		return false;
	for (unsigned int i = 0; i < args; i++)
		if (!is_own(ids, (uint32_t)call_arg(call, i)))
			return false;
	return true;
}

void credentials_change(struct call *call)
{
	struct client *client = client_find(call->tid);

	for (unsigned int i = 0; client && i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == call->notif->data.nr &&
		    is_allowed(call, calls[i].capability, calls[i].args))
			change_note(client, call->tid);
}

static uint64_t change_of(const struct client *client, pid_t tid)
{
	const struct credentials_change *change = change_find(client, tid);

	return change ? change->number : 0;
}

struct credentials credentials_of(const struct client *client, pid_t tid)
{
	return (struct credentials){ client_thread_uid(tid), change_of(client, tid), last_change };
}

static bool is_other_uid(unsigned int a, unsigned int b)
{
	return a != b && a != UID_UNKNOWN && b != UID_UNKNOWN;
}

bool credentials_are_of(const struct credentials *credentials, const struct client *client,
			pid_t tid)
{
	uint64_t change = change_of(client, tid);

	if (is_other_uid(client_thread_uid(tid), credentials->uid))
		return false;
	if (!change || change == credentials->change)
		return true;
	return !credentials->change && credentials->since >= change;
}
