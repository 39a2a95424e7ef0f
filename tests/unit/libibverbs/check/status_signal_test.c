/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signal that asks for the status: which handlers the library leaves to the program, and what
 * its own one leaves to the function that it interrupts.
 *
 * Covers: libibverbs/check/status.c
 */
#include "watched.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>

static const struct ibv_device device = { .name = "fake_0" };

int __real_sem_post(sem_t *sem);
int __wrap_sem_post(sem_t *sem);

int __wrap_sem_post(sem_t *sem)
{
	const int result = __real_sem_post(sem);

	errno = EOVERFLOW;
	return result;
}

static sem_t said;

void __real_verbs_check_counters_say(void);
void __wrap_verbs_check_counters_say(void);

/* The last part of an answer. */
void __wrap_verbs_check_counters_say(void)
{
	__real_verbs_check_counters_say();
	__real_sem_post(&said);
}

static struct sigaction action_of(int number)
{
	struct sigaction now;

	assert_int_equal(sigaction(number, NULL, &now), 0);
	return now;
}

static void start_by(const char *name)
{
	assert_int_equal(setenv("VERBS_STATUS_SIGNAL", name, 1), 0);
	verbs_check_status_start(&device);
}

/* Lets the next test start anew, as a child of fork() does; for tests that leave no thread. */
static int signal_close(void **state)
{
	unsetenv("VERBS_STATUS_SIGNAL");
	verbs_check_status_forked();
	signal(SIGUSR2, SIG_DFL);
	return watched_close(state);
}

static void program_handle(int number)
{
	(void)number;
}

static void without_a_name_no_signal_is_taken(void **state)
{
	void (*before[32])(int);

	(void)state;
	for (int number = 1; number < 32; number++)
		before[number] = action_of(number).sa_handler;
	start_by("");
	start_by("KILL");
	start_by("USR3");
	for (int number = 1; number < 32; number++)
		assert_true(action_of(number).sa_handler == before[number]);
}

static void a_signal_of_the_program_stays_its_own(void **state)
{
	(void)state;
	signal(SIGUSR2, program_handle);
	start_by("USR2");
	check_logged("VERBS_STATUS_SIGNAL=USR2: the program handles this signal: use another");
	assert_true(action_of(SIGUSR2).sa_handler == program_handle);
	verbs_check_status_forked();
	assert_true(action_of(SIGUSR2).sa_handler == program_handle);
}

static void a_signal_that_is_ignored_stays_so(void **state)
{
	(void)state;
	signal(SIGUSR2, SIG_IGN);
	start_by("12");
	check_logged("VERBS_STATUS_SIGNAL=12: the program ignores this signal: use another");
	assert_true(action_of(SIGUSR2).sa_handler == SIG_IGN);
}

static void a_process_looks_for_its_signal_once(void **state)
{
	(void)state;
	signal(SIGUSR2, program_handle);
	start_by("USR2");
	signal(SIGUSR2, SIG_DFL);
	start_by("USR2"); /* another device */
	assert_true(action_of(SIGUSR2).sa_handler == SIG_DFL);
}

static void answer_await(void)
{
	sem_wait(&said);
	check_logged("status: QP 0x40 is in RTS");
}

/* Asks while the program's only thread blocks the signal. */
static void ask_past_the_program(void)
{
	sigset_t own, before;

	sigemptyset(&own);
	sigaddset(&own, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &own, &before);
	assert_int_equal(kill(getpid(), SIGUSR2), 0);
	answer_await();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns whether a child of fork() has HANDLER. */
static bool child_has(void (*handler)(int))
{
	struct sigaction now;
	const pid_t child = fork();
	int status;

	if (!child)
		_exit(sigaction(SIGUSR2, NULL, &now) || now.sa_handler != handler);
	assert_int_equal(waitpid(child, &status, 0), child);
	return !status;
}

/* The last one, because the thread stays. */
static void an_answer_leaves_the_program_as_it_was(void **state)
{
	(void)state;
	watched_qp(IBV_QPT_RC, watched_cq(64), NULL);
	start_by("USR2");
	assert_int_equal(action_of(SIGUSR2).sa_flags & SA_RESTART, SA_RESTART);
	errno = EDOM;
	raise(SIGUSR2);
	assert_int_equal(errno, EDOM);
	answer_await();
	ask_past_the_program();
	says_nothing();
	assert_true(child_has(SIG_DFL));
	signal(SIGUSR2, program_handle);
	assert_true(child_has(program_handle));
}

#define SIGNAL_TEST(fn) cmocka_unit_test_setup_teardown(fn, watched_open, signal_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIGNAL_TEST(without_a_name_no_signal_is_taken),
		SIGNAL_TEST(a_signal_of_the_program_stays_its_own),
		SIGNAL_TEST(a_signal_that_is_ignored_stays_so),
		SIGNAL_TEST(a_process_looks_for_its_signal_once),
		cmocka_unit_test_setup_teardown(an_answer_leaves_the_program_as_it_was,
						watched_open, watched_close),
	};

	log_to_memory();
	if (sem_init(&said, 0, 0))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
