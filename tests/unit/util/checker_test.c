/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checker_test.c - what VERBS_CHECK and VERBS_STATUS_SIGNAL ask for.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/checker.h"

static void the_checker_is_on_with_a_word_other_than_0(void **state)
{
	static const struct {
		const char *words;
		bool is_on;
	} cases[] = { { "", false }, { "0", false },  { "0,", false }, { ",0", false },
		      { "1", true }, { "0,1", true }, { "00", true },  { "leaks", true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(setenv("VERBS_CHECK", cases[i].words, 1), 0);
		assert_int_equal(verbs_checker_is_asked(), cases[i].is_on);
	}
	assert_int_equal(unsetenv("VERBS_CHECK"), 0);
	assert_false(verbs_checker_is_asked());
}

static void only_a_signal_that_can_be_handled_turns_the_checker_on(void **state)
{
	char last[16], past[16];
	const struct {
		const char *name;
		int number;
	} cases[] = { { "", 0 },
		      { "USR2", SIGUSR2 },
		      { "SIGUSR1", SIGUSR1 },
		      { "sigwinch", SIGWINCH },
		      { "hup", SIGHUP },
		      { "sigquit", SIGQUIT },
		      { "URG", SIGURG },
		      { "12", 12 },
		      { last, SIGRTMAX },
		      { past, -1 },
		      { "0", -1 },
		      { "9", -1 },
		      { "19", -1 },
		      { "32", -1 },
		      { "99999999999", -1 },
		      { "12th", -1 },
		      { "-1", -1 },
		      { "SIG", -1 },
		      { "USR3", -1 },
		      { "KILL", -1 } };

	(void)state;
	snprintf(last, sizeof(last), "%d", SIGRTMAX);
	snprintf(past, sizeof(past), "%d", SIGRTMAX + 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(setenv("VERBS_STATUS_SIGNAL", cases[i].name, 1), 0);
		assert_int_equal(verbs_checker_signal(), cases[i].number);
		assert_int_equal(verbs_checker_is_asked(), cases[i].number > 0);
	}
	assert_int_equal(unsetenv("VERBS_STATUS_SIGNAL"), 0);
	assert_int_equal(verbs_checker_signal(), 0);
}

/* It would return to the instruction that has failed, again and again. */
static void a_signal_of_a_crash_is_refused(void **state)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS };
	char number[8];

	(void)state;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
		snprintf(number, sizeof(number), "%d", crashes[i]);
		assert_int_equal(setenv("VERBS_STATUS_SIGNAL", number, 1), 0);
		assert_int_equal(verbs_checker_signal(), -1);
	}
	assert_int_equal(unsetenv("VERBS_STATUS_SIGNAL"), 0);
}

static void an_idle_time_is_a_number_of_seconds(void **state)
{
	static const struct {
		const char *text;
		int seconds;
	} cases[] = { { "", 0 },   { "1", 1 },   { "86400", 86400 }, { "86401", -1 },
		      { "0", -1 }, { "-1", -1 }, { "5s", -1 },       { "soon", -1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(setenv("VERBS_STATUS_IDLE", cases[i].text, 1), 0);
		assert_int_equal(verbs_checker_idle(), cases[i].seconds);
		assert_int_equal(verbs_checker_is_asked(), cases[i].seconds > 0);
	}
	assert_int_equal(unsetenv("VERBS_STATUS_IDLE"), 0);
	assert_int_equal(verbs_checker_idle(), 0);
}

static void a_listed_word_is_found_whole(void **state)
{
	(void)state;
	assert_false(verbs_checker_lists("off:", "VERBS-MR-001"));
	assert_int_equal(setenv("VERBS_CHECK", "1,abort:VERBS-MR-0012,off:VERBS-MR-001", 1), 0);
	assert_true(verbs_checker_lists("off:", "VERBS-MR-001"));
	assert_true(verbs_checker_lists("abort:", "VERBS-MR-0012"));
	assert_false(verbs_checker_lists("abort:", "VERBS-MR-001"));
	assert_false(verbs_checker_lists("off:", "VERBS-MR-0012"));
	assert_int_equal(unsetenv("VERBS_CHECK"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_checker_is_on_with_a_word_other_than_0),
		cmocka_unit_test(only_a_signal_that_can_be_handled_turns_the_checker_on),
		cmocka_unit_test(a_signal_of_a_crash_is_refused),
		cmocka_unit_test(an_idle_time_is_a_number_of_seconds),
		cmocka_unit_test(a_listed_word_is_found_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
