/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * init_seg_test.c - fields of the initialization segment, of entries of the command queue and of
 * mailboxes, at the bytes where the adapter's manual prints them.
 */
#include <string.h>

#include "prm/mlx5/init_seg.h"
#include "tests/unit/golden.h"
#include "util/bits.h"

/* The initialization segment is the longest layout here; its health counter is the last field. */
enum { LAYOUT_SIZE = 0x1014 };

struct field_case {
	uint32_t field;
	uint64_t value;
	unsigned int byte;
	const char *hex;
};

static void check_field(const struct field_case *want)
{
	uint8_t layout[LAYOUT_SIZE] = { 0 }, zeros[LAYOUT_SIZE] = { 0 };
	const size_t length = strlen(want->hex) / 9 * 4 + 4;

	fld_set(layout, want->field, UINT64_MAX);
	check_bytes(layout + want->byte, want->hex);
	memset(layout + want->byte, 0, length);
	assert_memory_equal(layout, zeros, sizeof(layout));
	fld_set(layout, want->field, want->value);
	assert_true(fld_get(layout, want->field) == want->value);
}

static void the_segment_has_these_fields(void **state)
{
	static const struct field_case fields[] = {
		{ INIT_SEG_FW_REV, 0x00100020, 0x0, "ffffffff" },
		{ INIT_SEG_CMDIF_REV, 5, 0x4, "ffff0000" },
		{ INIT_SEG_CMDQ_ADDR_63_32, 0x12345678, 0x10, "ffffffff" },
		{ INIT_SEG_CMDQ_ADDR_31_12, 0x9abcd, 0x14, "fffff000" },
		{ INIT_SEG_LOG_CMDQ_SIZE, 5, 0x14, "000000f0" },
		{ INIT_SEG_LOG_CMDQ_STRIDE, 6, 0x14, "0000000f" },
		{ INIT_SEG_COMMAND_DOORBELL, 1u << 31, 0x18, "ffffffff" },
		{ INIT_SEG_INITIALIZING, 1, 0x1fc, "80000000" },
		{ INIT_SEG_HEALTH_SYNDROME, 0x0d, 0x23c, "00ff0000" },
		{ INIT_SEG_HEALTH_COUNTER, 0x123456, 0x1010, "00ffffff" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		check_field(&fields[i]);
}

static void an_entry_has_these_fields(void **state)
{
	static const struct field_case fields[] = {
		{ CMDQ_TYPE, PRM_CMDQ_TYPE_PCI, 0, "ff000000" },
		{ CMDQ_INPUT_LENGTH, 0x110, 4, "ffffffff" },
		{ CMDQ_INPUT_MAILBOX, UINT64_C(0x1234) << 32, 8, "ffffffff ffffffff" },
		{ CMDQ_OUTPUT_MAILBOX, UINT64_C(0x1234) << 32, 48, "ffffffff ffffffff" },
		{ CMDQ_OUTPUT_LENGTH, 0x10, 56, "ffffffff" },
		{ CMDQ_TOKEN, 0x7e, 60, "ff000000" },
		{ CMDQ_SIGNATURE, 0x7e, 60, "00ff0000" },
		{ CMDQ_STATUS, 0x7f, 60, "000000fe" },
		{ CMDQ_OWNER, 1, 60, "00000001" },
	};
	uint8_t entry[PRM_CMDQ_ENTRY_SIZE];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		check_field(&fields[i]);
	assert_ptr_equal(fld_at(entry, CMDQ_INPUT_INLINE), entry + 16);
	assert_ptr_equal(fld_at(entry, CMDQ_OUTPUT_INLINE), entry + 32);
}

static void a_mailbox_has_these_fields(void **state)
{
	static const struct field_case fields[] = {
		{ CMDQ_BLOCK_NEXT, UINT64_C(0x1234) << 32, 560, "ffffffff ffffffff" },
		{ CMDQ_BLOCK_NUMBER, 3, 568, "ffffffff" },
		{ CMDQ_BLOCK_TOKEN, 0x7e, 572, "00ff0000" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		check_field(&fields[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_segment_has_these_fields),
		cmocka_unit_test(an_entry_has_these_fields),
		cmocka_unit_test(a_mailbox_has_these_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
