/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_lookup_test.c - lookup of objects by hardware number: limits of the table, a number that is
 * reused before its former object has left, and numbers that the library chooses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "providers/common/id_lookup.h"
#include "util/bits.h"

static void numbers_find_their_object(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 0xfff, 0x1000, 0x7fffff, 0xfffffe, 0xffffff };
	struct id_lookup *ids = calloc(1, sizeof(*ids));
	int objects[ARRAY_SIZE(numbers)];
	const struct id_root *root;

	(void)state;
	assert_non_null(ids);
	provider_id_lookup_init(ids);
	assert_null(ids->root); /* no lookup so far */
	assert_int_equal(provider_id_root_get(ids, &root), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		assert_null(id_find(root, numbers[i]));
		assert_int_equal(provider_id_set(ids, numbers[i], &objects[i]), 0);
		ids->patience_ms = 1; /* short, as some entries are never cleared */
		assert_int_equal(provider_id_set(ids, numbers[i], &objects[0]), EEXIST);
	}
	assert_int_equal(provider_id_set(ids, 0x1000000, &objects[0]), EINVAL);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_ptr_equal(id_find(root, numbers[i]), &objects[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		provider_id_clear(ids, numbers[i]);
		assert_null(id_find(root, numbers[i]));
	}
	provider_id_lookup_destroy(ids);
	free(ids);
}

struct taker {
	struct id_lookup *ids;
	pthread_t thread;
	int ret;
	bool done; /* atomic */
};

enum { TAKEN = 77 };

static void *take_number(void *arg)
{
	struct taker *taker = arg;

	taker->ret = provider_id_set(taker->ids, TAKEN, taker);
	__atomic_store_n(&taker->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The new owner of a number waits: the kernel may reuse the number before the thread that destroyed
 * the former object has cleared the entry. */
static void number_given_again_is_waited_for(void **state)
{
	struct taker taker = { .ids = calloc(1, sizeof(*taker.ids)) };

	(void)state;
	assert_non_null(taker.ids);
	provider_id_lookup_init(taker.ids);
	taker.ids->patience_ms = 60000; /* long, as the machine may be loaded */
	assert_int_equal(provider_id_set(taker.ids, TAKEN, state), 0);
	assert_int_equal(pthread_create(&taker.thread, NULL, take_number, &taker), 0);
	for (int i = 0; i < 50; i++) {
		assert_false(__atomic_load_n(&taker.done, __ATOMIC_ACQUIRE));
		assert_ptr_equal(id_find(taker.ids->root, TAKEN), state);
		sched_yield();
	}
	provider_id_clear(taker.ids, TAKEN);
	assert_int_equal(pthread_join(taker.thread, NULL), 0);
	assert_int_equal(taker.ret, 0);
	assert_ptr_equal(id_find(taker.ids->root, TAKEN), &taker);
	provider_id_lookup_destroy(taker.ids);
	free(taker.ids);
}

static bool clock_is_put_forward; /* by an hour, once the waiting thread has read the clock */

int __real_clock_gettime(clockid_t clock, struct timespec *time);
/* Overrides the clock; visible, as a sanitizer's library calls it as well. */
__attribute__((visibility("default"))) int __wrap_clock_gettime(clockid_t clock,
								struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int ret = __real_clock_gettime(clock, time);

	if (clock == CLOCK_REALTIME && clock_is_put_forward)
		time->tv_sec -= 3600;
	return ret;
}

static void a_clock_that_is_set_ends_no_wait(void **state)
{
	struct taker taker = { .ids = calloc(1, sizeof(*taker.ids)) };

	(void)state;
	assert_non_null(taker.ids);
	provider_id_lookup_init(taker.ids);
	taker.ids->patience_ms = 60000;
	assert_int_equal(provider_id_set(taker.ids, TAKEN, state), 0);
	clock_is_put_forward = true;
	assert_int_equal(pthread_create(&taker.thread, NULL, take_number, &taker), 0);
	for (int ms = 0; ms < 200 && !__atomic_load_n(&taker.done, __ATOMIC_ACQUIRE); ms++)
		usleep(1000);
	provider_id_clear(taker.ids, TAKEN);
	assert_int_equal(pthread_join(taker.thread, NULL), 0);
	clock_is_put_forward = false;
	assert_int_equal(taker.ret, 0);
	provider_id_lookup_destroy(taker.ids);
	free(taker.ids);
}

static void numbers_are_given_out_densely(void **state)
{
	struct id_lookup *ids = calloc(1, sizeof(*ids));
	uint32_t id;

	(void)state;
	assert_non_null(ids);
	provider_id_lookup_init(ids);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(ids->root->room.all & 1, 1);
	/* the first leaf is not examined */
	assert_int_equal(ids->root->room.word[0] & 3, 2);
	provider_id_clear(ids, 4500);
	provider_id_clear(ids, 7);
	assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
	assert_int_equal(id, 7);
	assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
	assert_int_equal(id, 4500);
	assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
	assert_int_equal(id, 5000);
	provider_id_lookup_destroy(ids);
	free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_find_their_object),
		cmocka_unit_test(number_given_again_is_waited_for),
		cmocka_unit_test(a_clock_that_is_set_ends_no_wait),
		cmocka_unit_test(numbers_are_given_out_densely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
