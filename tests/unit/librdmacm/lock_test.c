/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock_test.c - a lock of one word, with one thread and with several: a thread that finds it taken
 * sleeps until its release, and a lock taken by the fast path of a lone thread is visible to
 * others.
 *
 * Covers: librdmacm/lock.c, librdmacm/lock.h
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/lock.h"

enum { THREADS = 4, EACH = 20000, NAP_US = 20 };

static struct cm_lock lock;
static unsigned long count; /* guarded by the lock */
static bool is_there;       /* a thread is about to wait for the lock */

static void a_thread_alone_excludes_itself(void **state)
{
	(void)state;
	assert_true(cm_lock_try(&lock));
	assert_false(cm_lock_try(&lock));
	cm_lock_drop(&lock);
	cm_lock_take(&lock);
	assert_int_equal(lock.state, LOCK_TAKEN);
	cm_lock_drop(&lock);
	assert_int_equal(lock.state, LOCK_FREE);
}

static void *take_once(void *unused)
{
	__atomic_store_n(&is_there, true, __ATOMIC_RELEASE);
	cm_lock_take(&lock);
	count++;
	cm_lock_drop(&lock);
	return unused;
}

/* The first waiting thread marks the lock as contended, so that the owner wakes it, and sleeps. */
static void threads_wait_for_one_that_took_it_alone(void **state)
{
	pthread_t thread;

	(void)state;
	count = 0;
	cm_lock_take(&lock);
	assert_int_equal(pthread_create(&thread, NULL, take_once, NULL), 0);
	while (__atomic_load_n(&lock.state, __ATOMIC_RELAXED) != LOCK_WANTED)
		usleep(NAP_US);
	assert_true(__atomic_load_n(&is_there, __ATOMIC_ACQUIRE));
	assert_int_equal(count, 0);
	cm_lock_drop(&lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(lock.state, LOCK_FREE);
}

static void *count_up(void *unused)
{
	for (int i = 0; i < EACH; i++) {
		cm_lock_take(&lock);
		count++;
		cm_lock_drop(&lock);
	}
	return unused;
}

static void threads_exclude_each_other(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	count = 0;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(count, THREADS * EACH);
	assert_int_equal(lock.state, LOCK_FREE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_alone_excludes_itself),
		cmocka_unit_test(threads_wait_for_one_that_took_it_alone),
		cmocka_unit_test(threads_exclude_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
