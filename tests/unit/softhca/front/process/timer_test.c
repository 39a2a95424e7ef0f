/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timer_test.c - timers of the process front: order of expiry, stopping and restarting; and a
 * number of timers at which linear searches would take minutes.
 *
 * Covers: softhca/front/process/timer.c, softhca/front/process/watch.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "softhca/front/process/timer.h"
#include "softhca/front/process/watch.h"

enum { FEW = 2000, MANY = 200000 };

static struct one {
	struct timer timer; /* must be first */
	uint64_t due;
	unsigned int times;
} * ones;

static unsigned int left;
static uint64_t last_due;

static void one_expired(struct timer *timer)
{
	struct one *one = (struct one *)timer;

	assert_int_equal(timer->deadline, 0);
	assert_true(one->due >= last_due && one->due <= timer_now());
	last_due = one->due;
	one->times++;
	if (!--left)
		watch_finish();
}

static void one_start(struct one *one, uint64_t due)
{
	one->timer.expired = one_expired;
	one->due = due;
	timer_start(&one->timer, due);
}

static uint64_t number_draw(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 33;
}

static void timers_setup(unsigned int count)
{
	ones = calloc(count, sizeof(*ones));
	assert_non_null(ones);
	assert_int_equal(watch_start(), 0);
	assert_int_equal(timers_open(), 0);
	left = count;
	last_due = 0;
}

static void timers_teardown(void)
{
	timers_close();
	watch_stop();
	free(ones);
}

/* Stops each third timer and restarts each fourth, at any position in the queue. */
static void timers_expire_in_their_order(void **state)
{
	uint64_t now;

	(void)state;
	timers_setup(FEW);
	now = timer_now();
	for (unsigned int i = 0; i < FEW; i++)
		one_start(&ones[i], now + number_draw() % 50000000);
	for (unsigned int i = 0; i < FEW; i += 3, left--)
		timer_stop(&ones[i].timer);
	for (unsigned int i = 1; i < FEW; i += 4) {
		left += !ones[i].timer.deadline;
		one_start(&ones[i], now + number_draw() % 50000000);
	}
	watch_loop();
	for (unsigned int i = 0; i < FEW; i++)
		assert_int_equal(ones[i].times, i % 3 != 0 || i % 4 == 1);
	timers_teardown();
}

static void many_timers_cost_little_each(void **state)
{
	uint64_t now;

	(void)state;
	timers_setup(MANY);
	now = timer_now();
	for (unsigned int i = 0; i < MANY; i++)
		one_start(&ones[i], now + number_draw() % 1000000);
	for (unsigned int i = 0; i < MANY; i += 2, left--)
		timer_stop(&ones[i].timer);
	for (unsigned int i = 0; i < MANY; i++)
		if (i % 2)
			one_start(&ones[i], now + number_draw() % 1000000);
	watch_loop();
	for (unsigned int i = 0; i < MANY; i++)
		assert_int_equal(ones[i].times, i % 2);
	timers_teardown();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest order[] = { cmocka_unit_test(timers_expire_in_their_order) };
	const struct CMUnitTest many[] = { cmocka_unit_test(many_timers_cost_little_each) };

	return argc > 1 && !strcmp(argv[1], "many") ? cmocka_run_group_tests(many, NULL, NULL)
						    : cmocka_run_group_tests(order, NULL, NULL);
}
