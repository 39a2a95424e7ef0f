/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening, importing and closing a device whose character devices are others of this host: open(),
 * which is replaced (--wrap), leads there.
 *
 * Covers: libibverbs/context.c, libibverbs/discovery/node.c, libibverbs/verbs_device.c,
 * libibverbs/private.h
 */
#include "unit.h"

#include "fake_device.h"
#include "libibverbs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

/* Device files that open() finds in /dev/infiniband, and by number in /dev/char */
static const char *by_name, *by_number;
static int by_name_err, by_number_err; /* errors of those open() calls, or 0 */

int __wrap_open(const char *path, int flags, ...)
{
	int err = 0;

	if (!strncmp(path, "/dev/infiniband/", 16)) {
		path = by_name;
		err = by_name_err;
	} else if (!strncmp(path, "/dev/char/", 10)) {
		path = by_number;
		err = by_number_err;
	}
	if (!err)
		return __real_open(path, flags);
	errno = err;
	return -1;
}

/* Name of open() where a 32-bit program has 64-bit file offsets */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));

static struct verbs_device vdev;
static int refusal, last_fd, contexts;

static int alloc_context(struct verbs_device *device, int cmd_fd, struct verbs_context **vctx)
{
	last_fd = cmd_fd;
	if (refusal)
		return refusal;
	*vctx = calloc(1, sizeof(**vctx));
	assert_non_null(*vctx);
	assert_int_equal(verbs_context_init(*vctx, device, cmd_fd), 0);
	(*vctx)->context.async_fd = dup(cmd_fd);
	contexts++;
	return 0;
}

static void free_context(struct verbs_context *vctx)
{
	verbs_context_cleanup(vctx);
	free(vctx);
	contexts--;
}

static const struct verbs_driver driver = {
	.alloc_context = alloc_context,
	.free_context = free_context,
};

#define DEVICE_NULL makedev(1, 3)

static int open_rig(void **state)
{
	(void)state;
	vdev = (struct verbs_device){ .driver = &driver, .refcount = 1 };
	vdev.info.uverbs_dev = DEVICE_NULL;
	refusal = contexts = 0;
	last_fd = -1;
	by_name = "/dev/null";
	by_number = "/none";
	by_name_err = by_number_err = 0;
	return 0;
}

static dev_t device_behind(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_rdev;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void a_context_holds_its_device(void **state)
{
	struct ibv_context *context = ibv_open_device(&vdev.device);

	(void)state;
	assert_non_null(context);
	assert_int_equal(device_behind(context->cmd_fd), DEVICE_NULL);
	assert_int_equal(vdev.refcount, 2);
	assert_int_equal(ibv_close_device(context), 0);
	assert_int_equal(vdev.refcount, 1);
	assert_int_equal(contexts, 0);
	assert_false(is_open(last_fd));
}

static void a_file_of_another_device_is_not_opened(void **state)
{
	char file[] = "/tmp/context_test.XXXXXX";
	struct ibv_context *context;
	int fd;

	(void)state;
	by_name = "/dev/zero";
	by_number = "/dev/null";
	context = ibv_open_device(&vdev.device);
	assert_non_null(context);
	assert_int_equal(device_behind(context->cmd_fd), DEVICE_NULL);
	assert_int_equal(ibv_close_device(context), 0);
	by_number = "/dev/zero";
	errno = 0;
	assert_null(ibv_open_device(&vdev.device));
	assert_int_equal(errno, ENXIO);
	fd = mkstemp(file);
	assert_true(fd >= 0);
	by_name = file;
	assert_null(ibv_open_device(&vdev.device));
	assert_int_equal(errno, ENXIO);
	close(fd);
	unlink(file);
}

static void the_first_error_is_the_one_that_is_told(void **state)
{
	(void)state;
	by_name = "/etc/passwd/none"; /* a file is no directory, so this gives ENOTDIR */
	errno = 0;
	assert_null(ibv_open_device(&vdev.device));
	assert_int_equal(errno, ENOTDIR);
}

static void the_error_of_a_file_that_is_there_is_told(void **state)
{
	(void)state;
	by_name = "/none";
	by_number_err = EACCES;
	errno = 0;
	assert_null(ibv_open_device(&vdev.device));
	assert_int_equal(errno, EACCES);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The kernel's error for a removed device: its file will never appear, so the library must not
 * wait. */
static void a_device_that_is_gone_is_not_waited_for(void **state)
{
	double start = seconds();

	(void)state;
	by_name_err = by_number_err = ENXIO;
	errno = 0;
	assert_null(ibv_open_device(&vdev.device));
	assert_int_equal(errno, ENXIO);
	assert_true(seconds() - start < 0.9);
}

static void a_refused_context_leaves_nothing_open(void **state)
{
	(void)state;
	refusal = EPERM;
	errno = 0;
	assert_null(ibv_open_device(&vdev.device));
	assert_int_equal(errno, EPERM);
	assert_false(is_open(last_fd));
	assert_int_equal(vdev.refcount, 1);
}

static void what_is_no_device_is_not_imported(void **state)
{
	int fd = __real_open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	(void)state;
	errno = 0;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, ENODEV);
	close(fd);
	errno = 0;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, EINVAL);
}

static bool lost_is_destroyed(const char *value)
{
	struct verbs_context vctx = {};
	bool is;

	if (value)
		setenv("RDMAV_ALLOW_DISASSOC_DESTROY", value, 1);
	else
		unsetenv("RDMAV_ALLOW_DISASSOC_DESTROY");
	assert_int_equal(verbs_context_init(&vctx, &vdev, -1), 0);
	is = to_priv(&vctx.context)->lost_is_destroyed;
	verbs_context_cleanup(&vctx);
	return is;
}

static void a_variable_switches_on_by_any_value_but_0(void **state)
{
	(void)state;
	assert_false(lost_is_destroyed(NULL));
	assert_false(lost_is_destroyed("0"));
	assert_true(lost_is_destroyed("1"));
	assert_true(lost_is_destroyed(""));
	assert_true(lost_is_destroyed("00"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_context_holds_its_device, open_rig),
		cmocka_unit_test_setup(a_file_of_another_device_is_not_opened, open_rig),
		cmocka_unit_test_setup(the_first_error_is_the_one_that_is_told, open_rig),
		cmocka_unit_test_setup(the_error_of_a_file_that_is_there_is_told, open_rig),
		cmocka_unit_test_setup(a_device_that_is_gone_is_not_waited_for, open_rig),
		cmocka_unit_test_setup(a_refused_context_leaves_nothing_open, open_rig),
		cmocka_unit_test_setup(what_is_no_device_is_not_imported, open_rig),
		cmocka_unit_test(a_variable_switches_on_by_any_value_but_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
