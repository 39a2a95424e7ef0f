/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_memory_test.c - the memory of freed ids: used again, zeroed, up to a limit, and not after a
 * fork() in the middle of a change. A sanitizer's build keeps none (MOST_SPARE is 0).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/id_memory.c"

enum { IDS = 70 };

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

static int allocated; /* number of ids that the allocator has given */
static bool has_no_memory;

void *__wrap_calloc(size_t count, size_t size)
{
	if (has_no_memory)
		return NULL;
	allocated++;
	return __real_calloc(count, size);
}

void __wrap_free(void *memory)
{
	allocated--;
	__real_free(memory);
}

static int memory_begin(void **state)
{
	(void)state;
	allocated = 0;
	has_no_memory = false;
	return 0;
}

static int memory_end(void **state)
{
	(void)state;
	rdmacm_id_free_spare();
	return allocated || spare_count || spare_ids;
}

static void a_freed_id_is_used_again_and_zeroed(void **state)
{
	static const struct cm_id zeroed;
	struct cm_id *ids[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		ids[i] = rdmacm_id_memory();
	assert_ptr_not_equal(ids[0], ids[1]);
	memset(ids[0], 0x55, offsetof(struct cm_id, lock));
	LIST_INIT(&ids[0]->ack_waits); /* nobody waits on a freed id */
	rdmacm_id_memory_free(ids[0]);
	if (MOST_SPARE > 0)
		assert_int_equal(allocated, 2);
	ids[0] = rdmacm_id_memory();
	assert_int_equal(allocated, 2);
	assert_memory_equal(ids[0], &zeroed, offsetof(struct cm_id, lock));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_mutex_trylock(&ids[i]->lock), 0);
		pthread_mutex_unlock(&ids[i]->lock);
		rdmacm_id_memory_free(ids[i]);
	}
}

static void the_last_freed_is_the_first_used(void **state)
{
	struct cm_id *ids[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		ids[i] = rdmacm_id_memory();
	for (int i = 0; i < 3; i++)
		rdmacm_id_memory_free(ids[i]);
	for (int i = 2; MOST_SPARE > 0 && i >= 0; i--) {
		assert_int_equal(spare_count, i + 1);
		assert_ptr_equal(rdmacm_id_memory(), ids[i]);
	}
	for (int i = 0; MOST_SPARE > 0 && i < 3; i++)
		rdmacm_id_memory_free(ids[i]);
}

static void no_more_than_the_most_are_kept(void **state)
{
	struct cm_id *ids[IDS];

	(void)state;
	for (int i = 0; i < IDS; i++)
		ids[i] = rdmacm_id_memory();
	assert_int_equal(allocated, IDS);
	for (int i = 0; i < IDS; i++)
		rdmacm_id_memory_free(ids[i]);
	assert_int_equal(spare_count, MOST_SPARE);
	assert_int_equal(allocated, MOST_SPARE);
	rdmacm_id_free_spare();
	assert_int_equal(spare_count, 0);
	assert_null(spare_ids);
	assert_int_equal(allocated, 0);
}

static void without_memory_there_is_no_id(void **state)
{
	(void)state;
	has_no_memory = true;
	assert_null(rdmacm_id_memory());
}

/* In the child of fork(), the lock is free, and the list is there only if nobody held the lock. */
static void a_child_keeps_a_list_that_nobody_was_changing(void **state)
{
	struct cm_id *kept;

	(void)state;
	rdmacm_id_memory_free(rdmacm_id_memory());
	kept = spare_ids;
	rdmacm_id_spare_forked();
	assert_ptr_equal(spare_ids, kept);
	assert_int_equal(spare_count, MOST_SPARE > 0);
	cm_lock_take(&spare_lock);
	rdmacm_id_spare_forked();
	assert_null(spare_ids);
	assert_int_equal(spare_count, 0);
	assert_true(cm_lock_try(&spare_lock));
	cm_lock_drop(&spare_lock);
	if (kept) {
		pthread_mutex_destroy(&kept->lock);
		free(kept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_freed_id_is_used_again_and_zeroed, memory_begin,
						memory_end),
		cmocka_unit_test_setup_teardown(the_last_freed_is_the_first_used, memory_begin,
						memory_end),
		cmocka_unit_test_setup_teardown(no_more_than_the_most_are_kept, memory_begin,
						memory_end),
		cmocka_unit_test_setup_teardown(without_memory_there_is_no_id, memory_begin,
						memory_end),
		cmocka_unit_test_setup_teardown(a_child_keeps_a_list_that_nobody_was_changing,
						memory_begin, memory_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
