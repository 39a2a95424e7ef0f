/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Log lines: levels, the file, whole lines, and errno left alone.
 *
 * Covers: util/log.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "tests/unit/libibverbs/temp_tree.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

static char *log_after(const char *level, void (*write_lines)(void))
{
	char path[512];
	const char *root = tree_make();
	char *text;

	snprintf(path, sizeof(path), "%s/log", root);
	tree_put("log", "before\n");
	setenv("VERBS_LOG", level, 1);
	setenv("VERBS_LOG_FILE", path, 1);
	verbs_log_threshold = -1;
	write_lines();
	text = tree_get("log");
	tree_remove();
	return text;
}

static void one_of_each(void)
{
	verbs_error("e %d", 1);
	verbs_warn("w");
	verbs_info("i");
	verbs_debug("d");
}

static void levels_include_the_graver_ones(void **state)
{
	static const char *const want[][2] = {
		{ "off", "before\n" },
		{ "error", "before\nrdmakit error: e 1\n" },
		{ "warn", "before\nrdmakit error: e 1\nrdmakit warn: w\n" },
		{ "debug", "before\nrdmakit error: e 1\nrdmakit warn: w\n"
			   "rdmakit info: i\nrdmakit debug: d\n" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++) {
		char *text = log_after(want[i][0], one_of_each);

		/* With "off" the file is not even opened, so it keeps what it had. */
		assert_string_equal(text, want[i][1]);
		free(text);
	}
}

static void levels_have_numbers_too(void **state)
{
	char *text;

	(void)state;
	setenv("VERBS_LOG_LEVEL", "2", 1);
	text = log_after("", one_of_each);
	assert_string_equal(text, "before\nrdmakit error: e 1\nrdmakit warn: w\n");
	free(text);
	text = log_after("off", one_of_each);
	assert_string_equal(text, "before\n");
	free(text);
	unsetenv("VERBS_LOG_LEVEL");
}

static void keep_errno(void)
{
	errno = ENOTTY;
	verbs_warn("%m");
	assert_int_equal(errno, ENOTTY);
}

static void errno_survives_and_can_be_printed(void **state)
{
	char *text, want[128];

	(void)state;
	text = log_after("warn", keep_errno);
	snprintf(want, sizeof(want), "before\nrdmakit warn: %s\n", strerror(ENOTTY));
	assert_string_equal(text, want);
	free(text);
}

static void a_long_line(void)
{
	char text[3000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	verbs_warn("%s", text);
	verbs_warn("next");
}

static void a_long_line_is_cut_and_ended(void **state)
{
	char *text, *next;

	(void)state;
	text = log_after("warn", a_long_line);
	next = strstr(text, "\nrdmakit warn: next\n");
	assert_non_null(next);
	assert_true(next - text < 1100);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_include_the_graver_ones),
		cmocka_unit_test(levels_have_numbers_too),
		cmocka_unit_test(errno_survives_and_can_be_printed),
		cmocka_unit_test(a_long_line_is_cut_and_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
