/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory_test.c - checks of memory at page bounds: writable, read-only and unmapped; the checks
 * change neither the memory nor errno.
 *
 * Covers: librdmacm/rsocket/preload/memory.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/bits.h"

static size_t page;
static uint8_t *area; /* pages: writable, writable, read only, without access */

static int area_make(void **state)
{
	(void)state;
	page = (size_t)sysconf(_SC_PAGESIZE);
	area = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return -1;
	memset(area, 0xa5, 3 * page);
	return mprotect(area + 2 * page, page, PROT_READ) || mprotect(area + 3 * page, page, 0);
}

static int area_unmap(void **state)
{
	(void)state;
	return munmap(area, 4 * page);
}

static void memory_is_what_the_kernel_says(void **state)
{
	const struct {
		const void *at;
		size_t size;
		bool may_read, may_write;
	} cases[] = {
		{ area, 1, true, true },
		{ area, 2 * page, true, true },
		{ area + 3, 2 * page - 3, true, true },
		{ area + 2 * page - 1, 1, true, true },
		{ area + 2 * page - 1, 2, true, false },
		{ area, 2 * page + 1, true, false },
		{ area + 2 * page, page, true, false },
		{ area + 3 * page - 1, 1, true, false },
		{ area + 3 * page - 1, 2, false, false },
		{ area, 4 * page, false, false },
		{ area + 3 * page, 8, false, false },
		{ area + 3 * page, 0, true, true },
		{ NULL, 8, false, false },
		{ (void *)8, 8, false, false },
		{ (void *)(UINTPTR_MAX - 7), 4, false, false },
		{ area, SIZE_MAX, false, false },
	};

	(void)state;
	errno = EXDEV;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (preload_may_read(cases[i].at, cases[i].size) != cases[i].may_read ||
		    preload_may_write(cases[i].at, cases[i].size) != cases[i].may_write)
			fail_msg("case %zu is answered wrongly", i);
		assert_int_equal(errno, EXDEV);
	}
	for (size_t i = 0; i < 3 * page; i++)
		assert_int_equal(area[i], 0xa5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_what_the_kernel_says),
	};

	return cmocka_run_group_tests(tests, area_make, area_unmap);
}
