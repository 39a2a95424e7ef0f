/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * copies_test.c - the table of numbers and their rsockets: the lowest and highest number, pages of
 * the table, copies of one rsocket, and its state within librdmacm. System and rsocket calls are
 * the test's.
 *
 * Covers: librdmacm/rsocket/preload/copies.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "librdmacm/rsocket/preload/copies.c"

enum { LAST = PAGES * PAGE_SIZE - 1, ROOM = 8 };

static struct {
	int flags; /* flags of a number's file */
	int fd_flags;
	int rsocket_flags;
	int set_flags, set_count, inside; /* arguments of rfcntl() */
	int closed, shut[ROOM], shut_how[ROOM], shut_count, flushed_count;
	struct linger linger[ROOM]; /* of the first rsockets */
	bool are_deaf;              /* the peer never answers: a shutdown takes the linger time */
	int64_t now_ms;
	int moved[ROOM], moved_count, cloexec; /* numbers replaced by FILE */
	int dup2_errno;
	int raw_closed; /* a number that a raw system call has closed */
} it;

int rfcntl(int rsocket, int command, ...)
{
	va_list args;

	(void)rsocket;
	assert_int_equal(preload_inside, 1);
	if (command == F_GETFL)
		return it.rsocket_flags;
	va_start(args, command);
	it.set_flags = va_arg(args, int);
	va_end(args);
	it.set_count++;
	return 0;
}

int rclose(int rsocket)
{
	assert_int_equal(preload_inside, 1);
	it.closed = rsocket;
	return 0;
}

int rgetsockopt(int rsocket, int level, int name, void *value, socklen_t *len)
{
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_LINGER);
	assert_int_equal(*len, sizeof(struct linger));
	memcpy(value, &it.linger[rsocket % ROOM], sizeof(struct linger));
	return 0;
}

int rsetsockopt(int rsocket, int level, int name, const void *value, socklen_t len)
{
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_LINGER);
	assert_int_equal(len, sizeof(struct linger));
	memcpy(&it.linger[rsocket % ROOM], value, sizeof(struct linger));
	return 0;
}

int rshutdown(int rsocket, int how)
{
	assert_int_equal(preload_inside, 1);
	/* flushed, as the bytes must leave before the connection ends */
	assert_true(it.flushed_count);
	if (it.shut_count < ROOM) {
		it.shut_how[it.shut_count] = how;
		it.shut[it.shut_count++] = rsocket;
	}
	if (it.are_deaf)
		it.now_ms += it.linger[rsocket % ROOM].l_linger * 1000LL;
	return 0;
}

void preload_flush_streams(void)
{
	assert_int_equal(preload_inside, 0);
	it.flushed_count++;
}

int64_t preload_now_ms(void)
{
	return it.now_ms;
}

static int system_fcntl(int fd, int command, ...)
{
	if (command == F_SETFD)
		it.cloexec = fd;
	if (fd == it.raw_closed) {
		errno = EBADF;
		return -1;
	}
	return command == F_GETFD ? it.fd_flags : it.flags;
}

static int system_dup2(int file, int fd)
{
	(void)file;
	if (it.dup2_errno) {
		errno = it.dup2_errno;
		return -1;
	}
	it.moved[it.moved_count++] = fd;
	return fd;
}

const struct real_calls *real(void)
{
	static const struct real_calls calls = {
		.fcntl = system_fcntl, .dup2 = system_dup2, .socket = socket, .close = close
	};

	return &calls;
}

static int forget_all(void **state)
{
	(void)state;
	assert_int_equal(preload_inside, 0);
	for (int i = 0; i < PAGES; i++) {
		free(pages[i]);
		pages[i] = NULL;
	}
	memset(&it, 0, sizeof(it));
	it.closed = it.cloexec = it.raw_closed = -1;
	return 0;
}

static void any_number_may_stand_for_an_rsocket(void **state)
{
	static const int numbers[] = { 0, 1, PAGE_SIZE - 1, PAGE_SIZE, LAST };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		assert_int_equal(preload_find(numbers[i]), -1);
		assert_int_equal(preload_add_copy(numbers[i], 7 + (int)i), 0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		assert_int_equal(preload_find(numbers[i]), 7 + (int)i);
		assert_true(preload_is_rsocket(7 + (int)i));
		assert_true(preload_drop(numbers[i]));
		assert_int_equal(preload_find(numbers[i]), -1);
		assert_false(preload_is_rsocket(7 + (int)i));
	}
}

static void numbers_out_of_range_stand_for_none(void **state)
{
	(void)state;
	assert_int_equal(preload_add_copy(-1, 7), ENOMEM);
	assert_int_equal(preload_add_copy(LAST + 1, 7), ENOMEM);
	assert_int_equal(preload_add_copy(5, LAST + 1), ENOMEM);
	assert_int_equal(preload_find(5), -1);
	assert_int_equal(preload_find(-1), -1);
	assert_int_equal(preload_find(LAST + 1), -1);
	assert_false(preload_is_rsocket(7));
	assert_false(preload_is_rsocket(-1));
	preload_mark(LAST + 1, PENDING_NEW);
	assert_int_equal(preload_pending(LAST + 1), PENDING_NOT);
}

static void the_last_number_closes(void **state)
{
	(void)state;
	assert_int_equal(preload_add_copy(3, 0), 0);
	assert_int_equal(preload_add_copy(4, 0), 0);
	assert_int_equal(preload_add_copy(5, 0), 0);
	assert_int_equal(preload_find(4), 0);
	assert_false(preload_drop(4));
	assert_false(preload_drop(4));
	assert_false(preload_drop(3));
	assert_true(preload_is_rsocket(0));
	assert_true(preload_drop(5));
	assert_false(preload_is_rsocket(0));
}

static void inside_of_librdmacm_numbers_are_the_systems(void **state)
{
	(void)state;
	assert_int_equal(preload_add_copy(3, 9), 0);
	assert_int_equal(preload_mark_set(12, true), 12);
	preload_mark(13, PENDING_ASKED);
	preload_inside = 1;
	assert_int_equal(preload_find(3), -1);
	assert_false(preload_is_rsocket(9));
	assert_false(preload_is_set(12));
	assert_int_equal(preload_pending(13), PENDING_NOT);
	preload_inside = 0;
	assert_int_equal(preload_find(3), 9);
	assert_true(preload_is_set(12));
	assert_int_equal(preload_pending(13), PENDING_ASKED);
}

static void a_number_is_a_set_until_it_is_another(void **state)
{
	(void)state;
	assert_int_equal(preload_mark_set(-1, true), -1);
	assert_int_equal(preload_mark_set(6, true), 6);
	assert_false(preload_is_set(7));
	assert_int_equal(preload_mark_set(6, false), 6);
	assert_false(preload_is_set(6));
	preload_mark_set(6, true);
	assert_int_equal(preload_add_copy(6, 9), 0);
	assert_false(preload_is_set(6));
}

static void the_rsocket_is_told_when_its_file_has_changed(void **state)
{
	(void)state;
	it.rsocket_flags = O_RDWR | O_NONBLOCK;
	assert_int_equal(preload_add_copy(3, 9), 0);
	it.flags = O_RDWR | O_NONBLOCK;
	assert_int_equal(preload_find_synced(3), 9);
	assert_int_equal(it.set_count, 0);
	it.flags = O_RDWR;
	assert_int_equal(preload_find_synced(3), 9);
	assert_int_equal(it.set_count, 1);
	assert_int_equal(it.set_flags, 0);
	assert_int_equal(preload_find_synced(3), 9);
	assert_int_equal(it.set_count, 1);
	it.flags = O_RDWR | O_NONBLOCK;
	assert_int_equal(preload_find_synced(3), 9);
	assert_int_equal(it.set_flags, O_NONBLOCK);
	assert_int_equal(preload_find_synced(4), -1);
	it.rsocket_flags = -1;
	assert_int_equal(preload_add_copy(5, 10), 0);
	it.flags = O_RDWR;
	assert_int_equal(preload_find_synced(5), 10);
	assert_int_equal(it.set_count, 2);
}

static void a_new_number_is_that_of_a_file(void **state)
{
	int fd = preload_number(9, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(preload_find(fd), 9);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	preload_drop(fd);
	fd = preload_number(9, SOCK_NONBLOCK);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	preload_drop(fd);
	assert_int_equal(preload_number(-1, 0), -1);
	assert_int_equal(it.closed, -1);
	errno = 0;
	assert_int_equal(preload_number(LAST + 1, 0), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(it.closed, LAST + 1);
}

/* A number's own file neither supplies nor swallows bytes, as calls that the library does not
 * replace must not lose them. */
static void a_number_takes_no_bytes_by_itself(void **state)
{
	int fd = preload_file(0);
	FILE *file = fdopen(fd, "r+");
	char byte;

	(void)state;
	assert_non_null(file);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(read(fd, &byte, 1), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, ESPIPE);
	assert_int_equal(fputs("text", file), 1);
	assert_int_equal(fflush(file), EOF);
	assert_int_equal(errno, ENOTCONN);
	fclose(file);
}

static void ranges_of_numbers_have_those_known(void **state)
{
	(void)state;
	assert_int_equal(preload_first_known(0, LAST), LAST + 1);
	assert_int_equal(preload_add_copy(5000, 20), 0);
	preload_mark_set(3000, true);
	preload_mark(2000, PENDING_NEW);
	assert_int_equal(preload_first_known(0, LAST), 20); /* the rsocket's own */
	assert_int_equal(preload_first_known(20, 20), 20);
	assert_int_equal(preload_first_known(21, LAST), 2000);
	assert_int_equal(preload_first_known(2001, LAST), 3000);
	assert_int_equal(preload_first_known(3001, 4999), 5000);
	assert_int_equal(preload_first_known(3001, LAST), 5000);
	assert_int_equal(preload_first_known(5001, LAST), LAST + 1);
	assert_int_equal(preload_first_known(5001, 5001), 5002);
}

static void all_numbers_of_an_rsocket_become_a_files(void **state)
{
	(void)state;
	assert_int_equal(preload_add_copy(0, 9), 0);
	assert_int_equal(preload_add_copy(5, 8), 0);
	assert_int_equal(preload_add_copy(LAST, 9), 0);
	it.fd_flags = FD_CLOEXEC;
	assert_int_equal(preload_turn_over(9, 77), 0);
	assert_int_equal(it.moved_count, 2);
	assert_int_equal(it.moved[0], 0);
	assert_int_equal(it.moved[1], LAST);
	assert_int_equal(it.cloexec, LAST);
	assert_int_equal(preload_find(0), -1);
	assert_int_equal(preload_find(5), 8);
	assert_int_equal(preload_turn_over(9, 77), EBADF);
	it.cloexec = -1;
	it.fd_flags = 0;
	it.dup2_errno = EMFILE;
	assert_int_equal(preload_turn_over(8, 77), EMFILE);
	assert_int_equal(preload_find(5), 8);
	it.dup2_errno = 0;
	assert_int_equal(preload_turn_over(8, 77), 0);
	assert_int_equal(it.cloexec, -1);
}

/* The library does not see close() by a raw system call. */
static void a_number_closed_by_the_kernel_alone_is_passed_over(void **state)
{
	(void)state;
	it.flags = O_RDWR;
	it.raw_closed = 11;
	assert_int_equal(preload_add_copy(11, 1), 0);
	assert_int_equal(preload_add_copy(1, 1), 0);
	assert_int_equal(preload_status_flags(1), O_RDWR);
	it.raw_closed = 1;
	assert_int_equal(preload_status_flags(1), O_RDWR);
	assert_int_equal(preload_turn_over(1, 30), 0);
	assert_int_equal(it.moved_count, 1);
	assert_int_equal(it.moved[0], 11);
	assert_int_equal(it.cloexec, -1);
	assert_int_equal(preload_find(1), -1);
	assert_int_equal(preload_add_copy(1, 1), 0);
	assert_int_equal(preload_status_flags(1), 0);
}

static void pending_numbers_are_listed_as_far_as_there_is_room(void **state)
{
	int fds[3] = { -1, -1, -1 };

	(void)state;
	preload_mark(0, PENDING_ASKING);
	preload_mark(PAGE_SIZE - 1, PENDING_NEW);
	preload_mark(LAST, PENDING_ASKING);
	assert_int_equal(preload_list_pending(PENDING_ASKING, fds, 3), 2);
	assert_int_equal(fds[0], 0);
	assert_int_equal(fds[1], LAST);
	assert_int_equal(preload_list_pending(PENDING_ASKING, fds, 1), 1);
	assert_int_equal(preload_list_pending(PENDING_LISTENER, fds, 3), 0);
}

static void the_end_of_the_process_shuts_all(void **state)
{
	(void)state;
	assert_int_equal(preload_add_copy(0, 9), 0);
	assert_int_equal(preload_add_copy(LAST, 0), 0);
	assert_false(preload_is_foreign());
	end_of_process();
	assert_int_equal(it.flushed_count, 1);
	assert_int_equal(it.shut_count, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(it.shut[i], i % 2 ? 0 : 9);
		assert_int_equal(it.shut_how[i], i < 2 ? SHUT_WR : SHUT_RDWR);
	}
	owner++;
	assert_true(preload_is_foreign());
	end_of_process();
	assert_int_equal(it.flushed_count, 1);
	assert_int_equal(it.shut_count, 4);
	owner--;
}

/* exit() must not wait for each peer in turn: telling each of four peers takes a second, so they
 * share one time. */
static void sides_that_do_not_answer_share_one_time(void **state)
{
	(void)state;
	it.are_deaf = true;
	it.now_ms = 5000;
	it.linger[2] = (struct linger){ 1, 3 }; /* set by the program */
	for (int i = 1; i < 5; i++)
		assert_int_equal(preload_add_copy(10 + i, i), 0);
	end_of_process();
	assert_int_equal(it.now_ms, 5000 + END_MS);
	assert_int_equal(it.shut_count, 5);
	for (int i = 0; i < 4; i++) {
		/* shuts all down before it waits for one, so that the waits overlap */
		assert_int_equal(it.shut[i], i + 1);
		assert_int_equal(it.shut_how[i], SHUT_WR);
	}
	assert_int_equal(it.linger[1].l_linger, END_MS / 1000 - 4);
	assert_int_equal(it.linger[2].l_linger, 3);
}

static void the_programs_time_to_linger_counts_if_it_is_shorter(void **state)
{
	(void)state;
	it.are_deaf = true;
	it.flushed_count = 1;
	it.linger[1] = (struct linger){ 1, 3 };
	it.linger[2] = (struct linger){ 0, 0 };
	it.linger[3] = (struct linger){ 1, 1000 };
	for (int i = 1; i < 4; i++)
		assert_int_equal(preload_add_copy(10 + i, i), 0);
	shut_within(1, SHUT_RDWR, 10001);
	assert_int_equal(it.now_ms, 3000);
	shut_within(2, SHUT_RDWR, 10001);
	assert_int_equal(it.now_ms, 14000);
	shut_within(3, SHUT_RDWR, 1);
	assert_int_equal(it.now_ms, 15000);
}

/* A linger time of 0 is the program's: it gives up what was not sent. */
static void an_abort_at_the_end_stays_one(void **state)
{
	(void)state;
	it.are_deaf = true;
	it.linger[1] = (struct linger){ 1, 0 };
	assert_int_equal(preload_add_copy(11, 1), 0);
	end_of_process();
	assert_int_equal(it.now_ms, 0);
	assert_int_equal(it.shut_count, 0);
	assert_int_equal(it.linger[1].l_onoff, 1);
	assert_int_equal(it.linger[1].l_linger, 0);
}

#define COPIES_TEST(fn) cmocka_unit_test_setup_teardown(fn, forget_all, forget_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COPIES_TEST(any_number_may_stand_for_an_rsocket),
		COPIES_TEST(numbers_out_of_range_stand_for_none),
		COPIES_TEST(the_last_number_closes),
		COPIES_TEST(inside_of_librdmacm_numbers_are_the_systems),
		COPIES_TEST(a_number_is_a_set_until_it_is_another),
		COPIES_TEST(the_rsocket_is_told_when_its_file_has_changed),
		COPIES_TEST(a_new_number_is_that_of_a_file),
		COPIES_TEST(a_number_takes_no_bytes_by_itself),
		COPIES_TEST(ranges_of_numbers_have_those_known),
		COPIES_TEST(all_numbers_of_an_rsocket_become_a_files),
		COPIES_TEST(a_number_closed_by_the_kernel_alone_is_passed_over),
		COPIES_TEST(pending_numbers_are_listed_as_far_as_there_is_room),
		COPIES_TEST(the_end_of_the_process_shuts_all),
		COPIES_TEST(sides_that_do_not_answer_share_one_time),
		COPIES_TEST(the_programs_time_to_linger_counts_if_it_is_shorter),
		COPIES_TEST(an_abort_at_the_end_stays_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
