/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seg_test.c - copies of inline data, for each length and alignment, between guard pages: all
 * bytes arrive, and no neighbour changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/common/seg.h"

enum { LONGEST = 1024, ALIGNMENTS = 33 };

typedef void copy_fn(uint8_t *to, const uint8_t *from, uint32_t len);

/* A page between two inaccessible ones, so that an access beyond it ends the test */
struct page {
	uint8_t *begin, *end;
};

static size_t page_size;
static struct page source, target;

static struct page page_new(void)
{
	uint8_t *pages = mmap(NULL, 3 * page_size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages, page_size, PROT_NONE), 0);
	assert_int_equal(mprotect(pages + 2 * page_size, page_size, PROT_NONE), 0);
	return (struct page){ pages + page_size, pages + 2 * page_size };
}

static int pages_set_up(void **state)
{
	(void)state;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	source = page_new();
	target = page_new();
	for (size_t i = 0; i < page_size; i++)
		source.begin[i] = (uint8_t)(i * 7 + i / 256);
	return 0;
}

static int pages_go(void **state)
{
	(void)state;
	munmap(source.begin - page_size, 3 * page_size);
	munmap(target.begin - page_size, 3 * page_size);
	return 0;
}

static void check_copy(copy_fn *copy, uint8_t *to, const uint8_t *from, uint32_t len)
{
	const size_t before = (size_t)(to - target.begin), after = (size_t)(target.end - to) - len;

	memset(target.begin, 0xee, page_size);
	copy(to, from, len);
	assert_memory_equal(to, from, len);
	for (size_t i = 1; i <= before && i <= 2 * COPY_SMALL_MAX; i++)
		assert_int_equal(to[-(ptrdiff_t)i], 0xee);
	for (size_t i = 0; i < after && i < 2 * COPY_SMALL_MAX; i++)
		assert_int_equal(to[len + i], 0xee);
}

/* Copies between the ends of both pages, and between their starts, with one byte more of offset at
 * a time. */
static void check_length(copy_fn *copy, uint32_t len)
{
	for (size_t at = 0; at < ALIGNMENTS; at++) {
		check_copy(copy, target.end - len - at, source.end - len, len);
		check_copy(copy, target.end - len, source.end - len - at, len);
		check_copy(copy, target.begin + at, source.begin, len);
		check_copy(copy, target.begin, source.begin + at, len);
	}
}

static void up_to_32(uint8_t *to, const uint8_t *from, uint32_t len)
{
	copy_up_to_32(to, from, len);
}

static void small(uint8_t *to, const uint8_t *from, uint32_t len)
{
	copy_small(to, from, len);
}

static void large(uint8_t *to, const uint8_t *from, uint32_t len)
{
	copy_large(to, from, len);
}

static void short_copies_touch_no_other_byte(void **state)
{
	(void)state;
	for (uint32_t len = 0; len < 32; len++)
		check_length(up_to_32, len);
	for (uint32_t len = 0; len <= COPY_SMALL_MAX; len++)
		check_length(small, len);
}

/* Copies above COPY_SMALL_MAX go in pieces of 64 bytes. The last piece may overlap the one before,
 * so no copy writes behind its end. */
static void long_copies_touch_no_other_byte(void **state)
{
	(void)state;
	for (uint32_t len = COPY_SMALL_MAX + 1; len <= LONGEST; len += len < 300 ? 1 : 13)
		check_length(large, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_copies_touch_no_other_byte),
		cmocka_unit_test(long_copies_touch_no_other_byte),
	};

	return cmocka_run_group_tests(tests, pages_set_up, pages_go);
}
