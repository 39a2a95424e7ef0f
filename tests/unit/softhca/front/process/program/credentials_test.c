/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credentials_test.c - threads that have the credentials of a file's opener, after changes of user
 * and group. The threads belong to this test; their changes are only announced, not made.
 *
 * Covers: softhca/front/process/program/credentials.c
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/front/process/program/credentials.h"
#include "tests/lib/rights.h"

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

struct member {
	pthread_t thread;
	pthread_barrier_t met;
	pid_t tid;
	int nr;
	uint64_t arg;
	bool is_nobody; /* drops the test's capabilities, if it has any */
};

enum { NO_CALL = -1, NOBODY = 65534 };

static void say_change_to(int nr, uint64_t arg)
{
	struct seccomp_notif notif = {
		.data = { .nr = nr, .args = { arg, (uint64_t)-1, (uint64_t)-1 } },
	};
	struct call call = { .notif = &notif, .tid = own_tid() };

	if (nr >= 0)
		credentials_change(&call);
}

static void *member_run(void *arg)
{
	struct member *member = arg;

	member->tid = own_tid();
	if (member->is_nobody) /* changes this thread only; glibc's call would change all */
		syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	say_change_to(member->nr, member->arg);
	pthread_barrier_wait(&member->met);
	pthread_barrier_wait(&member->met);
	return NULL;
}

static void member_begin(struct member *member)
{
	pthread_barrier_init(&member->met, NULL, 2);
	assert_int_equal(pthread_create(&member->thread, NULL, member_run, member), 0);
	pthread_barrier_wait(&member->met);
}

static void member_start_with(struct member *member, int nr, uint64_t arg)
{
	*member = (struct member){ .nr = nr, .arg = arg };
	member_begin(member);
}

static void member_start(struct member *member, int nr)
{
	member_start_with(member, nr, getuid());
}

static void nobody_start(struct member *member, int nr, uint64_t arg)
{
	*member = (struct member){ .nr = nr, .arg = arg, .is_nobody = true };
	member_begin(member);
}

/* Ends the thread, and waits until Linux has released its TID, which may be later than the join. */
static void member_end(struct member *member)
{
	pthread_barrier_wait(&member->met);
	pthread_join(member->thread, NULL);
	while (!syscall(SYS_tgkill, getpid(), member->tid, 0) || errno != ESRCH)
		sched_yield();
	pthread_barrier_destroy(&member->met);
}

static struct client *client;

static int client_begin(void **state)
{
	(void)state;
	return client_get(getpid(), &client);
}

static int client_end(void **state)
{
	(void)state;
	client_put(client);
	return 0;
}

static unsigned int count_notes(void)
{
	struct credentials_change *change;
	unsigned int count = 0;

	LIST_FOREACH(change, &client->changes, entry)
		count++;
	return count;
}

static void threads_share_what_nobody_has_changed(void **state)
{
	struct credentials opener = credentials_of(client, own_tid());
	struct member member;

	(void)state;
	member_start(&member, NO_CALL);
	assert_true(credentials_are_of(&opener, client, own_tid()));
	assert_true(credentials_are_of(&opener, client, member.tid));
	member_end(&member);
}

static void who_changes_is_somebody_else(void **state)
{
	static const int calls[] = { __NR_setuid,   __NR_setgid,    __NR_setreuid,
				     __NR_setregid, __NR_setresuid, __NR_setresgid };
	struct credentials opener = credentials_of(client, own_tid()), later;
	struct member member;

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		member_start_with(&member, calls[i], i % 2 ? getgid() : getuid());
		assert_false(credentials_are_of(&opener, client, member.tid));
		assert_true(credentials_are_of(&opener, client, own_tid()));
		later = credentials_of(client, member.tid);
		assert_true(credentials_are_of(&later, client, member.tid));
		member_end(&member);
	}
}

static void another_user_is_somebody_else(void **state)
{
	struct credentials opener = credentials_of(client, own_tid());
	struct member member;

	(void)state;
	if (geteuid() || !rights_has_nobody())
		skip();
	nobody_start(&member, NO_CALL, 0);
	assert_false(credentials_are_of(&opener, client, member.tid));
	member_end(&member);
}

/* A call that Linux refuses for lack of capabilities changes no credentials. */
static void what_fails_changes_nothing(void **state)
{
	const struct {
		int nr;
		uint64_t arg;
		bool changes;
	} calls[] = {
		{ __NR_setuid, NOBODY, true },          { __NR_setresuid, NOBODY, true },
		{ __NR_setresuid, (uint32_t)-1, true }, { __NR_setuid, NOBODY - 1, false },
		{ __NR_setgid, getgid(), true },        { __NR_setgid, getgid() + 1, false },
		{ __NR_setgroups, 0, false },           { __NR_getuid, 0, false },
	};
	struct member member;

	(void)state;
	if ((geteuid() || !rights_has_nobody()) && geteuid() != NOBODY)
		skip();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		nobody_start(&member, calls[i].nr, calls[i].arg);
		assert_int_equal(!!credentials_of(client, member.tid).change, calls[i].changes);
		member_end(&member);
	}
}

static void who_may_changes_to_anybody(void **state)
{
	struct member member;

	(void)state;
	if (geteuid() || !rights_has_nobody())
		skip();
	member_start_with(&member, __NR_setuid, NOBODY);
	assert_true(credentials_of(client, member.tid).change);
	member_end(&member);
	member_start_with(&member, __NR_setgroups, 0);
	assert_true(credentials_of(client, member.tid).change);
	member_end(&member);
}

/* Two threads that have both changed count as different; a thread counts as the opener only until
 * its next change. */
static void changes_differ(void **state)
{
	struct member first, second;
	struct credentials opener;

	(void)state;
	member_start(&first, __NR_setuid);
	member_start(&second, __NR_setuid);
	opener = credentials_of(client, first.tid);
	assert_true(credentials_are_of(&opener, client, first.tid));
	assert_false(credentials_are_of(&opener, client, second.tid));
	member_end(&second);
	member_end(&first);
}

/* If the opener or the thread has no recorded change, the adapter cannot tell them apart, so it
 * accepts the thread. */
static void who_is_not_known_is_believed(void **state)
{
	struct member member;
	struct credentials opener;

	(void)state;
	member_start(&member, __NR_setuid);
	opener = credentials_of(client, own_tid());
	assert_true(credentials_are_of(&opener, client, member.tid));
	opener = credentials_of(client, member.tid);
	assert_true(credentials_are_of(&opener, client, own_tid()));
	member_end(&member);
}

static void notes_go_with_their_threads(void **state)
{
	enum { THREADS = 20 };
	struct member member;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		member_start(&member, __NR_setuid);
		member_end(&member);
	}
	assert_int_equal(count_notes(), 1);
}

/* Limits descriptors, as the adapter cannot read /proc without a free one. */
static void set_descriptors(rlim_t most)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void a_note_outlives_a_lack_of_descriptors(void **state)
{
	struct credentials opener = credentials_of(client, own_tid());
	struct rlimit before;
	struct member member;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	member_start(&member, __NR_setuid);
	set_descriptors(0);
	assert_false(credentials_are_of(&opener, client, member.tid));
	assert_true(credentials_are_of(&opener, client, own_tid()));
	say_change_to(__NR_setuid, getuid());
	set_descriptors(before.rlim_cur);
	assert_int_equal(count_notes(), 2);
	assert_false(credentials_are_of(&opener, client, member.tid));
	assert_false(credentials_are_of(&opener, client, own_tid()));
	member_end(&member);
}

static void who_opens_meanwhile_is_known_later(void **state)
{
	struct credentials opener;
	struct rlimit before;
	struct member member;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	set_descriptors(0);
	opener = credentials_of(client, own_tid());
	set_descriptors(before.rlim_cur);
	assert_true(credentials_are_of(&opener, client, own_tid()));
	member_start(&member, __NR_setuid);
	assert_false(credentials_are_of(&opener, client, member.tid));
	member_end(&member);
}

enum { TICKS_US = 30000 };

/* Writes a later thread's TID into an earlier thread's record, as if Linux had reused the TID. */
static void a_number_may_be_of_another_thread_later(void **state)
{
	struct credentials opener = credentials_of(client, own_tid());
	struct member before, after;

	(void)state;
	member_start(&before, __NR_setuid);
	assert_int_equal(LIST_FIRST(&client->changes)->tid, before.tid);
	member_end(&before);
	usleep(TICKS_US);
	member_start(&after, NO_CALL);
	LIST_FIRST(&client->changes)->tid = after.tid;
	assert_true(credentials_are_of(&opener, client, after.tid));
	member_end(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, client_begin, client_end)
		TEST(threads_share_what_nobody_has_changed),
		TEST(who_changes_is_somebody_else),
		TEST(another_user_is_somebody_else),
		TEST(what_fails_changes_nothing),
		TEST(who_may_changes_to_anybody),
		TEST(changes_differ),
		TEST(who_is_not_known_is_believed),
		TEST(notes_go_with_their_threads),
		TEST(a_note_outlives_a_lack_of_descriptors),
		TEST(who_opens_meanwhile_is_known_later),
		TEST(a_number_may_be_of_another_thread_later),
	};

	if (watch_start())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
