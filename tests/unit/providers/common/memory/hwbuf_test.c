/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwbuf_test.c - buffers that the adapter reads: whole pages of zeroes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "providers/common/memory/hwbuf.h"

static void buffers_are_whole_zeroed_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct hwbuf buf;

	(void)state;
	assert_int_equal(provider_hwbuf_alloc(page + 1, &buf), 0);
	assert_int_equal(buf.size, 2 * page);
	assert_int_equal((uintptr_t)buf.addr % page, 0);
	for (size_t i = 0; i < buf.size; i++)
		assert_int_equal(((uint8_t *)buf.addr)[i], 0);
	provider_hwbuf_free(&buf);
	assert_null(buf.addr);
	assert_int_equal(provider_hwbuf_alloc(SIZE_MAX - page, &buf), ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_whole_zeroed_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
