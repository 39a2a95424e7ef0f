/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that the C library does not know of: those of clone(), and those that call a library in a
 * namespace of its own (namespace_plugin.c). What is found stays, so each test is a child.
 *
 * Covers: util/threads.c, util/threads.h, util/mutex.h
 */
#include "tests/unit/libibverbs/unit.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mutex.h"
#include "util/threads.h"

/* Returns whether BODY does, in a child. */
static bool in_child(bool (*body)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool has_one_thread(void)
{
	verbs_threads_look();
	return process_has_one_thread();
}

static bool takes_mutex(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	bool taken = mutex_enter(&mutex), was_free = !pthread_mutex_trylock(&mutex);

	if (was_free)
		pthread_mutex_unlock(&mutex);
	mutex_leave(&mutex, taken);
	return taken && !was_free && !pthread_mutex_trylock(&mutex);
}

static bool wants_mutexes(void)
{
	setenv("VERBS_KEEP_LOCKS", "1", 1);
	verbs_threads_look();
	return takes_mutex();
}

static bool wants_locks(void)
{
	setenv("VERBS_KEEP_LOCKS", "1", 1);
	return !has_one_thread();
}

static void one_thread_needs_no_locks(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer has a thread of its own, so there is no process of one */
#endif
	assert_true(in_child(has_one_thread));
	assert_true(in_child(wants_locks));
	assert_false(in_child(takes_mutex));
	assert_true(in_child(wants_mutexes));
}

static int sleep_for_ever(void *unused)
{
	for (;;)
		syscall(SYS_pause);
	(void)unused;
	return 0;
}

static bool finds_a_clone(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	const bool before = has_one_thread();

	if (clone(sleep_for_ever, stack + sizeof(stack),
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL) < 0)
		return false;
	return before && process_has_one_thread() && !has_one_thread();
}

static void a_thread_of_clone_is_found(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	/* the sanitizers do not survive threads that they have not made, so this cannot run */
	skip();
#endif
	assert_true(in_child(finds_a_clone));
}

static bool needs_no_locks_in(void *plugin)
{
	bool (*ask)(void) = plugin ? (bool (*)(void))dlsym(plugin, "plugin_has_one_thread") : NULL;

	if (!ask) {
		printf("%s\n", dlerror());
		exit(2);
	}
	return ask();
}

static bool locks_in_a_namespace(void)
{
	return !needs_no_locks_in(dlmopen(LM_ID_NEWLM, NAMESPACE_PLUGIN, RTLD_NOW)) &&
	       has_one_thread();
}

static bool no_locks_in_the_first_namespace(void)
{
	return needs_no_locks_in(dlopen(NAMESPACE_PLUGIN, RTLD_NOW));
}

static void a_library_of_another_namespace_keeps_its_locks(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* there would be two of the sanitizer */
#endif
	assert_true(in_child(locks_in_a_namespace));
	assert_true(in_child(no_locks_in_the_first_namespace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_needs_no_locks),
		cmocka_unit_test(a_thread_of_clone_is_found),
		cmocka_unit_test(a_library_of_another_namespace_keeps_its_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
