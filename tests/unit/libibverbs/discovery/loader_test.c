/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plugins that fail to load: each has one log line with the reason, and the others are still
 * tried. A failure for lack of descriptors or memory is retried later.
 *
 * loader.c is compiled into this program with directories of its own, which main() fills.
 *
 * Covers: libibverbs/discovery/loader.c, libibverbs/config.c, libibverbs/discovery/foreign.c
 */
#include "unit.h"

#include "libibverbs/private.h"
#include "temp_tree.h"
#include "util/bits.h"

#include <dlfcn.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int dlopen_err; /* error of dlopen(), or 0 */
static int plugins_tried;
static bool has_no_memory;
static bool has_no_names; /* no memory for the list of names */

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text) __attribute__((visibility("default")));

void *__wrap_dlopen(const char *path, int flags)
{
	void *plugin;

	plugins_tried++;
	/* a directory, as that fails to load */
	plugin = __real_dlopen(dlopen_err ? "/" : path, flags);
	if (dlopen_err)
		errno = dlopen_err;
	return plugin;
}

void *__wrap_malloc(size_t size)
{
	return has_no_memory ? NULL : __real_malloc(size);
}

char *__wrap_strdup(const char *text)
{
	return has_no_names ? NULL : __real_strdup(text);
}

static int lines_with(const char *what)
{
	char *log = tree_get("log"), *save = NULL;
	int count = 0;

	for (char *line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		count += strstr(line, what) != NULL;
	free(log);
	return count;
}

static const char bridge[] =
	RDMAKIT_PLUGIN_DIR "/libforeign-rdmakit" RDMAKIT_DRIVER_ABI_STRING ".so";

static void put_bridge(void)
{
	FILE *file = fopen(bridge, "w");

	assert_non_null(file);
	fclose(file);
}

static const int short_errs[] = { EMFILE, ENFILE, ENOMEM, EINTR };

static void what_was_short_is_tried_again(void **state)
{
	int with_names;

	(void)state;
	setenv("RDMAV_DRIVERS", "later", 1);
	put_bridge();
	for (size_t i = 0; i < ARRAY_SIZE(short_errs); i++) {
		plugins_tried = 0;
		dlopen_err = short_errs[i];
		verbs_loader_load_drivers();
		assert_int_not_equal(plugins_tried, 0);
	}
	assert_int_equal(lines_with("provider later: skipped"), ARRAY_SIZE(short_errs));
	with_names = plugins_tried;
	dlopen_err = 0; /* nothing is scarce any more, so the next try may succeed */
	plugins_tried = 0;
	has_no_names = true;
	verbs_loader_load_drivers();
	assert_in_range(plugins_tried, 1, with_names - 1); /* the configured ones */
	has_no_names = false;
	remove(bridge);
	plugins_tried = 0;
	setenv("RDMAV_DRIVERS", "foreign:broken;nowhere:rxe", 1); /* overrides the configuration */
	verbs_loader_load_drivers();
	assert_int_not_equal(plugins_tried, 0);
}

static void a_foreign_plugin_needs_the_bridge(void **state)
{
	(void)state;
	assert_int_equal(lines_with("provider foreign: skipped"), 1);
	assert_int_equal(lines_with("libforeign-rdmakit"), 2); /* for rxe, too */
}

static void a_broken_plugin_is_not_called_missing(void **state)
{
	(void)state;
	assert_int_equal(lines_with("provider broken: skipped"), 1);
	assert_int_equal(lines_with("libbroken-rdmakit"), 1);
	/* nowhere, gone twice, and the bridge that foreign and rxe need */
	assert_int_equal(lines_with("cannot open shared object file"), 5);
}

static void a_missing_plugin_is_one_line(void **state)
{
	(void)state;
	assert_int_equal(lines_with("provider nowhere: skipped"), 1);
}

/* The distribution configures all its providers on any machine, so a missing one is logged only for
 * a device that needs it; a provider that the user names is always logged. */
static void configured_providers_of_the_distribution_are_no_warning(void **state)
{
	(void)state;
	assert_int_equal(lines_with("provider siw: skipped"), 0);
	assert_int_equal(lines_with("provider rxe: skipped"), 1);
}

static void a_configured_provider_of_nobody_is_a_warning(void **state)
{
	(void)state;
	assert_int_equal(lines_with("provider gone: skipped"), ARRAY_SIZE(short_errs) + 2);
}

/* The bridge was there when the configuration was read, but for the last time. */
static void a_plugin_of_the_distribution_takes_the_place_of_ours(void **state)
{
	(void)state;
	assert_int_equal(lines_with("provider mlx5: skipped"), 1);
	assert_int_equal(lines_with("libmlx5-rdmav34.so was built for another libibverbs"), 1);
	assert_int_equal(lines_with("provider new: skipped"), ARRAY_SIZE(short_errs) + 2);
	assert_int_equal(lines_with("libnew-rdmav34.so is of the distribution"),
			 ARRAY_SIZE(short_errs) + 1);
	assert_int_equal(lines_with("libnew-rdmav34.so was built for another libibverbs"), 1);
}

/* After what was short is there again, each plugin of the distribution is tried once. */
static void a_guest_is_tried_again_after_a_shortage(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(short_errs); i++) {
		plugins_tried = 0;
		dlopen_err = short_errs[i];
		assert_false(verbs_loader_load_foreign(RDMA_DRIVER_RXE));
		assert_int_equal(plugins_tried, 1);
	}
	dlopen_err = 0;
	for (int i = 0; i < 2; i++) {
		plugins_tried = 0;
		assert_false(verbs_loader_load_foreign(RDMA_DRIVER_RXE));
		assert_int_equal(plugins_tried, i ? 0 : 1);
	}
}

static void plugins_are_tried_once(void **state)
{
	(void)state;
	plugins_tried = 0;
	verbs_loader_load_drivers();
	assert_int_equal(plugins_tried, 0);
}

static const struct verbs_pci_id one_id[] = { { 0x15b3, 0x1021 }, {} };
static const struct verbs_driver by_id = { .magic = VERBS_DRIVER_MAGIC,
					   .name = "a",
					   .driver_id = 5 };
static const struct verbs_driver by_pci = {
	.magic = VERBS_DRIVER_MAGIC, .name = "b", .driver_id = 6, .pci_ids = one_id
};
static const struct verbs_driver wrong_magic = { .magic = 1, .name = "c", .driver_id = 7 };

static void a_driver_id_decides_and_pci_is_for_sysfs(void **state)
{
	const struct verbs_device_info netlink_a = { .driver_id = 5, .pci = { 0x15b3, 0x1021 } };
	const struct verbs_device_info netlink_other = { .driver_id = 9,
							 .pci = { 0x15b3, 0x1021 } };
	const struct verbs_device_info sysfs_b = { .pci = { 0x15b3, 0x1021 } };
	const struct verbs_device_info sysfs_none = { .pci = { 0x15b3, 0x1022 } };
	const struct verbs_device_info no_pci = {};

	(void)state;
	verbs_register_driver(&by_id);
	verbs_register_driver(&by_pci);
	verbs_register_driver(&by_pci);
	assert_ptr_equal(verbs_loader_match(&netlink_a), &by_id);
	assert_null(verbs_loader_match(&netlink_other));
	assert_ptr_equal(verbs_loader_match(&sysfs_b), &by_pci);
	assert_null(verbs_loader_match(&sysfs_none));
	assert_null(verbs_loader_match(&no_pci));
}

static void another_contract_is_refused(void **state)
{
	const struct verbs_device_info info = { .driver_id = 7 };

	(void)state;
	verbs_register_driver(&wrong_magic);
	assert_null(verbs_loader_match(&info));
	assert_int_equal(lines_with("another driver.h"), 1);
}

static bool is_device_of_ten(const struct verbs_driver *driver,
			     const struct verbs_device_info *info)
{
	(void)driver;
	return info->driver_id == 10;
}

/* A driver of the distribution goes before ours only if the environment names its plugin, which
 * registers it while the list is loaded. */
static void a_driver_of_the_distribution_goes_behind_ours(void **state)
{
	static const struct verbs_driver foreign = { .magic = VERBS_DRIVER_MAGIC,
						     .name = "e",
						     .matches = is_device_of_ten };
	static const struct verbs_driver ours = { .magic = VERBS_DRIVER_MAGIC,
						  .name = "f",
						  .driver_id = 10 };
	const struct verbs_device_info info = { .driver_id = 10 };

	(void)state;
	verbs_register_driver(&foreign);
	assert_ptr_equal(verbs_loader_match(&info), &foreign);
	verbs_register_driver(&ours);
	assert_ptr_equal(verbs_loader_match(&info), &ours);
}

/* A plugin registers its driver only once, so registration must not need memory. */
static void a_driver_is_registered_without_memory(void **state)
{
	static const struct verbs_driver driver = { .magic = VERBS_DRIVER_MAGIC,
						    .name = "d",
						    .driver_id = 8 };
	const struct verbs_device_info info = { .driver_id = 8 };

	(void)state;
	has_no_memory = true;
	verbs_register_driver(&driver);
	has_no_memory = false;
	assert_ptr_equal(verbs_loader_match(&info), &driver);
}

/* Each look would wait for ever otherwise. The driver is that of the test before. */
static void drivers_are_found_on_both_sides_of_a_fork(void **state)
{
	const struct verbs_device_info info = { .driver_id = 8 };
	const struct timespec past = { 0 };

	(void)state;
	verbs_loader_before_fork(&past);
	verbs_loader_forked_in_parent();
	assert_non_null(verbs_loader_match(&info));
	verbs_loader_before_fork(&past);
	verbs_loader_forked_in_child();
	assert_non_null(verbs_loader_match(&info));
	verbs_loader_before_fork(&past);
	verbs_loader_before_fork(&past); /* another thread holds the lock, */
	verbs_loader_forked_in_parent(); /* so it is not this fork's to leave */
	verbs_loader_forked_in_child();
	assert_non_null(verbs_loader_match(&info));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_short_is_tried_again),
		cmocka_unit_test(a_foreign_plugin_needs_the_bridge),
		cmocka_unit_test(a_broken_plugin_is_not_called_missing),
		cmocka_unit_test(a_missing_plugin_is_one_line),
		cmocka_unit_test(configured_providers_of_the_distribution_are_no_warning),
		cmocka_unit_test(a_configured_provider_of_nobody_is_a_warning),
		cmocka_unit_test(a_plugin_of_the_distribution_takes_the_place_of_ours),
		cmocka_unit_test(plugins_are_tried_once),
		cmocka_unit_test(a_guest_is_tried_again_after_a_shortage),
		cmocka_unit_test(a_driver_id_decides_and_pci_is_for_sysfs),
		cmocka_unit_test(another_contract_is_refused),
		cmocka_unit_test(a_driver_of_the_distribution_goes_behind_ours),
		cmocka_unit_test(a_driver_is_registered_without_memory),
		cmocka_unit_test(drivers_are_found_on_both_sides_of_a_fork),
	};
	char log[512];
	int failed;

	snprintf(log, sizeof(log), "%s/log", tree_make());
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_LIMIT", "0", 1);
	setenv("VERBS_LOG_FILE", log, 1);
	setenv("IBV_DRIVERS", "foreign:broken", 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tree_remove();
	return failed;
}
