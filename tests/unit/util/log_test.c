/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Log lines: levels, the file, whole lines, frequent lines, and errno left alone.
 *
 * Covers: util/log.c, util/log_limit.c, util/log_stamp.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "tests/unit/libibverbs/temp_tree.h"
#include "util/log.h"
#include "util/log_limit.h"
#include "util/log_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void another_default_is_the_last_to_ask(void **state)
{
	static const char *const want[][3] = {
		{ "", "1", "before\nrdmakit error: e 1\n" },
		{ "off", "", "before\n" },
		{ "", "", "before\nrdmakit error: e 1\nrdmakit warn: w\n" },
	};

	(void)state;
	setenv("VERBS_LOG_DEFAULT", "warn", 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++) {
		char *text;

		setenv("VERBS_LOG_LEVEL", want[i][1], 1);
		text = log_after(want[i][0], one_of_each);
		assert_string_equal(text, want[i][2]);
		free(text);
	}
	unsetenv("VERBS_LOG_LEVEL");
	unsetenv("VERBS_LOG_DEFAULT");
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

enum { OWN_FILES = 64 };

/* As a daemon does that closes every descriptor it may have inherited, and goes to the root. */
static void descriptors_are_closed(void)
{
	FILE *own[OWN_FILES];

	verbs_warn("first");
	assert_int_equal(chdir("/"), 0);
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < OWN_FILES; i++)
		assert_non_null(own[i] = tmpfile());
	verbs_warn("second");
	verbs_warn("third");
	for (int i = 0; i < OWN_FILES; i++) {
		struct stat st;

		assert_int_equal(fstat(fileno(own[i]), &st), 0);
		assert_int_equal(st.st_size, 0);
		fclose(own[i]);
	}
}

static void no_line_goes_into_a_file_of_the_program(void **state)
{
	char *text;

	(void)state;
	text = log_after("warn", descriptors_are_closed);
	assert_string_equal(
		text, "before\nrdmakit warn: first\nrdmakit warn: second\nrdmakit warn: third\n");
	free(text);
}

static void files_go_with_their_directory(void)
{
	verbs_warn("first");
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		close(fd);
	tree_remove();
	errno = ENOTTY;
	verbs_warn("lost");
	assert_int_equal(errno, ENOTTY);
}

/* What cannot be opened again is lost, and says nothing elsewhere. */
static void a_line_is_lost_with_its_file(void **state)
{
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/log", tree_make());
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_FILE", path, 1);
	verbs_log_threshold = -1;
	files_go_with_their_directory();
}

static void the_name_of_the_file_has_the_process(void **state)
{
	char path[512], name[64], *text;

	(void)state;
	snprintf(path, sizeof(path), "%s/%%p.%%p%%.log", tree_make());
	snprintf(name, sizeof(name), "%d.%d%%.log", (int)getpid(), (int)getpid());
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_FILE", path, 1);
	verbs_log_threshold = -1;
	verbs_warn("own");
	text = tree_get(name);
	assert_string_equal(text, "rdmakit warn: own\n");
	free(text);
	tree_remove();
}

/* A name that is too long with the number is reported once, and lines go to standard error, as they
 * must not be lost. */
static void a_name_that_is_too_long_is_no_file(void **state)
{
	char path[PATH_MAX + 8];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(path, "%p", 2);
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_FILE", path, 1);
	verbs_log_threshold = -1;
	errno = ENOTTY;
	verbs_info("not logged");
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(verbs_log_threshold, VERBS_LOG_WARN);
}

enum { MANY = 1000 };

static unsigned int lines_with(const char *text, const char *part)
{
	unsigned int count = 0;

	for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
		count++;
	return count;
}

static void one_kind_often(enum verbs_log_level level)
{
	for (unsigned int i = 0; i < MANY; i++)
		verbs_log(level, "number %u", i);
}

/* The kind's lines come within a second or two. */
static void often_then_again(void)
{
	one_kind_often(VERBS_LOG_WARN);
	verbs_warn("another kind");
	errno = ENOTTY;
	sleep(2);
	assert_int_equal(errno, ENOTTY);
	verbs_warn("another kind");
	one_kind_often(VERBS_LOG_WARN);
}

static void frequent_lines_are_left_out_and_counted(void **state)
{
	unsigned long left_out = 0;
	unsigned int written;
	const char *said;
	char *text;

	(void)state;
	text = log_after("warn", often_then_again);
	written = lines_with(text, "\nrdmakit warn: number ");
	assert_true(written >= LOG_LIMIT_BURST * 2 && written <= LOG_LIMIT_BURST * 4);
	assert_int_equal(lines_with(text, "another kind"), 2);
	said = strstr(text, " more lines like \"number ");
	assert_non_null(said);
	while (said > text && said[-1] != ' ')
		said--;
	left_out = strtoul(said, NULL, 10);
	assert_true(left_out >= MANY - LOG_LIMIT_BURST * 2 && left_out <= MANY - LOG_LIMIT_BURST);
	free(text);
}

static void often_at_level_info(void)
{
	one_kind_often(VERBS_LOG_INFO);
}

static void often_at_level_warn(void)
{
	one_kind_often(VERBS_LOG_WARN);
}

static void other_lines_are_all_written(void **state)
{
	char *text;

	(void)state;
	text = log_after("info", often_at_level_info);
	assert_int_equal(lines_with(text, "number "), MANY);
	free(text);
	text = log_after("debug", often_at_level_warn);
	assert_int_equal(lines_with(text, "number "), MANY);
	free(text);
}

static void often_in_a_child(void)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		one_kind_often(VERBS_LOG_ERROR);
		pid = fork(); /* its end does not report for its parent */
		if (pid)
			waitpid(pid, &status, 0);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void exit_reports_the_rest_once(void **state)
{
	char *text;

	(void)state;
	text = log_after("error", often_in_a_child);
	assert_int_equal(lines_with(text, " more lines like \"number "), 1);
	free(text);
}

static void *often_in_a_thread(void *unused)
{
	one_kind_often(VERBS_LOG_WARN);
	return unused;
}

static void often_in_threads(void)
{
	pthread_t threads[4];

	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, often_in_a_thread, NULL), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Of 4000 lines; a thread that is held up with the table lets some of others pass. On a busy
 * machine it is held up for long, so one try of five has to stay below a tenth. */
static void threads_share_the_limit(void **state)
{
	enum { TRIES = 5, TENTH = 400 };
	unsigned int lines = UINT_MAX;
	char *text;

	(void)state;
	for (int i = 0; i < TRIES && lines > TENTH; i++) {
		sleep(1); /* the limit is of each second */
		text = log_after("warn", often_in_threads);
		lines = lines_with(text, "\nrdmakit warn: number ");
		free(text);
	}
	assert_in_range(lines, LOG_LIMIT_BURST, TENTH);
}

static void the_limit_can_be_chosen(void **state)
{
	static const struct {
		const char *limit;
		unsigned int least, most;
	} rows[] = {
		{ "3", 3, 6 },   { "0", MANY, MANY }, { "", 10, 20 },
		{ "x", 10, 20 }, { "-1", 10, 20 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text;

		sleep(1); /* the limit is of each second */
		setenv("VERBS_LOG_LIMIT", rows[i].limit, 1);
		text = log_after("warn", often_at_level_warn);
		assert_in_range(lines_with(text, "\nrdmakit warn: number "), rows[i].least,
				rows[i].most);
		free(text);
	}
	unsetenv("VERBS_LOG_LIMIT");
}

static void many_each(void)
{
	assert_true(verbs_log_on(VERBS_LOG_WARN));
	for (unsigned int i = 0; i < MANY; i++)
		verbs_log_write_each(VERBS_LOG_WARN, "number %u", i);
}

static void lines_of_their_own_limit_pass(void **state)
{
	char *text = log_after("warn", many_each);

	(void)state;
	assert_int_equal(lines_with(text, "\nrdmakit warn: number "), MANY);
	free(text);
}

/* A child counts from 0, as its parent reports what it has left out. */
static void often_in_parent_and_child(void)
{
	int status = 0;
	pid_t pid;

	one_kind_often(VERBS_LOG_WARN);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		sleep(2);
		verbs_warn("number %u",
			   0); /* the same kind only if the compiler merges equal texts */
		one_kind_often(VERBS_LOG_WARN);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_child_does_not_report_for_its_parent(void **state)
{
	char *text = log_after("warn", often_in_parent_and_child);

	(void)state;
	assert_int_equal(lines_with(text, " more lines like "), 0);
	free(text);
}

static void one_line(void)
{
	verbs_warn("w");
}

static void a_stamp_has_time_process_and_thread(void **state)
{
	int year, month, day, hour, minute, pid, tid, end = 0;
	double second;
	char *text;

	(void)state;
	setenv("VERBS_LOG_STAMP", "1", 1);
	text = log_after("warn", one_line);
	assert_int_equal(sscanf(text, "before\nrdmakit warn [%d-%d-%dT%d:%d:%lfZ %d/%d]: w\n%n",
				&year, &month, &day, &hour, &minute, &second, &pid, &tid, &end),
			 8);
	assert_int_equal(end, strlen(text));
	assert_int_equal(pid, getpid());
	assert_int_equal(tid, getpid());
	free(text);
	setenv("VERBS_LOG_STAMP", "0", 1);
	text = log_after("warn", one_line);
	assert_string_equal(text, "before\nrdmakit warn: w\n");
	free(text);
	unsetenv("VERBS_LOG_STAMP");
}

static void stamps_are_dates(void **state)
{
	static const struct {
		time_t second;
		const char *date;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000001Z " },
		{ 951782400, "2000-02-29T00:00:00.000001Z " },
		{ 1735689599, "2024-12-31T23:59:59.000001Z " },
		{ 1735689600, "2025-01-01T00:00:00.000001Z " },
		{ 1795969212, "2026-11-29T" },
		{ 2145916800, "2038-01-01T00:00:00.000001Z " },
	};
	char stamp[64];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct timespec when = { rows[i].second, 1999 };

		assert_true(verbs_log_stamp(stamp, sizeof(stamp), &when) < (int)sizeof(stamp));
		if (strncmp(stamp, rows[i].date, strlen(rows[i].date)) != 0)
			fail_msg("%s, not %s", stamp, rows[i].date);
	}
}

/* Returns how many bytes a line at the default level adds to a file that takes standard error's
 * number, opened with FLAGS. */
static off_t bytes_in_another_file(const char *level, int flags)
{
	static const char before[] = "data of the program\n";
	char path[512];
	struct stat st;
	int kept = dup(STDERR_FILENO), fd;

	snprintf(path, sizeof(path), "%s/data", tree_make());
	tree_put("data", before);
	setenv("VERBS_LOG", level, 1);
	unsetenv("VERBS_LOG_FILE");
	verbs_log_threshold = -1;
	assert_true(verbs_log_on(VERBS_LOG_ERROR));
	fd = open(path, O_WRONLY | flags);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	verbs_error("%0100d", 1);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(stat(path, &st), 0);
	close(fd);
	close(kept);
	tree_remove();
	return st.st_size - (off_t)strlen(before);
}

static void no_line_goes_into_a_file_at_standard_errors_number(void **state)
{
	(void)state;
	assert_int_equal(bytes_in_another_file("", 0), 0);
	assert_true(bytes_in_another_file("", O_APPEND) > 0);
	assert_true(bytes_in_another_file("error", 0) > 0); /* asked for */
}

static void two_mistakes(void)
{
	for (int i = 0; i < 2; i++) {
		errno = ENOTTY;
		if (verbs_log_mistake())
			verbs_warn("explained");
		assert_int_equal(errno, ENOTTY);
	}
}

static void the_first_mistake_hints_at_the_log(void **state)
{
	static const char *const without[] = { "off", "error", "info" };
	char *text;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(without); i++) {
		verbs_log_hinted = false;
		text = log_after(without[i], two_mistakes);
		assert_int_equal(lines_with(text, "VERBS_LOG=warn"), 0);
		assert_int_equal(lines_with(text, "explained"),
				 !strcmp(without[i], "info") ? 2 : 0);
		free(text);
	}
	verbs_log_hinted = false;
	text = log_after("", two_mistakes);
	assert_int_equal(lines_with(text, "VERBS_LOG=warn"), 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, as they leave no file: files that were opened are kept for ever */
		cmocka_unit_test(a_name_that_is_too_long_is_no_file),
		cmocka_unit_test(no_line_goes_into_a_file_at_standard_errors_number),
		cmocka_unit_test(levels_include_the_graver_ones),
		cmocka_unit_test(levels_have_numbers_too),
		cmocka_unit_test(another_default_is_the_last_to_ask),
		cmocka_unit_test(errno_survives_and_can_be_printed),
		cmocka_unit_test(a_long_line_is_cut_and_ended),
		cmocka_unit_test(no_line_goes_into_a_file_of_the_program),
		cmocka_unit_test(a_line_is_lost_with_its_file),
		cmocka_unit_test(the_name_of_the_file_has_the_process),
		cmocka_unit_test(frequent_lines_are_left_out_and_counted),
		cmocka_unit_test(other_lines_are_all_written),
		cmocka_unit_test(exit_reports_the_rest_once),
		cmocka_unit_test(threads_share_the_limit),
		cmocka_unit_test(the_limit_can_be_chosen),
		cmocka_unit_test(lines_of_their_own_limit_pass),
		cmocka_unit_test(a_child_does_not_report_for_its_parent),
		cmocka_unit_test(a_stamp_has_time_process_and_thread),
		cmocka_unit_test(stamps_are_dates),
		cmocka_unit_test(the_first_mistake_hints_at_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
