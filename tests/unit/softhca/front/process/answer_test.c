/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer_test.c - answers of trapped calls, as the kernel gets them. The listener is the test's.
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
#include "softhca/front/process/answer.c"

enum { LISTENER = 50, ID = 1000, FD = 9, NUMBER = 700 };

static struct {
	struct seccomp_notif notif;
	struct call call;
	struct seccomp_notif_resp answer;
	struct seccomp_notif_addfd addfd;
	unsigned int answers, adds;
	int answer_error, add_error;
} it;

static int fake_ioctl(int fd, unsigned long request, const void *arg)
{
	assert_int_equal(fd, LISTENER);
	if (request == SECCOMP_IOCTL_NOTIF_ADDFD) {
		memcpy(&it.addfd, arg, sizeof(it.addfd));
		it.adds++;
		errno = it.add_error;
		return it.add_error ? -1 : NUMBER;
	}
	assert_true(request == SECCOMP_IOCTL_NOTIF_SEND);
	memcpy(&it.answer, arg, sizeof(it.answer));
	it.answers++;
	errno = it.answer_error;
	return it.answer_error ? -1 : 0;
}

static int answer_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.notif.id = ID;
	it.call.notif = &it.notif;
	it.call.listener = LISTENER;
	return 0;
}

static void check_answer(int64_t value, int error, uint32_t flags)
{
	assert_int_equal(it.answers, 1);
	assert_int_equal(it.answer.id, ID);
	assert_int_equal(it.answer.val, value);
	assert_int_equal(it.answer.error, error);
	assert_int_equal(it.answer.flags, flags);
	assert_true(it.call.answered);
}

static void check_added(uint32_t flags, uint32_t at, uint32_t newfd_flags)
{
	assert_int_equal(it.adds, 1);
	assert_int_equal(it.addfd.id, ID);
	assert_int_equal(it.addfd.srcfd, FD);
	assert_int_equal(it.addfd.flags, flags);
	assert_int_equal(it.addfd.newfd, at);
	assert_int_equal(it.addfd.newfd_flags, newfd_flags);
	it.adds = 0;
}

static void a_value_is_returned(void **state)
{
	(void)state;
	call_return(&it.call, 24);
	check_answer(24, 0, 0);
}

static void an_error_is_negative(void **state)
{
	(void)state;
	call_fail(&it.call, ENODEV);
	check_answer(0, -ENODEV, 0);
}

static void the_kernel_continues(void **state)
{
	(void)state;
	assert_int_equal(call_continue(&it.call), 0);
	check_answer(0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
	it.answer_error = ENOENT;
	assert_int_equal(call_continue(&it.call), ENOENT);
}

static void a_descriptor_is_the_answer(void **state)
{
	(void)state;
	call_return_fd(&it.call, FD, true);
	check_added(SECCOMP_ADDFD_FLAG_SEND, 0, O_CLOEXEC);
	assert_true(it.call.answered);
	assert_int_equal(it.answers, 0);
	call_return_fd(&it.call, FD, false);
	check_added(SECCOMP_ADDFD_FLAG_SEND, 0, 0);
}

static void a_descriptor_that_cannot_be_given_is_an_error(void **state)
{
	(void)state;
	it.add_error = EMFILE;
	call_return_fd(&it.call, FD, true);
	check_answer(0, -EMFILE, 0);
}

static void a_given_descriptor_answers_nothing(void **state)
{
	(void)state;
	assert_int_equal(call_give_fd(&it.call, FD, true), NUMBER);
	check_added(0, 0, O_CLOEXEC);
	assert_int_equal(call_give_fd(&it.call, FD, false), NUMBER);
	check_added(0, 0, 0);
	it.add_error = EMFILE;
	assert_int_equal(call_give_fd(&it.call, FD, false), -EMFILE);
	assert_int_equal(it.answers, 0);
	assert_false(it.call.answered);
}

static void a_placed_descriptor_has_its_number(void **state)
{
	(void)state;
	assert_int_equal(call_place_fd(&it.call, FD, true, 900), 0);
	check_added(SECCOMP_ADDFD_FLAG_SETFD, 900, O_CLOEXEC);
	assert_int_equal(call_place_fd(&it.call, FD, false, 900), 0);
	check_added(SECCOMP_ADDFD_FLAG_SETFD, 900, 0);
	it.add_error = EBADF;
	assert_int_equal(call_place_fd(&it.call, FD, false, 900), EBADF);
	assert_int_equal(it.answers, 0);
	assert_false(it.call.answered);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, answer_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_value_is_returned),
		CASE(an_error_is_negative),
		CASE(the_kernel_continues),
		CASE(a_descriptor_is_the_answer),
		CASE(a_descriptor_that_cannot_be_given_is_an_error),
		CASE(a_given_descriptor_answers_nothing),
		CASE(a_placed_descriptor_has_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
