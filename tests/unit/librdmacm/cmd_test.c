/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_test.c - what write() means for a command, when it is repeated, how the device file is
 * looked for, and addresses. open() and write() are the test's own.
 *
 * Covers: librdmacm/cmd.c
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/cmd.c"
#include "tests/unit/log_text.h"

enum { FD = 700, SIZE = sizeof(struct rdma_ucm_cmd_hdr) + sizeof(struct rdma_ucm_listen) };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));
int __wrap_usleep(useconds_t us);

static struct {
	int fails[4], lacks[4]; /* of each write() */
	int writes, cancel_state;
	jmp_buf *leave;      /* taken by the next write() */
	int open_fails[2];   /* errno of each path */
	int opens, comes_at; /* open() that succeeds, counted from 1 */
	int flags;
	int loads, load_fails;
	int naps;
	useconds_t nap_us;
	int renewals, renew_fails;
	uint32_t refused;
} it;

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	const int at = it.writes;

	if (fd != FD)
		return __real_write(fd, data, size);
	assert_int_equal(size, SIZE);
	it.writes++;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &it.cancel_state);
	pthread_setcancelstate(it.cancel_state, NULL);
	if (it.leave)
		longjmp(*it.leave, 1);
	errno = it.fails[at];
	return it.fails[at] ? -1 : (ssize_t)size - it.lacks[at];
}

int __wrap_open(const char *path, int flags, ...)
{
	const int which = strcmp(path, "/dev/infiniband/rdma_cm") ? 1 : 0;

	if (which && strcmp(path, "/dev/rdma_cm"))
		return __real_open(path, flags, 0600);
	it.flags = flags;
	it.opens++;
	errno = it.opens == it.comes_at ? 0 : it.open_fails[which];
	return errno ? -1 : FD + which;
}

int __wrap_usleep(useconds_t us)
{
	it.naps++;
	it.nap_us = us;
	return 0;
}

int rdmacm_module_load(void)
{
	it.loads++;
	return it.load_fails;
}

void rdmacm_cmd_explain(const struct cm_cmd *cmd, int err, char *why, size_t size)
{
	assert_int_equal(cmd->hdr.cmd, RDMA_USER_CM_CMD_LISTEN);
	snprintf(why, size, " because of %d", err);
}

static int renew(void *of, uint32_t refused)
{
	assert_ptr_equal(of, &it);
	it.renewals++;
	it.refused = refused;
	return it.renew_fails;
}

static int call_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	log_text();
	rdmacm_cmd_set_renewal(NULL);
	return 0;
}

/* Runs LISTEN as a process with several threads does. */
static int listen_shielded(uint32_t number)
{
	struct cm_cmd cmd = { .hdr = { number, sizeof(cmd.listen), 0 } };

	return rdmacm_cmd_run_shielded(FD, &cmd, SIZE);
}

/* ---- commands ---- */

static void a_command_is_taken_whole_or_fails(void **state)
{
	(void)state;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), 0);
	assert_int_equal(it.writes, 1);
	assert_string_equal(log_text(), "");
	it.lacks[1] = 1;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), ENODATA);
	it.lacks[2] = SIZE; /* errno says nothing */
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), ENODATA);
	assert_int_equal(it.writes, 3);
	log_text();
	it.fails[3] = EPERM;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), EPERM);
	check_logged("refuses LISTEN: Operation not permitted because of 1");
}

/* A command has effects that a cancelled thread would not learn of. */
static void a_command_is_no_cancellation_point(void **state)
{
	int before;

	(void)state;
	for (int i = 0; i < 2; i++) {
		const int want = i ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;

		pthread_setcancelstate(want, NULL);
		assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), 0);
		assert_int_equal(it.cancel_state, PTHREAD_CANCEL_DISABLE);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
		assert_int_equal(before, want);
	}
}

/* As a signal handler may do. */
static void a_command_that_was_left_has_no_shield(void **state)
{
	jmp_buf leave;

	(void)state;
	it.leave = &leave;
	if (!setjmp(leave))
		listen_shielded(RDMA_USER_CM_CMD_LISTEN);
	it.leave = NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), 0);
	assert_int_equal(it.cancel_state, PTHREAD_CANCEL_DISABLE);
}

static void what_may_succeed_later_is_not_logged(void **state)
{
	static const int errs[] = { EAGAIN, EINTR };

	(void)state;
	for (int i = 0; i < 2; i++) {
		it.fails[i] = errs[i];
		assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), errs[i]);
	}
	assert_string_equal(log_text(), "");
}

/* ---- renewal ---- */

static void a_renewal_is_that_of_a_channel(void **state)
{
	const struct cm_renewal mine = { .fd = FD, .renew = renew, .of = &it };
	const struct cm_renewal others = { .fd = FD + 1, .renew = renew, .of = &it };

	(void)state;
	for (int i = 0; i < 3; i++)
		it.fails[i] = EACCES;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), EACCES);
	assert_null(rdmacm_cmd_set_renewal(&others));
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), EACCES);
	assert_int_equal(it.renewals, 0);
	assert_ptr_equal(rdmacm_cmd_set_renewal(&mine), &others);
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), 0);
	assert_int_equal(it.renewals, 1);
	assert_int_equal(it.refused, RDMA_USER_CM_CMD_LISTEN);
	assert_int_equal(it.writes, 4);
	assert_int_equal(it.cancel_state, PTHREAD_CANCEL_DISABLE); /* in the repetition, too */
}

static void a_renewed_command_may_fail_again(void **state)
{
	const struct cm_renewal mine = { .fd = FD, .renew = renew, .of = &it };

	(void)state;
	rdmacm_cmd_set_renewal(&mine);
	it.fails[0] = EACCES;
	it.fails[1] = EPERM;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), EPERM);
	it.fails[1] = 0;
	for (int i = 0; i < 2; i++) {
		it.writes = 0;
		it.lacks[1] = i ? SIZE : 1;
		assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), ENODATA);
	}
	it.writes = 0;
	it.renew_fails = EMFILE;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), EMFILE);
	assert_int_equal(it.writes, 1);
	it.writes = 0;
	it.fails[0] = EPERM; /* no other errno is of a changed user */
	it.renewals = 0;
	assert_int_equal(listen_shielded(RDMA_USER_CM_CMD_LISTEN), EPERM);
	assert_int_equal(it.renewals, 0);
}

/* ---- the device file ---- */

static int open_fd(void)
{
	int fd = -1, ret = rdmacm_cmd_open(&fd);

	return ret ? -ret : fd;
}

static void the_file_has_one_of_two_paths(void **state)
{
	(void)state;
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.flags, O_RDWR | O_CLOEXEC);
	assert_int_equal(it.opens, 1);
	it.open_fails[0] = ENOENT;
	assert_int_equal(open_fd(), FD + 1);
	assert_int_equal(it.loads, 0);
	it.open_fails[0] = EACCES;
	it.opens = 0;
	assert_int_equal(open_fd(), -EACCES);
	assert_int_equal(it.opens, 1);
	check_logged("cannot open /dev/infiniband/rdma_cm: Permission denied\n");
	it.open_fails[0] = ENOENT;
	it.open_fails[1] = EMFILE;
	assert_int_equal(open_fd(), -EMFILE);
	assert_int_equal(it.loads, 0);
}

static void a_file_that_udev_makes_is_awaited(void **state)
{
	(void)state;
	it.open_fails[0] = it.open_fails[1] = ENOENT;
	it.comes_at = 7; /* the first path, for the fourth time */
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.loads, 1);
	assert_int_equal(it.naps, 2);
	assert_int_equal(it.nap_us, 10000);
}

static void a_module_that_does_not_load_is_enodev(void **state)
{
	(void)state;
	it.open_fails[0] = it.open_fails[1] = ENOENT;
	it.load_fails = EPROTONOSUPPORT;
	for (int i = 1; i <= 2; i++) { /* it is asked for each time */
		assert_int_equal(open_fd(), -ENODEV);
		assert_int_equal(it.loads, i);
		assert_int_equal(it.opens, 2 * i);
		check_logged("No such file or directory (the kernel has no module rdma_ucm");
	}
	assert_int_equal(it.naps, 0);
}

static void an_error_behind_the_load_is_not_remembered(void **state)
{
	(void)state;
	it.load_fails = 0;
	it.open_fails[0] = ENOENT;
	it.open_fails[1] = ENOENT;
	it.comes_at = 3;
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.naps, 0);
	it.comes_at = 5;
	it.opens = 0;
	assert_int_equal(open_fd(), FD);
	assert_int_equal(it.loads, 2);
}

/* Must be the last one, as the library remembers that it has waited in vain. */
static void a_file_that_does_not_come_is_awaited_once(void **state)
{
	(void)state;
	it.open_fails[0] = it.open_fails[1] = ENOENT;
	assert_int_equal(open_fd(), -ENODEV);
	assert_int_equal(it.loads, 1);
	assert_int_equal(it.naps, 99);
	assert_int_equal(it.opens, 2 + 2 * 100);
	assert_int_equal(open_fd(), -ENODEV);
	assert_int_equal(it.loads, 1);
	assert_int_equal(it.naps, 99);
	it.open_fails[0] = 0; /* it comes after all */
	assert_int_equal(open_fd(), FD);
}

/* ---- addresses ---- */

static void an_address_has_the_size_of_its_family(void **state)
{
	static const struct {
		sa_family_t family;
		socklen_t len;
	} cases[] = { { AF_INET, sizeof(struct sockaddr_in) },
		      { AF_INET6, sizeof(struct sockaddr_in6) },
		      { AF_IB, sizeof(struct sockaddr_ib) },
		      { AF_UNIX, 0 },
		      { AF_UNSPEC, 0 } };
	struct sockaddr_storage from, to;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sockaddr *addr = (const struct sockaddr *)&from;
		uint16_t size = 1;
		int ret;

		memset(&from, 0xa5, sizeof(from));
		memset(&to, 0, sizeof(to));
		from.ss_family = cases[i].family;
		assert_int_equal(rdmacm_addr_len(addr), cases[i].len);
		assert_int_equal(rdmacm_addr_check("call", addr), cases[i].len ? 0 : EINVAL);
		ret = rdmacm_addr_put((struct __kernel_sockaddr_storage *)&to, &size, addr);
		assert_int_equal(ret, cases[i].len ? 0 : EINVAL);
		assert_int_equal(size, cases[i].len ? cases[i].len : 1);
		assert_memory_equal(&to, &from, cases[i].len);
		assert_int_equal(((const char *)&to)[cases[i].len], 0);
	}
	check_logged("call: address family 1 is not IPv4, IPv6 or AF_IB");
}

static void no_address_is_refused(void **state)
{
	struct __kernel_sockaddr_storage to;
	uint16_t size;

	(void)state;
	assert_int_equal(rdmacm_addr_check("call", NULL), EINVAL);
	check_logged("call: the address is NULL");
	assert_int_equal(rdmacm_addr_put(&to, &size, NULL), EINVAL);
	check_logged("rdma_cm: the address is NULL");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, call_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_command_is_taken_whole_or_fails),
		TEST(a_command_is_no_cancellation_point),
		TEST(a_command_that_was_left_has_no_shield),
		TEST(what_may_succeed_later_is_not_logged),
		TEST(a_renewal_is_that_of_a_channel),
		TEST(a_renewed_command_may_fail_again),
		TEST(the_file_has_one_of_two_paths),
		TEST(a_file_that_udev_makes_is_awaited),
		TEST(a_module_that_does_not_load_is_enodev),
		TEST(an_error_behind_the_load_is_not_remembered),
		TEST(an_address_has_the_size_of_its_family),
		TEST(no_address_is_refused),
		TEST(a_file_that_does_not_come_is_awaited_once),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
