/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hash_test.c - the index of tags, beside the places where release 65.0's library has put entries
 * of these tags in tables of 16 and 64.
 *
 * Covers: providers/mlx5/dv/dr/hash.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "prm/mlx5/ste.h"
#include "providers/mlx5/dv/dr/hash.h"

enum { MAC = 0x0fc0 /* bytes 4 to 9 */ };

/* The MAC, the entries of the table, and the index. */
static const struct {
	uint64_t mac;
	unsigned int entries, index;
} rows[] = {
	{ 0x020000030003, 16, 4 },  { 0x020000020002, 16, 5 },  { 0x020000000000, 16, 12 },
	{ 0x020000010001, 16, 13 }, { 0x030002680018, 64, 0 },  { 0x03000651003f, 64, 1 },
	{ 0x030004d00030, 64, 2 },  { 0x03000302001e, 64, 5 },  { 0x03000436002a, 64, 8 },
	{ 0x0300086c0054, 64, 9 },  { 0x0300009a0006, 64, 11 }, { 0x03000483002d, 64, 15 },
	{ 0x0300081f0051, 64, 18 }, { 0x0300056a0036, 64, 19 }, { 0x030002b5001b, 64, 20 },
	{ 0x0300051d0033, 64, 21 }, { 0x030001ce0012, 64, 24 }, { 0x03000181000f, 64, 31 },
	{ 0x03000b6e0072, 64, 32 }, { 0x030009a00060, 64, 36 }, { 0x03000ad4006c, 64, 37 },
	{ 0x030008b90057, 64, 38 }, { 0x03000b21006f, 64, 39 }, { 0x0300021b0015, 64, 40 },
	{ 0x0300004d0003, 64, 41 }, { 0x0300069e0042, 64, 43 }, { 0x03000134000c, 64, 44 },
	{ 0x03000a3a0066, 64, 51 }, { 0x0300034f0021, 64, 52 }, { 0x030000000000, 64, 55 },
	{ 0x030009ed0063, 64, 58 }, { 0x030007d2004e, 64, 59 }, { 0x030000e70009, 64, 60 },
	{ 0x03000785004b, 64, 63 },
};

static void put_mac(uint8_t *tag, uint64_t mac)
{
	for (unsigned int i = 0; i < 6; i++)
		tag[4 + i] = (uint8_t)(mac >> (8 * (5 - i)));
}

static void indices_are_those_of_the_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t tag[PRM_STE_TAG_SIZE] = { 0 };

		put_mac(tag, rows[i].mac);
		assert_int_equal(mlx5_dr_hash(tag, MAC) % rows[i].entries, rows[i].index);
	}
}

static void other_bytes_do_not_count(void **state)
{
	uint8_t tag[PRM_STE_TAG_SIZE];

	(void)state;
	for (unsigned int i = 0; i < sizeof(tag); i++)
		tag[i] = 0xa5;
	assert_int_equal(mlx5_dr_hash(tag, 0), 0);
	put_mac(tag, rows[0].mac);
	assert_int_equal(mlx5_dr_hash(tag, MAC) % rows[0].entries, rows[0].index);
	assert_int_not_equal(mlx5_dr_hash(tag, 0x8000), mlx5_dr_hash(tag, 0x0001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_are_those_of_the_release),
		cmocka_unit_test(other_bytes_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
