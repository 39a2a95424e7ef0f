/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests calls on the parent's connection in a child: their results, and what they write to the
 * caller's variables.
 *
 * Covers: librdmacm/rsocket/forked.c
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "librdmacm/rsocket/forked.c"

enum { BYTES = 5 };

/* Callers add up the bytes of refused calls, too, so a refusal must report 0 bytes. */
static void a_refused_transfer_moves_no_bytes(void **state)
{
	struct rs rs = { .fd = -1 };
	struct sockaddr_storage from;
	size_t done = BYTES;
	int flags = 0;

	(void)state;
	assert_int_equal(rdmacm_rs_of_parent_kind.send(&rs, NULL, 0, NULL, 0, &done), ENOTCONN);
	assert_int_equal(done, 0);
	done = BYTES;
	assert_int_equal(rdmacm_rs_of_parent_kind.receive(&rs, NULL, &flags, &from, &done),
			 ENOTCONN);
	assert_int_equal(done, 0);
}

/* A program that polls its parent's connection must not wait for data that never comes. */
static void a_poll_has_an_error_at_once(void **state)
{
	struct pollfd fds[RS_WAKE_FDS];
	struct rs rs = { .fd = -1 };

	(void)state;
	assert_int_equal(rdmacm_rs_of_parent_kind.poll(&rs, 0, true), POLLERR | POLLHUP);
	assert_int_equal(rdmacm_rs_of_parent_kind.poll(&rs, POLLIN, false),
			 POLLERR | POLLHUP | POLLIN);
	assert_int_equal(rdmacm_rs_of_parent_kind.poll(&rs, POLLOUT | POLLPRI, false),
			 POLLERR | POLLHUP | POLLOUT);
	assert_int_equal(rdmacm_rs_of_parent_kind.wake_fds(&rs, fds), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_transfer_moves_no_bytes),
		cmocka_unit_test(a_poll_has_an_error_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
