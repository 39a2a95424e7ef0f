/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused_users_test.c - who may not join, and for how long.
 *
 * Covers: softhca/front/process/program/refused_users.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softhca/front/process/program/refused_users.h"

enum { MANY = 64 };

static const uint64_t time_of_refusal = REFUSED_USER_MS * NS_PER_MS;
static uint64_t now = 1;

/* Later than all refusals of the test before. */
static int time_pass(void **state)
{
	(void)state;
	now += 10 * time_of_refusal;
	return 0;
}

static void others_may_join(void **state)
{
	(void)state;
	assert_false(refused_users_has(0, now));
	refused_users_add(7, now);
	assert_true(refused_users_has(7, now));
	assert_false(refused_users_has(0, now));
	assert_false(refused_users_has(8, now));
}

static void refusals_end(void **state)
{
	(void)state;
	refused_users_add(7, now);
	assert_true(refused_users_has(7, now + time_of_refusal - 1));
	assert_false(refused_users_has(7, now + time_of_refusal));
}

static void new_refusals_begin_again(void **state)
{
	(void)state;
	refused_users_add(7, now);
	refused_users_add(7, now + time_of_refusal / 2);
	assert_true(refused_users_has(7, now + time_of_refusal));
	assert_false(refused_users_has(7, now + 2 * time_of_refusal));
}

static void many_users_are_refused_at_once(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 2; round++)
		for (uid_t user = 0; user < MANY; user++)
			refused_users_add(user, now + user);
	for (uid_t user = 0; user < MANY; user++)
		assert_true(refused_users_has(user, now + MANY));
	refused_users_add(MANY, now + MANY);
	assert_true(refused_users_has(MANY, now + MANY));
	assert_false(refused_users_has(0, now + MANY));
	assert_true(refused_users_has(1, now + MANY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(others_may_join, time_pass),
		cmocka_unit_test_setup(refusals_end, time_pass),
		cmocka_unit_test_setup(new_refusals_begin_again, time_pass),
		cmocka_unit_test_setup(many_users_are_refused_at_once, time_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
