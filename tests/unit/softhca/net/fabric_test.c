/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric_test.c - the lock of a fabric: a thread that takes it again and again, as the engine does,
 * lets a waiting thread have it next.
 *
 * Covers: softhca/net/fabric.c fabric_lock fabric_unlock
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "softhca/net/fabric.h"

enum { TRIES = 20, HOLD_NS = 100000 };

static struct fabric *fabric;
static atomic_uint rounds;
static atomic_bool ends;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Works with the lock, and pauses only for the few instructions between two rounds. */
static void *hog(void *unused)
{
	while (!atomic_load(&ends)) {
		uint64_t end;

		fabric_lock(fabric);
		for (end = now_ns() + HOLD_NS; now_ns() < end;)
			;
		atomic_fetch_add(&rounds, 1);
		fabric_unlock(fabric);
	}
	return unused;
}

/* Returns how many rounds the hog began or ended while this thread waited. */
static unsigned int rounds_waited(void)
{
	unsigned int before = atomic_load(&rounds), waited;

	fabric_lock(fabric);
	waited = atomic_load(&rounds) - before;
	fabric_unlock(fabric);
	return waited;
}

/* This thread may be preempted between its look at the count and its wait, so the sum of all tries
 * counts. */
static void the_lock_goes_to_who_waits(void **state)
{
	const struct timespec pause = { .tv_nsec = HOLD_NS };
	unsigned int waited = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(fabric_create(&fabric), 0);
	assert_int_equal(pthread_create(&thread, NULL, hog, NULL), 0);
	while (!atomic_load(&rounds))
		nanosleep(&pause, NULL);
	for (unsigned int i = 0; i < TRIES; i++) {
		waited += rounds_waited();
		nanosleep(&pause, NULL);
	}
	atomic_store(&ends, true);
	pthread_join(thread, NULL);
	fabric_destroy(fabric);
	print_message("%u rounds in %u waits\n", waited, TRIES);
	assert_true(waited <= 5 * TRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_lock_goes_to_who_waits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
