/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_action_test.c - what actions that release 65.0's library has written do with literal frames.
 *
 * Covers: softhca/device/eth/flow/aso.c, softhca/device/eth/flow/header_place.c,
 * softhca/device/steering/ste_action.c, softhca/device/steering/ste_field.c
 */
#include <sys/mman.h>
#include <unistd.h>

#include "ste_rig.h"
#include "util/bits.h"

#define MACS           \
	"020000000002" \
	"020000000001"
#define V4(length, proto, sum)    \
	"45"                      \
	"00" length "00000000"    \
	"40" proto sum "0a000001" \
	"0a000002"
#define V4_INNER   \
	"45000014" \
	"00000000" \
	"4001"     \
	"0000"     \
	"0b000001" \
	"0b000002"
#define TCP(ports, seq, flags, sum) \
	ports seq "00000000"        \
		  "5" flags "0400" sum "0000"
#define V6                                 \
	"60000000"                         \
	"00003b40"                         \
	"20010000000000000000000000000001" \
	"20010000000000000000000000000002"

/* Header checksums of V4() with TCP behind it are right in FRAME and in WANT. */
/* clang-format off */
static const struct {
	const char *what, *actions, *frame, *want;
} rows[] = {
	{ "nothing", "000000000000000000000000", MACS "9000" "0000", MACS "9000" "0000" },
	{ "set the upper source", "060820200a0b0c0d", MACS "9000" "0000", "020000000002" "0a0b0c0d0001" "9000" "0000" },
	{ "set the lower source", "0609301000000e0f", MACS "9000" "0000", "020000000002" "020000000e0f" "9000" "0000" },
	{ "set the upper destination", "060020200a0b0c0d", MACS "9000" "0000", "0a0b0c0d0002" "020000000001" "9000" "0000" },
	{ "set the lower destination", "0601301000000e0f", MACS "9000" "0000", "020000000e0f" "020000000001" "9000" "0000" },
	{ "set the type", "0601201000001234", MACS "9000" "0000", MACS "1234" "0000" },
	{ "set the VLAN", "0602201000003008", MACS "81000064" "9000" "0000", MACS "81003008" "9000" "0000" },
	{ "set the VLAN of a frame without", "0602201000003008", MACS "9000" "0000", MACS "9000" "0000" },
	{ "set the time to live", "060e28080000003f", MACS "0800" V4("0014", "06", "66e2"), MACS "0800" "45000014" "00000000" "3f0667e2" "0a000001" "0a000002" },
	{ "add to the time to live", "070e2808000000ff", MACS "0800" V4("0014", "06", "66e2"), MACS "0800" "45000014" "00000000" "3f0667e2" "0a000001" "0a000002" },
	{ "add to the hop limit", "070e2808000000ff", MACS "86dd" V6, MACS "86dd" "60000000" "00003b3f" "20010000000000000000000000000001" "20010000000000000000000000000002" },
	{ "set DSCP", "060e32060000002a", MACS "0800" V4("0014", "06", "66e2"), MACS "0800" "45a80014" "00000000" "4006663a" "0a000001" "0a000002" },
	{ "set the source address", "064020200a000009", MACS "0800" V4("0014", "06", "66e2"), MACS "0800" "45000014" "00000000" "400666da" "0a000009" "0a000002" },
	{ "set a part of version 6", "064e2020deadbeef", MACS "86dd" V6, MACS "86dd" "60000000" "00003b40" "2001000000000000deadbeef00000001" "20010000000000000000000000000002" },
	{ "set ports", "0618301000001111", MACS "0800" V4("0028", "06", "66ce") TCP("00010002", "00000001", "002", "93a9"),
	  MACS "0800" V4("0028", "06", "66ce") TCP("11110002", "00000001", "002", "8299") },
	{ "add to TCP's number", "075e202000000001", MACS "0800" V4("0028", "06", "66ce") TCP("00010002", "00000001", "002", "93a9"),
	  MACS "0800" V4("0028", "06", "66ce") TCP("00010002", "00000002", "002", "93a8") },
	{ "remove a tag", "08020002", MACS "81000064" "9000" "0000", MACS "9000" "0000" },
	{ "remove two tags", "08020004", MACS "88a80001" "81000064" "9000" "0000", MACS "9000" "0000" },
	{ "remove the tag of a frame without", "08020002", MACS "9000" "0000", MACS "9000" "0000" },
	{ "insert a tag", "0a000c0081000064", MACS "9000" "0000", MACS "81000064" "9000" "0000" },
	{ "leave a tunnel that is cut off", "0900130c", MACS "0800" V4("0046", "2f", "0000") "00006558" MACS "9000" "0000", NULL },
	{ "leave a GRE tunnel", "0900130c", MACS "0800" V4("0028", "2f", "0000") "00006558" MACS "9000" "0000", MACS "9000" "0000" },
	{ "leave no tunnel", "0900130c", MACS "9000" "0000", NULL },
	{ "an unknown field", "06ff202000000000", MACS "9000" "0000", NULL },
	{ "a shift that is too small", "0608001000000000", MACS "9000" "0000", NULL },
	{ "headers that are not there", "0b0000c900000031", MACS "9000" "0000", NULL },
};
/* clang-format on */

static void walk_actions(struct rig_frame *frame, const char *actions, const char *text)
{
	uint8_t entry[PRM_STE_SIZE];

	rig_entry(entry, ste_end_address(STE_END_ALLOW, 0));
	rig_unhex(actions, fld_at(entry, STE_MATCH_ACTIONS), 12);
	rig_put(0, entry);
	rig_frame(frame, text);
	rig_walk(frame, STE_MEMORY_START);
}

static void expect_frame(const struct rig_frame *frame, const char *text)
{
	uint8_t want[STE_RIG_FRAME];
	const size_t len = rig_unhex(text, want, sizeof(want));

	assert_int_equal(frame->walk.end, STE_END_ALLOW);
	assert_int_equal(frame->arrival.frame.len, len);
	assert_memory_equal(frame->arrival.frame.bytes, want, len);
}

static void actions_change_frames(void **state)
{
	struct rig_frame frame;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("%s\n", rows[i].what);
		walk_actions(&frame, rows[i].actions, rows[i].frame);
		if (rows[i].want)
			expect_frame(&frame, rows[i].want);
		else
			assert_int_equal(frame.walk.end, STE_END_DROP);
		rig_free(&frame);
	}
}

static void registers_keep_their_values(void **state)
{
	uint8_t entry[PRM_STE_SIZE];
	struct rig_frame frame;

	(void)state;
	rig_entry(entry, STE_MEMORY_START + PRM_STE_SIZE);
	rig_unhex("0690202011223344", fld_at(entry, STE_MATCH_ACTIONS), 12);
	rig_put(0, entry);
	rig_entry(entry, ste_end_address(STE_END_ALLOW, 0));
	rig_unhex("0591241000902800", fld_at(entry, STE_MATCH_ACTIONS), 12);
	rig_put(1, entry);
	rig_frame(&frame, MACS "9000");
	rig_walk(&frame, STE_MEMORY_START);
	assert_int_equal(fld_get(frame.state.registers, FLOW_REGISTER_C(0)), 0x11223344);
	assert_int_equal(fld_get(frame.state.registers, FLOW_REGISTER_C(1)), 0x22330);
	assert_null(frame.arrival.copies);
}

/* Walks a frame through an entry that release 65.0's library has written; its object is 0x4040, and
 * its register C 5. LINE: the action's last word. Returns the register, or -1 for a drop. */
static int first_hit(const char *object, const char *last_word)
{
	char action[17];
	struct rig_frame frame;

	snprintf(action, sizeof(action), "12%s%s", object, last_word);
	walk_actions(&frame, action, MACS "9000");
	rig_free(&frame);
	return frame.walk.end == STE_END_DROP
		       ? -1
		       : (int)fld_get(frame.state.registers, FLOW_REGISTER_C(5));
}

static void only_the_first_frame_is_the_first(void **state)
{
	struct aso *aso;

	(void)state;
	assert_int_equal(first_hit("000001", "84000000"), -1); /* no object */
	assert_int_equal(aso_add(&rig_hca, ASO_OF_FIRST_HITS, 1, &aso), 0);
	assert_int_equal(aso->n, 1);
	assert_int_equal(first_hit("000001", "81000000"), -1); /* another type */
	assert_int_equal(first_hit("000001", "84000203"), 0);
	assert_int_equal(first_hit("000001", "84000003"), 0);
	assert_int_equal(first_hit("000001", "84000003"), 1);
	assert_int_equal(first_hit("000001", "84000203"), 1);
	assert_int_equal(first_hit("000001", "84000204"), 0); /* another line */
	aso_remove(&rig_hca, aso);
}

/* Reads the type of a frame that ends there, in front of a page that cannot be read. */
static void no_byte_is_read_behind_the_frame(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t entry[PRM_STE_SIZE], *bytes = pages + page - ETHERNET_SIZE;
	struct rig_frame frame;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	rig_entry(entry, ste_end_address(STE_END_ALLOW, 0));
	rig_unhex("0591202000012000", fld_at(entry, STE_MATCH_ACTIONS), 12);
	rig_put(0, entry);
	rig_frame(&frame, MACS "9000");
	memcpy(bytes, frame.bytes, ETHERNET_SIZE);
	frame_parse(&frame.arrival.frame, bytes, ETHERNET_SIZE);
	rig_walk(&frame, STE_MEMORY_START);
	assert_int_equal(fld_get(frame.state.registers, FLOW_REGISTER_C(1)), 0x00029000);
	assert_null(frame.arrival.copies);
	munmap(pages, 2 * page);
}

static void an_entry_gives_a_tag_and_counts(void **state)
{
	struct flow_counter counter = { 0 };
	uint8_t entry[PRM_STE_SIZE];
	struct rig_frame frame;

	(void)state;
	assert_int_equal(res_add(&rig_eth.flow_counters, &counter, &counter.n), 0);
	rig_entry(entry, ste_end_address(STE_END_ALLOW, 0));
	fld_set(entry, STE_COUNTER_ID, counter.n);
	rig_unhex("0c123456", fld_at(entry, STE_MATCH_ACTIONS), 12);
	rig_put(0, entry);
	rig_frame(&frame, MACS "9000");
	rig_walk(&frame, STE_MEMORY_START);
	assert_int_equal(frame.walk.tag, 0x123456);
	assert_int_equal(counter.packets, 1);
	assert_int_equal(counter.bytes, 14);
	res_remove(&rig_eth.flow_counters, counter.n);
}

/* The list that takes a frame out of a tunnel of IP writes the new header from its end on, and
 * removes the two bytes that fill its first dword. */
static void a_list_may_replace_headers(void **state)
{
	static const char *const list[] = {
		"0900190c00000000", "0a00000000010800", "0a00000002000000",
		"0a00000000000002", "0a00000000000200", "0800000100000000",
	};
	uint8_t action[PRM_STE_LIST_ACTION];
	struct rig_frame frame;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		rig_unhex(list[i], action, sizeof(action));
		rig_write(rig_lists, STE_MEMORY_CHANGE + i * sizeof(action), action,
			  sizeof(action));
	}
	walk_actions(&frame, "0f060000", MACS "0800" V4("002c", "2f", "0000") "00000800" V4_INNER);
	expect_frame(&frame, MACS "0800" V4_INNER);
	rig_free(&frame);
}

/* The headers come without lengths, so the frame's are written into them. */
static void a_tunnels_headers_get_lengths(void **state)
{
	struct packet_reformat *reformat = calloc(1, sizeof(*reformat));
	struct rig_frame frame;
	char actions[25];

	(void)state;
	assert_non_null(reformat);
	reformat->type = PRM_REFORMAT_L2_TO_L2_TUNNEL;
	reformat->size = (unsigned int)rig_unhex(MACS "0800" V4("0000", "2f", "0000") "00006558",
						 reformat->data, sizeof(reformat->data));
	assert_int_equal(res_add(&rig_eth.packet_reformats, reformat, &reformat->n), 0);
	snprintf(actions, sizeof(actions), "0b000099%08x", reformat->n); /* 19 words, a tunnel */
	walk_actions(&frame, actions,
		     MACS "9000"
			  "0000");
	expect_frame(&frame, MACS "0800"
				  "45000028"
				  "00000000"
				  "402f66a5"
				  "0a000001"
				  "0a000002"
				  "00006558" MACS "9000"
				  "0000");
	rig_free(&frame);
	snprintf(actions, sizeof(actions), "0b000091%08x", reformat->n); /* another size */
	walk_actions(&frame, actions,
		     MACS "9000"
			  "0000");
	assert_int_equal(frame.walk.end, STE_END_DROP);
	rig_free(&frame);
	res_remove(&rig_eth.packet_reformats, reformat->n);
	free(reformat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(actions_change_frames),
		cmocka_unit_test(registers_keep_their_values),
		cmocka_unit_test(only_the_first_frame_is_the_first),
		cmocka_unit_test(no_byte_is_read_behind_the_frame),
		cmocka_unit_test(an_entry_gives_a_tag_and_counts),
		cmocka_unit_test(a_list_may_replace_headers),
		cmocka_unit_test(a_tunnels_headers_get_lengths),
	};

	return cmocka_run_group_tests(tests, rig_create, rig_destroy);
}
