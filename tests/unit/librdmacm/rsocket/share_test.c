/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * share_test.c - the state that processes share of a listener: a pipe of requests, a socket of
 * channels, one holder at a time. A file replaces a channel, and two shares on the same pipe and
 * sockets replace two processes.
 *
 * Covers: librdmacm/rsocket/share.c
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "librdmacm/rsocket/share.h"

static struct rs_share share;
static int files[4]; /* with different inodes */

static int share_begin(void **state)
{
	(void)state;
	memset(&share, 0, sizeof(share));
	for (int i = 0; i < 4; i++) {
		int ends[2];

		if (pipe(ends))
			return -1;
		close(ends[1]);
		files[i] = ends[0];
	}
	return rdmacm_share_open(&share, files[0]);
}

static int share_end(void **state)
{
	(void)state;
	rdmacm_share_close(&share);
	for (int i = 0; i < 4; i++)
		close(files[i]);
	return 0;
}

/* Returns the share as in a forked process, where the holder's end of the pipe is closed. */
static struct rs_share share_of_child(void)
{
	struct rs_share child = share;

	for (int i = 0; i < 2; i++) {
		child.channel[i] = dup(share.channel[i]);
		child.requests[i] = dup(share.requests[i]);
	}
	rdmacm_share_forked(&child);
	return child;
}

static void check_same_file(int one, int other)
{
	struct stat a, b;

	assert_int_equal(fstat(one, &a), 0);
	assert_int_equal(fstat(other, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
}

static void check_channels(int count, int first, int second, int third)
{
	const int expected[SHARE_CHANNELS] = { first, second, third };
	struct rs_share_channels found;

	assert_int_equal(rdmacm_share_find_channels(&share, &found), 0);
	assert_int_equal(found.count, count);
	for (int i = 0; i < count; i++) {
		check_same_file(found.fds[i], files[expected[i]]);
		assert_int_not_equal(found.fds[i], files[expected[i]]);
		assert_int_equal(fcntl(found.fds[i], F_GETFD), FD_CLOEXEC);
	}
	rdmacm_share_close_channels(&found);
	assert_int_equal(found.count, 0);
}

static int lowest_free_fd(void)
{
	int fd = dup(files[0]);

	close(fd);
	return fd;
}

static void whoever_opens_it_is_the_holder(void **state)
{
	(void)state;
	assert_true(rs_share_is_open(&share));
	assert_true(share.holds);
	assert_false(share.is_making);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fcntl(share.requests[i], F_GETFD), FD_CLOEXEC);
		assert_true(fcntl(share.requests[i], F_GETFL) & O_NONBLOCK);
		assert_int_equal(fcntl(share.channel[i], F_GETFD), FD_CLOEXEC);
	}
	check_channels(1, 0, 0, 0);
	check_channels(1, 0, 0, 0);
}

/* The next holder may be another user, so the pipe must be open to all. */
static void anybody_may_open_the_pipe(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(fstat(share.requests[0], &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
}

static void an_open_share_stays_as_it_is(void **state)
{
	const struct rs_share before = share;

	(void)state;
	assert_int_equal(rdmacm_share_open(&share, files[1]), 0);
	assert_memory_equal(&share, &before, sizeof(share));
	check_channels(1, 0, 0, 0);
}

/* A signal handler may interrupt the thread that makes the share, and ask for it, so it must get an
 * answer without a lock. */
static void a_share_that_is_being_made_is_busy(void **state)
{
	(void)state;
	share.is_making = true;
	assert_int_equal(rdmacm_share_open(&share, files[0]), EBUSY);
	assert_true(share.is_making);
	share.is_making = false;
	assert_int_equal(rdmacm_share_open(&share, files[0]), 0);
}

static void a_closed_share_has_no_descriptor(void **state)
{
	const int held[] = { share.requests[0], share.requests[1], share.channel[0],
			     share.channel[1] };

	(void)state;
	rdmacm_share_close(&share);
	assert_false(rs_share_is_open(&share));
	assert_false(share.holds);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(fcntl(held[i], F_GETFD), -1);
		assert_int_equal(i < 2 ? share.requests[i] : share.channel[i - 2], -1);
	}
	rdmacm_share_close(&share);
}

/* If a channel cannot be stored, the share leaves no descriptor open. */
static void a_share_that_fails_has_no_descriptor(void **state)
{
	struct rs_share other = { 0 };
	const int before = lowest_free_fd();

	(void)state;
	assert_int_equal(rdmacm_share_open(&other, -1), EBADF);
	assert_false(rs_share_is_open(&other));
	assert_false(other.holds);
	assert_false(other.is_making);
	assert_int_equal(lowest_free_fd(), before);
	assert_int_equal(rdmacm_share_open(&other, files[0]), 0);
	rdmacm_share_close(&other);
}

static void a_child_holds_nothing(void **state)
{
	struct rs_share child = share_of_child();

	(void)state;
	assert_true(rs_share_is_open(&child));
	assert_false(child.holds);
	assert_int_equal(child.requests[1], -1);
	child.is_making = true;
	rdmacm_share_forked(&child);
	assert_false(child.is_making);
	rdmacm_share_close(&child);
	child = (struct rs_share){ .is_making = true, .requests = { 3, 3 } };
	rdmacm_share_forked(&child);
	assert_false(child.is_making);
	assert_int_equal(child.requests[1], 3);
}

static struct rdma_ucm_event_resp request_of(uint32_t id)
{
	return (struct rdma_ucm_event_resp){ .id = id, .uid = 0x1122334455667788 };
}

static void requests_come_out_in_their_order(void **state)
{
	struct rdma_ucm_event_resp request, got;

	(void)state;
	assert_int_equal(rdmacm_share_take(&share, &got), EAGAIN);
	assert_int_equal(rdmacm_share_count(&share), 0);
	for (uint32_t id = 1; id <= 3; id++) {
		request = request_of(id);
		assert_int_equal(rdmacm_share_put(&share, &request), 0);
		assert_int_equal(rdmacm_share_count(&share), id);
	}
	for (uint32_t id = 1; id <= 3; id++) {
		request = request_of(id);
		assert_int_equal(rdmacm_share_take(&share, &got), 0);
		assert_memory_equal(&got, &request, sizeof(got));
	}
	assert_int_equal(rdmacm_share_take(&share, &got), EAGAIN);
}

static void a_full_pipe_has_no_room(void **state)
{
	struct rdma_ucm_event_resp request = request_of(7);
	unsigned int count = 0;

	(void)state;
	while (rdmacm_share_has_room(&share) && count++ < 100000)
		assert_int_equal(rdmacm_share_put(&share, &request), 0);
	assert_int_equal(rdmacm_share_count(&share), count);
	while (rdmacm_share_put(&share, &request) != EAGAIN)
		assert_true(count++ < 100000);
	while (rdmacm_share_has_room(&share) == false)
		assert_int_equal(rdmacm_share_take(&share, &request), 0);
	assert_int_equal(rdmacm_share_put(&share, &request), 0);
}

/* Without a holder, the pipe is at its end, so no request comes until there is a next holder. */
static void without_a_holder_there_is_nothing_to_take(void **state)
{
	struct rdma_ucm_event_resp request = request_of(9);

	(void)state;
	assert_int_equal(rdmacm_share_put(&share, &request), 0);
	rdmacm_share_let_go(&share);
	assert_false(share.holds);
	assert_int_equal(rdmacm_share_take(&share, &request), 0);
	assert_int_equal(rdmacm_share_take(&share, &request), EAGAIN);
	close(share.requests[0]);
	assert_int_equal(rdmacm_share_take(&share, &request), EBADF);
	assert_int_equal(rdmacm_share_count(&share), 0);
	assert_int_equal(rdmacm_share_put(&share, &request), EBADF);
	share.requests[0] = -1;
}

static void there_is_one_holder_at_a_time(void **state)
{
	struct rs_share child = share_of_child();
	const int before = lowest_free_fd();
	int error = 99;

	(void)state;
	assert_false(rdmacm_share_hold(&child, &error));
	assert_int_equal(error, 0);
	assert_false(child.holds);
	assert_int_equal(child.requests[1], -1);
	assert_int_equal(lowest_free_fd(), before);
	rdmacm_share_let_go(&share);
	assert_true(rdmacm_share_hold(&child, &error));
	assert_int_equal(error, 0);
	assert_true(child.holds);
	assert_int_equal(fcntl(child.requests[1], F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(child.requests[1], F_GETFL) & O_NONBLOCK);
	assert_false(rdmacm_share_hold(&share, &error));
	rdmacm_share_close(&child);
	assert_true(rdmacm_share_hold(&share, &error));
}

static void a_pipe_that_is_not_there_is_an_error(void **state)
{
	struct rs_share none = { .requests = { -1, -1 } };
	int error = 0;

	(void)state;
	assert_false(rdmacm_share_hold(&none, &error));
	assert_int_equal(error, ENOENT);
}

/* The newest channel comes first; the oldest falls out. */
static void channels_lie_newest_first(void **state)
{
	(void)state;
	for (int next = 1; next < 4; next++) {
		struct rs_share_channels found;

		assert_int_equal(rdmacm_share_find_channels(&share, &found), 0);
		assert_int_equal(rdmacm_share_set_channel(&share, files[next], &found), 0);
		rdmacm_share_close_channels(&found);
		if (next == 1)
			check_channels(2, 1, 0, 0);
		else if (next == 2)
			check_channels(3, 2, 1, 0);
		else
			check_channels(3, 3, 2, 1);
	}
}

static void channels_leave_no_descriptor(void **state)
{
	const struct rs_share_channels none = { 0 };
	const int before = lowest_free_fd();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rdmacm_share_set_channel(&share, files[i], &none), 0);
		check_channels(1, i, 0, 0);
	}
	assert_int_equal(lowest_free_fd(), before);
	assert_int_equal(rdmacm_share_set_channel(&share, -1, &none), EBADF);
	check_channels(1, 2, 0, 0);
}

/* A descriptor is free for only one of two channels, or for none. */
static void channels_that_find_no_number_are_an_error(void **state)
{
	const struct rs_share_channels before = { 1, { files[0] } };
	const int free_fd = lowest_free_fd();
	struct rlimit limit, few;

	(void)state;
	assert_int_equal(rdmacm_share_set_channel(&share, files[1], &before), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int room = 1; room >= 0; room--) {
		struct rs_share_channels found = { 0 };
		int ret;

		few = (struct rlimit){ (rlim_t)(free_fd + room), limit.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		ret = rdmacm_share_find_channels(&share, &found);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(ret, EMFILE);
		assert_int_equal(found.count, 0);
		assert_int_equal(lowest_free_fd(), free_fd);
	}
	check_channels(2, 1, 0, 0);
}

static void a_lost_listener_has_no_channel(void **state)
{
	struct rs_share_channels found = { 1, { 0 } };
	struct rs_share closed = { .channel = { -1, -1 } };

	(void)state;
	assert_int_equal(rdmacm_share_lose(&share), 0);
	assert_int_equal(rdmacm_share_find_channels(&share, &found), EIDRM);
	assert_int_equal(found.count, 0);
	assert_int_equal(rdmacm_share_find_channels(&closed, &found), EBADF);
	assert_int_equal(rdmacm_share_lose(&closed), EBADF);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, share_begin, share_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whoever_opens_it_is_the_holder),
		TEST(anybody_may_open_the_pipe),
		TEST(an_open_share_stays_as_it_is),
		TEST(a_share_that_is_being_made_is_busy),
		TEST(a_closed_share_has_no_descriptor),
		TEST(a_share_that_fails_has_no_descriptor),
		TEST(a_child_holds_nothing),
		TEST(requests_come_out_in_their_order),
		TEST(a_full_pipe_has_no_room),
		TEST(without_a_holder_there_is_nothing_to_take),
		TEST(there_is_one_holder_at_a_time),
		TEST(a_pipe_that_is_not_there_is_an_error),
		TEST(channels_lie_newest_first),
		TEST(channels_leave_no_descriptor),
		TEST(channels_that_find_no_number_are_an_error),
		TEST(a_lost_listener_has_no_channel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
