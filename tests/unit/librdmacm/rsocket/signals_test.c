/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals_test.c - restart of interrupted calls: by the SA_RESTART flags of the program's
 * handlers, or because the thread changed its user. Users are the test's.
 *
 * Covers: librdmacm/rsocket/signals.c
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/signals.c"

static struct {
	uid_t uids[3];
	gid_t gids[3], groups[RS_USER_GROUPS + 1];
	int group_count;
	unsigned int calls;
} user;

int __wrap_getresuid(uid_t *real, uid_t *effective, uid_t *saved);
int __wrap_getresgid(gid_t *real, gid_t *effective, gid_t *saved);
int __wrap_getgroups(int room, gid_t *groups);

int __wrap_getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
	user.calls++;
	*real = user.uids[0];
	*effective = user.uids[1];
	*saved = user.uids[2];
	return 0;
}

int __wrap_getresgid(gid_t *real, gid_t *effective, gid_t *saved)
{
	user.calls++;
	*real = user.gids[0];
	*effective = user.gids[1];
	*saved = user.gids[2];
	return 0;
}

int __wrap_getgroups(int room, gid_t *groups)
{
	user.calls++;
	if (!room)
		return user.group_count;
	if (room < user.group_count) {
		errno = EINVAL;
		return -1;
	}
	memcpy(groups, user.groups, user.group_count * sizeof(*groups));
	return user.group_count;
}

static void on_signal(int number)
{
	(void)number;
}

static void signal_handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

static int user_begin(void **state)
{
	(void)state;
	memset(&user, 0, sizeof(user));
	user.group_count = 2;
	return 0;
}

static int handlers_end(void **state)
{
	const int handled[] = { SIGUSR1, SIGUSR2, SIGRTMAX };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(handled); i++)
		signal(handled[i], SIG_DFL);
	return 0;
}

/* Signals without a handler end no call, as the kernel does not interrupt calls for them. */
static void a_call_goes_on_if_all_handlers_say_so(void **state)
{
	struct rs_user before;

	(void)state;
	rdmacm_rs_who(&before);
	assert_false(rdmacm_rs_restarts(&before));
	signal_handle(SIGUSR1, SA_RESTART);
	assert_true(rdmacm_rs_restarts(&before));
	signal_handle(SIGRTMAX, 0);
	assert_false(rdmacm_rs_restarts(&before));
	signal_handle(SIGRTMAX, SA_RESTART);
	assert_true(rdmacm_rs_restarts(&before));
	signal(SIGUSR2, SIG_IGN);
	assert_true(rdmacm_rs_restarts(&before));
	signal_handle(SIGUSR2, SA_SIGINFO);
	assert_false(rdmacm_rs_restarts(&before));
}

/* cmocka itself has such handlers, without SA_RESTART, so they must not count. */
static void handlers_of_faults_do_not_count(void **state)
{
	static const int faults[] = { SIGTRAP, SIGABRT };
	struct rs_user before;

	(void)state;
	rdmacm_rs_who(&before);
	signal_handle(SIGUSR1, SA_RESTART);
	for (unsigned int i = 0; i < ARRAY_SIZE(faults); i++) {
		signal_handle(faults[i], 0);
		assert_true(rdmacm_rs_restarts(&before));
		signal(faults[i], SIG_DFL);
	}
}

static void a_thread_that_is_alone_asks_for_no_user(void **state)
{
	struct rs_user before;

	(void)state;
	user.uids[1] = 7;
	rdmacm_rs_who(&before);
	assert_true(before.is_alone);
	assert_int_equal(before.uids[1], 0);
	user.uids[1] = 8;
	assert_false(rdmacm_rs_restarts(&before));
	assert_int_equal(user.calls, 0);
}

static void *thread_run(void *unused)
{
	return unused;
}

static int user_begin_with_thread(void **state)
{
	pthread_t thread;

	user_begin(state);
	return pthread_create(&thread, NULL, thread_run, NULL) || pthread_join(thread, NULL);
}

/* Changes each kind of user ID, and changes it back. */
static void each_change_of_the_user_lets_the_call_go_on(void **state)
{
	uid_t *const ids[] = { &user.uids[0], &user.uids[1], &user.uids[2],   &user.gids[0],
			       &user.gids[1], &user.gids[2], &user.groups[0], &user.groups[1] };
	struct rs_user before;

	(void)state;
	rdmacm_rs_who(&before);
	assert_false(before.is_alone);
	assert_false(rdmacm_rs_restarts(&before));
	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		*ids[i] += 5;
		assert_true(rdmacm_rs_restarts(&before));
		*ids[i] -= 5;
		assert_false(rdmacm_rs_restarts(&before));
	}
	user.group_count = 1;
	assert_true(rdmacm_rs_restarts(&before));
}

static void of_many_groups_the_number_is_known(void **state)
{
	struct rs_user before;

	(void)state;
	user.group_count = RS_USER_GROUPS;
	rdmacm_rs_who(&before);
	assert_int_equal(before.group_count, RS_USER_GROUPS);
	user.groups[RS_USER_GROUPS - 1] = 3;
	assert_true(rdmacm_rs_restarts(&before));
	user.group_count = RS_USER_GROUPS + 1;
	rdmacm_rs_who(&before);
	assert_int_equal(before.group_count, RS_USER_GROUPS + 1);
	assert_int_equal(before.groups[RS_USER_GROUPS - 1], 0);
	assert_false(rdmacm_rs_restarts(&before));
}

int main(void)
{
#define TEST(name)    cmocka_unit_test_setup_teardown(name, user_begin, handlers_end)
#define THREADS(name) cmocka_unit_test_setup_teardown(name, user_begin_with_thread, handlers_end)
	const struct CMUnitTest tests[] = {
		TEST(a_call_goes_on_if_all_handlers_say_so),
		TEST(handlers_of_faults_do_not_count),
		TEST(a_thread_that_is_alone_asks_for_no_user),
		THREADS(each_change_of_the_user_lets_the_call_go_on),
		THREADS(of_many_groups_the_number_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
