/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry_test.c - the bytes of an entry of the command queue and of its mailboxes, for commands of
 * each length, between inaccessible pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "providers/mlx5/vfio/entry.h"
#include "tests/unit/golden.h"

#include "guarded.h"

enum { BLOCK = 576, DATA = 512, STRIDE = 1024 };

static uint64_t number_at(const uint8_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static unsigned int blocks_of(uint32_t length)
{
	return length <= 16 ? 0 : (length - 16 + DATA - 1) / DATA;
}

static void an_entry_has_these_bytes(void **state)
{
	static const uint8_t command[] = { 0x01, 0x02, 0, 0,    0, 0, 0, 0,   0x11, 0x22,
					   0x33, 0x44, 5, 0x66, 7, 8, 9, 0xa, 0xb,  0xc };
	uint8_t *entry = guarded_new(64);

	(void)state;
	memset(entry, 0xee, 64);
	mlx5_vfio_entry_put(entry, 0x7e, command, 20, UINT64_C(0x123456789abcde00), 0x30,
			    UINT64_C(0xfedcba9876543200));
	check_bytes(entry,
		    "07000000 00000014 12345678 9abcde00 01020000 00000000 11223344 05660708"
		    "00000000 00000000 00000000 00000000 fedcba98 76543200 00000030 7e680001");
	mlx5_vfio_entry_put(entry, 1, command, 16, 0, 16, 0);
	check_bytes(entry,
		    "07000000 00000010 00000000 00000000 01020000 00000000 11223344 05660708"
		    "00000000 00000000 00000000 00000000 00000000 00000000 00000010 01d30001");
	guarded_free(entry, 64);
}

/* Each length, with the data and the last mailbox before an inaccessible page, so that an access
 * beyond them ends the test. */
static void chains_hold_commands_of_any_length(void **state)
{
	(void)state;
	for (uint32_t length = 0; length <= 16 + 3 * DATA + 1; length++) {
		const unsigned int blocks = blocks_of(length);
		uint8_t *data = guarded_new(length), *back = guarded_new(length);
		uint8_t *memory = blocks ? guarded_new((blocks - 1) * STRIDE + BLOCK) : NULL;
		struct vfio_chain chain = { .dma = { .memory = memory, .iova = 0x40000 },
					    .blocks = blocks };

		for (uint32_t i = 0; i < length; i++)
			data[i] = (uint8_t)(i * 7 + i / 256);
		if (blocks)
			memset(memory, 0xee, (blocks - 1) * STRIDE + BLOCK);
		mlx5_vfio_chain_put(&chain, 0x42, data, length);
		for (unsigned int i = 0; i < blocks; i++) {
			const uint8_t *block = memory + (size_t)i * STRIDE;

			assert_int_equal(number_at(block + 560, 8),
					 i + 1 < blocks ? 0x40000 + (i + 1) * STRIDE : 0);
			assert_int_equal(number_at(block + 568, 4), i);
			check_bytes(block + 572, "00420000");
			if (i + 1 < blocks)
				assert_int_equal(block[BLOCK], 0xee);
		}
		mlx5_vfio_chain_get(&chain, back, length);
		if (length > 16)
			assert_memory_equal(back + 16, data + 16, length - 16);
		for (uint32_t i = 0; i < 16 && i < length; i++)
			/* the first 16 bytes are in the entry, so no block has them */
			assert_int_equal(back[i], 0);
		guarded_free(data, length);
		guarded_free(back, length);
		if (blocks)
			guarded_free(memory, (blocks - 1) * STRIDE + BLOCK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_has_these_bytes),
		cmocka_unit_test(chains_hold_commands_of_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
