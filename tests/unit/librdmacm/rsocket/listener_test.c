/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener_test.c - a listener of one process: early accepts of requests that no raccept() takes
 * in time, and results of poll. A pipe replaces the channel; the clock is the test's.
 *
 * Covers: librdmacm/rsocket/listener.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/listener.c"

static struct stream listener;
static int ends[2];
static int64_t now_us;

int64_t __wrap_rdmacm_rs_now_us(void);

int64_t __wrap_rdmacm_rs_now_us(void)
{
	return now_us;
}

static int listener_begin(void **state)
{
	(void)state;
	if (pipe(ends))
		return -1;
	memset(&listener, 0, sizeof(listener));
	STAILQ_INIT(&listener.accepted);
	listener.state = STREAM_LISTENING;
	listener.rs.fd = ends[0];
	now_us = 1000;
	return 0;
}

static int listener_end(void **state)
{
	(void)state;
	assert_true(cm_lock_try(&listener.rs.lock));
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void request_comes(void)
{
	assert_int_equal(write(ends[1], "", 1), 1);
}

static void request_goes(void)
{
	char byte;

	assert_int_equal(read(ends[0], &byte, 1), 1);
}

static void a_request_is_waited_with_for_a_while(void **state)
{
	(void)state;
	assert_false(is_patience_over(&listener));
	now_us += 2 * PATIENCE_US;
	assert_false(is_patience_over(&listener));
	request_comes();
	assert_false(is_patience_over(&listener));
	now_us += PATIENCE_US - 1;
	assert_false(is_patience_over(&listener));
	now_us++;
	assert_true(is_patience_over(&listener));
}

/* A failed early accept is tried again after the same delay. */
static void a_request_that_stays_is_waited_with_again(void **state)
{
	(void)state;
	request_comes();
	is_patience_over(&listener);
	for (int i = 0; i < 3; i++) {
		now_us += PATIENCE_US;
		assert_true(is_patience_over(&listener));
		assert_int_equal(listener.first_seen_us, 0);
		assert_false(is_patience_over(&listener));
		assert_int_equal(listener.first_seen_us, now_us);
	}
}

/* Each request has the full delay, however long the former one waited, as it came later. */
static void each_request_has_its_own_time(void **state)
{
	(void)state;
	request_comes();
	assert_false(is_patience_over(&listener));
	now_us += PATIENCE_US - 1;
	request_goes();
	assert_false(is_patience_over(&listener));
	assert_int_equal(listener.first_seen_us, 0);
	request_comes();
	assert_false(is_patience_over(&listener));
	now_us += PATIENCE_US - 1;
	assert_false(is_patience_over(&listener));
	now_us++;
	assert_true(is_patience_over(&listener));
}

static void a_look_says_whether_there_is_a_request(void **state)
{
	struct stream accepted;

	(void)state;
	assert_int_equal(rdmacm_listener_fd(&listener), ends[0]);
	assert_int_equal(rdmacm_listener_look(&listener), EAGAIN);
	request_comes();
	assert_int_equal(rdmacm_listener_look(&listener), 0);
	listener.is_lost = true;
	assert_int_equal(rdmacm_listener_look(&listener), EIDRM);
	STAILQ_INSERT_HEAD(&listener.accepted, &accepted, in_accepted);
	assert_int_equal(rdmacm_listener_look(&listener), 0);
}

/* Without a request, the channel may report an error. */
static void a_channel_without_its_other_end_has_no_request(void **state)
{
	(void)state;
	close(ends[1]);
	assert_int_equal(rdmacm_listener_look(&listener), EAGAIN);
	ends[1] = dup(ends[0]);
}

static void errors_that_may_pass_are_not_the_end(void **state)
{
	static const int passing[] = { EMFILE, ENFILE, ENOMEM, EAGAIN };
	static const int others[] = { EIDRM, EACCES, ENODEV, EINVAL, EIO, ENOENT };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(passing); i++)
		assert_true(is_passing(passing[i]));
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(is_passing(others[i]));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, listener_begin, listener_end)
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_waited_with_for_a_while),
		TEST(a_request_that_stays_is_waited_with_again),
		TEST(each_request_has_its_own_time),
		TEST(a_look_says_whether_there_is_a_request),
		TEST(a_channel_without_its_other_end_has_no_request),
		TEST(errors_that_may_pass_are_not_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
