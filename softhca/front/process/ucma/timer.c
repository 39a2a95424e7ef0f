/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timer.c - see timer.h: a list, and one timerfd that is set to the first of it.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/ucma/timer.h"
#include "softhca/front/process/watch.h"

static struct watch watch = { .fd = -1 };
static uint64_t armed; /* 0: not */
static TAILQ_HEAD(, ucma_timer) timers = TAILQ_HEAD_INITIALIZER(timers);

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

static struct ucma_timer *timer_first(void)
{
	struct ucma_timer *timer, *best = NULL;

	TAILQ_FOREACH(timer, &timers, entry)
		if (!best || timer->deadline < best->deadline)
			best = timer;
	return best;
}

static void timers_ready(struct watch *own, uint32_t events)
{
	uint64_t now = timer_now(), count;
	struct ucma_timer *timer;

	(void)events;
	if (read(own->fd, &count, sizeof(count)) != sizeof(count))
		return;
	while ((timer = timer_first()) != NULL && timer->deadline <= now) {
		timer_stop(timer);
		timer->expired(timer);
	}
	timer = timer_first();
	timer_arm(timer ? timer->deadline : 0);
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

void timer_start(struct ucma_timer *timer, uint64_t deadline)
{
	timer_stop(timer);
	timer->deadline = deadline ? deadline : 1;
	TAILQ_INSERT_TAIL(&timers, timer, entry);
	if (!armed || timer->deadline < armed)
		timer_arm(timer->deadline);
}

void timer_stop(struct ucma_timer *timer)
{
	if (timer->deadline)
		TAILQ_REMOVE(&timers, timer, entry);
	timer->deadline = 0;
}
