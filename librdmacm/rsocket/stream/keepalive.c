/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keepalive.c - a thread sends an RDMA WRITE of zero bytes, at the configured interval, on each
 * stream with SO_KEEPALIVE.
 *
 * If the peer is dead, the transport's retries end in an error completion, which wakes the threads
 * that wait on the stream. The thread starts with the first such stream and ends after the last.
 */
#include "librdmacm/rsocket/stream/stream.h"

#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

struct kept {
	LIST_ENTRY(kept) entry;
	struct stream *stream;
	int64_t period_us, next_us;
};

static LIST_HEAD(, kept) all = LIST_HEAD_INITIALIZER(all);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken before a stream's lock */
static pthread_cond_t changed;                           /* created when the thread first starts */
static bool is_made, is_running;

static struct kept *kept_find(const struct stream *stream)
{
	struct kept *kept;

	LIST_FOREACH(kept, &all, entry) {
		if (kept->stream == stream)
			return kept;
	}
	return NULL;
}

static void knock_at(struct stream *stream)
{
	cm_lock_take(&stream->rs.lock);
	if (stream->state == STREAM_ACCEPTED) /* the program has made no call since */
		rdmacm_stream_own_events(stream);
	if (stream->state == STREAM_CONNECTED) {
		stream->keepalive_due = true;
		rdmacm_stream_progress(stream);
	}
	cm_lock_drop(&stream->rs.lock);
}

/* Sends the keepalives that are due, and returns the time of the next. */
static int64_t knock_at_all(int64_t now)
{
	int64_t next = INT64_MAX;
	struct kept *kept;

	LIST_FOREACH(kept, &all, entry) {
		if (kept->next_us <= now) {
			knock_at(kept->stream);
			kept->next_us = now + kept->period_us;
		}
		if (kept->next_us < next)
			next = kept->next_us;
	}
	return next;
}

/* Creates the condition with the monotonic clock of rdmacm_rs_now_us(): a change of the time of day
 * must not delay keepalives. */
static void make_condition(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
	is_made = true;
}

static void sleep_until(int64_t then_us)
{
	struct timespec end = { .tv_sec = then_us / 1000000, .tv_nsec = then_us % 1000000 * 1000 };

	pthread_cond_timedwait(&changed, &lock, &end);
}

static void *keepalive_thread(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!LIST_EMPTY(&all))
		sleep_until(knock_at_all(rdmacm_rs_now_us()));
	is_running = false;
	pthread_mutex_unlock(&lock);
	return unused;
}

static int start_thread(void)
{
	int ret;

	if (!is_made)
		make_condition();
	ret = is_running ? 0 : rdmacm_rs_start_thread(keepalive_thread);
	is_running |= !ret;
	return ret;
}

static int kept_add(struct stream *stream, int seconds)
{
	struct kept *kept = kept_find(stream);

	if (!kept) {
		kept = calloc(1, sizeof(*kept));
		if (!kept)
			return ENOMEM;
		kept->stream = stream;
		__atomic_store_n(&stream->was_kept, true, __ATOMIC_RELAXED);
		LIST_INSERT_HEAD(&all, kept, entry);
	}
	kept->period_us = seconds * 1000000LL;
	kept->next_us = rdmacm_rs_now_us() + kept->period_us;
	return start_thread();
}

static void kept_drop(struct stream *stream)
{
	struct kept *kept = kept_find(stream);

	if (kept) {
		LIST_REMOVE(kept, entry);
		free(kept);
	}
}

int rdmacm_keepalive_set(struct stream *stream, int seconds)
{
	int ret = 0;

	if (!seconds && !__atomic_load_n(&stream->was_kept, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&lock);
	if (seconds)
		ret = kept_add(stream, seconds);
	else
		kept_drop(stream);
	if (is_made)
		pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Reinitialises in a child: the thread and its streams belong to the parent. */
void rdmacm_rs_keepalive_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	LIST_INIT(&all);
	is_made = is_running = false;
}
