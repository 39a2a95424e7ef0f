/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loading of rdma_cm's kernel module by a netlink socket of the test (--wrap), with calls that
 * signals interrupt.
 *
 * Covers: librdmacm/module.c
 */
#include <errno.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "librdmacm/cma.h"

ssize_t __wrap_send(int sock, const void *data, size_t size, int flags);
ssize_t __wrap_recv(int sock, void *data, size_t size, int flags);
int __wrap_socket(int domain, int type, int protocol);

static struct {
	int sends_interrupted, receives_interrupted, sent;
	int answer; /* error in the kernel's answer, or 0 */
} kernel;

int __real_socket(int domain, int type, int protocol);

int __wrap_socket(int domain, int type, int protocol)
{
	assert_int_equal(domain, AF_NETLINK);
	assert_int_equal(protocol, NETLINK_RDMA);
	return __real_socket(AF_UNIX,
			     type & SOCK_CLOEXEC ? SOCK_STREAM | SOCK_CLOEXEC : SOCK_STREAM, 0);
}

static ssize_t interrupted(int *left, ssize_t otherwise)
{
	if (!*left)
		return otherwise;
	--*left;
	errno = EINTR;
	return -1;
}

ssize_t __wrap_send(int sock, const void *data, size_t size, int flags)
{
	const ssize_t ret = interrupted(&kernel.sends_interrupted, (ssize_t)size);

	(void)sock, (void)data, (void)flags;
	kernel.sent += ret > 0;
	return ret;
}

ssize_t __wrap_recv(int sock, void *data, size_t size, int flags)
{
	const struct nlmsghdr head = { .nlmsg_type = NLMSG_ERROR };
	const struct nlmsgerr error = { .error = -kernel.answer };

	(void)sock, (void)flags;
	assert_true(size >= sizeof(head) + sizeof(error));
	memcpy(data, &head, sizeof(head));
	memcpy((char *)data + sizeof(head), &error, sizeof(error));
	return interrupted(&kernel.receives_interrupted, sizeof(head) + sizeof(error));
}

static void a_signal_is_no_answer(void **state)
{
	(void)state;
	kernel.sends_interrupted = 2;
	kernel.receives_interrupted = 3;
	assert_int_equal(rdmacm_module_load(), 0);
	assert_int_equal(kernel.sent, 1);
	assert_int_equal(kernel.receives_interrupted, 0);
}

static void the_kernel_says_that_there_is_none(void **state)
{
	(void)state;
	kernel.answer = ENODEV;
	assert_int_equal(rdmacm_module_load(), ENODEV);
	kernel.answer = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_is_no_answer),
		cmocka_unit_test(the_kernel_says_that_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
