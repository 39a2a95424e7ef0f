/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait_test.c - when a nonblocking call looks for events of rdma_cm: rarely in fast sequences of
 * calls, at once after a pause; the check before a blocking call sleeps; and what a call returns
 * that waited in vain.
 *
 * Covers: librdmacm/rsocket/stream/wait.c, librdmacm/rsocket/stream/stream.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/stream.h"

enum { LATER_US = 20000 }; /* more than a tick of the kernel */

static int64_t now_us;
static unsigned int exact_reads;

int64_t __wrap_rdmacm_rs_now_us(void) __attribute__((visibility("default")));
int64_t __wrap_rdmacm_rs_coarse_now_us(void) __attribute__((visibility("default")));

int64_t __wrap_rdmacm_rs_now_us(void)
{
	exact_reads++;
	return now_us;
}

int64_t __wrap_rdmacm_rs_coarse_now_us(void)
{
	return now_us;
}

int __wrap_rdmacm_stream_progress(struct stream *stream) __attribute__((visibility("default")));

static enum stream_state state_of_progress;
static int found_by_progress;

int __wrap_rdmacm_stream_progress(struct stream *stream)
{
	stream->state = state_of_progress;
	return found_by_progress;
}

/* Returns whether a stream in state BEFORE may sleep, after a check that finds FOUND and leaves the
 * state AFTER. */
static bool may_sleep(enum stream_state before, enum stream_state after, int found)
{
	static struct ibv_cq cq;
	struct stream *stream = calloc(1, sizeof(*stream));
	bool may;

	assert_non_null(stream);
	stream->state = before;
	stream->cq = &cq;
	stream->is_armed = true;
	state_of_progress = after;
	found_by_progress = found;
	may = rdmacm_stream_arm(stream);
	free(stream);
	return may;
}

/* The caller must report the failure: no event would end the sleep. */
static void a_stream_that_fails_while_it_is_armed_does_not_sleep(void **state)
{
	(void)state;
	assert_true(may_sleep(STREAM_CONNECTED, STREAM_CONNECTED, 0));
	assert_false(may_sleep(STREAM_CONNECTED, STREAM_CONNECTED, 1));
	assert_false(may_sleep(STREAM_CONNECTED, STREAM_OVER, 0));
	assert_true(may_sleep(STREAM_OVER, STREAM_OVER, 0));
}

/* Returns the number of looks among COUNT calls at intervals of a microsecond. */
static int looks_of_calls(struct stream *stream, int count)
{
	int looks = 0;

	for (int i = 0; i < count; i++, now_us++)
		looks += stream_look_is_due(stream);
	return looks;
}

static void a_call_after_a_pause_looks(void **state)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	(void)state;
	assert_non_null(stream);
	for (int busy = 0; busy < 64; busy++) {
		looks_of_calls(stream, 3000 + busy);
		now_us += LATER_US;
		assert_true(stream_look_is_due(stream));
	}
	free(stream);
}

static void calls_that_come_often_rarely_look(void **state)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	(void)state;
	assert_non_null(stream);
	looks_of_calls(stream, 1000);
	exact_reads = 0;
	assert_in_range(looks_of_calls(stream, 5000), 9, 10);
	assert_in_range(exact_reads, 1, 5000 / 8);
	free(stream);
}

static bool is_ready;

static bool ready_now(struct stream *stream)
{
	(void)stream;
	return is_ready;
}

static void a_wait_in_vain_has_an_errno(void **state)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	(void)state;
	assert_non_null(stream);
	stream->rs.fd = -1; /* poll() ignores it */
	state_of_progress = STREAM_CONNECTED;
	is_ready = true;
	assert_int_equal(rdmacm_stream_wait(stream, ready_now, false, now_us), 0);
	is_ready = false;
	assert_int_equal(rdmacm_stream_wait(stream, ready_now, false, now_us), ETIMEDOUT);
	assert_int_equal(rdmacm_stream_wait(stream, ready_now, false, now_us - 1), ETIMEDOUT);
	assert_int_equal(rdmacm_stream_wait(stream, ready_now, true, -1), EAGAIN);
	free(stream);
}

/* A stream without a queue of completions sleeps for events of rdma_cm alone, and not for those
 * while reading them has failed. */
static void a_stream_sleeps_for_what_it_has(void **state)
{
	struct ibv_comp_channel completions = { .fd = 8 };
	struct stream *stream = calloc(1, sizeof(*stream));
	struct pollfd fds[2] = { { .fd = 99 }, { .fd = 99 } };

	(void)state;
	assert_non_null(stream);
	stream->rs.fd = 7;
	assert_int_equal(rdmacm_stream_wake_fds(stream, fds), 1);
	assert_int_equal(fds[0].fd, 7);
	assert_int_equal(fds[0].events, POLLIN);
	assert_int_equal(fds[1].fd, 99);
	stream->completions = &completions;
	assert_int_equal(rdmacm_stream_wake_fds(stream, fds), 2);
	assert_int_equal(fds[0].fd, 7);
	assert_int_equal(fds[1].fd, 8);
	assert_int_equal(fds[1].events, POLLIN);
	stream->pause.until_us = now_us + 1;
	assert_int_equal(rdmacm_stream_wake_fds(stream, fds), 2);
	assert_int_equal(fds[0].fd, -1);
	assert_int_equal(fds[1].fd, 8);
	now_us++;
	assert_int_equal(rdmacm_stream_wake_fds(stream, fds), 2);
	assert_int_equal(fds[0].fd, 7);
	free(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_after_a_pause_looks),
		cmocka_unit_test(calls_that_come_often_rarely_look),
		cmocka_unit_test(a_stream_that_fails_while_it_is_armed_does_not_sleep),
		cmocka_unit_test(a_wait_in_vain_has_an_errno),
		cmocka_unit_test(a_stream_sleeps_for_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
