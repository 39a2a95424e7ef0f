/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timer.c - see timer.h. One timerfd serves a heap of timers, whose root expires next. The heap is
 * a pairing heap, which needs no memory outside of the timers.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/timer.h"
#include "softhca/front/process/watch.h"

static struct watch watch = { .fd = -1 };
static uint64_t armed; /* 0: not set */
static struct timer *root;

uint64_t timer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void timer_arm(uint64_t deadline)
{
	struct itimerspec when = { 0 };

	when.it_value.tv_sec = deadline / 1000000000;
	when.it_value.tv_nsec = deadline % 1000000000;
	armed = deadline;
	timerfd_settime(watch.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Merges two heaps: the later root becomes the first child of the earlier one, which is
 * returned. */
static struct timer *heap_merge(struct timer *a, struct timer *b)
{
	struct timer *first, *child;

	if (!a || !b)
		return a ? a : b;
	first = b->deadline < a->deadline ? b : a;
	child = first == a ? b : a;
	child->next = first->child;
	if (child->next)
		child->next->link = &child->next;
	child->link = &first->child;
	first->child = child;
	first->next = NULL;
	return first;
}

/* Merges the children of a removed root, first in pairs, so that the heap stays flat. */
static struct timer *heap_merge_all(struct timer *list)
{
	struct timer *paired = NULL, *all = NULL;

	while (list) {
		struct timer *a = list, *b = a->next;

		list = b ? b->next : NULL;
		a = heap_merge(a, b);
		a->next = paired;
		paired = a;
	}
	while (paired) {
		struct timer *next = paired->next;

		all = heap_merge(all, paired);
		paired = next;
	}
	return all;
}

static void heap_remove(struct timer *timer)
{
	struct timer *orphans = heap_merge_all(timer->child);

	if (timer == root) {
		root = orphans;
	} else {
		*timer->link = timer->next;
		if (timer->next)
			timer->next->link = timer->link;
		root = heap_merge(root, orphans);
	}
}

static void timers_ready(struct watch *own, uint32_t events)
{
	uint64_t now = timer_now(), count;
	struct timer *timer;

	(void)events;
	if (read(own->fd, &count, sizeof(count)) != sizeof(count))
		return;
	while ((timer = root) != NULL && timer->deadline <= now) {
		timer_stop(timer);
		timer->expired(timer);
	}
	timer_arm(root ? root->deadline : 0);
}

int timers_open(void)
{
	int ret;

	watch = (struct watch){ timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				timers_ready };
	if (watch.fd < 0)
		return errno;
	ret = watch_add(&watch, EPOLLIN);
	if (ret)
		close(watch.fd);
	return ret;
}

void timers_close(void)
{
	watch_remove(&watch);
	close(watch.fd);
	watch.fd = -1;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	timer_stop(timer);
	timer->deadline = deadline ? deadline : 1;
	timer->child = timer->next = NULL;
	root = heap_merge(root, timer);
	if (!armed || timer->deadline < armed)
		timer_arm(timer->deadline);
}

void timer_stop(struct timer *timer)
{
	if (timer->deadline)
		heap_remove(timer);
	timer->deadline = 0;
}
