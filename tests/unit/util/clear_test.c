/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clear_test.c - clear_struct() clears all bytes of a size, and none beside them, wherever the
 * struct begins at a multiple of 4.
 *
 * Covers: util/clear.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/bits.h"
#include "util/clear.h"

enum { ROOM = 1024, FULL = 0xa5 };

static _Alignas(16) uint8_t room[ROOM];

static void check_cleared(size_t at, size_t size)
{
	for (size_t i = 0; i < ROOM; i++)
		assert_int_equal(room[i], i >= at && i < at + size ? 0 : FULL);
}

#define SIZE(bytes)                               \
	static void clear_##bytes(size_t at)      \
	{                                         \
		memset(room, FULL, sizeof(room)); \
		clear_struct(room + at, bytes);   \
		check_cleared(at, bytes);         \
	}

SIZE(0)
SIZE(1)
SIZE(8)
SIZE(15)
SIZE(16)
SIZE(24)
SIZE(136)
SIZE(256)
SIZE(272)
SIZE(296)
SIZE(600)

static void it_clears_as_much_as_is_asked(void **state)
{
	static void (*const sizes[])(size_t at) = {
		clear_0,   clear_1,   clear_8,   clear_15,  clear_16,  clear_24,
		clear_136, clear_256, clear_272, clear_296, clear_600,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t at = 0; at <= 32; at += 4)
			sizes[i](at);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(it_clears_as_much_as_is_asked) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
