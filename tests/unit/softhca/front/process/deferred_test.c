/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deferred_test.c - calls that wait: their slots in the mailbox, their answers, and what signals
 * make of them. Listener, signals and clock are the test's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include <cmocka.h>

static int fake_ioctl(int fd, unsigned long request, const void *arg);

#define ioctl fake_ioctl
#include "softhca/front/process/deferred.c"

enum { LISTENER = 50, TID = 77, ID = 1000, CALLS = 4, NOW = 5000 };

static struct {
	struct mailbox mailbox;
	struct deferred_call deferred[CALLS];
	struct seccomp_notif_resp answer;
	unsigned int answers, looks, starts;
	int ioctl_error;
	uint64_t dead; /* the call of this id has no caller any more */
	enum signals_verdict verdict;
	unsigned int reads; /* of each look at signals */
	uint64_t deadline;
	pid_t looked_at[CALLS];
} it;

static int fake_ioctl(int fd, unsigned long request, const void *arg)
{
	assert_int_equal(fd, LISTENER);
	if (request == SECCOMP_IOCTL_NOTIF_ID_VALID) {
		errno = ENOENT;
		return *(const uint64_t *)arg == it.dead ? -1 : 0;
	}
	assert_true(request == SECCOMP_IOCTL_NOTIF_SEND);
	memcpy(&it.answer, arg, sizeof(it.answer));
	it.answers++;
	errno = it.ioctl_error;
	return it.ioctl_error ? -1 : 0;
}

enum signals_verdict signals_look(pid_t tid, unsigned int *reads)
{
	if (it.looks < CALLS)
		it.looked_at[it.looks] = tid;
	it.looks++;
	*reads += it.reads;
	return it.verdict;
}

uint64_t timer_now(void)
{
	return NOW;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	assert_ptr_equal(timer, &look);
	it.starts++;
	it.deadline = timer->deadline = deadline;
}

static int deferred_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.reads = 1;
	look.deadline = 0;
	return 0;
}

static int deferred_finish(void **state)
{
	(void)state;
	while (!TAILQ_EMPTY(&waiting))
		call_deferred_forget(TAILQ_FIRST(&waiting));
	for (unsigned int i = 0; i < MAILBOX_DEFERRED; i++)
		assert_int_equal(it.mailbox.deferred[i], 0);
	return 0;
}

/* Defers call INDEX, of its own thread and id. */
static struct deferred_call *defer(unsigned int index)
{
	const struct seccomp_notif notif = { .id = ID + index };
	struct call call = { .listener = LISTENER,
			     .notif = &notif,
			     .tid = TID + (pid_t)index,
			     .mailbox = &it.mailbox };

	memset(&it.deferred[index], 0xee, sizeof(it.deferred[index]));
	call_defer(&call, &it.deferred[index]);
	assert_true(call.answered);
	return &it.deferred[index];
}

/* Lets the timer of the looks expire. */
static void look_now(void)
{
	look.deadline = 0;
	it.deadline = 0;
	it.looks = 0;
	look.expired(&look);
}

static void a_waiting_call_is_in_the_mailbox(void **state)
{
	const struct deferred_call *first = defer(0), *second = defer(1);

	(void)state;
	assert_int_equal(it.mailbox.deferred[0], ID);
	assert_int_equal(it.mailbox.deferred[1], ID + 1);
	assert_ptr_equal(first->slot, &it.mailbox.deferred[0]);
	assert_ptr_equal(second->slot, &it.mailbox.deferred[1]);
	assert_int_equal(first->listener, LISTENER);
	assert_int_equal(first->tid, TID);
	assert_int_equal(first->doubts, 0);
	call_deferred_forget(&it.deferred[0]);
	assert_int_equal(it.mailbox.deferred[0], 0);
	assert_ptr_equal(defer(2)->slot, &it.mailbox.deferred[0]);
	assert_int_equal(it.answers, 0);
}

static void a_full_mailbox_has_no_slot(void **state)
{
	(void)state;
	memset(it.mailbox.deferred, 0x55, sizeof(it.mailbox.deferred));
	it.mailbox.deferred[MAILBOX_DEFERRED - 1] = 0;
	assert_ptr_equal(defer(0)->slot, &it.mailbox.deferred[MAILBOX_DEFERRED - 1]);
	assert_null(defer(1)->slot);
	call_deferred_return(&it.deferred[1], 0);
	assert_int_equal(it.answers, 1);
	call_deferred_forget(&it.deferred[0]);
	memset(it.mailbox.deferred, 0, sizeof(it.mailbox.deferred));
}

static void a_call_is_answered_with_value_or_error(void **state)
{
	(void)state;
	call_deferred_return(defer(0), 24);
	assert_int_equal(it.answer.id, ID);
	assert_int_equal(it.answer.val, 24);
	assert_int_equal(it.answer.error, 0);
	call_deferred_return(defer(1), -ENODEV);
	assert_int_equal(it.answer.id, ID + 1);
	assert_int_equal(it.answer.val, 0);
	assert_int_equal(it.answer.error, -ENODEV);
	call_deferred_return(defer(2), 0);
	assert_int_equal(it.answer.error, 0);
	assert_int_equal(it.answers, 3);
	assert_true(TAILQ_EMPTY(&waiting));
	assert_int_equal(it.mailbox.deferred[0], 0);
	it.ioctl_error = ENOENT;
	assert_int_equal(deferred_answer(defer(0), 0), ENOENT);
	it.ioctl_error = 0;
	assert_int_equal(deferred_answer(&it.deferred[0], 0), 0);
}

static void a_call_is_alive_while_its_caller_waits(void **state)
{
	(void)state;
	assert_true(call_deferred_is_alive(defer(0)));
	it.dead = ID;
	assert_false(call_deferred_is_alive(&it.deferred[0]));
	it.dead = 0;
	it.deferred[0].listener = -1;
	assert_false(call_deferred_is_alive(&it.deferred[0]));
}

static void calls_of_a_closed_listener_are_not_answered(void **state)
{
	(void)state;
	defer(0);
	it.deferred[0].listener = LISTENER + 1;
	defer(1);
	deferred_end(LISTENER);
	assert_int_equal(it.deferred[0].listener, LISTENER + 1);
	assert_non_null(it.deferred[0].slot);
	assert_int_equal(it.deferred[1].listener, -1);
	assert_null(it.deferred[1].slot);
	it.mailbox.deferred[1] = 0; /* the mailbox goes with its listener */
	call_deferred_return(&it.deferred[1], 5);
	assert_int_equal(it.answers, 0);
}

static void the_first_call_starts_the_looks(void **state)
{
	(void)state;
	defer(0);
	assert_int_equal(it.starts, 1);
	assert_int_equal(it.deadline, NOW + 10 * NS_PER_MS);
	defer(1);
	assert_int_equal(it.starts, 1);
	look_now();
	assert_int_equal(it.looks, 2);
	assert_int_equal(it.starts, 2);
	assert_int_equal(it.deadline, NOW + 10 * NS_PER_MS);
	it.reads = 20; /* each */
	look_now();
	assert_int_equal(it.deadline, NOW + 20 * NS_PER_MS);
	call_deferred_forget(&it.deferred[0]);
	call_deferred_forget(&it.deferred[1]);
	look_now();
	assert_int_equal(it.starts, 3);
	assert_int_equal(it.looks, 0);
}

static void a_round_goes_on_where_the_last_one_ended(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		defer(i);
	it.reads = 500;
	look_now();
	assert_int_equal(it.looks, 2);
	assert_int_equal(it.looked_at[0], TID);
	assert_int_equal(it.looked_at[1], TID + 1);
	look_now();
	assert_int_equal(it.looks, 2);
	assert_int_equal(it.looked_at[0], TID + 2);
	assert_int_equal(it.looked_at[1], TID);
	it.reads = 499;
	look_now();
	assert_int_equal(it.looks, 3);
}

static void calls_without_a_caller_are_not_looked_at(void **state)
{
	(void)state;
	defer(0);
	defer(1);
	it.dead = ID;
	look_now();
	assert_int_equal(it.looks, 1);
	assert_int_equal(it.looked_at[0], TID + 1);
}

static void a_signal_restarts_the_call(void **state)
{
	(void)state;
	defer(0);
	it.verdict = SIGNALS_WAIT;
	look_now();
	assert_int_equal(it.answers, 1);
	assert_int_equal(it.answer.error, -512);
	assert_int_equal(it.deferred[0].listener, -1);
	assert_null(it.deferred[0].slot);
	assert_int_equal(it.mailbox.deferred[0], 0);
	look_now();
	assert_int_equal(it.answers, 1);
	call_deferred_return(&it.deferred[0], 3); /* too late */
	assert_int_equal(it.answers, 1);
}

static void a_signal_of_the_process_interrupts_after_a_time(void **state)
{
	(void)state;
	defer(0);
	it.verdict = SIGNALS_PERHAPS;
	for (unsigned int i = 0; i < 19; i++)
		look_now();
	assert_int_equal(it.answers, 0);
	it.verdict = SIGNALS_NONE; /* another thread took it */
	look_now();
	it.verdict = SIGNALS_PERHAPS;
	for (unsigned int i = 0; i < 19; i++)
		look_now();
	assert_int_equal(it.answers, 0);
	look_now();
	assert_int_equal(it.answers, 1);
	assert_int_equal(it.answer.error, -EINTR);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, deferred_begin, deferred_finish)
	const struct CMUnitTest tests[] = {
		CASE(a_waiting_call_is_in_the_mailbox),
		CASE(a_full_mailbox_has_no_slot),
		CASE(a_call_is_answered_with_value_or_error),
		CASE(a_call_is_alive_while_its_caller_waits),
		CASE(calls_of_a_closed_listener_are_not_answered),
		CASE(the_first_call_starts_the_looks),
		CASE(a_round_goes_on_where_the_last_one_ended),
		CASE(calls_without_a_caller_are_not_looked_at),
		CASE(a_signal_restarts_the_call),
		CASE(a_signal_of_the_process_interrupts_after_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
