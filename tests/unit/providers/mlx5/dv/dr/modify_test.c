/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_test.c - changes of header fields as actions of entries, beside those of release 65.0's
 * library on an adapter of format 1: the dword and bits of each field, and whole actions.
 *
 * Covers: providers/mlx5/dv/dr/modify.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/modify_header.h"
#include "prm/mlx5/ste.h"
#include "providers/mlx5/dv/dr/modify.h"

enum side { BOTH, RX, TX };

/* A field of the commands, its dword, its first and last bit, its side, and whether it adds. */
static const struct {
	uint32_t field, dword, first, last;
	enum side side;
	bool adds;
} fields[] = {
	{ 0x1, 8, 0, 31, BOTH, false },    { 0x10, 79, 0, 31, BOTH, false },
	{ 0x11, 68, 0, 31, BOTH, false },  { 0x12, 69, 0, 31, BOTH, false },
	{ 0x13, 70, 0, 31, BOTH, false },  { 0x14, 71, 0, 31, BOTH, false },
	{ 0x15, 64, 0, 31, BOTH, false },  { 0x16, 65, 0, 31, BOTH, false },
	{ 0x17, 2, 0, 15, BOTH, false },   { 0x2, 9, 16, 31, BOTH, false },
	{ 0x3, 1, 0, 15, BOTH, false },    { 0x4, 0, 0, 31, BOTH, false },
	{ 0x47, 14, 8, 15, BOTH, true },   { 0x5, 1, 16, 31, BOTH, false },
	{ 0x50, 123, 0, 31, RX, false },   { 0x51, 144, 0, 31, BOTH, false },
	{ 0x52, 145, 0, 31, BOTH, false }, { 0x53, 142, 0, 31, BOTH, false },
	{ 0x54, 143, 0, 31, BOTH, false }, { 0x55, 140, 0, 31, BOTH, false },
	{ 0x56, 141, 0, 31, BOTH, false }, { 0x59, 94, 0, 31, BOTH, true },
	{ 0x5b, 95, 0, 31, BOTH, true },   { 0x6, 14, 18, 23, BOTH, false },
	{ 0x7, 25, 16, 24, BOTH, false },  { 0x73, 14, 16, 17, BOTH, false },
	{ 0x8, 24, 16, 31, BOTH, false },  { 0x9, 24, 0, 15, BOTH, false },
	{ 0xa, 14, 8, 15, BOTH, true },    { 0xb, 24, 16, 31, BOTH, false },
	{ 0xc, 24, 0, 15, BOTH, false },   { 0xd, 76, 0, 31, BOTH, false },
	{ 0xe, 77, 0, 31, BOTH, false },   { 0xf, 78, 0, 31, BOTH, false },
	{ 0x49, 124, 0, 31, TX, false },
};

static int modify_one(bool is_tx, uint32_t first, uint32_t second, uint32_t words[2])
{
	uint8_t action[PRM_HEADER_ACTION_SIZE];
	struct dr_changes changes;
	int ret;

	fld_set(action, FLD(0x0, 31, 0), first);
	fld_set(action, FLD(0x4, 31, 0), second);
	ret = mlx5_dr_modify("test", is_tx, action, sizeof(action), &changes);
	words[0] = (uint32_t)fld_get(changes.actions[0], FLD(0x0, 31, 0));
	words[1] = (uint32_t)fld_get(changes.actions[0], FLD(0x4, 31, 0));
	assert_int_equal(changes.count, !ret);
	return ret;
}

static uint32_t head(uint32_t type, uint32_t field, uint32_t offset, uint32_t length)
{
	return type << 28 | field << 16 | offset << 8 | (length & 31);
}

static void check_field(size_t i, bool is_tx)
{
	const uint32_t width = fields[i].last - fields[i].first + 1;
	const uint32_t shift = PRM_STE_SHIFT + fields[i].first;
	const bool has = fields[i].side != (is_tx ? RX : TX);
	uint32_t words[2];

	print_message("field %#x\n", fields[i].field);
	assert_int_equal(
		modify_one(is_tx, head(PRM_HEADER_SET, fields[i].field, 0, width), 0x1234, words),
		has ? 0 : EINVAL);
	if (!has)
		return;
	assert_int_equal(words[0], 0x06u << 24 | fields[i].dword << 16 | shift << 8 | width);
	assert_int_equal(words[1], 0x1234);
	assert_int_equal(modify_one(is_tx, head(PRM_HEADER_ADD, fields[i].field, 0, 0), 1, words),
			 fields[i].adds ? 0 : EINVAL);
	if (fields[i].adds)
		assert_int_equal(words[0],
				 0x07u << 24 | fields[i].dword << 16 | shift << 8 | width);
	assert_int_equal(
		modify_one(is_tx, head(PRM_HEADER_SET, fields[i].field, 1, width - 1), 1, words),
		0);
	assert_int_equal(words[0],
			 0x06u << 24 | fields[i].dword << 16 | (shift + 1) << 8 | (width - 1));
	assert_int_equal(
		modify_one(is_tx, head(PRM_HEADER_SET, fields[i].field, 1, width), 1, words),
		EINVAL);
}

static void fields_are_those_of_the_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		check_field(i, false);
		check_field(i, true);
	}
}

static void a_copy_has_two_fields(void **state)
{
	const uint32_t from = PRM_HEADER_METADATA_C_0, to = PRM_HEADER_METADATA_C_0 + 1;
	uint32_t words[2];

	(void)state;
	assert_int_equal(modify_one(false, head(PRM_HEADER_COPY, from, 0, 32), to << 16, words), 0);
	assert_int_equal(words[0], 0x05912020);
	assert_int_equal(words[1], 0x00902000);
	assert_int_equal(
		modify_one(false, head(PRM_HEADER_COPY, from, 8, 16), to << 16 | 4 << 8, words), 0);
	assert_int_equal(words[0], 0x05912410);
	assert_int_equal(words[1], 0x00902800);
	assert_int_equal(modify_one(false, head(PRM_HEADER_COPY, from, 8, 0), to << 16, words),
			 EINVAL);
	assert_int_equal(
		modify_one(false, head(PRM_HEADER_COPY, from, 0, 16), to << 16 | 17 << 8, words),
		EINVAL);
	assert_int_equal(modify_one(false, head(PRM_HEADER_COPY, from, 0, 16), 0xfffu << 16, words),
			 EINVAL);
}

static void odd_lists_are_refused(void **state)
{
	uint8_t actions[33 * PRM_HEADER_ACTION_SIZE] = { 0 };
	struct dr_changes changes;
	uint32_t words[2];

	(void)state;
	assert_int_equal(mlx5_dr_modify("test", false, actions, 0, &changes), EINVAL);
	assert_int_equal(mlx5_dr_modify("test", false, actions, 4, &changes), EINVAL);
	assert_int_equal(mlx5_dr_modify("test", false, actions, 8, &changes), EINVAL);
	assert_int_equal(mlx5_dr_modify("test", false, actions, 16, &changes), EINVAL);
	assert_int_equal(mlx5_dr_modify("test", false, actions, sizeof(actions), &changes), EINVAL);
	assert_int_equal(modify_one(false, head(PRM_HEADER_SET, 0xfff, 0, 8), 0, words), EINVAL);
}

/* Both ports of UDP are in one dword: release 65.0 makes a list of three of these two. */
static void a_list_has_a_pause_between_two_of_a_dword(void **state)
{
	static const uint16_t of_one[] = { 0xb, 0xc, 0x1 }; /* UDP ports, MAC address */
	uint8_t actions[32 * PRM_HEADER_ACTION_SIZE] = { 0 };
	struct dr_changes changes;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		fld_set(actions + i * PRM_HEADER_ACTION_SIZE, FLD(0x0, 31, 0),
			head(PRM_HEADER_SET, of_one[i], 0, 16));
	assert_int_equal(mlx5_dr_modify("test", false, actions, 16, &changes), 0);
	assert_int_equal(changes.count, 3);
	assert_int_equal(fld_get(changes.actions[0], FLD(0x0, 31, 24)), 6);
	assert_int_equal(fld_get(changes.actions[1], FLD(0x0, 31, 0)), 0);
	assert_int_equal(fld_get(changes.actions[2], FLD(0x0, 31, 24)), 6);
	assert_int_equal(mlx5_dr_modify("test", false, actions, 24, &changes), 0);
	assert_int_equal(changes.count, 4);
	for (unsigned int i = 0; i < 32; i++)
		fld_set(actions + i * PRM_HEADER_ACTION_SIZE, FLD(0x0, 31, 0),
			head(PRM_HEADER_SET, of_one[0], 0, 16));
	assert_int_equal(mlx5_dr_modify("test", false, actions, sizeof(actions), &changes), 0);
	assert_int_equal(changes.count, DR_CHANGES_MAX);
}

/* Release 65.0's list for 18 bytes has seven actions. */
static void a_header_comes_in_dwords_from_its_end(void **state)
{
	static const uint8_t header[18] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,
					    10, 11, 12, 13, 14, 15, 16, 17, 18 };
	uint8_t frame[20] = { 0 };
	struct dr_changes changes;

	(void)state;
	assert_int_equal(mlx5_dr_modify_decap("test", header, 14, &changes), 0);
	assert_int_equal(changes.count, 6);
	assert_int_equal(mlx5_dr_modify_decap("test", header, 18, &changes), 0);
	assert_int_equal(changes.count, 7);
	assert_int_equal(fld_get(changes.actions[0], FLD(0x0, 31, 0)), 0x0900190c);
	for (unsigned int i = 1; i < 6; i++) {
		assert_int_equal(fld_get(changes.actions[i], FLD(0x0, 31, 0)), 0x0a000000);
		memcpy(frame + 20 - 4 * i, changes.actions[i] + 4, 4);
	}
	assert_int_equal(fld_get(changes.actions[6], FLD(0x0, 31, 0)), 0x08000001);
	assert_memory_equal(frame + 2, header, sizeof(header));
	assert_int_equal(mlx5_dr_modify_decap("test", header, 16, &changes), EINVAL);
	assert_int_equal(mlx5_dr_modify_decap("test", NULL, 14, &changes), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_those_of_the_release),
		cmocka_unit_test(a_copy_has_two_fields),
		cmocka_unit_test(odd_lists_are_refused),
		cmocka_unit_test(a_list_has_a_pause_between_two_of_a_dword),
		cmocka_unit_test(a_header_comes_in_dwords_from_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
