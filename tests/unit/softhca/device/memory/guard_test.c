/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guard_test.c - checksums of blocks: known results, which any split of the data must leave
 * unchanged.
 *
 * Covers: softhca/device/memory/guard.c
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "softhca/device/memory/guard.h"
#include "util/bits.h"

static const uint8_t digits[] = "123456789";

static uint64_t guard_of(enum guard guard, uint64_t start, const uint8_t *bytes, size_t len)
{
	return guard_finish(guard, guard_add(guard, start, bytes, len, 0));
}

static void known_answers(void **state)
{
	static const uint8_t zeroes[4096];
	/* RFC 1071, section 3: the sum of these words is 0xddf2. */
	static const uint8_t words[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };

	(void)state;
	assert_int_equal(guard_of(GUARD_DIF_CRC, 0, digits, 9), 0xd0db);
	assert_int_equal(guard_of(GUARD_CRC32, UINT32_MAX, digits, 9), 0xcbf43926);
	assert_int_equal(guard_of(GUARD_CRC32C, UINT32_MAX, digits, 9), 0xe3069283);
	assert_true(guard_of(GUARD_CRC64, UINT64_MAX, zeroes, sizeof(zeroes)) ==
		    0x6482d367eb22b64e);
	assert_int_equal(guard_of(GUARD_DIF_CSUM, 0, words, sizeof(words)), 0xffff - 0xddf2);
}

static void cuts_do_not_matter(void **state)
{
	static const enum guard guards[] = { GUARD_DIF_CRC, GUARD_DIF_CSUM, GUARD_CRC32,
					     GUARD_CRC32C, GUARD_CRC64 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(guards); i++)
		for (size_t cut = 0; cut <= 9; cut++) {
			uint64_t sum = guard_add(guards[i], 0, digits, cut, 0);

			sum = guard_add(guards[i], sum, digits + cut, 9 - cut, cut);
			assert_true(guard_finish(guards[i], sum) ==
				    guard_of(guards[i], 0, digits, 9));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(cuts_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
