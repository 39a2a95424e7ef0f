/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address_space_test.c - mapped ranges of a process and their rights; reading and writing its
 * memory, also after its exit. With the argument "list" the kernel has no query for one mapping, as
 * before 6.11.
 *
 * Covers: softhca/front/process/program/address_space.c, softhca/front/process/program/mappings.c
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "softhca/front/process/program/address_space.h"

enum { PAGES = 5 };

static struct address_space space;
static uint64_t page_size, first;
static bool has_query = true;
static unsigned int queries, lists;

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);

int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	queries++;
	if (has_query)
		return __real_ioctl(fd, request, argument);
	errno = ENOTTY;
	return -1;
}

/* Name of ioctl() in a C library of 32 bits with 64-bit times */
int __wrap___ioctl_time64(int fd, unsigned long request, void *argument);

int __wrap___ioctl_time64(int fd, unsigned long request, void *argument)
{
	return __wrap_ioctl(fd, request, argument);
}

FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);

FILE *__wrap_fdopen(int fd, const char *mode)
{
	lists++;
	return __real_fdopen(fd, mode);
}

/* Maps pages whose rights all differ from their neighbours', as Linux merges mappings with the same
 * rights. */
static int pages_map(void **state)
{
	static const int rights[PAGES] = { PROT_NONE, PROT_READ | PROT_WRITE, PROT_READ,
					   PROT_READ | PROT_WRITE, PROT_NONE };
	uint8_t *pages;

	(void)state;
	page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (pages == MAP_FAILED)
		return -1;
	memset(pages, 0x5a, PAGES * page_size);
	for (unsigned int i = 0; i < PAGES; i++)
		if (mprotect(pages + i * page_size, page_size, rights[i]))
			return -1;
	first = (uintptr_t)pages;
	return space_open(getpid(), getpid(), &space);
}

static int pages_unmap(void **state)
{
	(void)state;
	space_close(&space);
	return munmap((void *)(uintptr_t)first, PAGES * page_size);
}

static uint64_t page(unsigned int number)
{
	return first + number * page_size;
}

static void check_range(uint64_t addr, uint64_t len, bool writable, int answer)
{
	assert_int_equal(space_check_range(&space, addr, len, writable), answer);
}

/* A range may start and end inside mappings, and span several. */
static void ranges_are_mapped_from_end_to_end(void **state)
{
	(void)state;
	check_range(page(1), page_size, false, 0);
	check_range(page(1), page_size, true, 0);
	check_range(page(1) + 1, page_size - 2, true, 0);
	check_range(page(1), 3 * page_size, false, 0);
	check_range(page(1) + 5, 3 * page_size - 5, false, 0);
	check_range(page(3), 1, true, 0);
	check_range(page(4) - 1, 1, true, 0);
}

static void a_byte_outside_is_a_fault(void **state)
{
	(void)state;
	check_range(page(1) - 1, 2, false, EFAULT);
	check_range(page(1) - 1, 1, false, EFAULT);
	check_range(page(3), page_size + 1, false, EFAULT);
	check_range(page(4), 1, false, EFAULT);
	check_range(0, 1, false, EFAULT);
	check_range(0, page(2), false, EFAULT);
}

static void rights_are_those_of_each_mapping(void **state)
{
	(void)state;
	check_range(page(2), page_size, false, 0);
	check_range(page(2), 1, true, EFAULT);
	check_range(page(1), page_size + 1, true, EFAULT);
	check_range(page(2) + page_size - 1, 2, true, EFAULT);
	check_range(page(2) + page_size - 1, 2, false, 0);
}

static void holes_are_faults(void **state)
{
	(void)state;
	assert_int_equal(munmap((void *)(uintptr_t)page(2), page_size), 0);
	check_range(page(1), page_size, true, 0);
	check_range(page(3), page_size, true, 0);
	check_range(page(1), page_size + 1, false, EFAULT);
	check_range(page(1), 3 * page_size, false, EFAULT);
	check_range(page(2), 1, false, EFAULT);
}

/* An empty range has no byte that could be missing, so it counts as mapped at any address. */
static void ranges_without_bytes_are_mapped(void **state)
{
	(void)state;
	check_range(page(1), 0, true, 0);
	check_range(page(0), 0, true, 0);
	check_range(0, 0, true, 0);
	check_range(UINT64_MAX, 0, true, 0);
}

static void ranges_do_not_go_round(void **state)
{
	(void)state;
	check_range(page(1), UINT64_MAX, false, EFAULT);
	check_range(UINT64_MAX, 1, false, EFAULT);
	check_range(UINT64_MAX, 2, false, EFAULT);
	check_range(page(1), UINT64_MAX - page(1) + 1, false, EFAULT);
}

static bool kernel_has_query(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname host;

	return !uname(&host) && sscanf(host.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 11));
}

/* Where the kernel has PROCMAP_QUERY (Linux 6.11), a check of one mapping must not read the list of
 * all, as that may be long. */
static void one_query_answers_for_one_mapping(void **state)
{
	(void)state;
	if (has_query && !kernel_has_query())
		skip();
	queries = lists = 0;
	check_range(page(1), page_size, true, 0);
	assert_int_equal(queries, 1);
	assert_int_equal(lists, has_query ? 0 : 1);
	queries = lists = 0;
	check_range(page(1), 3 * page_size, false, 0);
	assert_int_equal(queries, has_query ? 3 : 1);
	check_range(page(1), 3 * page_size, true, EFAULT);
	assert_int_equal(queries, has_query ? 5 : 2);
}

static int lowest_free_fd(void)
{
	int fd = dup(space.maps);

	close(fd);
	return fd;
}

static void questions_leave_no_descriptor(void **state)
{
	const int before = lowest_free_fd();

	(void)state;
	check_range(page(1), page_size, true, 0);
	check_range(page(0), page_size, true, EFAULT);
	assert_int_equal(lowest_free_fd(), before);
}

/* The adapter registered the memory when it had all rights, so it keeps its access after
 * mprotect(). */
static void bytes_are_copied_whatever_the_rights(void **state)
{
	uint8_t bytes[2] = { 0 };

	(void)state;
	assert_int_equal(space_read(&space, page(0) + 7, bytes, 2), 0);
	assert_int_equal(bytes[0], 0x5a);
	assert_int_equal(bytes[1], 0x5a);
	bytes[1] = 0x77;
	assert_int_equal(space_write(&space, page(2) - 1, bytes, 2), 0);
	assert_int_equal(*(uint8_t *)(uintptr_t)page(2), 0x77);
	assert_int_equal(*(uint8_t *)(uintptr_t)(page(2) - 1), 0x5a);
	assert_int_equal(space_read(&space, page(1), bytes, 0), 0);
	assert_int_equal(space_write(&space, page(1), bytes, 0), 0);
}

/* A copy that fails in the middle is a fault as a whole. */
static void copies_that_end_early_are_faults(void **state)
{
	uint8_t bytes[2];

	(void)state;
	assert_int_equal(munmap((void *)(uintptr_t)page(2), page_size), 0);
	assert_int_equal(space_read(&space, page(2) - 1, bytes, 2), EFAULT);
	assert_int_equal(space_write(&space, page(2) - 1, bytes, 2), EFAULT);
	assert_int_equal(space_read(&space, page(2), bytes, 1), EFAULT);
	assert_int_equal(space_read(&space, page(2) - 1, bytes, 1), 0);
	assert_true(space_is_there(&space));
}

static void an_address_space_goes_with_its_process(void **state)
{
	struct address_space other;
	pid_t child = fork();
	uint8_t byte;

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(1);
	}
	assert_int_equal(space_open(child, child, &other), 0);
	assert_true(space_is_there(&other));
	assert_int_equal(space_read(&other, page(1), &byte, 1), 0);
	assert_int_equal(space_check_range(&other, page(1), page_size, true), 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(space_is_there(&other));
	assert_int_equal(space_read(&other, page(1), &byte, 1), ESRCH);
	assert_int_equal(space_write(&other, page(1), &byte, 1), ESRCH);
	assert_int_equal(space_check_range(&other, page(1), 1, true), EFAULT);
	space_close(&other);
	assert_int_equal(other.bytes, -1);
	assert_int_equal(other.maps, -1);
	assert_int_equal(space_open(child, child, &other), ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pages_map, pages_unmap)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ranges_are_mapped_from_end_to_end),
		TEST(a_byte_outside_is_a_fault),
		TEST(rights_are_those_of_each_mapping),
		TEST(holes_are_faults),
		TEST(ranges_without_bytes_are_mapped),
		TEST(ranges_do_not_go_round),
		TEST(one_query_answers_for_one_mapping),
		TEST(questions_leave_no_descriptor),
		TEST(bytes_are_copied_whatever_the_rights),
		TEST(copies_that_end_early_are_faults),
		TEST(an_address_space_goes_with_its_process),
	};

	has_query = argc != 2 || strcmp(argv[1], "list") != 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
