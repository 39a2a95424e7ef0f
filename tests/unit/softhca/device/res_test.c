/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * res_test.c - tables of objects by number: growth to the limit and without memory, the order of
 * numbers, chosen numbers, marks, owners.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/device/res.c"

enum { FIRST = 0x40, MAX = 100 };

static struct res_table table;
static uint16_t user;
static int objects[MAX + 1];
static int allocations; /* before one fails; below 0: none does */

void *__real_reallocarray(void *memory, size_t count, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size)
	__attribute__((visibility("default")));

void *__wrap_reallocarray(void *memory, size_t count, size_t size)
{
	if (!allocations) {
		errno = ENOMEM;
		return NULL;
	}
	allocations--;
	return __real_reallocarray(memory, count, size);
}

static int table_begin(void **state)
{
	(void)state;
	allocations = -1;
	user = 3;
	res_init(&table, &user, FIRST, MAX);
	return 0;
}

static int table_end(void **state)
{
	(void)state;
	res_free(&table);
	assert_int_equal(table.size, 0);
	return 0;
}

static void numbers_rise_to_the_limit(void **state)
{
	uint32_t number;

	(void)state;
	for (uint32_t i = 0; i < MAX; i++) {
		assert_int_equal(res_add(&table, &objects[i], &number), 0);
		assert_int_equal(number, FIRST + i);
	}
	assert_int_equal(res_add(&table, &objects[MAX], &number), ENOSPC);
	assert_ptr_equal(res_get(&table, FIRST + 70), &objects[70]);
	assert_null(res_get(&table, FIRST + MAX));
	assert_null(res_get(&table, FIRST - 1));
}

static void a_freed_number_is_used_again_at_last(void **state)
{
	uint32_t number;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(res_add(&table, &objects[i], &number), 0);
	res_remove(&table, FIRST + 5);
	res_remove(&table, FIRST + 60);
	assert_null(res_get(&table, FIRST + 5));
	assert_int_equal(res_add(&table, &objects[5], &number), 0);
	assert_int_equal(number, FIRST + 5);
	assert_int_equal(res_add(&table, &objects[5], &number), 0);
	assert_int_equal(number, FIRST + 60);
	res_remove(&table, FIRST + 5);
	res_remove(&table, FIRST + 63);
	assert_int_equal(res_add(&table, &objects[5], &number), 0);
	assert_int_equal(number, FIRST + 63); /* behind the last one */
}

/* Each of the two arrays may not grow; the table stays as it is. */
static void without_memory_nothing_is_added(void **state)
{
	uint32_t number = 7;

	(void)state;
	for (int good = 0; good < 2; good++) {
		allocations = good;
		assert_int_equal(res_add(&table, &objects[0], &number), ENOMEM);
		assert_int_equal(number, 7);
		assert_int_equal(table.used, 0);
		assert_null(res_get(&table, FIRST));
	}
	allocations = -1;
	assert_int_equal(res_add(&table, &objects[0], &number), 0);
	assert_int_equal(number, FIRST);
}

static void objects_have_owners(void **state)
{
	uint32_t number;

	(void)state;
	for (int i = 0; i < 3; i++) {
		user = (uint16_t)(3 + (i & 1));
		assert_int_equal(res_add(&table, &objects[i], &number), 0);
	}
	assert_int_equal(res_count_of(&table, 3), 2);
	assert_int_equal(res_count_of(&table, 4), 1);
	res_remove(&table, number);
	assert_int_equal(res_count_of(&table, 3), 1);
}

static void all_objects_are_found_in_order(void **state)
{
	uint32_t number, index = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(res_add(&table, &objects[i], &number), 0);
	res_remove(&table, FIRST + 1);
	assert_ptr_equal(res_next(&table, &index), &objects[0]);
	assert_ptr_equal(res_next(&table, &index), &objects[2]);
	assert_null(res_next(&table, &index));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, table_begin, table_end)
	const struct CMUnitTest tests[] = {
		TEST(numbers_rise_to_the_limit),       TEST(a_freed_number_is_used_again_at_last),
		TEST(without_memory_nothing_is_added), TEST(objects_have_owners),
		TEST(all_objects_are_found_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
