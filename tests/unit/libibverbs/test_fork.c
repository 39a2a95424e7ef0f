/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What programs are told about fork(), on kernels that uname() (replaced by --wrap) makes up and
 * that have no RDMA netlink. The library asks once, so each kernel gets a process.
 */
#include "unit.h"

#include "private.h"

#include <errno.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

int __wrap_nl_connect(struct nl_sock *sock, int protocol);
int __wrap_uname(struct utsname *system);

static const char *release;

int __wrap_nl_connect(struct nl_sock *sock, int protocol)
{
	(void)sock;
	(void)protocol;
	return -NLE_PROTO_MISMATCH;
}

int __wrap_uname(struct utsname *system)
{
	snprintf(system->release, sizeof(system->release), "%s", release);
	return 0;
}

static bool all_say(int err, enum ibv_fork_status status)
{
	char byte;

	return ibv_fork_init() == err && ibv_is_fork_initialized() == status &&
	       ibv_dontfork_range(&byte, 1) == err && ibv_dofork_range(&byte, 1) == err;
}

static bool on_kernel(const char *name, int err, enum ibv_fork_status expected)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		release = name;
		_exit(!all_say(err, expected));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status == 0;
}

static void nothing_is_needed_where_the_kernel_copies(void **state)
{
	(void)state;
	assert_true(on_kernel("5.12.0", 0, IBV_FORK_UNNEEDED));
	assert_true(on_kernel("6.1.0-30-amd64", 0, IBV_FORK_UNNEEDED));
}

static void elsewhere_there_is_no_pretence(void **state)
{
	(void)state;
	assert_true(on_kernel("5.11.22", EOPNOTSUPP, IBV_FORK_DISABLED));
	assert_true(on_kernel("4.18.0-553.el8", EOPNOTSUPP, IBV_FORK_DISABLED));
	assert_true(on_kernel("unreadable", EOPNOTSUPP, IBV_FORK_DISABLED));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_needed_where_the_kernel_copies),
		cmocka_unit_test(elsewhere_there_is_no_pretence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
