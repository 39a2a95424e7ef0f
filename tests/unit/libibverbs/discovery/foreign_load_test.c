/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which file of the distribution is loaded for a provider's name, and that libforeign-rdmakit is
 * there first.
 *
 * Covers: libibverbs/discovery/foreign_load.c
 */
#include "unit.h"

#include "libibverbs/private.h"
#include "tests/unit/libibverbs/temp_tree.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct {
	char file[NAME_MAX + 1];
	int flags;
} loaded[4];
static int num_loaded;
static const char *broken; /* a part of the name of what does not load */
static int broken_err;
static void (*meanwhile)(void); /* runs while something does not load */

void *__wrap_dlopen(const char *path, int flags);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *path, int flags)
{
	assert_in_range(num_loaded, 0, 3);
	snprintf(loaded[num_loaded].file, sizeof(loaded[0].file), "%.255s", strrchr(path, '/') + 1);
	loaded[num_loaded++].flags = flags;
	errno = broken_err;
	if (!broken || !strstr(path, broken))
		return &num_loaded;
	if (meanwhile)
		meanwhile();
	return NULL;
}

char *__wrap_dlerror(void)
{
	static char text[] = "it is broken";

	return text;
}

static const char *root;

static enum verbs_foreign_result provider_load(const char *name)
{
	num_loaded = 0;
	return verbs_foreign_load(root, name);
}

static void must_load(int at, const char *file, int flags)
{
	assert_string_equal(loaded[at].file, file);
	assert_int_equal(loaded[at].flags, flags);
}

static void nothing_is_loaded_for_a_name_without_file(void **state)
{
	(void)state;
	assert_int_equal(provider_load("nobody"), VERBS_FOREIGN_ABSENT);
	assert_int_equal(num_loaded, 0);
}

static void another_number_is_refused_unloaded(void **state)
{
	(void)state;
	assert_int_equal(provider_load("new"), VERBS_FOREIGN_REFUSED);
	assert_int_equal(num_loaded, 0);
}

static void a_plugin_is_not_loaded_without_the_bridge(void **state)
{
	(void)state;
	broken = "libforeign-rdmakit";
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_REFUSED);
	assert_int_equal(num_loaded, 1);
	broken_err = EMFILE;
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_SHORT);
	broken_err = 0;
	broken = NULL;
}

static void another_thread_loads(void)
{
	broken = NULL;
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_LOADED);
}

/* A thread that fails later than another one has loaded the bridge leaves it. */
static void the_bridge_comes_first(void **state)
{
	(void)state;
	broken = "libforeign-rdmakit";
	meanwhile = another_thread_loads;
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_REFUSED);
	meanwhile = NULL;
	assert_int_equal(num_loaded, 2);
	must_load(0, "libforeign-rdmakitX.so", RTLD_NOW);
	must_load(1, "librxe-rdmav34.so", RTLD_NOW);
}

static void the_bridge_is_loaded_once(void **state)
{
	(void)state;
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_LOADED);
	assert_int_equal(num_loaded, 1);
	must_load(0, "librxe-rdmav34.so", RTLD_NOW);
}

static void of_two_numbers_the_later_is_loaded(void **state)
{
	(void)state;
	assert_int_equal(provider_load("both"), VERBS_FOREIGN_LOADED);
	assert_int_equal(num_loaded, 1);
	must_load(0, "libboth-rdmav65.so", RTLD_NOW);
}

static void a_path_has_no_prefix(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%.4000s/librxe", root);
	assert_int_equal(provider_load(path), VERBS_FOREIGN_LOADED);
	must_load(0, "librxe-rdmav34.so", RTLD_NOW);
}

static void a_broken_plugin_is_refused(void **state)
{
	(void)state;
	broken = "librxe";
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_REFUSED);
	broken_err = ENOMEM;
	assert_int_equal(provider_load("rxe"), VERBS_FOREIGN_SHORT);
	broken_err = 0;
	broken = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_loaded_for_a_name_without_file),
		cmocka_unit_test(another_number_is_refused_unloaded),
		cmocka_unit_test(a_plugin_is_not_loaded_without_the_bridge),
		cmocka_unit_test(the_bridge_comes_first),
		cmocka_unit_test(the_bridge_is_loaded_once),
		cmocka_unit_test(of_two_numbers_the_later_is_loaded),
		cmocka_unit_test(a_path_has_no_prefix),
		cmocka_unit_test(a_broken_plugin_is_refused),
	};
	int failed;

	root = tree_make();
	tree_put("librxe-rdmav34.so", "");
	tree_put("libboth-rdmav34.so", "");
	tree_put("libboth-rdmav65.so", "");
	tree_put("libnew-rdmav57.so", "");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tree_remove();
	return failed;
}
