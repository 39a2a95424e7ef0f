/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eventfd_test.c - signals for eventfds of clients: none waits, with AIO or without, whatever the
 * client does to the descriptor.
 *
 * Covers: softhca/front/eventfd.c
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/front/eventfd.h"

enum { HANG_S = 20 };

static bool has_signal(int fd)
{
	struct pollfd look = { fd, POLLIN, 0 };

	return poll(&look, 1, 0) == 1;
}

/* Signals a new eventfd with FLAGS that has the value BEFORE. Returns the value after that. */
static eventfd_t value_after(int flags, eventfd_t before)
{
	int fd = eventfd(0, flags);
	eventfd_t value = 0;

	assert_true(fd >= 0);
	assert_int_equal(eventfd_write(fd, before), 0);
	alarm(HANG_S);
	eventfd_signal(fd);
	alarm(0);
	if (has_signal(fd))
		assert_int_equal(eventfd_read(fd, &value), 0);
	close(fd);
	return value;
}

/* Runs first, since nothing has started AIO yet. */
static void without_aio_only_descriptors_that_never_wait_are_signalled(void **state)
{
	(void)state;
	assert_int_equal(value_after(EFD_NONBLOCK, 0), 1);
	assert_int_equal(value_after(EFD_NONBLOCK, UINT64_MAX - 1), UINT64_MAX - 1);
	assert_int_equal(value_after(0, 0), 0);
	assert_int_equal(value_after(0, UINT64_MAX - 1), UINT64_MAX - 1);
}

static void with_aio_all_are_signalled(void **state)
{
	(void)state;
	if (!eventfd_start())
		skip();
	assert_int_equal(value_after(EFD_NONBLOCK, 0), 1);
	assert_int_equal(value_after(0, 0), 1);
	value_after(0, UINT64_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_aio_only_descriptors_that_never_wait_are_signalled),
		cmocka_unit_test(with_aio_all_are_signalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
