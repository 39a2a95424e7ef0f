/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_walk_test.c - walks through entries, most of them hostile: each ends within the frame's
 * budget, and the trace says why the frame was dropped.
 *
 * Covers: softhca/device/steering/ste_walk.c, softhca/device/steering/ste_action.c,
 * softhca/device/steering/ste_end.h
 */
#include "ste_rig.h"

#define UNTAGGED       \
	"020000000002" \
	"020000000001" \
	"9000"         \
	"00000000"

static const uint64_t allow = STE_END_START + ((uint64_t)STE_END_ALLOW << STE_END_LOG_KIND);

static uint64_t address(unsigned int index)
{
	return STE_MEMORY_START + (uint64_t)index * PRM_STE_SIZE;
}

static enum ste_end end_of(uint64_t root)
{
	struct rig_frame frame;

	rig_frame(&frame, UNTAGGED);
	rig_walk(&frame, root);
	rig_free(&frame);
	return frame.walk.end;
}

static void expect_drop(uint64_t root, const char *why)
{
	assert_int_equal(end_of(root), STE_END_DROP);
	if (!strstr(rig_why, why))
		fail_msg("'%s' is not in '%s'", why, rig_why);
}

static void a_hit_and_a_miss_lead_on(void **state)
{
	uint8_t entry[PRM_STE_SIZE];

	(void)state;
	rig_entry(entry, address(1));
	rig_put(0, entry);
	rig_entry(entry, 0);
	entry[FLD_BYTE(STE_DEFINER_TAG)] = 1; /* nothing hits it */
	rig_miss_to(entry, address(2));
	rig_put(1, entry);
	rig_entry(entry, allow);
	rig_put(2, entry);
	assert_int_equal(end_of(address(0)), STE_END_ALLOW);
	assert_string_equal(rig_why, "");
}

static void the_end_has_a_number(void **state)
{
	struct rig_frame frame;

	(void)state;
	rig_frame(&frame, UNTAGGED);
	rig_walk(&frame, ste_end_address(STE_END_TIR, 0xe00001));
	assert_int_equal(frame.walk.end, STE_END_TIR);
	assert_int_equal(frame.walk.number, 0xe00001);
	assert_int_equal(frame.walk.steps, STE_RIG_STEPS);
}

static void circles_end(void **state)
{
	uint8_t entry[PRM_STE_SIZE];

	(void)state;
	rig_entry(entry, address(1)); /* by hits */
	rig_put(0, entry);
	rig_entry(entry, address(0));
	rig_put(1, entry);
	expect_drop(address(0), "too many steps");
	entry[FLD_BYTE(STE_DEFINER_TAG)] = 1; /* by a miss, to itself */
	rig_miss_to(entry, address(2));
	rig_put(2, entry);
	expect_drop(address(2), "too many steps");
}

static void addresses_are_looked_up(void **state)
{
	static const uint64_t outside[] = {
		0,
		PRM_STE_SIZE,
		STE_MEMORY_START - PRM_STE_SIZE,
		STE_MEMORY_START + (1u << STE_RIG_LOG_SIZE),
		STE_MEMORY_CHANGE + (1u << STE_RIG_LOG_SIZE),
		STE_END_START - PRM_STE_SIZE,
		STE_END_START + ((uint64_t)STE_ENDS << STE_END_LOG_KIND),
		0xffffffffc0,
	};
	uint8_t entry[PRM_STE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
		expect_drop(outside[i], "not in the memory for entries");
		rig_entry(entry, 0);
		rig_hit_to(entry, outside[i], 1);
		rig_put(0, entry);
		expect_drop(address(0), "not in the memory for entries");
		entry[FLD_BYTE(STE_DEFINER_TAG)] = 1;
		rig_miss_to(entry, outside[i]);
		rig_put(0, entry);
		expect_drop(address(0), "not in the memory for entries");
	}
	for (unsigned int i = 1; i < PRM_STE_SIZE; i++)
		expect_drop(address(0) + i, "not in the memory for entries");
}

static void tables_of_any_size_are_looked_up(void **state)
{
	uint8_t entry[PRM_STE_SIZE];

	(void)state;
	rig_entry(entry, 0);
	fld_set(entry, STE_NEXT_TABLE_31_5, 0);
	rig_put(0, entry);
	expect_drop(address(0), "leads nowhere");
	/* The source address chooses the entry of a table that is larger than the memory. */
	for (unsigned int log = 0; log < 26; log++) {
		rig_entry(entry, 0);
		fld_set(entry, STE_ENTRY_FORMAT, PRM_STE_BYTES);
		rig_hit_to(entry, STE_MEMORY_START + (UINT64_C(1) << 32), 1u << log);
		fld_set(entry, STE_NEXT_DEFINER, PRM_STE_L2_SRC_O);
		fld_set(entry, STE_NEXT_BYTE_MASK, 0x0fc0);
		rig_put(0, entry);
		expect_drop(address(0), "not in the memory for entries");
	}
}

static void unknown_entries_drop(void **state)
{
	uint8_t entry[PRM_STE_SIZE];

	(void)state;
	for (unsigned int format = 0; format < 256; format++) {
		rig_entry(entry, allow);
		fld_set(entry, STE_ENTRY_FORMAT, format);
		rig_put(0, entry);
		if (format == PRM_STE_BYTES || format == PRM_STE_MATCH ||
		    format == PRM_STE_WORDS) /* with the definer, registers */
			assert_int_equal(end_of(address(0)), STE_END_ALLOW);
		else
			expect_drop(address(0), "an unknown lookup type");
	}
	rig_entry(entry, address(1));
	fld_set(entry, STE_ENTRY_FORMAT, PRM_STE_BYTES);
	fld_set(entry, STE_NEXT_DEFINER, 0xff);
	rig_put(0, entry);
	expect_drop(address(0), "leads to an unknown lookup type");
}

static void unknown_actions_drop(void **state)
{
	static const uint8_t known[] = { PRM_STE_ACTION_NOP, PRM_STE_ACTION_FLOW_TAG,
					 PRM_STE_ACTION_LIST };
	uint8_t entry[PRM_STE_SIZE], *last;

	(void)state;
	for (unsigned int id = 0; id < 256; id++) {
		rig_entry(entry, allow);
		last = (uint8_t *)fld_at(entry, STE_MATCH_ACTIONS) + 8;
		fld_set(last, STE_ACTION_ID, id);
		rig_put(0, entry);
		if (memchr(known, (int)id, sizeof(known)) || id == PRM_STE_ACTION_REMOVE_BY_SIZE ||
		    id == PRM_STE_ACTION_REMOVE_TO_HEADER)
			assert_int_equal(end_of(address(0)), STE_END_ALLOW);
		else if ((id >= PRM_STE_ACTION_COPY && id <= PRM_STE_ACTION_INSERT_POINTER) ||
			 id == PRM_STE_ACTION_ASO)
			expect_drop(address(0), "an action that is cut off");
		else
			expect_drop(address(0), "an unknown action");
	}
}

static void put_list_action(unsigned int unit, unsigned int at, const char *text)
{
	uint8_t action[PRM_STE_LIST_ACTION];

	rig_unhex(text, action, sizeof(action));
	rig_write(rig_lists, STE_MEMORY_CHANGE + unit * PRM_STE_LIST_UNIT + at * sizeof(action),
		  action, sizeof(action));
}

/* An entry with a list of COUNT actions from UNIT on */
static void put_list_entry(unsigned int count, unsigned int unit)
{
	uint8_t entry[PRM_STE_SIZE], *action = fld_at(entry, STE_MATCH_ACTIONS);

	rig_entry(entry, allow);
	fld_set(action, STE_ACTION_ID, PRM_STE_ACTION_LIST);
	fld_set(action, STE_LIST_COUNT, count);
	fld_set(action, STE_LIST_POINTER, unit);
	rig_put(0, entry);
}

static void lists_are_looked_up(void **state)
{
	const unsigned int units = (1u << STE_RIG_LOG_SIZE) / PRM_STE_LIST_UNIT;

	(void)state;
	put_list_entry(8, units - 1);
	assert_int_equal(end_of(address(0)), STE_END_ALLOW);
	put_list_entry(9, units - 1);
	expect_drop(address(0), "not in the memory for lists");
	put_list_entry(1, 0xffff);
	expect_drop(address(0), "not in the memory for lists");
	put_list_action(0, 0, "0f01000000000000");
	put_list_entry(1, 0);
	expect_drop(address(0), "a list in a list");
	put_list_action(0, 0, "0000000000000000");
}

/* Each insertion makes a copy of the frame, so it takes from the budget of the walk. */
static void copies_take_from_the_budget(void **state)
{
	struct rig_frame frame;
	unsigned int copies = 0;

	(void)state;
	for (unsigned int i = 0; i < 255; i++)
		put_list_action(16, i, i % 2 ? "0800000200000000" : "0a00000000000000");
	put_list_entry(255, 16);
	rig_frame(&frame, UNTAGGED);
	rig_walk(&frame, address(0));
	for (const struct frame_copy *copy = frame.arrival.copies; copy; copy = copy->next)
		copies++;
	rig_free(&frame);
	assert_int_equal(frame.walk.end, STE_END_DROP);
	assert_non_null(strstr(rig_why, "no memory for a copy"));
	assert_in_range(copies, 240, 255);
}

static void frames_keep_a_size(void **state)
{
	static const uint8_t longest[FABRIC_FRAME_MAX];
	struct rig_frame frame;

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		put_list_action(1, i, "0800003f00000000");
	put_list_entry(1, 1);
	expect_drop(address(0), "removes more than there is");
	put_list_action(1, 0, "0800000400000000");
	put_list_entry(1, 1);
	expect_drop(address(0), "leaves no Ethernet header");
	/* Entries that insert 4 bytes each, until the frame is too long or its budget is spent */
	for (unsigned int i = 0; i < 100; i++) {
		uint8_t entry[PRM_STE_SIZE], *action = fld_at(entry, STE_MATCH_ACTIONS);

		rig_entry(entry, address(i + 1));
		fld_set(action, STE_ACTION_ID, PRM_STE_ACTION_INSERT_INLINE);
		rig_put(i, entry);
	}
	rig_frame(&frame, UNTAGGED);
	frame.arrival.frame.len = FABRIC_FRAME_MAX - 99 * 4;
	frame.arrival.frame.bytes = longest;
	rig_walk(&frame, address(0));
	assert_non_null(strstr(rig_why, "makes the frame too long"));
	rig_free(&frame);
}

/* Whatever bytes there are, the walk ends, as software may write any, and the frame has at most its
 * largest size. */
static void random_entries_end(void **state)
{
	uint8_t entry[PRM_STE_SIZE];
	struct rig_frame frame;

	(void)state;
	srand(1);
	for (unsigned int round = 0; round < 3000; round++) {
		for (unsigned int i = 0; i < 16; i++) {
			rig_entry(entry, address((unsigned int)rand() % 16));
			for (unsigned int at = 0; at < 12; at++)
				entry[FLD_BYTE(STE_MATCH_ACTIONS) + at] = (uint8_t)rand();
			for (unsigned int at = 0; at < 12; at += 4)
				entry[FLD_BYTE(STE_MATCH_ACTIONS) + at] %= 0x10;
			if (rand() % 4 == 0)
				entry[(unsigned int)rand() % PRM_STE_SIZE] = (uint8_t)rand();
			rig_put(i, entry);
			put_list_action(0, i, "0000000000000000");
			rig_write(rig_lists, STE_MEMORY_CHANGE + i * 8, entry + 0x14, 8);
		}
		rig_frame(&frame, "020000000002"
				  "020000000001"
				  "81000064"
				  "0800"
				  "4500002c"
				  "00000000"
				  "402f0000"
				  "0a000001"
				  "0a000002"
				  "00000800"
				  "45000014"
				  "00000000"
				  "40010000"
				  "0b000001"
				  "0b000002");
		rig_walk(&frame, address(0));
		assert_true(frame.arrival.frame.len <= FABRIC_FRAME_MAX);
		assert_true(frame.walk.end < STE_ENDS);
		rig_free(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hit_and_a_miss_lead_on),
		cmocka_unit_test(the_end_has_a_number),
		cmocka_unit_test(circles_end),
		cmocka_unit_test(addresses_are_looked_up),
		cmocka_unit_test(tables_of_any_size_are_looked_up),
		cmocka_unit_test(unknown_entries_drop),
		cmocka_unit_test(unknown_actions_drop),
		cmocka_unit_test(lists_are_looked_up),
		cmocka_unit_test(copies_take_from_the_budget),
		cmocka_unit_test(frames_keep_a_size),
		cmocka_unit_test(random_entries_end),
	};

	return cmocka_run_group_tests(tests, rig_create, rig_destroy);
}
