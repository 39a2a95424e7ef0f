/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Search path of plugins: their installed directory, or the directory of a moved library if no
 * other user can write there.
 *
 * places.c is compiled into this program, whose directory is the library's for it.
 *
 * Covers: libibverbs/discovery/places.c
 */
#include "unit.h"

#include "libibverbs/discovery/places.h"
#include "tests/lib/rights.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static char here[PATH_MAX];
static unsigned long secure;

unsigned long __wrap_getauxval(unsigned long type);
unsigned long __real_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? secure : __real_getauxval(type);
}

static const struct verbs_layout layout = {
	.library = "/nowhere/lib",
	.plugins = "/nowhere/lib/plugins",
	.config = "/nowhere/etc",
	.library_to_plugins = "places/plugins",
	.library_to_config = "places/../places/etc",
};

static const char *below_here(const char *relative)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", here, relative);
	return path;
}

static int make_directories(void **state)
{
	(void)state;
	secure = 0;
	mkdir(below_here("places"), 0755);
	mkdir(below_here("places/etc"), 0755);
	mkdir(below_here("places/plugins"), 0755);
	return chmod(below_here("places/plugins"), 0755);
}

static int remove_directories(void **state)
{
	(void)state;
	rmdir(below_here("places/plugins"));
	rmdir(below_here("places/etc"));
	rmdir(below_here("places"));
	return 0;
}

static void assert_moved(const struct verbs_places places)
{
	assert_string_equal(places.plugins, below_here("places/plugins"));
	assert_string_equal(places.config, below_here("places/etc"));
	free((char *)places.plugins);
	free((char *)places.config);
}

static void assert_built_in(const struct verbs_places places)
{
	assert_ptr_equal(places.plugins, layout.plugins);
	assert_ptr_equal(places.config, layout.config);
}

static void a_moved_library_looks_beside_itself(void **state)
{
	(void)state;
	assert_moved(verbs_places_find(&layout));
}

static void an_installed_library_looks_where_it_was_told(void **state)
{
	struct verbs_layout installed = layout;

	(void)state;
	installed.library = here;
	assert_built_in(verbs_places_find(&installed));
}

static void a_link_to_the_directory_is_the_directory(void **state)
{
	struct verbs_layout installed = layout;
	char link[] = "/tmp/places.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(link));
	assert_false(rmdir(link) || symlink(here, link));
	installed.library = link;
	assert_built_in(verbs_places_find(&installed));
	unlink(link);
}

static void a_library_by_itself_looks_where_it_was_told(void **state)
{
	remove_directories(state);
	assert_built_in(verbs_places_find(&layout));
}

static void each_directory_is_found_by_itself(void **state)
{
	struct verbs_places places;

	(void)state;
	rmdir(below_here("places/etc"));
	places = verbs_places_find(&layout);
	assert_string_equal(places.plugins, below_here("places/plugins"));
	assert_ptr_equal(places.config, layout.config);
	free((char *)places.plugins);
}

static void what_all_can_write_to_is_not_believed(void **state)
{
	(void)state;
	assert_false(chmod(below_here("places/plugins"), 0777) ||
		     chmod(below_here("places/etc"), 01777));
	assert_built_in(verbs_places_find(&layout));
}

static void what_a_group_can_write_to_is_not_believed(void **state)
{
	(void)state;
	assert_false(chmod(here, 0755) || chmod(below_here("places/plugins"), 0775) ||
		     chmod(below_here("places/etc"), 0775));
	assert_built_in(verbs_places_find(&layout));
}

static void who_can_write_beside_the_library_is_believed(void **state)
{
	(void)state;
	assert_false(chmod(here, 0775) || chmod(below_here("places/plugins"), 0775) ||
		     chmod(below_here("places/etc"), 0775));
	assert_moved(verbs_places_find(&layout));
	assert_false(chmod(here, 0755));
}

/* Looks through a link to a closed directory, whose parent has MODE. */
static struct verbs_places find_by_link(mode_t mode)
{
	char open_dir[] = "/tmp/places.XXXXXX", closed[sizeof(open_dir) + sizeof("/etc")];
	struct verbs_places places;

	assert_non_null(mkdtemp(open_dir));
	snprintf(closed, sizeof(closed), "%s/etc", open_dir);
	assert_false(mkdir(closed, 0755) || chmod(open_dir, mode));
	assert_false(rmdir(below_here("places/etc")) || symlink(closed, below_here("places/etc")));
	places = verbs_places_find(&layout);
	assert_false(unlink(below_here("places/etc")) || rmdir(closed) || rmdir(open_dir));
	assert_string_equal(places.plugins, below_here("places/plugins"));
	free((char *)places.plugins);
	if (places.config != layout.config) {
		assert_string_equal(places.config, closed);
		free((char *)places.config);
	}
	return places;
}

static void a_link_through_what_all_can_write_to_is_not_believed(void **state)
{
	(void)state;
	assert_ptr_equal(find_by_link(0777).config, layout.config);
	make_directories(state);
	assert_ptr_equal(find_by_link(0775).config, layout.config);
}

/* In a namespace of users, /tmp may belong to a user that has no number there. */
static bool is_tmp_believed(void)
{
	struct stat st;

	return !stat("/tmp", &st) && (!st.st_uid || st.st_uid == geteuid());
}

static void a_link_through_closed_and_sticky_directories_is_believed(void **state)
{
	(void)state;
	if (!is_tmp_believed())
		skip();
	assert_ptr_not_equal(find_by_link(0755).config, layout.config);
	make_directories(state);
	assert_ptr_not_equal(find_by_link(01777).config, layout.config);
}

static void what_belongs_to_another_is_not_believed(void **state)
{
	(void)state;
	if (geteuid() || !rights_has_nobody())
		skip(); /* only root can change a directory's owner */
	assert_false(chown(below_here("places/plugins"), 65534, 65534) ||
		     chown(below_here("places/etc"), 65534, 65534));
	assert_built_in(verbs_places_find(&layout));
}

static void a_file_is_no_directory(void **state)
{
	struct verbs_layout files = layout;

	(void)state;
	files.library_to_plugins = strrchr(program_invocation_name, '/') + 1;
	files.library_to_config = files.library_to_plugins;
	assert_built_in(verbs_places_find(&files));
}

static void a_process_with_more_rights_looks_where_it_was_told(void **state)
{
	(void)state;
	secure = 1;
	assert_built_in(verbs_places_find(&layout));
}

#define PLACES_TEST(name) \
	cmocka_unit_test_setup_teardown(name, make_directories, remove_directories)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACES_TEST(a_moved_library_looks_beside_itself),
		PLACES_TEST(an_installed_library_looks_where_it_was_told),
		PLACES_TEST(a_link_to_the_directory_is_the_directory),
		PLACES_TEST(a_library_by_itself_looks_where_it_was_told),
		PLACES_TEST(each_directory_is_found_by_itself),
		PLACES_TEST(what_all_can_write_to_is_not_believed),
		PLACES_TEST(what_a_group_can_write_to_is_not_believed),
		PLACES_TEST(who_can_write_beside_the_library_is_believed),
		PLACES_TEST(a_link_through_what_all_can_write_to_is_not_believed),
		PLACES_TEST(a_link_through_closed_and_sticky_directories_is_believed),
		PLACES_TEST(what_belongs_to_another_is_not_believed),
		PLACES_TEST(a_file_is_no_directory),
		PLACES_TEST(a_process_with_more_rights_looks_where_it_was_told),
	};

	if (readlink("/proc/self/exe", here, sizeof(here) - 1) < 0)
		return 1;
	*strrchr(here, '/') = '\0';
	return cmocka_run_group_tests(tests, NULL, NULL);
}
