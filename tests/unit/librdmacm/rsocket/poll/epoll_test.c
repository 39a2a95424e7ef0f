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
	set_lock_take(&sets_lock, &visits);
	set_lock_take(&set->lock, &visits);
	rdmacm_rs_epoll_before_fork();
	rdmacm_rs_epoll_forked();
	set_lock_take(&set->lock, &visits);
	set_lock_drop(&set->lock);
	set_lock_drop(&set->lock);
	set_lock_drop(&sets_lock);
	assert_int_equal(set->lock.lock.state, LOCK_FREE);
	assert_int_equal(sets_lock.lock.state, LOCK_FREE);
	assert_null(set->lock.holder);
	assert_null(sets_lock.holder);
}

/* The parent goes on with the locks that its thread held before the fork. */
static void a_fork_leaves_the_locks_of_its_thread(void **state)
{
	struct set *set = find_set_locked(epfd);

	(void)state;
	set_lock_take(&set->lock, &visits);
	rdmacm_rs_epoll_before_fork();
	rdmacm_rs_epoll_in_parent();
	assert_int_equal(set->lock.lock.state, LOCK_TAKEN);
	assert_int_equal(sets_lock.lock.state, LOCK_FREE);
	set_lock_drop(&set->lock);
	assert_int_equal(set->lock.lock.state, LOCK_FREE);
}

static void *take_and_drop(void *of)
{
	struct set *set = of;

	set_lock_take(&set->lock, &visits);
	set->count++;
	set_lock_drop(&set->lock);
	return NULL;
}

/* Only the holder may take the lock again. */
static void another_thread_waits_for_the_lock(void **state)
{
	struct set *set = find_set_locked(epfd);
	pthread_t thread;

	(void)state;
	set_lock_take(&set->lock, &visits);
	assert_int_equal(pthread_create(&thread, NULL, take_and_drop, set), 0);
	while (__atomic_load_n(&set->lock.lock.state, __ATOMIC_RELAXED) != LOCK_WANTED)
		usleep(100);
	assert_int_equal(set->count, 0);
	set_lock_drop(&set->lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(set->count, 1);
	set->count = 0;
}

/* A member of a closed socket does not hide a new socket with its number, and leaves its memory. */
static void a_number_can_be_used_again(void **state)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct rs old = { .fd = 1000, .serial = 1 }, new = { .fd = 1000, .serial = 2 };
	struct set *set = find_set_locked(epfd);
	struct member *member;

	(void)state;
	assert_int_equal(change_member(set, EPOLL_CTL_DEL, &old, NULL), ENOENT);
	assert_int_equal(change_member(set, EPOLL_CTL_ADD, &old, &event), 0);
	assert_int_equal(change_member(set, EPOLL_CTL_ADD, &old, &event), EEXIST);
	member = find_member(set, &old);
	assert_int_equal(change_member(set, EPOLL_CTL_DEL, &new, NULL), ENOENT);
	assert_int_equal(change_member(set, EPOLL_CTL_ADD, &new, &event), 0);
	assert_int_equal(set->count, 1);
	assert_ptr_equal(find_member(set, &new), member);
	assert_null(find_member(set, &old));
	assert_int_equal(change_member(set, EPOLL_CTL_DEL, &new, NULL), 0);
	assert_int_equal(set->count, 0);
	assert_int_equal(set->spare_count, 1);
}

/* Removed members' memory is kept, but not without limit. */
static void few_spares_are_kept(void **state)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct set *set = find_set_locked(epfd);
	struct rs rs = { .serial = 1 };

	(void)state;
	for (rs.fd = 0; rs.fd < 2 * MOST_SPARES; rs.fd++)
		assert_int_equal(change_member(set, EPOLL_CTL_ADD, &rs, &event), 0);
	assert_int_equal(set->count, 2 * MOST_SPARES);
	for (rs.fd = 0; rs.fd < 2 * MOST_SPARES; rs.fd++)
		assert_int_equal(change_member(set, EPOLL_CTL_DEL, &rs, NULL), 0);
	assert_int_equal(set->count, 0);
	assert_int_equal(set->spare_count, MOST_SPARES);
}

/* Only this thread's calls go on in the child, so it counts no others. */
static void a_child_counts_its_own_calls(void **state)
{
	struct visit inner, outer;
	struct set *set = set_get(epfd, &outer, &visits);

	(void)state;
	assert_ptr_equal(set_get(epfd, &inner, &visits), set);
	set->users += 5; /* other threads */
	rdmacm_rs_epoll_before_fork();
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
		TEST(a_fork_leaves_the_locks_of_its_thread),
		TEST(another_thread_waits_for_the_lock),
		TEST(a_number_can_be_used_again),
		TEST(few_spares_are_kept),
		TEST(a_child_counts_its_own_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
