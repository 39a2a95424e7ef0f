/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What VERBS_CHECK asks for, how many lines of one kind are logged, and what is said at exit. Each
 * test has a process of its own, as the variable is read once.
 *
 * Covers: libibverbs/check/settings.c, libibverbs/check/leaks.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/check/check.h"
#include "tests/unit/log_text.h"

#include <signal.h>
#include <sys/wait.h>

/* Runs BODY in a child, with VERBS_CHECK as given, and returns how the child ended. */
static int child_run(const char *setting, void (*body)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (setting)
			setenv("VERBS_CHECK", setting, 1);
		else
			unsetenv("VERBS_CHECK");
		body();
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void checks_are_off(void)
{
	if (verbs_check_is_on())
		_exit(1);
}

static void on_alone(void)
{
	if (!verbs_check_is_on() || verbs_check_settings.aborts || verbs_check_settings.leaks)
		_exit(1);
}

static void on_with_all(void)
{
	if (!verbs_check_is_on() || !verbs_check_settings.aborts || !verbs_check_settings.leaks)
		_exit(1);
}

static void the_variable_is_a_list_of_words(void **state)
{
	(void)state;
	assert_int_equal(child_run(NULL, checks_are_off), 0);
	assert_int_equal(child_run("", checks_are_off), 0);
	assert_int_equal(child_run("0", checks_are_off), 0);
	assert_int_equal(child_run("1", on_alone), 0);
	assert_int_equal(child_run("abort,leaks", on_with_all), 0);
	assert_int_equal(child_run("0,leaks,,abort", on_with_all), 0);
	assert_string_equal(log_text(), "");
	assert_int_equal(child_run("leek", on_alone), 0);
	check_logged("VERBS_CHECK=leek is not 0, or a list of 1, abort, buffers, leaks");
}

static void status_empty(void)
{
	setenv("VERBS_STATUS_SIGNAL", "", 1);
	checks_are_off();
}

static void status_by_no_signal(void)
{
	setenv("VERBS_STATUS_SIGNAL", "9", 1);
	checks_are_off();
}

static void status_by_a_signal(void)
{
	setenv("VERBS_STATUS_SIGNAL", "USR2", 1);
	on_alone();
}

static void a_status_signal_turns_the_checker_on(void **state)
{
	(void)state;
	assert_int_equal(child_run(NULL, status_empty), 0);
	assert_int_equal(child_run(NULL, status_by_a_signal), 0);
	assert_string_equal(log_text(), "");
	assert_int_equal(child_run(NULL, status_by_no_signal), 0);
	check_logged("VERBS_STATUS_SIGNAL=9 names no signal that a program can handle: use USR2");
}

static void say_often(void)
{
	verbs_check_is_on();
	for (int i = 0; i < 30; i++)
		verbs_check_say(CHECK_BATCH, "batch %d", i);
	verbs_check_say(CHECK_AH_PD, "handle");
}

static void lines_of_one_kind_have_a_limit(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(child_run("1", say_often), 0);
	text = log_text();
	assert_non_null(strstr(text, "batch 19 (VERBS-WR-001)\n"));
	assert_null(strstr(text, "batch 20"));
	assert_non_null(strstr(text, "further lines of this kind are left out"));
	assert_non_null(strstr(text, "handle (VERBS-AH-002)\n"));
}

static void say_once(void)
{
	verbs_check_is_on();
	verbs_check_say(CHECK_BATCH, "last words");
}

static void abort_ends_the_program_after_the_line(void **state)
{
	int status;

	(void)state;
	status = child_run("abort", say_once);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	check_logged("last words");
}

static void forget_one_of_two(void)
{
	static int kept, destroyed;

	verbs_check_is_on();
	verbs_check_made(&kept, "ibv_create_kept");
	verbs_check_made(&destroyed, "ibv_create_destroyed");
	verbs_check_unmade(&destroyed);
}

/* The caller is in the same file as the library: the place is outside of both. */
static void __attribute__((unused)) what_is_never_destroyed_is_said_at_exit(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(child_run("1", forget_one_of_two), 0);
	assert_string_equal(log_text(), "");
	assert_int_equal(child_run("leaks", forget_one_of_two), 0);
	text = log_text();
	assert_non_null(strstr(text, "at exit: the object of ibv_create_kept() at "));
	assert_null(strstr(text, "ibv_create_destroyed"));
}

static void wait_say(void)
{
	if (verbs_check_is_on()) {
		verbs_check_say(CHECK_UNARMED, "a wait for an event");
		verbs_check_say(CHECK_EVENTS, "a wait");
	}
}

static void abort_leaves_a_program_that_waits(void **state)
{
	(void)state;
	assert_int_equal(child_run("abort", wait_say), 0);
	check_logged("a wait");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_variable_is_a_list_of_words),
		cmocka_unit_test(a_status_signal_turns_the_checker_on),
		cmocka_unit_test(lines_of_one_kind_have_a_limit),
		cmocka_unit_test(abort_ends_the_program_after_the_line),
		cmocka_unit_test(abort_leaves_a_program_that_waits),
#ifndef __arm__ /* without places, see leaks.c */
		cmocka_unit_test(what_is_never_destroyed_is_said_at_exit),
#endif
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
