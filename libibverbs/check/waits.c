/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits.c - threads that wait for an event of a completion channel of which no CQ is armed.
 *
 * Another thread may arm a CQ later, or poll it, so such a wait is not yet a mistake. A helper
 * thread looks again after a second. The wait is reported if it still lasts, no CQ is armed, nobody
 * has polled meanwhile, and posted requests may complete to a CQ of the channel. The waiting thread
 * itself waits in the kernel as it would without the checker, so that signals and cancellation
 * reach it.
 */
#include "check.h"

#include "util/own_thread.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE_MS = 1000 };

struct wait {
	struct check_channel *channel;
	unsigned int begun; /* number of the wait */
	struct check_cq_look look;
};

static bool wait_lasts(const struct wait *wait)
{
	return __atomic_load_n(&wait->channel->waits, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&wait->channel->begun, __ATOMIC_ACQUIRE) == wait->begun &&
	       !__atomic_load_n(&wait->channel->armed, __ATOMIC_ACQUIRE);
}

/* Lets the next wait be watched. */
static void watch_end(struct check_channel *channel)
{
	__atomic_store_n(&channel->is_watched, false, __ATOMIC_RELEASE);
}

static void *wait_watch(void *of)
{
	const struct timespec second = { .tv_sec = PATIENCE_MS / 1000 };
	struct wait *wait = of;
	struct check_cq_look look;
	unsigned int count;

	nanosleep(&second, NULL);
	count = verbs_check_channel_look(wait->channel, &look);
	if (wait_lasts(wait) && count && look.promised && look.polled_ns == wait->look.polled_ns &&
	    !__atomic_exchange_n(&wait->channel->is_reported, true, __ATOMIC_RELAXED))
		verbs_check_say(CHECK_UNARMED,
				"ibv_get_cq_event waits: none of the %u CQs of the channel is "
				"armed, and %d posted requests may complete to them: call "
				"ibv_req_notify_cq(), then poll once more, before each wait",
				count, look.promised);
	watch_end(wait->channel);
	free(wait);
	return NULL;
}

static void watch_start(struct wait *wait)
{
	if (!verbs_own_thread_start(wait_watch, wait))
		return;
	watch_end(wait->channel);
	free(wait);
}

/* The thread is not cancelled in poll(): its wait has been counted. */
static bool event_waits(const struct ibv_comp_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	int before, count;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	count = poll(&fd, 1, 0);
	pthread_setcancelstate(before, &before);
	return count > 0;
}

/* A CQ of direct verbs has no record, so a channel with one is not judged. */
static bool is_suspicious(const struct check_channel *record,
			  const struct ibv_comp_channel *channel, struct check_cq_look *look)
{
	return !__atomic_load_n(&record->armed, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&record->is_reported, __ATOMIC_RELAXED) && !event_waits(channel) &&
	       verbs_check_channel_look(record, look) == (unsigned int)channel->refcnt &&
	       look->promised;
}

void verbs_check_wait_begin(const struct ibv_comp_channel *channel)
{
	struct check_channel *record =
		verbs_check_find_live(CHECK_CHANNEL, NULL, check_id(channel));
	struct check_cq_look look;
	unsigned int begun;
	struct wait *wait;

	if (!record)
		return;
	begun = __atomic_add_fetch(&record->begun, 1, __ATOMIC_ACQ_REL);
	__atomic_fetch_add(&record->waits, 1, __ATOMIC_ACQ_REL);
	if (!is_suspicious(record, channel, &look) ||
	    __atomic_exchange_n(&record->is_watched, true, __ATOMIC_ACQ_REL))
		return;
	wait = calloc(1, sizeof(*wait));
	if (!wait) {
		watch_end(record);
		return;
	}
	*wait = (struct wait){ record, begun, look };
	watch_start(wait);
}

void verbs_check_wait_end(const struct ibv_comp_channel *channel)
{
	struct check_channel *record =
		verbs_check_find_live(CHECK_CHANNEL, NULL, check_id(channel));

	if (record)
		__atomic_fetch_sub(&record->waits, 1, __ATOMIC_ACQ_REL);
}
