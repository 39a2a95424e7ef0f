/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits_test.c - which waits for an event are watched, and which of them are reported a second
 * later. The helper thread, its second and the records are the test's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int helper_sleep(const struct timespec *time, struct timespec *left);

#include "libibverbs/check/check.h"

#define nanosleep(time, left) helper_sleep(time, left)
#include "libibverbs/check/waits.c"
#undef nanosleep

#include "tests/unit/heap.h"

enum { CQS = 2 };

static struct {
	bool has_record;
	struct check_cq_look look;
	unsigned int count; /* of CQs with records */
	int creates;
	bool create_fails;
	void *(*start)(void *of);
	void *of;
	int said;
	char text[256];
	void (*second)(void); /* happens while the helper sleeps */
} it;

static struct check_channel record;
static struct ibv_comp_channel channel;
static int ends[2];

void *verbs_check_find_live(enum check_kind kind, const void *context, uint64_t id)
{
	assert_int_equal(kind, CHECK_CHANNEL);
	assert_null(context);
	assert_int_equal(id, (uintptr_t)&channel);
	return it.has_record ? &record : NULL;
}

unsigned int verbs_check_channel_look(const struct check_channel *of, struct check_cq_look *look)
{
	assert_ptr_equal(of, &record);
	*look = it.look;
	return it.count;
}

void verbs_check_say(enum check_fault fault, const char *format, ...)
{
	va_list args;

	assert_int_equal(fault, CHECK_UNARMED);
	va_start(args, format);
	vsnprintf(it.text, sizeof(it.text), format, args);
	va_end(args);
	it.said++;
}

int verbs_own_thread_start(void *(*run)(void *of), void *of)
{
	it.creates++;
	it.start = run;
	it.of = of;
	return it.create_fails ? EAGAIN : 0;
}

static int helper_sleep(const struct timespec *time, struct timespec *left)
{
	assert_int_equal(time->tv_sec, 1);
	assert_int_equal(time->tv_nsec, 0);
	assert_null(left);
	if (it.second)
		it.second();
	return 0;
}

/* A channel with two CQs, of which none is armed, and a request that may complete to them. */
static int channel_begin(void **state)
{
	char byte;

	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&record, 0, sizeof(record));
	while (read(ends[0], &byte, 1) == 1)
		;
	channel = (struct ibv_comp_channel){ .fd = ends[0], .refcnt = CQS };
	it.has_record = true;
	it.count = CQS;
	it.look = (struct check_cq_look){ .promised = 3, .polled_ns = 7 };
	heap_begin();
	return 0;
}

static int channel_end(void **state)
{
	(void)state;
	assert_int_equal(heap.blocks, 0);
	return 0;
}

static void wait_begin(void)
{
	it.creates = 0;
	verbs_check_wait_begin(&channel);
}

/* The helper thread runs, if there is one. */
static int said_after_a_second(void)
{
	if (it.creates)
		assert_null(it.start(it.of));
	assert_false(record.is_watched);
	return it.said;
}

static void a_wait_that_lasts_is_reported_once(void **state)
{
	(void)state;
	wait_begin();
	assert_int_equal(it.creates, 1);
	assert_true(record.is_watched);
	assert_int_equal(record.waits, 1);
	assert_int_equal(record.begun, 1);
	assert_int_equal(it.said, 0);
	assert_int_equal(said_after_a_second(), 1);
	assert_non_null(strstr(it.text, "none of the 2 CQs of the channel is armed, and 3 posted"));
	verbs_check_wait_end(&channel);
	assert_int_equal(record.waits, 0);
	wait_begin();
	assert_int_equal(it.creates, 0); /* the program knows */
	assert_int_equal(record.waits, 1);
	assert_int_equal(record.begun, 2);
}

static void what_may_be_answered_is_not_watched(void **state)
{
	(void)state;
	record.armed = 1;
	wait_begin();
	assert_int_equal(it.creates, 0);
	record.armed = 0;
	assert_int_equal(write(ends[1], "e", 1), 1); /* an event is there already */
	wait_begin();
	assert_int_equal(it.creates, 0);
	channel_begin(NULL);
	it.look.promised = 0;
	wait_begin();
	assert_int_equal(it.creates, 0);
	it.look.promised = 1;
	channel.refcnt = CQS + 1; /* one of direct verbs has no record */
	wait_begin();
	assert_int_equal(it.creates, 0);
	channel.refcnt = CQS;
	it.has_record = false;
	wait_begin();
	assert_int_equal(it.creates, 0);
	assert_int_equal(record.waits, 2);
	verbs_check_wait_end(&channel);
	assert_int_equal(record.waits, 2);
}

static void a_channel_has_one_helper(void **state)
{
	(void)state;
	wait_begin();
	assert_int_equal(it.creates, 1);
	verbs_check_wait_begin(&channel);
	assert_int_equal(it.creates, 1);
	assert_int_equal(record.waits, 2);
	assert_int_equal(record.begun, 2);
	assert_int_equal(said_after_a_second(), 0); /* the last wait has not lasted */
}

/* What another thread may do in the second. */
static void thread_leaves(void)
{
	verbs_check_wait_end(&channel);
}

static void thread_waits_anew(void)
{
	verbs_check_wait_end(&channel);
	verbs_check_wait_begin(&channel);
}

static void cq_is_armed(void)
{
	record.armed = 1;
}

static void cq_is_polled(void)
{
	it.look.polled_ns++;
}

static void requests_are_gone(void)
{
	it.look.promised = 0;
}

static void cqs_are_destroyed(void)
{
	it.count = 0;
}

static void wait_is_reported(void)
{
	record.is_reported = true;
}

static void a_wait_that_has_changed_is_not_reported(void **state)
{
	static void (*const changes[])(
		void) = { thread_leaves,     thread_waits_anew, cq_is_armed,     cq_is_polled,
			  requests_are_gone, cqs_are_destroyed, wait_is_reported };

	(void)state;
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		channel_begin(NULL);
		wait_begin();
		assert_int_equal(it.creates, 1);
		it.second = changes[i];
		assert_int_equal(said_after_a_second(), 0);
		assert_int_equal(heap.blocks, 0);
		assert_int_equal(record.is_reported, changes[i] == wait_is_reported);
	}
}

static void without_a_helper_the_wait_goes_on(void **state)
{
	(void)state;
	it.create_fails = true;
	wait_begin();
	assert_int_equal(it.creates, 1);
	assert_int_equal(heap.blocks, 0);
	assert_false(record.is_watched);
	it.create_fails = false;
	wait_begin();
	assert_int_equal(it.creates, 1); /* the next one is watched */
	assert_int_equal(said_after_a_second(), 1);
	channel_begin(NULL);
	heap_fail_at(1);
	wait_begin();
	assert_int_equal(it.creates, 0);
	assert_int_equal(record.waits, 1);
	assert_false(record.is_watched);
}

static void cancellation_is_as_before(void **state)
{
	int before;

	(void)state;
	for (int i = 0; i < 2; i++) {
		const int want = i ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;

		pthread_setcancelstate(want, NULL);
		assert_false(event_waits(&channel));
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
		assert_int_equal(before, want);
	}
	assert_int_equal(write(ends[1], "e", 1), 1);
	assert_true(event_waits(&channel));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, channel_begin, channel_end)
	const struct CMUnitTest tests[] = {
		TEST(a_wait_that_lasts_is_reported_once),
		TEST(what_may_be_answered_is_not_watched),
		TEST(a_channel_has_one_helper),
		TEST(a_wait_that_has_changed_is_not_reported),
		TEST(without_a_helper_the_wait_goes_on),
		TEST(cancellation_is_as_before),
	};

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
