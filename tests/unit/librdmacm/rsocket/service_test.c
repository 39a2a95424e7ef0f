/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_test.c - the service thread of sockets: its queries, the times when it serves a socket,
 * and dropped sockets. The test runs the thread's rounds itself, with its own sockets.
 *
 * Covers: librdmacm/rsocket/service.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "librdmacm/rsocket/service.c"

enum { SOCKETS = 3, FIRST_FD = 1000 };

static struct socket_played {
	struct rs rs;
	bool is_closed, wants_nothing;
	struct rs_alarm alarm;
	unsigned int gets, asked, served;
	int serves;
} played[SOCKETS];

static unsigned int threads;
static int refusal;
static int64_t now_us;
static int ends[2]; /* of a pipe, readable after a write */

static bool is_memory_short;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size) __attribute__((visibility("default")));

void *__wrap_malloc(size_t size)
{
	return is_memory_short ? NULL : __real_malloc(size);
}

struct rs *rdmacm_rs_get(int fd)
{
	struct socket_played *socket = &played[fd - FIRST_FD];

	if (socket->is_closed)
		return NULL;
	socket->gets++;
	return &socket->rs;
}

void rdmacm_rs_put(int fd)
{
	assert_true(played[fd - FIRST_FD].gets--);
}

int64_t rdmacm_rs_now_us(void)
{
	return now_us;
}

int rdmacm_rs_start_thread(void *(*run)(void *unused))
{
	assert_ptr_equal(run, service_thread);
	threads += !refusal;
	return refusal;
}

static bool socket_await(struct rs *rs, struct rs_alarm *alarm)
{
	struct socket_played *socket = (struct socket_played *)rs;

	assert_false(cm_lock_try(&rs->lock));
	assert_int_equal(alarm->fd.fd, -1);
	assert_true(alarm->until_us == INT64_MAX);
	socket->asked++;
	*alarm = socket->alarm;
	return !socket->wants_nothing;
}

static int socket_serve(struct rs *rs)
{
	struct socket_played *socket = (struct socket_played *)rs;

	assert_true(cm_lock_try(&rs->lock));
	cm_lock_drop(&rs->lock);
	socket->served++;
	return socket->serves;
}

static const struct rs_care care = { socket_await, socket_serve };

static int sockets_begin(void **state)
{
	(void)state;
	memset(played, 0, sizeof(played));
	for (int i = 0; i < SOCKETS; i++) {
		played[i].rs.fd = FIRST_FD + i;
		played[i].rs.serial = 100 + (uint64_t)i;
		played[i].alarm = no_alarm;
	}
	threads = 0;
	refusal = 0;
	now_us = 1000;
	return pipe(ends);
}

static int sockets_end(void **state)
{
	(void)state;
	is_running = false; /* false, as there is no thread to wait for */
	for (int i = 0; i < SOCKETS; i++) {
		rdmacm_service_drop(&played[i].rs);
		assert_int_equal(played[i].gets, 0);
		assert_true(cm_lock_try(&played[i].rs.lock));
	}
	assert_int_equal(ward_count, 0);
	assert_true(LIST_EMPTY(&wards));
	rdmacm_service_forked();
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void wards_add(int first, int count)
{
	for (int i = first; i < first + count; i++)
		assert_int_equal(rdmacm_service_add(&played[i].rs, &care), 0);
}

static void round_make(void)
{
	struct round round;

	assert_true(round_begin(&round));
	assert_int_equal(round.count, ward_count);
	round_serve(&round);
	round_end(&round);
}

static void check_served(unsigned int first, unsigned int second, unsigned int third)
{
	assert_int_equal(played[0].served, first);
	assert_int_equal(played[1].served, second);
	assert_int_equal(played[2].served, third);
}

static void one_thread_looks_after_all(void **state)
{
	(void)state;
	refusal = ENOMEM;
	assert_int_equal(rdmacm_service_add(&played[0].rs, &care), ENOMEM);
	assert_int_equal(ward_count, 0);
	refusal = 0;
	is_memory_short = true;
	assert_int_equal(rdmacm_service_add(&played[0].rs, &care), ENOMEM);
	is_memory_short = false;
	assert_int_equal(ward_count, 0);
	wards_add(0, 3);
	wards_add(0, 2);
	assert_int_equal(ward_count, 3);
	assert_int_equal(threads, 1);
}

static void a_socket_is_served_when_its_descriptor_is_ready(void **state)
{
	(void)state;
	wards_add(0, 3);
	played[1].alarm.fd = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	round_make(); /* consumes the kick of the last change */
	check_served(0, 0, 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	round_make();
	check_served(0, 1, 0);
	assert_int_equal(played[2].asked, 2);
}

static void a_socket_is_served_when_its_time_has_come(void **state)
{
	(void)state;
	wards_add(0, 3);
	played[0].alarm.until_us = now_us + 1;
	played[1].alarm.until_us = now_us;
	played[2].alarm.until_us = now_us - 1;
	round_make();
	check_served(0, 1, 1);
}

/* The earliest deadline limits the sleep; without one, it is unlimited. */
static void a_round_sleeps_until_the_first_time(void **state)
{
	struct round round;

	(void)state;
	wards_add(0, 3);
	assert_true(round_begin(&round));
	assert_int_equal(round_ask(&round), -1);
	played[0].alarm.until_us = now_us + 7000;
	assert_int_equal(round_ask(&round), 8);
	played[2].alarm.until_us = now_us + 2999;
	assert_int_equal(round_ask(&round), 3);
	played[1].alarm.until_us = now_us - 1;
	assert_int_equal(round_ask(&round), 0);
	assert_int_equal(limit_when_deaf(&round, -1), -1);
	round.fds[0].fd = -1;
	assert_int_equal(limit_when_deaf(&round, -1), DEAF_MS);
	assert_int_equal(limit_when_deaf(&round, DEAF_MS + 1), DEAF_MS);
	assert_int_equal(limit_when_deaf(&round, DEAF_MS - 1), DEAF_MS - 1);
	round_end(&round);
}

static void a_socket_that_waits_for_nothing_is_dropped(void **state)
{
	(void)state;
	wards_add(0, 3);
	played[0].wants_nothing = true;
	played[2].wants_nothing = true;
	played[2].alarm.until_us = now_us;
	round_make();
	assert_int_equal(ward_count, 1);
	assert_ptr_equal(ward_find(&played[0].rs), NULL);
	assert_non_null(ward_find(&played[1].rs));
	check_served(0, 0, 0);
	wards_add(0, 1);
	assert_int_equal(ward_count, 2);
}

static void a_socket_that_is_closed_is_dropped(void **state)
{
	(void)state;
	wards_add(0, 2);
	played[0].is_closed = true;
	round_make();
	assert_int_equal(ward_count, 1);
	assert_int_equal(played[0].asked, 0);
	assert_int_equal(played[1].asked, 1);
}

/* The number now belongs to another socket, which has no service, so the service must not run on
 * it. */
static void a_number_that_came_again_is_another_socket(void **state)
{
	(void)state;
	wards_add(0, 2);
	played[0].rs.serial = 7;
	round_make();
	assert_int_equal(played[0].asked, 0);
	assert_int_equal(played[0].gets, 0);
	assert_int_equal(ward_count, 1);
	played[0].rs.serial = 100;
	wards_add(0, 1);
	played[0].rs.serial = 7;
	ward_serve(LIST_FIRST(&wards));
	check_served(0, 0, 0);
	played[0].rs.serial = 100;
}

static void a_socket_of_another_user_is_dropped(void **state)
{
	(void)state;
	wards_add(0, 3);
	played[0].serves = EACCES;
	played[1].serves = EIO;
	for (int i = 0; i < 3; i++)
		played[i].alarm.until_us = now_us;
	round_make();
	check_served(1, 1, 1);
	assert_int_equal(ward_count, 2);
	assert_null(ward_find(&played[0].rs));
}

static void without_sockets_the_thread_ends(void **state)
{
	(void)state;
	wards_add(0, 1);
	is_running = true;
	played[0].wants_nothing = true;
	assert_null(service_thread(NULL));
	assert_false(is_running);
	assert_int_equal(rounds, 1);
	wards_add(0, 1);
	assert_int_equal(threads, 2);
}

/* A program may close all descriptors and reuse their numbers, so the kick sockets are made
 * again. */
static void the_sockets_to_kick_by_are_made_again(void **state)
{
	int pair[2];

	(void)state;
	wards_add(0, 1);
	pair[0] = kick_fds[0];
	pair[1] = kick_fds[1];
	assert_int_equal(dup2(ends[0], pair[1]), pair[1]);
	rdmacm_service_kick();
	assert_false(kick_is_there(1));
	assert_true(kick_is_there(0));
	played[0].alarm.until_us = now_us;
	round_make();
	check_served(1, 0, 0);
	assert_true(kick_is_there(0) && kick_is_there(1));
	assert_int_not_equal(kick_fds[1], pair[1]);
	assert_int_equal(close(pair[1]), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sockets_begin, sockets_end)
	const struct CMUnitTest tests[] = {
		TEST(one_thread_looks_after_all),
		TEST(a_socket_is_served_when_its_descriptor_is_ready),
		TEST(a_socket_is_served_when_its_time_has_come),
		TEST(a_round_sleeps_until_the_first_time),
		TEST(a_socket_that_waits_for_nothing_is_dropped),
		TEST(a_socket_that_is_closed_is_dropped),
		TEST(a_number_that_came_again_is_another_socket),
		TEST(a_socket_of_another_user_is_dropped),
		TEST(without_sockets_the_thread_ends),
		TEST(the_sockets_to_kick_by_are_made_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
