/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acm_test.c - an ibacm daemon that does not answer, and several threads: threads that waited for
 * the lock do not ask it again, and a cancelled thread releases the lock. How long it rests.
 *
 * Covers: librdmacm/acm.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "librdmacm/acm.c"

enum { ANSWER_MS = 300 };

static int ends[2] = { -1, -1 }; /* of the connection to the daemon */
static int connections;

int __wrap_socket(int domain, int type, int protocol) __attribute__((visibility("default")));
int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t len)
	__attribute__((visibility("default")));

int __wrap_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)protocol;
	assert_int_equal(socketpair(AF_UNIX, type, 0, ends), 0);
	return ends[0];
}

int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd;
	(void)addr;
	(void)len;
	__atomic_add_fetch(&connections, 1, __ATOMIC_RELEASE);
	return 0;
}

static int daemon_begin(void **state)
{
	(void)state;
	connections = 0;
	rests_till = 0;
	cm_lock_init(&lock);
	return 0;
}

static int daemon_end(void **state)
{
	(void)state;
	rdmacm_acm_disconnect();
	if (ends[1] >= 0)
		close(ends[1]);
	ends[1] = -1;
	return 0;
}

static void *acm_asker(void *result)
{
	const struct acm_message asked = { .header = { .length = sizeof(asked.header) } };
	struct acm_message told;

	*(int *)result = daemon_ask_alone(&asked, &told, ANSWER_MS);
	return NULL;
}

static uint32_t lock_state(void)
{
	return __atomic_load_n(&lock.state, __ATOMIC_ACQUIRE);
}

static void one_thread_alone_asks_a_silent_daemon(void **state)
{
	pthread_t thread;
	int result = 0;

	(void)state;
	acm_asker(&result);
	assert_int_equal(result, ETIMEDOUT);
	assert_int_equal(connections, 1);
	rests_till = 0;
	cm_lock_take(&lock);
	assert_int_equal(pthread_create(&thread, NULL, acm_asker, &result), 0);
	while (lock_state() != LOCK_WANTED)
		sched_yield();
	daemon_let_rest(ACM_REST_MS); /* as the lock's holder finds out */
	cm_lock_drop(&lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, EAGAIN);
	assert_int_equal(connections, 1);
}

static void a_cancelled_thread_keeps_no_lock(void **state)
{
	pthread_t thread;
	int result = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, acm_asker, &result), 0);
	while (!__atomic_load_n(&connections, __ATOMIC_ACQUIRE)) /* now it has the lock */
		sched_yield();
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(lock_state(), LOCK_FREE);
}

static void a_rest_ends_at_its_time(void **state)
{
	const uint32_t day_ms = 24 * 60 * 60 * 1000, now = (uint32_t)now_ms();

	(void)state;
	assert_false(rdmacm_acm_rests());
	daemon_let_rest(ACM_REST_MS);
	assert_true(rdmacm_acm_rests());
	daemon_let_rest(0);
	assert_false(rdmacm_acm_rests());
	for (uint32_t days = 1; days < 49; days++) { /* and then none asked */
		rests_till = now - days * day_ms;
		assert_false(rdmacm_acm_rests());
	}
}

/* Else the link needs libatomic on some machines. */
static void its_time_is_atomic_on_32_bits(void **state)
{
	(void)state;
	assert_int_equal(sizeof(rests_till), sizeof(uint32_t));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, daemon_begin, daemon_end)
	const struct CMUnitTest tests[] = {
		TEST(one_thread_alone_asks_a_silent_daemon),
		TEST(a_cancelled_thread_keeps_no_lock),
		TEST(a_rest_ends_at_its_time),
		TEST(its_time_is_atomic_on_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
