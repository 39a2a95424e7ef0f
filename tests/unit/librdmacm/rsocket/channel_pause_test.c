/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel_pause_test.c - pauses in which nobody looks for events that cannot be read.
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
	struct rs_deaf deaf = { 0 };
	int64_t pause = FIRST_DEAF_US;

	(void)state;
	for (int i = 0; i < 10; i++) {
		rs_deaf_begin(&deaf);
		assert_int_equal(deaf.until_us - now, pause);
		assert_true(rs_is_deaf(&deaf));
		now = deaf.until_us;
		assert_false(rs_is_deaf(&deaf));
		pause = pause < LONGEST_DEAF_US ? 2 * pause : LONGEST_DEAF_US;
	}
	rs_deaf_end(&deaf);
	rs_deaf_begin(&deaf);
	assert_int_equal(deaf.until_us - now, FIRST_DEAF_US);
}

static void what_fails_meanwhile_makes_no_pause_longer(void **state)
{
	struct rs_deaf deaf = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		rs_deaf_begin(&deaf);
	assert_int_equal(deaf.until_us - now, FIRST_DEAF_US);
	assert_int_equal(deaf.pause_us, FIRST_DEAF_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pause_is_twice_as_long),
		cmocka_unit_test(what_fails_meanwhile_makes_no_pause_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
