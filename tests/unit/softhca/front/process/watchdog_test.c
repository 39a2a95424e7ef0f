/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watchdog_test.c - the watchdog interrupts a call that waits, and no call that returns.
 *
 * Covers: softhca/front/process/watchdog.c
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "softhca/front/process/watchdog.h"
#include "util/bits.h"

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

static int ends[2];

static int open_silent_pipe(void **state)
{
	(void)state;
	alarm(60); /* without a watchdog, the test would wait for ever */
	return pipe(ends) ? -1 : watchdog_start();
}

static int close_silent_pipe(void **state)
{
	(void)state;
	watchdog_stop();
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void waiting_call_ends(void **state)
{
	char byte;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int64_t start = now_ns();

		watchdog_enter();
		assert_int_equal(read(ends[0], &byte, 1), -1);
		assert_int_equal(errno, EINTR);
		assert_true(watchdog_leave());
		assert_true(now_ns() - start >= (int64_t)WATCHDOG_MS * NS_PER_MS);
	}
}

static bool sleep_is_interrupted(int64_t ns)
{
	struct timespec pause = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	return nanosleep(&pause, NULL) != 0;
}

/* Three intervals: the watchdog looks at least twice. */
static void other_calls_go_on(void **state)
{
	(void)state;
	watchdog_enter();
	assert_false(watchdog_leave());
	assert_false(sleep_is_interrupted((int64_t)3 * WATCHDOG_MS * NS_PER_MS));
}

/* Calls that return are not one long call, although the watchdog always sees one. A call may be
 * long on a busy machine, so there are many. */
static void short_calls_go_on(void **state)
{
	int64_t end = now_ns() + (int64_t)30 * WATCHDOG_MS * NS_PER_MS;

	(void)state;
	while (now_ns() < end) {
		int64_t start = now_ns();

		watchdog_enter();
		sleep_is_interrupted(NS_PER_MS);
		if (watchdog_leave())
			assert_true(now_ns() - start >= (int64_t)WATCHDOG_MS * NS_PER_MS);
	}
}

/* The starter of the daemon may have blocked every signal, so the watchdog's must be unblocked. */
static void blocked_signal_arrives(void **state)
{
	sigset_t all;
	char byte;

	(void)state;
	watchdog_stop();
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
	assert_int_equal(watchdog_start(), 0);
	watchdog_enter();
	assert_int_equal(read(ends[0], &byte, 1), -1);
	assert_true(watchdog_leave());
}

/* Reads the number behind NAME in the status of thread TID. Returns whether it is there. */
static bool status_number(const char *tid, const char *format, unsigned long long *number)
{
	char path[300], line[128];
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	status = fopen(path, "re");
	while (status && !found && fgets(line, sizeof(line), status))
		found = sscanf(line, format, number) == 1;
	if (status)
		fclose(status);
	return found;
}

/* This thread, and those of a sanitizer, which begin with the first thread of the program. */
static long bystanders[8];

static bool is_bystander(long tid)
{
	for (size_t i = 0; i < ARRAY_SIZE(bystanders); i++)
		if (bystanders[i] == tid)
			return true;
	return false;
}

/* Returns the sum of what VALUE says of all threads but the bystanders. */
static unsigned long long threads_sum(unsigned long long (*value)(const char *tid))
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned long long sum = 0;
	struct dirent *task;

	assert_non_null(tasks);
	while ((task = readdir(tasks)))
		if (task->d_name[0] != '.' && !is_bystander(atol(task->d_name)))
			sum += value(task->d_name);
	closedir(tasks);
	return sum;
}

static unsigned long long bystander_note(const char *tid)
{
	static size_t count;

	assert_true(count < ARRAY_SIZE(bystanders));
	bystanders[count++] = atol(tid);
	return 0;
}

static void *thread_end(void *arg)
{
	return arg;
}

static int bystanders_find(void **state)
{
	pthread_t first;

	(void)state;
	assert_int_equal(pthread_create(&first, NULL, thread_end, NULL), 0);
	pthread_join(first, NULL);
	threads_sum(bystander_note);
	return 0;
}

static unsigned long long takes_signal(const char *tid)
{
	unsigned long long blocked = 0;

	return status_number(tid, "SigBlk: %llx", &blocked) && !(blocked >> (SIGURG - 1) & 1);
}

static unsigned long long switches(const char *tid)
{
	unsigned long long count = 0;

	return status_number(tid, "voluntary_ctxt_switches: %llu", &count) ? count : 0;
}

static sem_t end;

static void *thread_wait(void *unused)
{
	sem_wait(&end);
	return unused;
}

/* The engine's thread begins between the two calls. A signal from outside interrupts neither it nor
 * the watchdog. */
static void only_the_watched_thread_takes_the_signal(void **state)
{
	pthread_t other;
	char byte;

	(void)state;
	watchdog_stop();
	sem_init(&end, 0, 0);
	assert_int_equal(watchdog_block_signal(), 0);
	assert_int_equal(pthread_create(&other, NULL, thread_wait, NULL), 0);
	assert_int_equal(watchdog_start(), 0);
	watchdog_enter();
	assert_int_equal(read(ends[0], &byte, 1), -1); /* the watchdog's thread runs */
	assert_true(watchdog_leave());
	assert_int_equal(threads_sum(takes_signal), 0);
	sem_post(&end);
	pthread_join(other, NULL);
}

/* Sleeps after an interval without a call, and wakes up for the next one. */
static void it_sleeps_between_calls(void **state)
{
	unsigned long long before;
	char byte;

	(void)state;
	sleep_is_interrupted((int64_t)20 * WATCHDOG_MS * NS_PER_MS);
	before = threads_sum(switches);
	sleep_is_interrupted((int64_t)50 * WATCHDOG_MS * NS_PER_MS);
	assert_int_equal(threads_sum(switches), before);
	watchdog_enter();
	assert_int_equal(read(ends[0], &byte, 1), -1);
	assert_true(watchdog_leave());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waiting_call_ends, open_silent_pipe,
						close_silent_pipe),
		cmocka_unit_test_setup_teardown(other_calls_go_on, open_silent_pipe,
						close_silent_pipe),
		cmocka_unit_test_setup_teardown(short_calls_go_on, open_silent_pipe,
						close_silent_pipe),
		cmocka_unit_test_setup_teardown(only_the_watched_thread_takes_the_signal,
						open_silent_pipe, close_silent_pipe),
		cmocka_unit_test_setup_teardown(it_sleeps_between_calls, open_silent_pipe,
						close_silent_pipe),
		cmocka_unit_test_setup_teardown(blocked_signal_arrives, open_silent_pipe,
						close_silent_pipe),
	};

	return cmocka_run_group_tests(tests, bystanders_find, NULL);
}
