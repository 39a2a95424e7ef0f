/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keepalive_test.c - the keepalive thread for streams with SO_KEEPALIVE: streams and states that
 * get probes, and the time of the next one. Clock and streams are the test's.
 *
 * Covers: librdmacm/rsocket/stream/keepalive.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/keepalive.c"

enum { STREAMS = 3, SECOND = 1000000 };

static struct stream streams[STREAMS];
static unsigned int knocks[STREAMS], asked[STREAMS], threads;
static enum stream_state after_events;
static int64_t now_us;
static int refusal;

int64_t rdmacm_rs_now_us(void)
{
	return now_us;
}

int rdmacm_rs_start_thread(void *(*run)(void *unused))
{
	assert_ptr_equal(run, keepalive_thread);
	threads += !refusal;
	return refusal;
}

static void check_locked(struct stream *stream)
{
	assert_false(cm_lock_try(&stream->rs.lock));
}

int rdmacm_stream_own_events(struct stream *stream)
{
	check_locked(stream);
	asked[stream - streams]++;
	stream->state = after_events;
	return 0;
}

bool rdmacm_stream_progress(struct stream *stream)
{
	check_locked(stream);
	assert_true(stream->keepalive_due);
	knocks[stream - streams]++;
	return false;
}

static int streams_begin(void **state)
{
	(void)state;
	memset(streams, 0, sizeof(streams));
	memset(knocks, 0, sizeof(knocks));
	memset(asked, 0, sizeof(asked));
	threads = 0;
	refusal = 0;
	now_us = 5 * SECOND;
	after_events = STREAM_CONNECTED;
	rdmacm_rs_keepalive_forked();
	for (int i = 0; i < STREAMS; i++)
		streams[i].state = STREAM_CONNECTED;
	return 0;
}

static int streams_end(void **state)
{
	(void)state;
	for (int i = 0; i < STREAMS; i++) {
		rdmacm_keepalive_set(&streams[i], 0);
		assert_true(cm_lock_try(&streams[i].rs.lock));
	}
	assert_true(LIST_EMPTY(&all));
	return 0;
}

static void check_knocks(unsigned int first, unsigned int second, unsigned int third)
{
	assert_int_equal(knocks[0], first);
	assert_int_equal(knocks[1], second);
	assert_int_equal(knocks[2], third);
}

static void a_stream_is_knocked_at_after_each_period(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 2), 0);
	assert_true(knock_at_all(now_us) == now_us + 2 * SECOND);
	assert_true(knock_at_all(now_us + 2 * SECOND - 1) == now_us + 2 * SECOND);
	check_knocks(0, 0, 0);
	assert_true(knock_at_all(now_us + 2 * SECOND) == now_us + 4 * SECOND);
	check_knocks(1, 0, 0);
	assert_true(knock_at_all(now_us + 9 * SECOND) == now_us + 11 * SECOND);
	check_knocks(2, 0, 0);
}

static void the_next_is_the_earliest_of_all(void **state)
{
	(void)state;
	for (int i = 0; i < STREAMS; i++)
		assert_int_equal(rdmacm_keepalive_set(&streams[i], 3 - i), 0);
	assert_true(knock_at_all(now_us) == now_us + SECOND);
	assert_true(knock_at_all(now_us + 2 * SECOND) == now_us + 3 * SECOND);
	check_knocks(0, 1, 1);
	assert_int_equal(rdmacm_keepalive_set(&streams[2], 0), 0);
	assert_true(knock_at_all(now_us + 3 * SECOND) == now_us + 4 * SECOND);
	check_knocks(1, 1, 1);
}

static void a_changed_period_begins_anew(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 2), 0);
	now_us += SECOND;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 5), 0);
	assert_true(knock_at_all(now_us) == now_us + 5 * SECOND);
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 0), 0);
	assert_true(knock_at_all(now_us) == INT64_MAX);
	check_knocks(0, 0, 0);
}

static void a_stream_is_knocked_at_while_it_is_connected(void **state)
{
	(void)state;
	for (int i = STREAM_NEW; i <= STREAM_OVER; i++) {
		streams_begin(state);
		streams[1].state = i;
		knock_at(&streams[1]);
		assert_int_equal(asked[1], i == STREAM_ACCEPTED);
		check_knocks(0, i == STREAM_CONNECTED || i == STREAM_ACCEPTED, 0);
	}
	streams_begin(state);
	after_events = streams[1].state = STREAM_ACCEPTED;
	knock_at(&streams[1]);
	check_knocks(0, 0, 0);
	assert_false(streams[1].keepalive_due);
}

static void one_thread_serves_all(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 0), 0);
	assert_int_equal(threads, 0);
	refusal = ENOMEM;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 1), ENOMEM);
	refusal = 0;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 1), 0);
	assert_int_equal(rdmacm_keepalive_set(&streams[1], 1), 0);
	assert_int_equal(threads, 1);
}

static void the_thread_ends_after_the_last_stream(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, keepalive_thread, NULL), 0);
	assert_int_equal(rdmacm_keepalive_set(&streams[0], 0), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(is_running);
	assert_int_equal(rdmacm_keepalive_set(&streams[1], 1), 0);
	assert_int_equal(threads, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stream_is_knocked_at_after_each_period,
						streams_begin, streams_end),
		cmocka_unit_test_setup_teardown(the_next_is_the_earliest_of_all, streams_begin,
						streams_end),
		cmocka_unit_test_setup_teardown(a_changed_period_begins_anew, streams_begin,
						streams_end),
		cmocka_unit_test_setup_teardown(a_stream_is_knocked_at_while_it_is_connected,
						streams_begin, streams_end),
		cmocka_unit_test_setup_teardown(one_thread_serves_all, streams_begin, streams_end),
		cmocka_unit_test_setup_teardown(the_thread_ends_after_the_last_stream,
						streams_begin, streams_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
