/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration directory: lines that name a provider; a bad file costs one log line and
 * nothing else.
 *
 * Covers: libibverbs/config.c
 */
#include "unit.h"

#include "libibverbs/config.h"
#include "temp_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *root;
static char drivers[256];

static void on_driver(const char *name)
{
	strcat(drivers, name);
	strcat(drivers, ";");
}

static int last_failure, failures; /* of the last read directory */

static void on_failure(int err)
{
	last_failure = err;
	failures++;
}

static const char *read_dir(const char *dir)
{
	char path[512];

	drivers[0] = '\0';
	last_failure = failures = 0;
	snprintf(path, sizeof(path), "%s/%s", root, dir);
	verbs_config_read(path, on_driver, on_failure);
	return drivers;
}

static void files_are_read_in_order_of_their_names(void **state)
{
	(void)state;
	tree_put("order/b.driver", "driver mlx5\n");
	tree_put("order/a.driver", "driver mlx4\n");
	tree_put("order/c.driver", "driver /opt/lib/own\n");
	assert_string_equal(read_dir("order"), "mlx4;mlx5;/opt/lib/own;");
}

static void only_driver_files_count(void **state)
{
	(void)state;
	tree_put("names/mlx5.driver~", "driver backup\n");
	tree_put("names/.driver", "driver hidden\n");
	tree_put("names/readme", "driver readme\n");
	tree_put("names/x.driver", "driver x");
	assert_string_equal(read_dir("names"), "x;");
}

static void comments_and_blanks_are_nothing(void **state)
{
	(void)state;
	tree_put("blanks/x.driver", "# driver no\n\n   \n\t driver \t yes  # trailing\n#\n");
	assert_string_equal(read_dir("blanks"), "yes;");
}

static int lines_with(const char *text, const char *what)
{
	int count = 0;

	while ((text = strstr(text, what))) {
		count++;
		text += strlen(what);
	}
	return count;
}

static void bad_lines_are_named_and_skipped(void **state)
{
	char *log;

	(void)state;
	tree_put("bad/x.driver", "drivers mlx5\ndriver\ndriver good\n");
	assert_string_equal(read_dir("bad"), "good;");
	assert_int_equal(last_failure, 0);
	log = tree_get("log");
	assert_int_equal(lines_with(log, "bad/x.driver:1:"), 1);
	assert_int_equal(lines_with(log, "bad/x.driver:2:"), 1);
	assert_int_equal(lines_with(log, "bad/x.driver:3:"), 0);
	free(log);
}

static void a_directory_without_files_is_no_failure(void **state)
{
	(void)state;
	tree_put("empty/readme", "driver readme\n");
	assert_string_equal(read_dir("empty"), "");
	assert_int_equal(failures, 0);
}

static void an_unreadable_file_is_one_line(void **state)
{
	char *log;

	(void)state;
	tree_put("unreadable/a.driver/is-a-directory", "");
	tree_put("unreadable/b.driver", "driver b\n");
	assert_string_equal(read_dir("unreadable"), "b;");
	assert_int_equal(last_failure, EISDIR);
	log = tree_get("log");
	assert_int_equal(lines_with(log, "unreadable/a.driver: skipped"), 1);
	free(log);
}

static void no_directory_is_one_line(void **state)
{
	char *log;

	(void)state;
	assert_string_equal(read_dir("nowhere"), "");
	assert_int_equal(last_failure, ENOENT);
	log = tree_get("log");
	assert_int_equal(lines_with(log, "nowhere: "), 1);
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_in_order_of_their_names),
		cmocka_unit_test(only_driver_files_count),
		cmocka_unit_test(comments_and_blanks_are_nothing),
		cmocka_unit_test(bad_lines_are_named_and_skipped),
		cmocka_unit_test(a_directory_without_files_is_no_failure),
		cmocka_unit_test(an_unreadable_file_is_one_line),
		cmocka_unit_test(no_directory_is_one_line),
	};
	char log[512];
	int failed;

	root = tree_make();
	snprintf(log, sizeof(log), "%s/log", root);
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_FILE", log, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tree_remove();
	return failed;
}
