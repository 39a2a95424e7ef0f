/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of the hardware that have moved since a device was opened. sysfs is a tree of the test.
 *
 * Covers: libibverbs/check/counters.c
 */
#include "tests/unit/libibverbs/temp_tree.h"
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/check/check.h"
#include "tests/unit/log_text.h"

#include <sys/stat.h>
#include <unistd.h>

#define says_nothing() assert_string_equal(log_text(), "")

static void moved_counters_are_said(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };

	(void)state;
	snprintf(device.ibdev_path, sizeof(device.ibdev_path), "%s", tree_make());
	tree_put("hw_counters/roce_adp_retrans", "5\n");
	tree_put("ports/1/hw_counters/out_of_sequence", "7\n");
	tree_put("ports/1/hw_counters/duplicate_request", "0\n");
	tree_put("ports/1/hw_counters/lifespan", "10\n");
	tree_put("ports/1/hw_counters/state", "4: ACTIVE\n");
	tree_put("ports/2/hw_counters/out_of_sequence", "1\n");
	verbs_check_counters_watch(&device);
	verbs_check_counters_say();
	assert_string_equal(log_text(), "");

	tree_put("hw_counters/roce_adp_retrans", "6\n");
	tree_put("ports/1/hw_counters/out_of_sequence", "10\n");
	tree_put("ports/1/hw_counters/lifespan", "20\n");
	verbs_check_counters_watch(&device); /* opened again: the start stays */
	verbs_check_counters_say();
	tree_remove();
	assert_string_equal(
		log_text(),
		"rdmakit warn: status: mlx5_0: counters of port 1 that have moved since "
		"the start, by this program or another: out_of_sequence +3\n"
		"rdmakit warn: status: mlx5_0: counters of the device that have moved "
		"since the start, by this program or another: roce_adp_retrans +1\n");
	verbs_check_counters_say();
	assert_string_equal(log_text(), "");
}

static void device_make(struct ibv_device *device, const char *name)
{
	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", name);
	snprintf(device->ibdev_path, sizeof(device->ibdev_path), "%s", tree_make());
}

static void a_port_without_counters_does_not_hide_the_next(void **state)
{
	struct ibv_device device;

	(void)state;
	device_make(&device, "mlx5_2");
	tree_put("ports/1/state", "4: ACTIVE\n");
	tree_put("ports/2/hw_counters/out_of_buffer", "1\n");
	verbs_check_counters_watch(&device);
	tree_put("ports/2/hw_counters/out_of_buffer", "2\n");
	verbs_check_counters_say();
	tree_remove();
	check_logged("counters of port 2 that have moved since the start, by this program or "
		     "another: out_of_buffer +1\n");
}

static void values_put(const char *digit)
{
	static const struct {
		const char *name, *before;
	} files[] = { { "negative", "-" }, { "positive", "+" }, { "spaced", " " },
		      { "a space", "" },   { "a\x1b[1m", "" },  { "A-z_0.9", "" } };
	char path[128], text[32];

	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "hw_counters/%s", files[i].name);
		snprintf(text, sizeof(text), "%s%s\n", files[i].before, digit);
		tree_put(path, text);
	}
}

/* Opening a pipe would wait for a writer. */
static void only_files_with_a_plain_name_and_digits_are_counters(void **state)
{
	struct ibv_device device;
	char pipe_path[IBV_SYSFS_PATH_MAX + 32];

	(void)state;
	device_make(&device, "mlx5_3");
	values_put("5");
	snprintf(pipe_path, sizeof(pipe_path), "%s/hw_counters/pipe", device.ibdev_path);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	alarm(10);
	verbs_check_counters_watch(&device);
	values_put("6");
	verbs_check_counters_say();
	alarm(0);
	tree_remove();
	check_logged("or another: A-z_0.9 +1\n");
}

/* Each takes 66 characters with its number and a comma, and the line has room for ten. */
static void counters_that_do_not_fit_are_counted(void **state)
{
	struct ibv_device device;
	const char *end;
	char path[128];

	(void)state;
	device_make(&device, "mlx5_4");
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 20; i++) {
			snprintf(path, sizeof(path), "hw_counters/counter_%02u_%046u", i, 0);
			tree_put(path, round ? "12346\n" : "1\n");
		}
		if (!round)
			verbs_check_counters_watch(&device);
	}
	verbs_check_counters_say();
	tree_remove();
	end = strstr(log_text(), ", and 10 more\n");
	assert_non_null(end);
	assert_memory_equal(end - 6, "+12345", 6);
}

/* A child that opens a device counts from then on. */
static void a_child_counts_from_its_own_start(void **state)
{
	struct ibv_device device = { .name = "mlx5_1" };

	(void)state;
	snprintf(device.ibdev_path, sizeof(device.ibdev_path), "%s", tree_make());
	tree_put("hw_counters/out_of_buffer", "1\n");
	verbs_check_counters_watch(&device);
	tree_put("hw_counters/out_of_buffer", "5\n");
	verbs_check_forked();
	verbs_check_counters_say();
	says_nothing();
	verbs_check_counters_watch(&device);
	tree_put("hw_counters/out_of_buffer", "7\n");
	verbs_check_counters_say();
	tree_remove();
	check_logged("counters of the device that have moved since the start, by this program or "
		     "another: out_of_buffer +2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_counters_are_said),
		cmocka_unit_test(a_port_without_counters_does_not_hide_the_next),
		cmocka_unit_test(only_files_with_a_plain_name_and_digits_are_counters),
		cmocka_unit_test(counters_that_do_not_fit_are_counted),
		cmocka_unit_test(a_child_counts_from_its_own_start),
	};

	log_to_memory();
	verbs_log_on(VERBS_LOG_WARN); /* reads the environment */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
