/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * members_test.c - epoll sets that contain rsockets: records of members, sets that get a number
 * once it becomes a socket, and removal with a number or a set. epoll_ctl() is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/preload/members.c"

/* NEIGHBOUR shares FIRST's hash list */
enum { SET = 5, OTHER_SET, FD = 20, OTHER_FD, FIRST = 7, NEIGHBOUR = FIRST + LISTS, ROOM = 4 };
enum { HANG_SECONDS = 5 };

static struct {
	int set, fd;
	uint64_t data;
} added[ROOM];
static int added_count, callocs_left = -1;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) __attribute__((visibility("default")));

void *__wrap_calloc(size_t count, size_t size)
{
	return callocs_left && callocs_left-- ? __real_calloc(count, size) : NULL;
}

static int epoll_ctl_noted(int set, int op, int fd, struct epoll_event *event)
{
	assert_int_equal(op, EPOLL_CTL_ADD);
	assert_int_not_equal(added_count, ROOM);
	added[added_count].set = set;
	added[added_count].fd = fd;
	added[added_count++].data = event->data.u64;
	return 0;
}

const struct real_calls *real(void)
{
	static const struct real_calls calls = { .epoll_ctl = epoll_ctl_noted };

	return &calls;
}

static void member_put_in(int set, int fd, int rsocket, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	assert_int_equal(preload_member_noted(set, EPOLL_CTL_ADD, fd, rsocket, &event), 0);
}

/* Replaces the rsocket by TCP; returns the number of sets that got the socket. */
static int added_by(int rsocket)
{
	added_count = 0;
	preload_members_turn_over(rsocket);
	return added_count;
}

static int all_gone(void **state)
{
	(void)state;
	preload_members_of_set_gone(SET);
	preload_members_of_set_gone(OTHER_SET);
	for (int i = 0; i < LISTS; i++)
		assert_true(LIST_EMPTY(&lists[i]));
	return 0;
}

static void a_socket_takes_the_place_of_its_rsocket(void **state)
{
	struct epoll_event changed = { .data.u64 = 4 };

	(void)state;
	member_put_in(SET, FD, FIRST, 1);
	member_put_in(OTHER_SET, OTHER_FD, FIRST, 2);
	member_put_in(SET, FD, NEIGHBOUR, 3);
	assert_int_equal(preload_member_noted(SET, EPOLL_CTL_MOD, FD, FIRST, &changed), 0);
	assert_int_equal(added_by(FIRST), 2);
	for (int i = 0; i < 2; i++) {
		const bool is_other = added[i].set == OTHER_SET;

		assert_int_equal(added[i].set, is_other ? OTHER_SET : SET);
		assert_int_equal(added[i].fd, is_other ? OTHER_FD : FD);
		assert_int_equal(added[i].data, is_other ? 2 : 4);
	}
	assert_int_not_equal(added[0].set, added[1].set);
	assert_int_equal(added_by(FIRST), 0);
	assert_int_equal(added_by(NEIGHBOUR), 1);
	assert_int_equal(added[0].data, 3);
}

static void a_member_that_left_is_not_added(void **state)
{
	(void)state;
	member_put_in(SET, FD, FIRST, 1);
	member_put_in(OTHER_SET, FD, FIRST, 2);
	assert_int_equal(preload_member_noted(SET, EPOLL_CTL_DEL, FD, FIRST, NULL), 0);
	assert_int_equal(preload_member_noted(SET, EPOLL_CTL_DEL, FD, FIRST, NULL), 0);
	assert_int_equal(added_by(FIRST), 1);
	assert_int_equal(added[0].set, OTHER_SET);
}

static void without_memory_a_member_is_refused(void **state)
{
	struct epoll_event event = { .data.u64 = 2 };

	(void)state;
	member_put_in(SET, FD, FIRST, 1);
	callocs_left = 0;
	assert_int_equal(preload_member_noted(OTHER_SET, EPOLL_CTL_ADD, FD, FIRST, &event), ENOMEM);
	/* modifying a member needs no memory, so it cannot fail for lack of it */
	assert_int_equal(preload_member_noted(SET, EPOLL_CTL_MOD, FD, FIRST, &event), 0);
	callocs_left = -1;
	assert_int_equal(added_by(FIRST), 1);
	assert_int_equal(added[0].data, 2);
}

static void a_report_loses_the_events_of_one_rsocket(void **state)
{
	struct epoll_event events[4] = {
		{ .data.u64 = 1 }, { .data.u64 = 2 }, { .data.u64 = 1 }, { .data.u64 = 3 }
	};
	int count = 4;
	const struct preload_report report = { SET, events, &count };

	(void)state;
	member_put_in(OTHER_SET, FD, FIRST, 2);
	preload_members_unreport(FIRST, &report); /* not in this set */
	assert_int_equal(count, 4);
	member_put_in(SET, FD, FIRST, 1);
	preload_members_unreport(FIRST, &report);
	assert_int_equal(count, 2);
	assert_int_equal(events[0].data.u64, 2);
	assert_int_equal(events[1].data.u64, 3);
}

static void a_number_that_is_gone_leaves_its_sets(void **state)
{
	(void)state;
	member_put_in(SET, FD, FIRST, 1);
	member_put_in(OTHER_SET, OTHER_FD, FIRST, 2);
	member_put_in(SET, FD, NEIGHBOUR, 3);
	preload_members_of_number_gone(FD, FIRST);
	assert_int_equal(added_by(FIRST), 1);
	assert_int_equal(added[0].data, 2);
	assert_int_equal(added_by(NEIGHBOUR), 1);
}

static void a_set_that_is_gone_has_no_members(void **state)
{
	(void)state;
	for (int rsocket = 0; rsocket < LISTS; rsocket++)
		member_put_in(SET, FD, rsocket, 1);
	member_put_in(OTHER_SET, FD, FIRST, 2);
	preload_members_of_set_gone(SET);
	for (int rsocket = 0; rsocket < LISTS; rsocket++)
		assert_int_equal(added_by(rsocket), rsocket == FIRST);
}

/* Another thread of the parent may hold the lock during fork(), so the child starts with a free
 * one. */
static void a_child_finds_the_lock_free(void **state)
{
	int status;
	pid_t child;

	(void)state;
	member_put_in(SET, FD, FIRST, 1);
	pthread_mutex_lock(&lock);
	child = fork();
	if (!child) {
		alarm(HANG_SECONDS);
		_exit(added_by(FIRST) != 1);
	}
	pthread_mutex_unlock(&lock);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_socket_takes_the_place_of_its_rsocket, all_gone),
		cmocka_unit_test_teardown(a_member_that_left_is_not_added, all_gone),
		cmocka_unit_test_teardown(without_memory_a_member_is_refused, all_gone),
		cmocka_unit_test_teardown(a_report_loses_the_events_of_one_rsocket, all_gone),
		cmocka_unit_test_teardown(a_number_that_is_gone_leaves_its_sets, all_gone),
		cmocka_unit_test_teardown(a_set_that_is_gone_has_no_members, all_gone),
		cmocka_unit_test_teardown(a_child_finds_the_lock_free, all_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
