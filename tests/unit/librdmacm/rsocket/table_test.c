/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_test.c - sockets by number: at the ends of pages and of the table, their references, a walk
 * over all, and the counts in a child.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/table.c"

enum { SOCKETS = 4, LAST = RS_PAGES * RS_PAGE_SIZE - 1, LATER_US = 20000 };

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static struct rs sockets[SOCKETS] = {
	{ .fd = 0 }, { .fd = RS_PAGE_SIZE - 1 }, { .fd = RS_PAGE_SIZE }, { .fd = LAST }
};
static int met[SOCKETS];
static bool has_no_memory;

void *__wrap_calloc(size_t count, size_t size)
{
	return has_no_memory ? NULL : __real_calloc(count, size);
}

static int *users_of(int fd)
{
	return &rdmacm_rs_pages[fd / RS_PAGE_SIZE]->users[fd % RS_PAGE_SIZE];
}

static void without_memory_a_socket_is_not_added(void **state)
{
	(void)state;
	has_no_memory = true;
	assert_int_equal(rdmacm_rs_table_add(&sockets[0]), ENOMEM);
	has_no_memory = false;
	assert_null(rdmacm_rs_find(0));
}

static int table_fill(void **state)
{
	(void)state;
	for (int i = 0; i < SOCKETS; i++)
		if (rdmacm_rs_table_add(&sockets[i]))
			return -1;
	memset(met, 0, sizeof(met));
	return 0;
}

static int table_empty(void **state)
{
	(void)state;
	for (int i = 0; i < SOCKETS; i++)
		rdmacm_rs_table_remove(&sockets[i]);
	return 0;
}

static void a_socket_is_found_by_its_number(void **state)
{
	struct rs below = { .fd = -1 }, above = { .fd = LAST + 1 };

	(void)state;
	for (int i = 0; i < SOCKETS; i++)
		assert_ptr_equal(rdmacm_rs_find(sockets[i].fd), &sockets[i]);
	assert_null(rdmacm_rs_find(1));
	assert_null(rdmacm_rs_find(3 * RS_PAGE_SIZE)); /* which has no page */
	assert_null(rdmacm_rs_find(-1));
	assert_int_equal(rdmacm_rs_table_add(&below), EMFILE);
	assert_int_equal(rdmacm_rs_table_add(&above), EMFILE);
	rdmacm_rs_table_remove(&sockets[1]);
	assert_null(rdmacm_rs_find(sockets[1].fd));
	assert_null(rdmacm_rs_get(sockets[1].fd));
	assert_int_equal(*users_of(sockets[1].fd), 0);
}

static void meet_socket(struct rs *rs)
{
	met[rs - sockets]++;
	assert_int_equal(*users_of(rs->fd), 1); /* it stays during the call */
}

static void a_walk_meets_each_socket_once(void **state)
{
	(void)state;
	rdmacm_rs_table_each(meet_socket);
	for (int i = 0; i < SOCKETS; i++) {
		assert_int_equal(met[i], 1);
		assert_int_equal(*users_of(sockets[i].fd), 0);
	}
	assert_int_equal(*users_of(1), 0);
}

static void *put_later(void *is_put)
{
	usleep(LATER_US);
	__atomic_store_n((bool *)is_put, true, __ATOMIC_SEQ_CST);
	rdmacm_rs_put(sockets[0].fd);
	return NULL;
}

static void a_socket_in_use_is_removed_later(void **state)
{
	bool is_put = false;
	pthread_t thread;

	(void)state;
	assert_ptr_equal(rdmacm_rs_get(sockets[0].fd), &sockets[0]);
	assert_int_equal(pthread_create(&thread, NULL, put_later, &is_put), 0);
	rdmacm_rs_table_remove(&sockets[0]);
	assert_true(__atomic_load_n(&is_put, __ATOMIC_SEQ_CST));
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_child_has_no_users(void **state)
{
	(void)state;
	for (int i = 0; i < SOCKETS; i++)
		rdmacm_rs_get(sockets[i].fd);
	pthread_mutex_lock(&lock);
	rdmacm_rs_table_forked();
	assert_int_equal(pthread_mutex_trylock(&lock), 0);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < SOCKETS; i++)
		assert_int_equal(*users_of(sockets[i].fd), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, table_fill, table_empty)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_a_socket_is_not_added),
		TEST(a_socket_is_found_by_its_number),
		TEST(a_walk_meets_each_socket_once),
		TEST(a_socket_in_use_is_removed_later),
		TEST(a_child_has_no_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
