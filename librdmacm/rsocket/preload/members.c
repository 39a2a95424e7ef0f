/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * members.c - records which rsocket numbers are in which sets, and their events. librdmacm's sets
 * know the rsocket only, so when a number becomes an ordinary socket, this list restores its
 * memberships.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

enum { LISTS = 1024 };

struct member {
	LIST_ENTRY(member) entry;
	int set, fd, rsocket;
	struct epoll_event event;
};

static LIST_HEAD(members, member) lists[LISTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct members *list_of(int rsocket)
{
	return &lists[rsocket % LISTS];
}

static struct member *member_lookup(int set, int rsocket)
{
	struct member *member;

	LIST_FOREACH(member, list_of(rsocket), entry) {
		if (member->set == set && member->rsocket == rsocket)
			return member;
	}
	return NULL;
}

static void member_remove(struct member *member)
{
	LIST_REMOVE(member, entry);
	free(member);
}

static int member_put(int set, int fd, int rsocket, const struct epoll_event *event)
{
	struct member *member = member_lookup(set, rsocket);

	if (!member) {
		member = calloc(1, sizeof(*member));
		if (!member)
			return ENOMEM;
		member->set = set;
		member->fd = fd;
		member->rsocket = rsocket;
		LIST_INSERT_HEAD(list_of(rsocket), member, entry);
	}
	member->event = *event;
	return 0;
}

int preload_member_noted(int set, int op, int fd, int rsocket, const struct epoll_event *event)
{
	struct member *member;
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (op != EPOLL_CTL_DEL) {
		ret = member_put(set, fd, rsocket, event);
	} else {
		member = member_lookup(set, rsocket);
		if (member)
			member_remove(member);
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

void preload_members_turn_over(int rsocket)
{
	struct member *member, *next;

	pthread_mutex_lock(&lock);
	for (member = LIST_FIRST(list_of(rsocket)); member; member = next) {
		next = LIST_NEXT(member, entry);
		if (member->rsocket != rsocket)
			continue;
		real()->epoll_ctl(member->set, EPOLL_CTL_ADD, member->fd, &member->event);
		member_remove(member);
	}
	pthread_mutex_unlock(&lock);
}

static void report_remove(const struct preload_report *report, uint64_t data)
{
	int left = 0;

	for (int i = 0; i < *report->count; i++) {
		if (report->events[i].data.u64 != data)
			report->events[left++] = report->events[i];
	}
	*report->count = left;
}

/* Removes the rsocket's events from a report. Finds them by the member's data, because an epoll
 * event does not name its descriptor. */
void preload_members_unreport(int rsocket, const struct preload_report *report)
{
	struct member *member;

	pthread_mutex_lock(&lock);
	member = member_lookup(report->set, rsocket);
	if (member)
		report_remove(report, member->event.data.u64);
	pthread_mutex_unlock(&lock);
}

void preload_members_of_number_gone(int fd, int rsocket)
{
	struct member *member, *next;

	pthread_mutex_lock(&lock);
	for (member = LIST_FIRST(list_of(rsocket)); member; member = next) {
		next = LIST_NEXT(member, entry);
		if (member->rsocket == rsocket && member->fd == fd)
			member_remove(member);
	}
	pthread_mutex_unlock(&lock);
}

void preload_members_of_set_gone(int set)
{
	struct member *member, *next;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < LISTS; i++) {
		for (member = LIST_FIRST(&lists[i]); member; member = next) {
			next = LIST_NEXT(member, entry);
			if (member->set == set)
				member_remove(member);
		}
	}
	pthread_mutex_unlock(&lock);
}

static void members_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, members_forked);
}
