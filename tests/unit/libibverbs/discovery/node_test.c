/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node_test.c - which file is a device's, how long a missing one is awaited, and which error of two
 * paths is reported. Files and the clock are the test's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int node_open(const char *path, int flags);
static int node_close(int fd);
static int node_stat(const char *path, struct stat64 *st);
static int node_fstat(int fd, struct stat64 *st);
static int node_sleep(const struct timespec *time, struct timespec *left);
static int node_clock(clockid_t clock, struct timespec *now);

#include "libibverbs/private.h"

#define open(path, flags)     node_open(path, flags)
#define close(fd)             node_close(fd)
#define stat64(path, st)      node_stat(path, st)
#define fstat64(fd, st)       node_fstat(fd, st)
#define nanosleep(time, left) node_sleep(time, left)
#define clock_gettime(id, t)  node_clock(id, t)
#include "libibverbs/discovery/node.c"
#undef open
#undef close
#undef stat64
#undef fstat64
#undef nanosleep
#undef clock_gettime

#include "tests/unit/log_text.h"

enum { FD = 700, MAJOR = 231, MINOR = 192, BY_NAME = 0, BY_NUMBER = 1 };

/* A path's file: what open() and stat() say of it. */
struct file {
	int open_fails, stat_fails, fstat_fails;
	mode_t mode;
	dev_t rdev;
};

static struct {
	struct file files[2];
	int opens, opened, closed, flags;
	int sleeps, comes_after; /* sleeps after which the file by its name is right */
	long slept_ns;
	int64_t now_ns;
} it;

static struct verbs_device_info info;

static int which(const char *path)
{
	if (!strcmp(path, "/dev/infiniband/uverbs3"))
		return BY_NAME;
	assert_string_equal(path, "/dev/char/231:192");
	return BY_NUMBER;
}

static void put_right(struct file *file)
{
	*file = (struct file){ .mode = S_IFCHR, .rdev = makedev(MAJOR, MINOR) };
}

static int node_open(const char *path, int flags)
{
	const int at = which(path);

	it.opens++;
	it.flags = flags;
	errno = it.files[at].open_fails;
	if (errno)
		return -1;
	it.opened++;
	return FD + at;
}

static int node_close(int fd)
{
	assert_in_range(fd, FD, FD + 1);
	it.closed++;
	errno = EDOM; /* clears the errno of the call before */
	return 0;
}

static int stat_of(const struct file *file, int fails, struct stat64 *st)
{
	errno = fails;
	if (fails)
		return -1;
	*st = (struct stat64){ .st_mode = file->mode, .st_rdev = file->rdev };
	return 0;
}

static int node_stat(const char *path, struct stat64 *st)
{
	const struct file *file = &it.files[which(path)];

	return stat_of(file, file->stat_fails, st);
}

static int node_fstat(int fd, struct stat64 *st)
{
	const struct file *file = &it.files[fd - FD];

	return stat_of(file, file->fstat_fails, st);
}

static int node_sleep(const struct timespec *time, struct timespec *left)
{
	assert_null(left);
	it.slept_ns = time->tv_nsec;
	it.now_ns += (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
	if (++it.sleeps == it.comes_after)
		put_right(&it.files[BY_NAME]);
	assert_in_range(it.sleeps, 1, 1000);
	return 0;
}

static int node_clock(clockid_t clock, struct timespec *now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*now = (struct timespec){ it.now_ns / 1000000000, it.now_ns % 1000000000 };
	return 0;
}

/* Neither file is there, and the clock is not at a whole second. */
static int files_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	for (int i = 0; i < 2; i++)
		it.files[i].open_fails = it.files[i].stat_fails = ENOENT;
	it.now_ns = 5999999999;
	info = (struct verbs_device_info){ .name = "mlx5_3",
					   .uverbs_name = "uverbs3",
					   .uverbs_dev = makedev(MAJOR, MINOR) };
	log_text();
	return 0;
}

/* Returns the descriptor, or an errno below 0. */
static int open_fd(void)
{
	int fd = -1, ret = verbs_node_open(&info, &fd);

	return ret ? -ret : fd;
}

static void the_file_has_the_devices_number(void **state)
{
	(void)state;
	put_right(&it.files[BY_NAME]);
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.flags, O_RDWR | O_CLOEXEC);
	assert_int_equal(it.opens, 1);
	assert_int_equal(it.closed, 0);
	assert_true(verbs_node_exists(&info));
	info.uverbs_dev = 0; /* unknown: any character device will do */
	it.files[BY_NAME].rdev = makedev(1, 3);
	assert_int_equal(open_fd(), FD);
	assert_true(verbs_node_exists(&info));
	it.files[BY_NAME].mode = S_IFREG;
	assert_false(verbs_node_exists(&info));
	assert_string_equal(log_text(), "");
}

static void without_a_name_the_number_finds_it(void **state)
{
	(void)state;
	put_right(&it.files[BY_NUMBER]);
	assert_int_equal(open_fd(), FD + 1);
	assert_int_equal(it.sleeps, 0);
	assert_true(verbs_node_exists(&info));
	put_right(&it.files[BY_NAME]);
	it.files[BY_NAME].rdev = makedev(1, 3); /* of an earlier device of this name */
	assert_int_equal(open_fd(), FD + 1);
	assert_int_equal(it.closed, 1);
	it.files[BY_NUMBER].rdev = makedev(1, 3);
	assert_false(verbs_node_exists(&info));
}

/* The error of the file that exists says more than that the other is missing. */
static void the_error_is_of_the_file_that_exists(void **state)
{
	static const struct {
		int by_name, by_number, err;
		const char *text;
	} cases[] = {
		{ EACCES, EACCES, EACCES,
		  "mlx5_3: /dev/infiniband/uverbs3: Permission denied: the"
		  " file's owner, group or mode keeps this user out\n" },
		{ EMFILE, ENOENT, EMFILE, "/dev/infiniband/uverbs3: Too many open files\n" },
		{ ENOENT, EACCES, EACCES, "/dev/char/231:192: Permission denied: the file's" },
		{ EACCES, EMFILE, EACCES, "/dev/infiniband/uverbs3: Permission denied" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.files[BY_NAME].open_fails = cases[i].by_name;
		it.files[BY_NUMBER].open_fails = cases[i].by_number;
		assert_int_equal(open_fd(), -cases[i].err);
		check_logged(cases[i].text);
	}
	assert_int_equal(it.sleeps, 0);
	put_right(&it.files[BY_NUMBER]);
	assert_int_equal(open_fd(), FD + 1);
	assert_string_equal(log_text(), "");
}

static void a_file_that_cannot_be_looked_at_is_closed(void **state)
{
	(void)state;
	put_right(&it.files[BY_NAME]);
	it.files[BY_NAME].fstat_fails = EOVERFLOW;
	assert_int_equal(open_fd(), -EOVERFLOW);
	assert_int_equal(it.closed, 1);
	assert_int_equal(it.sleeps, 0);
}

static void a_missing_file_is_awaited_for_a_second(void **state)
{
	(void)state;
	it.comes_after = 3;
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.sleeps, 3);
	assert_int_equal(it.slept_ns, 10000000);
	files_begin(NULL);
	assert_int_equal(open_fd(), -ENOENT);
	assert_int_equal(it.sleeps, 100);
	assert_int_equal(it.opens, 2 * 101);
	check_logged(
		"ibv_open_device mlx5_3: /dev/infiniband/uverbs3: No such file or directory\n");
}

static void the_file_of_an_earlier_device_is_awaited_too(void **state)
{
	(void)state;
	put_right(&it.files[BY_NAME]);
	it.files[BY_NAME].rdev = makedev(1, 3);
	it.comes_after = 2;
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.sleeps, 2);
	assert_int_equal(it.closed, 2);
	it.sleeps = it.comes_after = 0;
	it.files[BY_NAME].rdev = makedev(1, 3);
	assert_int_equal(open_fd(), -ENXIO);
	check_logged("/dev/infiniband/uverbs3: is not the file of this device");
	assert_int_equal(it.opened, it.closed + 1);
}

/* udev may make the file with another owner. */
static void a_wait_ends_with_another_error(void **state)
{
	(void)state;
	info.uverbs_dev = 0;
	put_right(&it.files[BY_NAME]);
	it.files[BY_NAME].mode = S_IFDIR;
	assert_int_equal(open_fd(), -ENXIO);
	assert_int_equal(it.sleeps, 100);
	assert_int_equal(it.opens, 101); /* the number is unknown, so there is one path */
}

/* Opening the file reports the error. */
static void a_file_may_exist_that_stat_does_not_find(void **state)
{
	static const struct {
		int by_name, by_number;
		bool exists;
	} cases[] = { { ENOENT, ENOENT, false },  { ENOTDIR, ENOTDIR, false },
		      { EACCES, ENOENT, true },   { ENOENT, EACCES, true },
		      { ENOTDIR, ENOENT, false }, { ELOOP, ENOTDIR, true } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.files[BY_NAME].stat_fails = cases[i].by_name;
		it.files[BY_NUMBER].stat_fails = cases[i].by_number;
		assert_int_equal(verbs_node_exists(&info), cases[i].exists);
	}
	info.uverbs_dev = 0;
	it.files[BY_NAME].stat_fails = ENOENT;
	assert_false(verbs_node_exists(&info));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, files_begin)
	const struct CMUnitTest tests[] = {
		TEST(the_file_has_the_devices_number),
		TEST(without_a_name_the_number_finds_it),
		TEST(the_error_is_of_the_file_that_exists),
		TEST(a_file_that_cannot_be_looked_at_is_closed),
		TEST(a_missing_file_is_awaited_for_a_second),
		TEST(the_file_of_an_earlier_device_is_awaited_too),
		TEST(a_wait_ends_with_another_error),
		TEST(a_file_may_exist_that_stat_does_not_find),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
