/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_preload.c - copies of a number that stands for an rsocket, as the preload library's dup(),
 * dup2() and fcntl() make them. Its calls are linked into this program, so they are the ones that
 * it makes; the rsocket is a file that stands for one.
 */
#include "../libibverbs/unit.h"
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rsocket.h>
#include <unistd.h>

enum { UNTOUCHED = EXDEV };

static int closed = -1;

/* What the library calls of librdmacm here. */
int rclose(int rsocket)
{
	closed = rsocket;
	return 0;
}

int rfcntl(int rsocket, int command, ...)
{
	(void)rsocket, (void)command;
	return 0;
}

static int by_dup(int number)
{
	return dup(number);
}

static int by_dup2(int number)
{
	return dup2(number, 100);
}

static int by_fcntl(int number)
{
	return fcntl(number, F_DUPFD, 0);
}

static int by_fcntl_cloexec(int number)
{
	return fcntl(number, F_DUPFD_CLOEXEC, 0);
}

static int (*const ways[])(int number) = { by_dup, by_dup2, by_fcntl, by_fcntl_cloexec };

static void a_copy_leaves_errno_alone(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0), copy;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		errno = UNTOUCHED;
		copy = ways[i](number);
		assert_true(copy >= 0);
		assert_int_equal(errno, UNTOUCHED);
		assert_int_equal(preload_find(copy), rsocket);
		assert_int_equal(close(copy), 0);
	}
	assert_int_equal(close(number), 0);
	assert_int_equal(closed, rsocket);
	assert_int_equal(close(rsocket), 0);
}

static void a_copy_of_a_file_leaves_errno_alone(void **state)
{
	int file = preload_file(0), copy;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		errno = UNTOUCHED;
		copy = ways[i](file);
		assert_true(copy >= 0);
		assert_int_equal(errno, UNTOUCHED);
		assert_int_equal(preload_find(copy), -1);
		assert_int_equal(close(copy), 0);
	}
	assert_int_equal(close(file), 0);
}

static void the_last_copy_closes_the_rsocket(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0), copy = dup(number);

	(void)state;
	closed = -1;
	assert_int_equal(close(number), 0);
	assert_int_equal(closed, -1);
	assert_int_equal(close(copy), 0);
	assert_int_equal(closed, rsocket);
	assert_int_equal(close(rsocket), 0);
}

static void dup2_onto_another_rsocket_closes_that(void **state)
{
	int first = preload_file(0), second = preload_file(0);
	int number = preload_number(first, 0), other = preload_number(second, 0);

	(void)state;
	closed = -1;
	assert_int_equal(dup2(number, other), other);
	assert_int_equal(closed, second);
	assert_int_equal(preload_find(other), first);
	close(number);
	close(other);
	assert_int_equal(closed, first);
	close(first);
	close(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_leaves_errno_alone),
		cmocka_unit_test(a_copy_of_a_file_leaves_errno_alone),
		cmocka_unit_test(the_last_copy_closes_the_rsocket),
		cmocka_unit_test(dup2_onto_another_rsocket_closes_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
