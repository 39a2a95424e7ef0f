/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of the libraries' own.
 *
 * Covers: util/own_thread.c
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/own_thread.h"

static sem_t has_run;

static void *signals_note(void *of)
{
	pthread_sigmask(SIG_SETMASK, NULL, of);
	sem_post(&has_run);
	return NULL;
}

static void threads_of_the_library_get_no_signal(void **state)
{
	sigset_t before, after, inside;

	(void)state;
	sem_init(&has_run, 0, 0);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(verbs_own_thread_start(signals_note, &inside), 0);
	sem_wait(&has_run);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&inside, SIGTERM), 1);
	assert_int_equal(sigismember(&inside, SIGUSR2), 1);
	for (int number = 1; number < NSIG; number++)
		assert_int_equal(sigismember(&before, number), sigismember(&after, number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_the_library_get_no_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
