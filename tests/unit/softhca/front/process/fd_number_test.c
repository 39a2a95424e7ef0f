/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fd_number_test.c - numbers of descriptors. This process is the program, and the kernel's part of
 * installing a descriptor is dup3(), which replaces what has the number as well.
 */
#include "softhca/front/process/fd_number.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct client client;
static struct call call;
static int in_the_way = -1; /* what another thread installs at a number that was found free */
static int refusals;        /* next placements that fail with EBUSY, as in a race for the number */

struct client *client_find(pid_t tid)
{
	(void)tid;
	return &client;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	(void)tid;
	return fstat(fd, st) ? EBADF : 0;
}

int call_give_fd(struct call *of, int fd, bool cloexec)
{
	int number = fcntl(fd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);

	(void)of;
	return number < 0 ? -errno : number;
}

int call_place_fd(struct call *of, int fd, bool cloexec, int number)
{
	(void)of;
	if (refusals) {
		refusals--;
		return EBUSY;
	}
	return dup3(fd, number, cloexec ? O_CLOEXEC : 0) < 0 ? errno : 0;
}

void call_return(struct call *of, int64_t value)
{
	(void)of, (void)value;
}

void call_fail(struct call *of, int error)
{
	(void)of, (void)error;
}

static bool is_same(int fd, int other)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int file_of_our_own(void)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	return ends[0];
}

static int set_up(void **state)
{
	(void)state;
	memset(&client, 0, sizeof(client));
	call = (struct call){ .tid = getpid() };
	refusals = 0;
	in_the_way = file_of_our_own();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(in_the_way);
	return 0;
}

static void a_number_is_in_the_band(void **state)
{
	int fd = file_of_our_own(), number, next;

	(void)state;
	assert_int_equal(fd_number_pick(call.tid, &number), 0);
	assert_true(number >= FD_BAND_FIRST && number < FD_SELECT_END - 1);
	assert_int_equal(fd_number_place(&call, fd, true, &number), 0);
	assert_true(is_same(number, fd));
	assert_int_equal(fcntl(number, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fd_number_pick(call.tid, &next), 0);
	assert_int_equal(next, number - 1);
	close(number);
	close(fd);
}

/* Between the choice and the answer, the program opens something there. */
static void a_number_in_use_by_then_is_left_alone(void **state)
{
	int fd = file_of_our_own(), chosen, number;

	(void)state;
	assert_int_equal(fd_number_pick(call.tid, &number), 0);
	chosen = number;
	assert_int_equal(dup2(in_the_way, chosen), chosen);
	assert_int_equal(fd_number_place(&call, fd, true, &number), 0);
	assert_int_not_equal(number, chosen);
	assert_true(is_same(chosen, in_the_way));
	assert_true(is_same(number, fd));
	close(chosen);
	close(number);
	close(fd);
}

static void a_number_that_is_being_given_is_left_alone(void **state)
{
	int fd = file_of_our_own(), number;

	(void)state;
	refusals = 2;
	assert_int_equal(fd_number_pick(call.tid, &number), 0);
	assert_int_equal(fd_number_place(&call, fd, false, &number), 0);
	assert_true(is_same(number, fd));
	assert_int_equal(fcntl(number, F_GETFD), 0);
	close(number);
	refusals = MOST_TRIES;
	assert_int_equal(fd_number_place(&call, fd, false, &number), EBUSY);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_number_is_in_the_band, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_number_in_use_by_then_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_number_that_is_being_given_is_left_alone, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
