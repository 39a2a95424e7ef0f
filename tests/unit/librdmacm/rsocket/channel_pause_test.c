/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel_pause_test.c - pauses after events that cannot be read, in which no thread polls the
 * channel.
 *
 * Covers: librdmacm/rsocket/channel_pause.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/channel_pause.h"

static int64_t now = 1000;

int64_t rdmacm_rs_now_us(void)
{
	return now;
}

static void each_pause_is_twice_as_long(void **state)
{
	struct rs_pause lull = { 0 };
	int64_t pause = FIRST_CHANNEL_PAUSE_US;

	(void)state;
	for (int i = 0; i < 10; i++) {
		rs_pause_begin(&lull);
		assert_int_equal(lull.until_us - now, pause);
		assert_true(rs_is_paused(&lull));
		now = lull.until_us;
		assert_false(rs_is_paused(&lull));
		pause = pause < LONGEST_CHANNEL_PAUSE_US ? 2 * pause : LONGEST_CHANNEL_PAUSE_US;
	}
	rs_pause_end(&lull);
	rs_pause_begin(&lull);
	assert_int_equal(lull.until_us - now, FIRST_CHANNEL_PAUSE_US);
}

static void what_fails_meanwhile_makes_no_pause_longer(void **state)
{
	struct rs_pause lull = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		rs_pause_begin(&lull);
	assert_int_equal(lull.until_us - now, FIRST_CHANNEL_PAUSE_US);
	assert_int_equal(lull.pause_us, FIRST_CHANNEL_PAUSE_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pause_is_twice_as_long),
		cmocka_unit_test(what_fails_meanwhile_makes_no_pause_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
