/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf_test.c - memory of dma-bufs: which files are one, which ranges of it can be mapped, and
 * pages of an adapter that are exported and revoked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/uverbs/dmabuf.c"

enum { PAGES = 4, FIRST = 2, SLOT = 0x55, REFUSED = EDOM };

static struct {
	struct uverbs_file file, other;
	struct client client;
	struct dmabuf dmabuf;
	int memfd; /* what the program names */
	int client_error;
} it;

static const struct call call;

int caller_fd_copy(const struct call *of, int fd)
{
	assert_ptr_equal(of, &call);
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int client_get(pid_t tid, struct client **client)
{
	assert_int_equal(tid, getpid());
	if (it.client_error)
		return it.client_error;
	it.client.slot = SLOT;
	*client = &it.client;
	return 0;
}

/* Makes memory of PAGES pages, each full of its number. */
static int memory_make(void)
{
	int memfd = memfd_create("of_a_test", MFD_CLOEXEC);
	uint8_t page[PAGE];

	for (unsigned int i = 0; i < PAGES; i++) {
		memset(page, (int)(0x10 + i), sizeof(page));
		if (write(memfd, page, sizeof(page)) != PAGE)
			return -1;
	}
	return memfd;
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int free_before;

static int dmabuf_begin(void **state)
{
	(void)state;
	free_before = lowest_free();
	memset(&it, 0, sizeof(it));
	it.memfd = memory_make();
	it.file.memfd = memory_make();
	it.other.memfd = memory_make();
	return it.memfd < 0 || it.file.memfd < 0 || it.other.memfd < 0 ? -1 : 0;
}

static int dmabuf_end(void **state)
{
	(void)state;
	dmabuf_unmap(&it.dmabuf);
	close(it.memfd);
	close(it.file.memfd);
	close(it.other.memfd);
	assert_true(LIST_EMPTY(&exports));
	assert_int_equal(lowest_free(), free_before);
	return 0;
}

static int map_of(int fd, uint64_t offset, uint64_t length, bool pinned)
{
	dmabuf_unmap(&it.dmabuf);
	return dmabuf_map(&call, fd, offset, length, true, pinned, &it.dmabuf);
}

static uint8_t byte_at(uint64_t offset)
{
	return *(const uint8_t *)(uintptr_t)(it.dmabuf.start + offset);
}

/* Checks ranges of a dma-buf of PAGES pages, whose pages have numbers from FIRST_BYTE on. */
static void check_ranges(int fd, uint8_t first_byte)
{
	const uint64_t size = PAGES * PAGE;

	assert_int_equal(map_of(fd, 0, size, false), 0);
	assert_int_equal(byte_at(0), first_byte);
	assert_int_equal(it.dmabuf.map_len, size);
	assert_int_equal(map_of(fd, PAGE + 5, size - PAGE - 5, false), 0);
	assert_int_equal(byte_at(0), first_byte + 1);
	assert_int_equal(it.dmabuf.start % PAGE, 5);
	assert_int_equal(it.dmabuf.map_len, size - PAGE);
	assert_int_equal(map_of(fd, size - 1, 1, false), 0);
	assert_int_equal(map_of(fd, size - 1, 2, false), EINVAL);
	assert_int_equal(map_of(fd, size, 1, false), EINVAL);
	assert_int_equal(map_of(fd, size + 1, 1, false), EINVAL);
	assert_int_equal(map_of(fd, 0, size + 1, false), EINVAL);
	assert_int_equal(map_of(fd, 0, 0, false), EINVAL);
	assert_int_equal(map_of(fd, 1, UINT64_MAX, false), EINVAL);
	assert_null(it.dmabuf.map);
}

/* The first test, as the client of this process is found once. */
static void a_map_needs_a_client(void **state)
{
	(void)state;
	it.client_error = REFUSED;
	assert_int_equal(map_of(it.memfd, 0, PAGE, false), REFUSED);
	it.client_error = 0;
	assert_int_equal(map_of(it.memfd, 0, PAGE, false), 0);
	assert_true(it.dmabuf.bus == (uint64_t)SLOT << 48);
	it.client_error = REFUSED;
	assert_int_equal(map_of(it.memfd, 0, PAGE, false), 0);
}

static void ranges_are_within_the_file(void **state)
{
	(void)state;
	check_ranges(it.memfd, 0x10);
	assert_false(it.dmabuf.is_exported);
}

static void memory_is_the_files(void **state)
{
	uint8_t byte = 0;

	(void)state;
	assert_int_equal(map_of(it.memfd, PAGE + 7, 1, true), 0);
	*(uint8_t *)(uintptr_t)it.dmabuf.start = 0x77;
	assert_int_equal(pread(it.memfd, &byte, 1, PAGE + 7), 1);
	assert_int_equal(byte, 0x77);
}

static void other_files_are_no_dma_bufs(void **state)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), closed = file;

	(void)state;
	assert_int_equal(map_of(file, 0, 1, false), EINVAL);
	close(file);
	assert_int_equal(map_of(closed, 0, 1, false), EBADF);
	assert_null(it.dmabuf.map);
}

static void rights_are_the_descriptors(void **state)
{
	char path[32];
	int reader;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", it.memfd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(map_of(reader, 0, PAGE, false), EACCES);
	assert_null(it.dmabuf.map);
	assert_int_equal(dmabuf_map(&call, reader, 0, PAGE, false, false, &it.dmabuf), 0);
	assert_int_equal(byte_at(0), 0x10);
	close(reader);
}

static int exported(const struct uverbs_file *file, uint32_t first, uint32_t pages)
{
	int fd = -1;

	assert_int_equal(dmabuf_export(file, first, pages, &fd), 0);
	return fd;
}

static void an_export_has_the_adapters_pages(void **state)
{
	int fd = exported(&it.file, 0, PAGES);
	uint8_t byte = 0;

	(void)state;
	check_ranges(fd, 0x10);
	assert_int_equal(map_of(fd, 0, PAGE, false), 0);
	assert_true(it.dmabuf.is_exported);
	*(uint8_t *)(uintptr_t)it.dmabuf.start = 0x77;
	assert_int_equal(pread(it.file.memfd, &byte, 1, 0), 1);
	assert_int_equal(byte, 0x77);
	dmabuf_unmap(&it.dmabuf);
	assert_false(it.dmabuf.is_exported);
	dmabuf_revoke(&it.file, 0);
}

static void an_export_begins_at_its_first_page(void **state)
{
	int fd = exported(&it.file, FIRST, PAGES - FIRST);

	(void)state;
	assert_int_equal(map_of(fd, 0, PAGE, false), 0);
	assert_int_equal(byte_at(0), 0x10 + FIRST);
	assert_int_equal(map_of(fd, PAGE + 3, 1, false), 0);
	assert_int_equal(byte_at(0), 0x10 + FIRST + 1);
	dmabuf_unmap(&it.dmabuf);
	dmabuf_revoke(&it.file, FIRST);
}

static void pages_are_exported_once(void **state)
{
	int fd = exported(&it.file, FIRST, 1);

	(void)state;
	assert_int_equal(exported(&it.file, FIRST, 1), fd);
	assert_int_not_equal(exported(&it.file, FIRST + 1, 1), fd);
	assert_int_not_equal(exported(&it.other, FIRST, 1), fd);
	dmabuf_revoke(&it.other, FIRST);
	dmabuf_revoke(&it.other, FIRST); /* is none any more */
	assert_int_equal(exported(&it.file, FIRST, 1), fd);
	dmabuf_revoke(&it.file, FIRST + 1);
	dmabuf_revoke(&it.file, FIRST);
}

static void the_programs_descriptor_has_no_content(void **state)
{
	int fd = exported(&it.file, 0, PAGES);
	uint8_t byte = 1;
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, PAGES * PAGE);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	dmabuf_revoke(&it.file, 0);
}

static void an_export_cannot_be_pinned(void **state)
{
	int fd = exported(&it.file, 0, PAGES);

	(void)state;
	assert_int_equal(map_of(fd, 0, PAGE, true), EOPNOTSUPP);
	assert_null(it.dmabuf.map);
	dmabuf_revoke(&it.file, 0);
}

static void revoked_pages_are_reached_no_more(void **state)
{
	int fd = exported(&it.file, 0, PAGES), copy = dup(fd), ends[2];

	(void)state;
	assert_int_equal(map_of(copy, 0, PAGE, false), 0);
	dmabuf_revoke(&it.file, 0);
	assert_false(it.dmabuf.is_exported);
	assert_non_null(it.dmabuf.map); /* its addresses stay */
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], it.dmabuf.map, 1), -1);
	assert_int_equal(errno, EFAULT);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(map_of(copy, 0, PAGE, false), ENODEV);
	close(copy);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, dmabuf_begin, dmabuf_end)
	const struct CMUnitTest tests[] = {
		CASE(a_map_needs_a_client),
		CASE(ranges_are_within_the_file),
		CASE(memory_is_the_files),
		CASE(other_files_are_no_dma_bufs),
		CASE(rights_are_the_descriptors),
		CASE(an_export_has_the_adapters_pages),
		CASE(an_export_begins_at_its_first_page),
		CASE(pages_are_exported_once),
		CASE(the_programs_descriptor_has_no_content),
		CASE(an_export_cannot_be_pinned),
		CASE(revoked_pages_are_reached_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
