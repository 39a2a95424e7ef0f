/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_test.c - the answer to a fault: "ok" only when it has happened, also if the engine hangs.
 *
 * Covers: softhca/front/control.c, softhca/front/process/driver/engine.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softhca/front/control.c"
#include "softhca/front/process/driver/engine.h"

static int own_end; /* control_send() uses a copy of it as its socket */

int __wrap_fault_add(struct fault *fault, const char *text, uint64_t now);

int __wrap_fault_add(struct fault *fault, const char *text, uint64_t now)
{
	(void)fault;
	(void)now;
	assert_string_equal(text, "a fault");
	return 0;
}

const char *faults_answer(int ret)
{
	return ret ? strerror(ret) : "ok";
}

int reach_server(int fd, const struct sockaddr_un *addr, const char *path)
{
	(void)addr;
	(void)path;
	return dup2(own_end, fd) < 0 ? errno : 0;
}

static int finish_faults(void *result, uint64_t now)
{
	(void)now;
	return *(const int *)result;
}

static void expect_answer(int result, const char *expected)
{
	const struct control control = { NULL, finish_faults, &result };
	char answer[MAX_TEXT] = "";
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	assert_int_equal(send(ends[0], "a fault", strlen("a fault"), 0), strlen("a fault"));
	control_receive(ends[1], &control, 0, 0);
	assert_true(recv(ends[0], answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_string_equal(answer, expected);
	close(ends[0]);
	close(ends[1]);
}

static void a_fault_that_has_not_happened_is_no_success(void **state)
{
	(void)state;
	expect_answer(0, "ok");
	expect_answer(ETIMEDOUT, "it will happen, but has not within a second");
}

/* Sends two faults to an adapter that gives the answers FIRST and SECOND. Returns how many faults
 * reached it. */
static unsigned int send_two(const char *first, const char *second, int status)
{
	char one[] = "one", two[] = "two", text[MAX_TEXT];
	char *texts[] = { one, two, NULL };
	const struct options options = { .socket_path = "/nowhere", .program = texts };
	unsigned int count = 0;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	own_end = ends[0];
	assert_true(send(ends[1], first, strlen(first), 0) > 0);
	assert_true(send(ends[1], second, strlen(second), 0) > 0);
	assert_int_equal(control_send(&options), status);
	while (recv(ends[1], text, sizeof(text), MSG_DONTWAIT) > 0)
		count++;
	close(ends[0]);
	close(ends[1]);
	return count;
}

/* A late fault still happens before those after it, so these are sent. */
static void faults_behind_a_late_one_are_sent(void **state)
{
	static const char late[] = "it will happen, but has not within a second";

	(void)state;
	assert_int_equal(send_two("ok", "ok", EXIT_SUCCESS), 2);
	assert_int_equal(send_two(late, "ok", EXIT_FAILURE), 2);
	assert_int_equal(send_two("ok", late, EXIT_FAILURE), 2);
	assert_int_equal(send_two("not a fault that softhca knows", "ok", EXIT_FAILURE), 1);
}

/* The engine does not run here. */
static void a_round_that_does_not_end_is_not_awaited_for_ever(void **state)
{
	(void)state;
	alarm(20);
	assert_int_equal(engine_await_round(), ETIMEDOUT);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_that_has_not_happened_is_no_success),
		cmocka_unit_test(faults_behind_a_late_one_are_sent),
		cmocka_unit_test(a_round_that_does_not_end_is_not_awaited_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
