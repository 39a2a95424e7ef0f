/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiter_test.c - sleeping threads and their wake-ups: number and source of wake-ups, sleeping
 * without a descriptor, and above the process's descriptor limit. The test counts cancellation
 * shields.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "librdmacm/rsocket/poll/waiter.c"

enum { LIMIT = 8, MANY = 2 * LIMIT + 3, HANG_SECONDS = 5 };

static int shields, sleeps, slept_ms, poll_error, slept_on, objects[2];
/* Volatile, since the compiler believes that eventfd() does not read it. */
static volatile bool has_no_descriptor;
static struct rs_waiters waiters;
static struct rs_watch watches[2];

int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags) __attribute__((visibility("default")));
int __real_eventfd_read(int fd, eventfd_t *value);
int __wrap_eventfd_read(int fd, eventfd_t *value) __attribute__((visibility("default")));
int __real_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value) __attribute__((visibility("default")));

int __wrap_eventfd(unsigned int count, int flags)
{
	return has_no_descriptor ? -1 : __real_eventfd(count, flags);
}

int __wrap_eventfd_read(int fd, eventfd_t *value)
{
	assert_int_equal(shields, 1);
	return __real_eventfd_read(fd, value);
}

int __wrap_eventfd_write(int fd, eventfd_t value)
{
	assert_int_equal(shields, 1);
	return __real_eventfd_write(fd, value);
}

void rdmacm_rs_shield(void)
{
	shields++;
}

void rdmacm_rs_unshield(void)
{
	shields--;
}

static void undo_nothing(void *of)
{
	(void)of;
}

/* Polls once without sleeping. */
int rdmacm_rs_cancel_poll(struct pollfd *fds, nfds_t count, int timeout_ms, void (*undo)(void *of),
			  void *of)
{
	assert_int_equal(shields, 0);
	assert_ptr_equal(undo, undo_nothing);
	assert_ptr_equal(of, objects);
	sleeps++;
	slept_ms = timeout_ms;
	slept_on = (int)count;
	if (poll_error) {
		errno = poll_error;
		return -1;
	}
	return poll(fds, count, 0);
}

static int sleep_of(struct rs_waiter *waiter)
{
	struct pollfd fds[1];

	return rdmacm_rs_waiter_sleep(waiter, fds, 0, -1);
}

static void two_watch(struct rs_waiter *other, struct rs_waiter *mine)
{
	rdmacm_rs_waiter_begin(other, undo_nothing, objects);
	rdmacm_rs_waiter_begin(mine, undo_nothing, objects);
	rdmacm_rs_waiters_forget(&waiters);
	rdmacm_rs_watch(&waiters, &watches[0], other);
	rdmacm_rs_watch(&waiters, &watches[1], mine);
	assert_int_equal(waiters.count, 2);
	assert_true(rdmacm_rs_is_watched(&watches[0]) && rdmacm_rs_is_watched(&watches[1]));
}

static void two_end(struct rs_waiter *other, struct rs_waiter *mine)
{
	rdmacm_rs_unwatch(&watches[0]);
	rdmacm_rs_unwatch(&watches[1]);
	assert_int_equal(waiters.count, 0);
	assert_true(LIST_EMPTY(&waiters.all));
	assert_false(rdmacm_rs_is_watched(&watches[0]) || rdmacm_rs_is_watched(&watches[1]));
	rdmacm_rs_waiter_end(other);
	rdmacm_rs_waiter_end(mine);
	assert_int_equal(shields, 0);
}

static void a_sleeper_has_a_descriptor_until_it_ends(void **state)
{
	struct rs_waiter waiter;

	(void)state;
	rdmacm_rs_waiter_begin(&waiter, undo_nothing, objects);
	assert_true(fcntl(waiter.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(sleep_of(&waiter), 0); /* no wake-up so far */
	assert_int_equal(slept_ms, -1);
	rdmacm_rs_waiter_end(&waiter);
	assert_int_equal(fcntl(waiter.fd, F_GETFD), -1);
	assert_null(own);
	assert_int_equal(shields, 0);
}

static void one_wake_ends_one_sleep(void **state)
{
	struct rs_waiter other, mine;
	eventfd_t wakes;

	(void)state;
	two_watch(&other, &mine);
	for (int i = 0; i < 2; i++) {
		rdmacm_rs_wake(&waiters);
		assert_int_equal(sleep_of(&other), 1);
		assert_int_equal(sleep_of(&other), 0);
	}
	rdmacm_rs_wake(&waiters);
	rdmacm_rs_wake(&waiters);
	assert_int_equal(__real_eventfd_read(other.fd, &wakes), 0);
	assert_int_equal(wakes, 1); /* the second one is already awake */
	two_end(&other, &mine);
}

static void a_thread_does_not_wake_itself(void **state)
{
	struct rs_waiter other, mine;

	(void)state;
	two_watch(&other, &mine);
	rdmacm_rs_wake(&waiters);
	assert_int_equal(sleep_of(&mine), 0);
	two_end(&other, &mine);
}

/* A count of 0 skips the list, so that a wake-up without waiters takes no lock. */
static void nobody_is_woken_where_nobody_watches(void **state)
{
	struct rs_waiter other, mine;

	(void)state;
	two_watch(&other, &mine);
	waiters.count = 0;
	rdmacm_rs_wake(&waiters);
	assert_int_equal(sleep_of(&other), 0);
	waiters.count = 2;
	two_end(&other, &mine);
}

static void the_end_of_an_object_wakes_and_forgets_all(void **state)
{
	struct rs_waiter other, mine;

	(void)state;
	two_watch(&other, &mine);
	rdmacm_rs_waiters_dismiss(&waiters);
	assert_int_equal(waiters.count, 0);
	assert_true(LIST_EMPTY(&waiters.all));
	assert_int_equal(sleep_of(&other), 1);
	two_end(&other, &mine);
}

static void without_a_descriptor_sleeps_are_short(void **state)
{
	static const int asked[] = { -1, 0, 9, 10, 11, 1000 }, got[] = { 10, 0, 9, 10, 10, 10 };
	struct rs_waiter waiter;
	struct pollfd fds[1];

	(void)state;
	has_no_descriptor = true;
	rdmacm_rs_waiter_begin(&waiter, undo_nothing, objects);
	has_no_descriptor = false;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		assert_int_equal(rdmacm_rs_waiter_sleep(&waiter, fds, 0, asked[i]), 0);
		assert_int_equal(slept_ms, got[i]);
	}
	own = NULL;
	waiter_wake(&waiter);
	assert_false(waiter.woken);
	rdmacm_rs_waiter_end(&waiter);
	assert_int_equal(shields, 0);
}

static void descriptors_limit(rlim_t limit, struct rlimit *before)
{
	struct rlimit now;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
	now = (struct rlimit){ limit, before->rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
}

static void wake_shielded(struct rs_waiter *waiter)
{
	own = NULL;
	rdmacm_rs_shield();
	waiter_wake(waiter);
	rdmacm_rs_unshield();
}

/* poll() of Linux takes at most as many entries as the process may have descriptors. */
static void more_entries_than_the_limit_are_looked_at_in_pieces(void **state)
{
	struct pollfd fds[MANY + 1];
	struct rs_waiter waiter;
	struct rlimit before;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	rdmacm_rs_waiter_begin(&waiter, undo_nothing, objects);
	descriptors_limit(LIMIT, &before);
	for (int count = LIMIT; count <= MANY; count++) {
		for (int i = 0; i < count; i++)
			fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
		slept_on = 0;
		assert_int_equal(rdmacm_rs_waiter_sleep(&waiter, fds, count, -1), 0);
		assert_int_equal(slept_on, LIMIT); /* once it has looked at all pieces */
		assert_int_equal(slept_ms, BLIND_MS);
		fds[2].fd = fds[LIMIT - 1].fd = ends[0];
		sleeps = 0;
		assert_int_equal(rdmacm_rs_waiter_sleep(&waiter, fds, count, -1), 2);
		assert_int_equal(sleeps, 1); /* the refused one */
		wake_shielded(&waiter);
		assert_int_equal(rdmacm_rs_waiter_sleep(&waiter, fds, count, -1), 3);
		assert_int_equal(fds[count].revents, POLLIN);
		assert_false(waiter.woken);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	rdmacm_rs_waiter_end(&waiter);
	close(ends[0]);
	close(ends[1]);
}

static void other_errors_of_poll_are_returned(void **state)
{
	static const int errors[] = { EINTR, EINVAL, ENOMEM };
	struct rs_waiter waiter;

	(void)state;
	rdmacm_rs_waiter_begin(&waiter, undo_nothing, objects);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		poll_error = errors[i];
		sleeps = 0;
		assert_int_equal(sleep_of(&waiter), -1);
		assert_int_equal(errno, errors[i]);
		assert_int_equal(sleeps, 1);
	}
	poll_error = 0;
	rdmacm_rs_waiter_end(&waiter);
}

static void in_child(int (*check)(void))
{
	int status;
	pid_t child;

	pthread_mutex_lock(&lock);
	child = fork();
	if (!child) {
		alarm(HANG_SECONDS);
		rdmacm_rs_waiters_forked();
		_exit(check());
	}
	pthread_mutex_unlock(&lock);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static struct rs_waiter of_parent[2];

static int child_wakes_its_parents_own(void)
{
	rdmacm_rs_wake(&waiters);
	return sleep_of(&of_parent[1]) != 1;
}

static int child_keeps_watches_without_an_object(void)
{
	rdmacm_rs_waiters_inherit(&waiters);
	if (waiters.count || !LIST_EMPTY(&waiters.all))
		return 1;
	for (int i = 0; i < 2; i++) {
		if (rdmacm_rs_is_watched(&watches[i]))
			return 2;
		rdmacm_rs_unwatch(&watches[i]);
	}
	return waiters.count != 0;
}

static void a_child_finds_the_lock_free_and_no_waiter_of_its_own(void **state)
{
	(void)state;
	two_watch(&of_parent[0], &of_parent[1]);
	in_child(child_wakes_its_parents_own);
	in_child(child_keeps_watches_without_an_object);
	two_end(&of_parent[0], &of_parent[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeper_has_a_descriptor_until_it_ends),
		cmocka_unit_test(one_wake_ends_one_sleep),
		cmocka_unit_test(a_thread_does_not_wake_itself),
		cmocka_unit_test(nobody_is_woken_where_nobody_watches),
		cmocka_unit_test(the_end_of_an_object_wakes_and_forgets_all),
		cmocka_unit_test(without_a_descriptor_sleeps_are_short),
		cmocka_unit_test(more_entries_than_the_limit_are_looked_at_in_pieces),
		cmocka_unit_test(other_errors_of_poll_are_returned),
		cmocka_unit_test(a_child_finds_the_lock_free_and_no_waiter_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
