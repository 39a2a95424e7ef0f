/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_test.c - rpoll() and rselect() over stand-in sockets and pipes: events of each entry, with
 * and without sleep, and memory for any number of entries.
 *
 * Covers: librdmacm/rsocket/poll/poll.c, librdmacm/rsocket/poll/select.h
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/poll/poll.c"

enum { SOCKETS = 2, MANY = FEW + 10, FOREVER = -1 };

/* A socket backed by a pipe: it has POLLIN once the pipe has data and the socket was asked to read
 * it */
static struct socket_played {
	struct rs rs;
	int ends[2];
	short events;
	unsigned int told;
} played[SOCKETS];

static int ends[2];      /* of a plain pipe */
static int pieces;       /* allocated blocks */
static int fails_at = 0; /* number of the allocation that fails, from 1 */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size) __attribute__((visibility("default")));
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) __attribute__((visibility("default")));
void __real_free(void *memory);
void __wrap_free(void *memory) __attribute__((visibility("default")));

int __real_poll(struct pollfd *fds, nfds_t nfds, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout)
	__attribute__((visibility("default")));

static bool is_interrupted; /* a signal interrupts each poll() of the system */

int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	if (!is_interrupted)
		return __real_poll(fds, nfds, timeout);
	errno = EINTR;
	return -1;
}

static bool memory_is_short(void)
{
	return fails_at && !--fails_at;
}

void *__wrap_malloc(size_t size)
{
	if (memory_is_short())
		return NULL;
	pieces++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	if (memory_is_short())
		return NULL;
	pieces++;
	return __real_calloc(count, size);
}

void __wrap_free(void *memory)
{
	pieces -= memory != NULL;
	__real_free(memory);
}

static short socket_poll(struct rs *rs, short events, bool sleep)
{
	struct socket_played *socket = (struct socket_played *)rs;

	(void)sleep;
	return socket->events & (events | POLLERR | POLLHUP);
}

static int socket_wake_fds(struct rs *rs, struct pollfd *fds)
{
	struct socket_played *socket = (struct socket_played *)rs;

	fds[0] = (struct pollfd){ .fd = socket->ends[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = -1 };
	return 2;
}

static void socket_woken(struct rs *rs, const struct pollfd *fds, int count)
{
	struct socket_played *socket = (struct socket_played *)rs;

	assert_int_equal(count, 2);
	assert_int_equal(fds[0].fd, socket->ends[0]);
	socket->told++;
	socket->events |= POLLIN;
}

static const struct rs_kind kind = {
	.poll = socket_poll,
	.wake_fds = socket_wake_fds,
	.woken = socket_woken,
};

static int sockets_begin(void **state)
{
	(void)state;
	for (int i = 0; i < SOCKETS; i++) {
		memset(&played[i], 0, sizeof(played[i]));
		rdmacm_rs_init(&played[i].rs, &kind, AF_INET, SOCK_STREAM);
		if (pipe(played[i].ends))
			return -1;
		played[i].rs.fd = dup(played[i].ends[0]);
		if (rdmacm_rs_table_add(&played[i].rs))
			return -1;
	}
	if (pipe(ends))
		return -1;
	pieces = 0;
	return 0;
}

static int sockets_end(void **state)
{
	(void)state;
	assert_int_equal(pieces, 0);
	for (int i = 0; i < SOCKETS; i++) {
		assert_int_equal(played[i].rs.waiters.count, 0);
		rdmacm_rs_retire(&played[i].rs);
		rdmacm_rs_fini(&played[i].rs);
		close(played[i].rs.fd);
		close(played[i].ends[0]);
		close(played[i].ends[1]);
	}
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void entries_fill(struct pollfd *fds, int count, short events)
{
	for (int i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = -1, .events = events, .revents = 0x5a5a };
	fds[0].fd = played[0].rs.fd;
	fds[1].fd = ends[0];
	fds[count - 1].fd = played[1].rs.fd;
}

static void write_byte(const int *pipe_ends)
{
	assert_int_equal(write(pipe_ends[1], "", 1), 1);
}

static const int counts[] = { 3, FEW, FEW + 1, MANY };

static void check_poll(int count, int timeout, short first, short of_pipe, short last)
{
	struct pollfd fds[MANY];

	entries_fill(fds, count, POLLIN);
	assert_int_equal(rpoll(fds, count, timeout), !!first + !!of_pipe + !!last);
	assert_int_equal(fds[0].revents, first);
	assert_int_equal(fds[1].revents, of_pipe);
	assert_int_equal(fds[count - 1].revents, last);
	for (int i = 2; i < count - 1; i++)
		assert_int_equal(fds[i].revents, 0);
}

static void sockets_and_others_get_their_events(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		sockets_end(state);
		sockets_begin(state);
		check_poll(counts[i], 0, 0, 0, 0);
		check_poll(counts[i], 1, 0, 0, 0);
		played[1].events = POLLIN | POLLOUT;
		check_poll(counts[i], 0, 0, 0, POLLIN);
		check_poll(counts[i], FOREVER, 0, 0, POLLIN);
		write_byte(ends);
		check_poll(counts[i], 0, 0, POLLIN, POLLIN);
		played[0].events = POLLHUP;
		check_poll(counts[i], FOREVER, POLLHUP, POLLIN, POLLIN);
	}
}

static void a_pipe_ends_the_sleep(void **state)
{
	(void)state;
	write_byte(ends);
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_poll(counts[i], FOREVER, 0, POLLIN, 0);
	assert_int_equal(played[0].told + played[1].told, 0);
}

/* A wake-up only means that polling the socket again may help, so the socket is asked again. */
static void a_socket_that_wakes_is_told_and_asked_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		sockets_end(state);
		sockets_begin(state);
		write_byte(played[1].ends);
		check_poll(counts[i], FOREVER, 0, 0, POLLIN);
		assert_int_equal(played[0].told, 0);
		assert_int_equal(played[1].told, 1);
	}
}

static void without_memory_many_entries_are_refused(void **state)
{
	struct pollfd fds[MANY];

	(void)state;
	write_byte(ends);
	for (int nth = 1; nth <= 3; nth++) {
		entries_fill(fds, MANY, POLLIN);
		fails_at = nth;
		errno = 0;
		assert_int_equal(rpoll(fds, MANY, FOREVER), -1);
		assert_int_equal(errno, ENOMEM);
		assert_int_equal(fails_at, 0);
		assert_int_equal(pieces, 0);
	}
	check_poll(MANY, FOREVER, 0, POLLIN, 0);
}

static void what_sleeps_for_a_set_leaves_no_memory(void **state)
{
	struct rs_waiters also;
	struct rs_sleepers *sleepers;
	struct pollfd fds[MANY];

	(void)state;
	rdmacm_rs_waiters_forget(&also);
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		entries_fill(fds, counts[i], POLLIN);
		sleepers = rdmacm_rs_sleepers_alloc(fds, counts[i], &also, NULL, NULL);
		assert_non_null(sleepers);
		assert_int_equal(played[0].rs.waiters.count, 1);
		assert_int_equal(rdmacm_rs_sleep(sleepers, fds, counts[i], 0), 0);
		rdmacm_rs_sleepers_free(sleepers);
		assert_int_equal(played[0].rs.waiters.count + also.count, 0);
		assert_int_equal(pieces, 0);
	}
	for (int nth = 1; nth <= 3; nth++) {
		fails_at = nth;
		assert_null(rdmacm_rs_sleepers_alloc(fds, MANY, &also, NULL, NULL));
		assert_int_equal(pieces, 0);
	}
}

static void rselect_has_the_same_events(void **state)
{
	struct timeval none = { 0, 0 }, wrong = { -1, 0 };
	fd_set in, out;

	(void)state;
	played[0].events = POLLOUT;
	write_byte(ends);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(played[0].rs.fd, &in);
	FD_SET(ends[0], &in);
	FD_SET(played[0].rs.fd, &out);
	FD_SET(played[1].rs.fd, &out);
	errno = 0;
	assert_int_equal(rselect(FD_SETSIZE, &in, &out, NULL, &wrong), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rselect(FD_SETSIZE + 1, &in, &out, NULL, &none), -1);
	assert_int_equal(rselect(FD_SETSIZE, &in, &out, NULL, &none), 2);
	assert_false(FD_ISSET(played[0].rs.fd, &in));
	assert_true(FD_ISSET(ends[0], &in));
	assert_true(FD_ISSET(played[0].rs.fd, &out));
	assert_false(FD_ISSET(played[1].rs.fd, &out));
}

static void a_signal_hides_no_socket_that_is_ready(void **state)
{
	struct pollfd fds[] = { { .fd = played[0].rs.fd, .events = POLLIN },
				{ .fd = ends[0], .events = POLLIN } };

	(void)state;
	is_interrupted = true;
	assert_int_equal(rpoll(fds, 2, 0), -1);
	assert_int_equal(errno, EINTR);
	played[0].events = POLLIN;
	assert_int_equal(rpoll(fds, 2, 0), 1);
	assert_int_equal(fds[0].revents, POLLIN);
	assert_int_equal(fds[1].revents, 0);
	is_interrupted = false;
}

/* A call shields parts of its work from cancellation, so each shield must end with the part. */
static void a_call_leaves_its_thread_cancellable(void **state)
{
	int before;

	(void)state;
	write_byte(ends);
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		check_poll(counts[i], 0, 0, POLLIN, 0);
		assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
		assert_int_equal(before, PTHREAD_CANCEL_ENABLE);
		check_poll(counts[i], FOREVER, 0, POLLIN, 0);
		assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
		assert_int_equal(before, PTHREAD_CANCEL_ENABLE);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sockets_begin, sockets_end)
	const struct CMUnitTest tests[] = {
		TEST(sockets_and_others_get_their_events),
		TEST(a_pipe_ends_the_sleep),
		TEST(a_socket_that_wakes_is_told_and_asked_again),
		TEST(without_memory_many_entries_are_refused),
		TEST(what_sleeps_for_a_set_leaves_no_memory),
		TEST(rselect_has_the_same_events),
		TEST(a_signal_hides_no_socket_that_is_ready),
		TEST(a_call_leaves_its_thread_cancellable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
