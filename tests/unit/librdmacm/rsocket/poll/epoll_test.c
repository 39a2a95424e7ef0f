/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * epoll_test.c - sets without rsockets: other descriptors go to the set's epoll descriptor, and a
 * child of fork() has locks that nobody holds.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/poll/epoll.c"

static int epfd, ends[2];

static int set_begin(void **state)
{
	(void)state;
	epfd = repoll_create(1);
	return epfd < 0 || pipe(ends);
}

static int set_end(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return rdmacm_rs_set_close(epfd);
}

static void other_descriptors_are_in_the_set(void **state)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 }, found;

	(void)state;
	assert_int_equal(repoll_ctl(epfd, EPOLL_CTL_ADD, ends[0], &event), 0);
	assert_int_equal(repoll_ctl(epfd, EPOLL_CTL_ADD, ends[0], &event), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_int_equal(epoll_wait(epfd, &found, 1, 0), 1);
	assert_int_equal(found.data.u64, 7);
	event.events = 0;
	assert_int_equal(repoll_ctl(epfd, EPOLL_CTL_MOD, ends[0], &event), 0);
	assert_int_equal(epoll_wait(epfd, &found, 1, 0), 0);
	assert_int_equal(repoll_ctl(epfd, EPOLL_CTL_DEL, ends[0], NULL), 0);
	assert_int_equal(repoll_ctl(epfd, EPOLL_CTL_DEL, ends[0], NULL), -1);
	assert_int_equal(errno, ENOENT);
}

static void a_size_below_1_is_refused(void **state)
{
	(void)state;
	for (int size = -1; size <= 0; size++) {
		assert_int_equal(repoll_create(size), -1);
		assert_int_equal(errno, EINVAL);
	}
}

/* fork() may happen in a signal handler while this thread holds the locks, so the child must be
 * able to take them. */
static void a_child_can_take_all_locks(void **state)
{
	struct set *set = find_set_locked(epfd);

	(void)state;
	assert_int_equal(pthread_mutex_lock(&sets_lock), 0);
	assert_int_equal(pthread_mutex_lock(&set->lock), 0);
	rdmacm_rs_epoll_forked();
	assert_int_equal(pthread_mutex_trylock(&set->lock), 0);
	assert_int_equal(pthread_mutex_trylock(&sets_lock), 0);
	pthread_mutex_unlock(&set->lock);
	pthread_mutex_unlock(&sets_lock);
}

/* Only this thread's calls go on in the child, so it counts no others. */
static void a_child_counts_its_own_calls(void **state)
{
	struct visit inner, outer;
	struct set *set = set_get(epfd, &outer);

	(void)state;
	assert_ptr_equal(set_get(epfd, &inner), set);
	set->users += 5; /* other threads */
	rdmacm_rs_epoll_forked();
	assert_int_equal(set->users, 3);
	set_put(&inner);
	set_put(&outer);
	assert_int_equal(set->users, 1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_begin, set_end)
	const struct CMUnitTest tests[] = {
		TEST(other_descriptors_are_in_the_set),
		TEST(a_size_below_1_is_refused),
		TEST(a_child_can_take_all_locks),
		TEST(a_child_counts_its_own_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
