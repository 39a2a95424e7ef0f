/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_test.c - entries that release 65.0's library has written: the table and the index that they
 * lead to, hits and misses.
 *
 * Covers: softhca/device/steering/ste.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/device/steering/ste.h"
#include "util/bits.h"

/* The anchor of a matcher by destination MAC after four rules: a table of 16 entries at 0x400 */
static const char anchor[] = "0000000000120f000000000000120300000006000fc000120000000000000000"
			     "00000000000000000000000000000000"
			     "00000000000000000000000000000000";
/* A rule there: 02:00:00:02:00:02 is dropped, at 0xaa0000; else to 0x280 */
static const char rule[] = "00000000001203000000028000000f0000aa0020000000120000000000000000"
			   "00000000ffffffffffff000000000000"
			   "00000000020000020002000000000000";
/* An entry of a table that nothing hits */
static const char empty[] = "00000000001203000000004000120fffffffffe0000000120000000000000000"
			    "00000000000000000000000000000000"
			    "dc000000000000000000000000000000";
/* One that leads to lookup type 0x109 */
static const char wide[] = "0100000000120700000000400012090000002be0f00080120000000000000000"
			   "00000000000000000000000000000000"
			   "00000000000000000000000000000000";
/* One that only acts */
static const char acting[] = "0400000000120f000000004000000f0000aa0020000000000c00000500000000"
			     "00000000000000000000000000000000"
			     "00000000000000000000000000000000";

static void hex_to_bytes(const char *text, uint8_t *bytes, size_t len)
{
	assert_int_equal(strlen(text), 2 * len);
	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
}

static const uint8_t *entry_of(const char *text)
{
	static uint8_t entry[PRM_STE_SIZE];

	hex_to_bytes(text, entry, sizeof(entry));
	return entry;
}

static void an_anchor_leads_to_its_table(void **state)
{
	const uint8_t *entry = entry_of(anchor);
	struct ste_table table;

	(void)state;
	assert_int_equal(ste_lookup(entry), PRM_STE_NOTHING);
	ste_next_table(entry, &table);
	assert_true(table.base == 0x400);
	assert_int_equal(table.entries, 16);
	assert_int_equal(table.lookup, PRM_STE_L2_O);
	assert_int_equal(table.byte_mask, 0x0fc0);
}

/* The library has put these rules into these entries. */
static void the_hash_chooses_the_librarys_entry(void **state)
{
	static const struct {
		const char *tag;
		uint32_t index;
	} placed[] = {
		{ "00000000020000030003000000000000", 4 },
		{ "00000000020000020002000000000000", 5 },
		{ "00000000020000000000000000000000", 12 },
		{ "00000000020000010001000000000000", 13 },
		/* bytes that do not choose */
		{ "12345678020000010001abcdef012345", 13 },
	};
	uint8_t tag[PRM_STE_TAG_SIZE];
	struct ste_table table;

	(void)state;
	ste_next_table(entry_of(anchor), &table);
	for (size_t i = 0; i < ARRAY_SIZE(placed); i++) {
		hex_to_bytes(placed[i].tag, tag, sizeof(tag));
		assert_int_equal(ste_index(&table, tag), placed[i].index);
	}
}

static void a_tag_hits_or_misses(void **state)
{
	const uint8_t *entry = entry_of(rule);
	uint8_t tag[PRM_STE_TAG_SIZE];
	struct ste_table table;

	(void)state;
	assert_int_equal(ste_lookup(entry), PRM_STE_L2_O);
	hex_to_bytes("ffffffff020000020002ffffffffffff", tag, sizeof(tag));
	assert_true(ste_hits(entry, tag));
	for (unsigned int bit = 0; bit < 8 * sizeof(tag); bit++) {
		tag[bit / 8] ^= 1 << bit % 8;
		assert_int_equal(ste_hits(entry, tag), bit / 8 < 4 || bit / 8 >= 10);
		tag[bit / 8] ^= 1 << bit % 8;
	}
	assert_true(ste_miss_address(entry) == 0x280);
	ste_next_table(entry, &table);
	assert_true(table.base == 0xaa0000);
	assert_int_equal(table.entries, 1);
	assert_int_equal(ste_index(&table, tag), 0);
}

static void nothing_hits_an_empty_entry(void **state)
{
	const uint8_t *entry = entry_of(empty);
	uint8_t tag[PRM_STE_TAG_SIZE];

	(void)state;
	for (int i = 0; i < 256; i++) {
		memset(tag, i, sizeof(tag));
		assert_false(ste_hits(entry, tag));
	}
	assert_true(ste_miss_address(entry) == 0x40);
}

static void lookup_types_have_nine_bits(void **state)
{
	const uint8_t *entry = entry_of(wide);
	struct ste_table table;

	(void)state;
	assert_int_equal(ste_lookup(entry), PRM_STE_IPV6_DST_O);
	ste_next_table(entry, &table);
	assert_int_equal(table.lookup, PRM_STE_IPV6_SRC_O);
	assert_true(table.base == 0x2bc0);
	assert_int_equal(table.byte_mask, 0xf000);
}

static void an_entry_may_only_act(void **state)
{
	static const uint8_t tag[PRM_STE_TAG_SIZE];
	const uint8_t *entry = entry_of(acting);
	const uint8_t *action;
	unsigned int words;

	(void)state;
	assert_int_equal(ste_lookup(entry), PRM_STE_NOTHING);
	assert_true(ste_hits(entry, tag));
	action = ste_actions(entry, &words);
	assert_int_equal(words, 3);
	assert_int_equal(fld_get(action + 4, STE_ACTION_ID), PRM_STE_ACTION_FLOW_TAG);
	assert_int_equal(fld_get(action + 4, STE_ACTION_FLOW_TAG), 5);
	assert_ptr_equal(ste_actions(entry_of(rule), &words), entry + 24);
	assert_int_equal(words, 2);
}

/* The first of three actions is where others have the byte mask and the format, so those must not
 * be read there. */
static void an_action_is_no_byte_mask(void **state)
{
	uint8_t entry[PRM_STE_SIZE], *action;
	struct ste_table table;

	(void)state;
	hex_to_bytes(acting, entry, sizeof(entry));
	action = fld_at(entry, STE_MATCH_ACTIONS);
	fld_set(action, STE_ACTION_ID, PRM_STE_ACTION_FLOW_TAG);
	fld_set(action, STE_ACTION_FLOW_TAG, 0xffffff);
	ste_next_table(entry, &table);
	assert_int_equal(table.byte_mask, 0);
	assert_int_equal(table.lookup, PRM_STE_NOTHING);
}

static void unknown_formats_have_no_lookup_type(void **state)
{
	uint8_t entry[PRM_STE_SIZE] = { 0 };

	(void)state;
	for (unsigned int format = 0; format < 256; format++) {
		fld_set(entry, STE_ENTRY_FORMAT, format);
		fld_set(entry, STE_DEFINER, 3);
		assert_int_equal(ste_lookup(entry), format < 2 ? (int)(format << 8 | 3) : -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_anchor_leads_to_its_table),
		cmocka_unit_test(the_hash_chooses_the_librarys_entry),
		cmocka_unit_test(a_tag_hits_or_misses),
		cmocka_unit_test(nothing_hits_an_empty_entry),
		cmocka_unit_test(lookup_types_have_nine_bits),
		cmocka_unit_test(an_entry_may_only_act),
		cmocka_unit_test(an_action_is_no_byte_mask),
		cmocka_unit_test(unknown_formats_have_no_lookup_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
