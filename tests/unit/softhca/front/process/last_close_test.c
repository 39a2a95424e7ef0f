/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_close_test.c - a file of memory counts as closed when its last descriptor and mapping is
 * gone, even if the kernel dropped events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "softhca/front/process/last_close.h"
#include "util/bits.h"

enum { BYTES = 4096 };

struct file {
	struct last_close last_close;
	int fd; /* of the program; -1: closed */
	unsigned int times_closed;
};

static struct last_closes closes;
static struct file files[4];
static int watch_error;

int watch_add(struct watch *watch, uint32_t events)
{
	assert_ptr_equal(watch, &closes.watch);
	assert_int_equal(events, EPOLLIN);
	return watch_error;
}

static void file_closed(struct last_close *last_close)
{
	struct file *file = container_of(last_close, struct file, last_close);

	last_close_forget(&closes, last_close);
	file->times_closed++;
}

static int closes_begin(void **state)
{
	(void)state;
	watch_error = 0;
	assert_int_equal(last_closes_start(&closes, file_closed), 0);
	for (unsigned int i = 0; i < 4; i++) {
		int memfd = memfd_create("file", MFD_CLOEXEC);

		assert_int_equal(ftruncate(memfd, BYTES), 0);
		files[i] = (struct file){ .fd = -1 };
		assert_int_equal(
			last_close_open(&closes, &files[i].last_close, memfd, &files[i].fd), 0);
	}
	return 0;
}

static int closes_end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		if (!files[i].times_closed)
			last_close_forget(&closes, &files[i].last_close);
		close(files[i].last_close.memfd);
		if (files[i].fd >= 0)
			close(files[i].fd);
	}
	assert_true(LIST_EMPTY(&closes.all));
	last_closes_stop(&closes);
	assert_int_equal(closes.watch.fd, -1);
	return 0;
}

static void program_closes(struct file *file)
{
	close(file->fd);
	file->fd = -1;
}

static void expect_closed(unsigned int first, unsigned int second, unsigned int third,
			  unsigned int fourth)
{
	const unsigned int times[] = { first, second, third, fourth };

	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(files[i].times_closed, times[i]);
}

static void nothing_is_closed_at_first(void **state)
{
	(void)state;
	last_closes_settle(&closes);
	expect_closed(0, 0, 0, 0);
}

static void closed_descriptors_are_reported_once(void **state)
{
	(void)state;
	program_closes(&files[2]);
	program_closes(&files[0]);
	closes.watch.ready(&closes.watch, EPOLLIN);
	expect_closed(1, 0, 1, 0);
	last_closes_settle(&closes);
	expect_closed(1, 0, 1, 0);
}

static void duplicates_and_mappings_keep_a_file_open(void **state)
{
	int copy = dup(files[1].fd);
	void *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, files[1].fd, 0);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	program_closes(&files[1]);
	last_closes_settle(&closes);
	expect_closed(0, 0, 0, 0);
	close(copy);
	last_closes_settle(&closes);
	expect_closed(0, 0, 0, 0);
	munmap(page, BYTES);
	last_closes_settle(&closes);
	expect_closed(0, 1, 0, 0);
}

static unsigned int queue_length(void)
{
	FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	unsigned int length = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u", &length), 1);
	fclose(file);
	return length;
}

static void open_and_close(const struct file *file)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->last_close.memfd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd);
}

/* Fills the queue of events by two files in turn, as equal neighbours are merged. */
static void queue_fill(struct file *one, struct file *other)
{
	for (unsigned int n = queue_length() / 2 + 1; n; n--) {
		open_and_close(one);
		open_and_close(other);
	}
}

static void a_close_is_found_though_its_event_was_lost(void **state)
{
	(void)state;
	queue_fill(&files[2], &files[3]);
	program_closes(&files[0]);
	last_closes_settle(&closes);
	expect_closed(1, 0, 1, 1);
	assert_int_equal(fcntl(files[1].last_close.memfd, F_GETLEASE), F_UNLCK);
}

static void a_mapping_keeps_a_file_open_though_events_were_lost(void **state)
{
	void *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, files[1].fd, 0);
	void *own;

	(void)state;
	own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, files[0].last_close.memfd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_ptr_not_equal(own, MAP_FAILED);
	program_closes(&files[1]);
	queue_fill(&files[2], &files[3]);
	program_closes(&files[0]); /* the mapping of this process is not the program's */
	last_closes_settle(&closes);
	expect_closed(1, 0, 1, 1);
	munmap(page, BYTES);
	last_closes_settle(&closes);
	expect_closed(1, 1, 1, 1);
	munmap(own, BYTES);
}

static void a_start_that_fails_leaves_no_descriptor(void **state)
{
	struct last_closes good = closes;
	int fd = dup(0);

	(void)state;
	close(fd);
	watch_error = 28;
	assert_int_equal(last_closes_start(&closes, file_closed), 28);
	assert_int_equal(closes.watch.fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* the lowest one was used and is free again */
	LIST_INIT(&closes.all);
	closes.watch = good.watch;
	for (unsigned int i = 0; i < 4; i++)
		LIST_INSERT_HEAD(&closes.all, &files[i].last_close, in_all);
}

static void what_cannot_be_opened_is_an_errno(void **state)
{
	struct last_close file = { .memfd = -1 };
	int fd;

	(void)state;
	assert_int_equal(last_close_open(&closes, &file, 1 << 20, &fd), ENOENT);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, closes_begin, closes_end)
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_closed_at_first),
		TEST(closed_descriptors_are_reported_once),
		TEST(duplicates_and_mappings_keep_a_file_open),
		TEST(a_close_is_found_though_its_event_was_lost),
		TEST(a_mapping_keeps_a_file_open_though_events_were_lost),
		TEST(a_start_that_fails_leaves_no_descriptor),
		TEST(what_cannot_be_opened_is_an_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
