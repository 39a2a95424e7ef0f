/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mmio_test.c - stores to registers (util/mmio.h), on memory: bytes arrive as they are, and threads
 * that ring the same register leave one of their values, never a half of each.
 *
 * Covers: util/mmio.c, util/barrier.h
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/barrier.h"
#include "util/mmio.h"

static uint8_t page[4096] __attribute__((aligned(4096)));

static int clear_page(void **state)
{
	(void)state;
	memset(page, 0, sizeof(page));
	return 0;
}

static void assert_rest_is_zero(size_t at, size_t len)
{
	memset(page + at, 0, len);
	for (size_t i = 0; i < sizeof(page); i++)
		assert_int_equal(page[i], 0);
}

static void a_doorbell_is_eight_bytes(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	__be64 value;

	(void)state;
	memcpy(&value, bytes, sizeof(value));
	mmio_store_be64(page + 0x800, value);
	assert_memory_equal(page + 0x800, bytes, sizeof(bytes));
	assert_rest_is_zero(0x800, sizeof(bytes));
}

static void a_register_is_loaded_as_it_is(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4 };
	__be32 value;

	(void)state;
	memcpy(page + 0x23c, bytes, sizeof(bytes));
	value = mmio_load_be32(page + 0x23c);
	assert_memory_equal(&value, bytes, sizeof(bytes));
}

static void a_push_is_sixty_four_bytes(void **state)
{
	uint8_t data[192] __attribute__((aligned(64)));

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 1);
	wc_start_barrier();
	mmio_copy_wc_64_fresh(page + 0x900, data);
	mmio_copy_wc_64(page + 0x940, data + 64);
	mmio_copy_wc_64_wide(page + 0x980, data + 128);
	wc_flush_barrier();
	assert_memory_equal(page + 0x900, data, sizeof(data));
	assert_rest_is_zero(0x900, sizeof(data));
}

enum { ROUNDS = 2000 };

static pthread_barrier_t both;

static void *ring_again_and_again(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		mmio_store_be64(page + 0x800, *(const __be64 *)arg);
		pthread_barrier_wait(&both);
	}
	return NULL;
}

static void two_threads_leave_a_whole_value(void **state)
{
	static __be64 values[2];
	pthread_t other;

	(void)state;
	memset(&values[0], 0x11, sizeof(values[0]));
	memset(&values[1], 0x22, sizeof(values[1]));
	pthread_barrier_init(&both, NULL, 2);
	assert_int_equal(pthread_create(&other, NULL, ring_again_and_again, &values[1]), 0);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		mmio_store_be64(page + 0x800, values[0]);
		pthread_barrier_wait(&both);
		/* The other thread waits for the next round before it stores again. */
		assert_true(!memcmp(page + 0x800, &values[0], 8) ||
			    !memcmp(page + 0x800, &values[1], 8));
	}
	pthread_join(other, NULL);
	pthread_barrier_destroy(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_doorbell_is_eight_bytes, clear_page),
		cmocka_unit_test_setup(a_register_is_loaded_as_it_is, clear_page),
		cmocka_unit_test_setup(a_push_is_sixty_four_bytes, clear_page),
		cmocka_unit_test_setup(two_threads_leave_a_whole_value, clear_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
