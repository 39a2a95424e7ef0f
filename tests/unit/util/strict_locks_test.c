/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict_locks_test.c - with RDMAKIT_STRICT_LOCKS, a lock of one word that is dropped without being
 * taken ends the program.
 */
#ifndef RDMAKIT_STRICT_LOCKS
#define RDMAKIT_STRICT_LOCKS 1
#endif

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/lock.h"

static void lock_drop(bool is_taken)
{
	struct cm_lock lock;

	cm_lock_init(&lock);
	if (is_taken)
		cm_lock_take(&lock);
	cm_lock_drop(&lock);
}

/* Returns how a child ends that drops the lock. */
static int child_status(bool is_taken)
{
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGABRT, SIG_DFL);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		lock_drop(is_taken);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_lock_that_nobody_has_is_not_dropped(void **state)
{
	(void)state;
	assert_int_equal(child_status(true), 0);
	assert_true(WIFSIGNALED(child_status(false)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_that_nobody_has_is_not_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
