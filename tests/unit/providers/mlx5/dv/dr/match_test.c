/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * match_test.c - masks of match parameters to entries, beside those of release 65.0's library:
 * lookup types, tags, selected bytes, and the control part. What that library refuses is refused.
 *
 * Covers: providers/mlx5/dv/dr/match.c, providers/mlx5/dv/dr/builder.c,
 * providers/mlx5/dv/dr/entry.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dv/dr/match.h"
#include "tests/unit/providers/mlx5/dv/dr/match_rows.h"

enum { ALL = (1 << PRM_MATCH_SETS) - 1, DUMPED = DR_CONTROL_SIZE + PRM_STE_TAG_SIZE };

struct named {
	const char *name;
	uint32_t field;
};

static const struct named headers[] = {
	{ "smac_47_16", LYR_2_4_SMAC_47_16 },
	{ "smac_15_0", LYR_2_4_SMAC_15_0 },
	{ "ethertype", LYR_2_4_ETHERTYPE },
	{ "dmac_47_16", LYR_2_4_DMAC_47_16 },
	{ "dmac_15_0", LYR_2_4_DMAC_15_0 },
	{ "first_prio", LYR_2_4_FIRST_PRIO },
	{ "first_cfi", LYR_2_4_FIRST_CFI },
	{ "first_vid", LYR_2_4_FIRST_VID },
	{ "ip_protocol", LYR_2_4_IP_PROTOCOL },
	{ "ip_dscp", LYR_2_4_IP_DSCP },
	{ "ip_ecn", LYR_2_4_IP_ECN },
	{ "cvlan_tag", LYR_2_4_CVLAN_TAG },
	{ "svlan_tag", LYR_2_4_SVLAN_TAG },
	{ "frag", LYR_2_4_FRAG },
	{ "ip_version", LYR_2_4_IP_VERSION },
	{ "tcp_flags", LYR_2_4_TCP_FLAGS },
	{ "tcp_sport", LYR_2_4_TCP_SPORT },
	{ "tcp_dport", LYR_2_4_TCP_DPORT },
	{ "l3_ok", FLD(0x18, 31, 31) },
	{ "l4_ok", FLD(0x18, 30, 30) },
	{ "ipv4_checksum_ok", FLD(0x18, 29, 29) },
	{ "l4_checksum_ok", FLD(0x18, 28, 28) },
	{ "ipv4_ihl", LYR_2_4_IPV4_IHL },
	{ "ip_ttl_hoplimit", LYR_2_4_TTL_HOPLIMIT },
	{ "udp_sport", LYR_2_4_UDP_SPORT },
	{ "udp_dport", LYR_2_4_UDP_DPORT },
	{ "src_ip_127_96", FLD(0x20, 31, 0) },
	{ "src_ip_95_64", FLD(0x24, 31, 0) },
	{ "src_ip_63_32", FLD(0x28, 31, 0) },
	{ "src_ip_31_0", FLD(0x2c, 31, 0) },
	{ "dst_ip_127_96", FLD(0x30, 31, 0) },
	{ "dst_ip_95_64", FLD(0x34, 31, 0) },
	{ "dst_ip_63_32", FLD(0x38, 31, 0) },
	{ "dst_ip_31_0", FLD(0x3c, 31, 0) },
	{ NULL, 0 },
};

static const struct named misc[] = {
	{ "vxlan_vni", MISC_VXLAN_VNI },
	{ "geneve_vni", MISC_GENEVE_VNI },
	{ "geneve_protocol_type", MISC_GENEVE_PROTOCOL_TYPE },
	{ "bth_opcode", MISC_BTH_OPCODE },
	{ "bth_dst_qp", MISC_BTH_DST_QP },
	{ "outer_ipv6_flow_label", MISC_OUTER_IPV6_FLOW_LABEL },
	{ "inner_ipv6_flow_label", MISC_INNER_IPV6_FLOW_LABEL },
	{ NULL, 0 },
};

static const struct named misc2[] = { { "metadata_reg_c_0", MISC2_METADATA_REG_C_0 }, { NULL, 0 } };

static const struct named misc3[] = {
	{ "icmp_type", MISC3_ICMP_TYPE },
	{ "icmp_code", MISC3_ICMP_CODE },
	{ NULL, 0 },
};

static const struct {
	const char *name;
	uint32_t at;
	const struct named *fields;
} sets[] = {
	{ "outer.", MATCH_OUTER_HEADERS, headers },   { "misc.", MATCH_MISC_PARAMETERS, misc },
	{ "inner.", MATCH_INNER_HEADERS, headers },   { "misc2.", MATCH_MISC_PARAMETERS_2, misc2 },
	{ "misc3.", MATCH_MISC_PARAMETERS_3, misc3 },
};

static uint32_t field_named(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		const size_t skip = strlen(sets[i].name);

		if (strncmp(name, sets[i].name, skip))
			continue;
		for (const struct named *field = sets[i].fields; field->name; field++)
			if (strlen(field->name) == len - skip &&
			    !strncmp(field->name, name + skip, len - skip))
				return FLD_IN(sets[i].at, field->field);
	}
	fail_msg("no field %.*s", (int)len, name);
	return 0;
}

/* Reads the fields of a row into MASK and VALUE. */
static void row_read(const char *fields, uint8_t *mask, uint8_t *value)
{
	memset(mask, 0, DR_MATCH_SIZE);
	memset(value, 0, DR_MATCH_SIZE);
	for (const char *at = fields; *at; at += *at == '+') {
		const size_t len = strcspn(at, "=");
		const uint32_t field = field_named(at, len);
		char *end;

		fld_set(value, field, strtoul(at + len + 1, &end, 16));
		fld_set(mask, field, FLD_MASK(field));
		if (*end == '/')
			fld_set(mask, field, strtoul(end + 1, &end, 16));
		at = end;
	}
}

static const char *hex_read(const char *hex, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++, hex += 2) {
		unsigned int byte;

		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return *hex == ' ' ? hex + 1 : hex;
}

/* Makes the entry that GOLDEN is, with its addresses and ours of all else. */
static void entry_make(const struct dr_step *step, const struct dr_step *next,
		       const uint8_t *golden, const uint8_t *value, uint8_t *entry)
{
	const uint64_t low = fld_get(golden, FLD(0x10, 31, 0)), half = low & -low;
	const struct dr_target target = {
		.address = fld_get(golden, STE_NEXT_TABLE_39_32) << 32 | (low - half),
		.gvmi = (uint16_t)fld_get(golden, STE_NEXT_TABLE_63_48),
		.lookup = next ? next->lookup : (struct dr_lookup){ PRM_STE_NOTHING, 0 },
	};

	assert_int_equal(half, PRM_STE_SIZE / 2); /* a table of one */
	mlx5_dr_entry_begin(entry, step->lookup.type,
			    (uint16_t)fld_get(golden, STE_MISS_ADDRESS_63_48));
	mlx5_dr_entry_set_miss(entry, fld_get(golden, STE_MISS_ADDRESS_39_32) << 32 |
					      fld_get(golden, STE_MISS_ADDRESS_31_6)
						      << FLD_SHIFT(STE_MISS_ADDRESS_31_6));
	mlx5_dr_entry_set_hit(entry, &target);
	mlx5_dr_match_tag(step, value, entry + DR_CONTROL_SIZE);
}

static void row_check(const struct match_row *row)
{
	static struct dr_match match;
	uint8_t mask[DR_MATCH_SIZE], value[DR_MATCH_SIZE], entry[PRM_STE_SIZE], golden[DUMPED];
	const char *hex = row->entries;

	row_read(row->fields, mask, value);
	assert_int_equal(mlx5_dr_match_plan("test", mask, sizeof(mask), ALL, &match), row->error);
	if (row->error)
		return;
	assert_int_equal(mlx5_dr_match_check(&match, value, sizeof(value)), 0);
	for (unsigned int i = 0; i < match.num_steps; i++) {
		const bool is_last = i + 1 == match.num_steps;

		assert_true(*hex);
		hex = hex_read(hex, golden, sizeof(golden));
		entry_make(&match.steps[i], is_last ? NULL : &match.steps[i + 1], golden, value,
			   entry);
		assert_memory_equal(entry, golden, sizeof(golden));
		for (unsigned int byte = 0; byte < PRM_STE_TAG_SIZE; byte++)
			assert_false(entry[DR_CONTROL_SIZE + byte] & ~match.steps[i].mask[byte]);
	}
	assert_false(*hex);
}

static void entries_are_those_of_the_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(match_rows) / sizeof(match_rows[0]); i++) {
		print_message("%s\n", match_rows[i].fields);
		row_check(&match_rows[i]);
	}
}

static int plan_of(uint32_t field, uint32_t bits, size_t size, uint8_t criteria)
{
	static struct dr_match match;
	uint8_t mask[DR_MATCH_SIZE + 4] = { 0 };

	fld_set(mask, field, bits);
	return mlx5_dr_match_plan("test", mask, size, criteria, &match);
}

static void odd_masks_are_refused(void **state)
{
	const uint32_t version = FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION);
	const uint32_t port = FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_UDP_DPORT);
	const uint32_t source = FLD_IN(MATCH_MISC_PARAMETERS, FLD(0x4, 15, 0));

	(void)state;
	assert_int_equal(plan_of(version, 15, DR_MATCH_SIZE, ALL), EOPNOTSUPP);
	assert_int_equal(plan_of(version, 4, DR_MATCH_SIZE, ALL), 0);
	assert_int_equal(plan_of(port, 0xffff, DR_MATCH_SIZE, ALL), EINVAL); /* needs a version */
	assert_int_equal(plan_of(port, 0xffff, DR_MATCH_SIZE, 0), 0);        /* not selected */
	assert_int_equal(plan_of(source, 0xffff, DR_MATCH_SIZE, ALL), EOPNOTSUPP);
	assert_int_equal(plan_of(version, 4, DR_MATCH_SIZE + 4, ALL), EINVAL);
	assert_int_equal(plan_of(version, 4, 19, ALL), 0); /* any size */
	assert_int_equal(plan_of(version, 4, DR_MATCH_SIZE, 0x80), EINVAL);
}

static void an_empty_mask_takes_one_entry(void **state)
{
	static struct dr_match match;
	static const uint8_t nothing[PRM_STE_TAG_SIZE];

	(void)state;
	assert_int_equal(mlx5_dr_match_plan("test", nothing, 0, 0, &match), 0);
	assert_int_equal(match.num_steps, 1);
	assert_int_equal(match.size, 0);
	assert_int_equal(match.steps[0].lookup.type, PRM_STE_NOTHING);
	assert_int_equal(match.steps[0].lookup.byte_mask, 0);
	assert_memory_equal(match.steps[0].mask, nothing, sizeof(nothing));
}

static void all_ones_fit(void **state)
{
	static struct dr_match match;
	uint8_t mask[DR_MATCH_SIZE];

	(void)state;
	memset(mask, 0xff, sizeof(mask));
	for (unsigned int version = 4; version <= 6; version += 2) {
		fld_set(mask, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION), version);
		fld_set(mask, FLD_IN(MATCH_INNER_HEADERS, LYR_2_4_IP_VERSION), version);
		assert_int_equal(mlx5_dr_match_plan("test", mask, sizeof(mask), ALL, &match),
				 /* some fields have no entry, so no rule can match by them */
				 EOPNOTSUPP);
		assert_true(match.num_steps <= DR_MATCH_STEPS);
		assert_true(match.num_fields <= DR_MATCH_FIELDS);
	}
}

static void a_value_stays_in_its_mask(void **state)
{
	static struct dr_match match;
	const uint32_t port = FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_UDP_DPORT);
	uint8_t mask[DR_MATCH_SIZE] = { 0 }, value[DR_MATCH_SIZE] = { 0 };

	(void)state;
	fld_set(mask, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION), 4);
	fld_set(mask, port, 0xff00);
	assert_int_equal(mlx5_dr_match_plan("test", mask, sizeof(mask), ALL, &match), 0);
	assert_int_equal(match.size, 0x20);
	fld_set(value, port, 0x1200);
	assert_int_equal(mlx5_dr_match_check(&match, value, sizeof(value)), 0);
	fld_set(value, port, 0x1201);
	assert_int_equal(mlx5_dr_match_check(&match, value, sizeof(value)), EINVAL);
	fld_set(value, port, 0x1200);
	value[DR_MATCH_SIZE - 1] = 1;
	assert_int_equal(mlx5_dr_match_check(&match, value, sizeof(value)), EINVAL);
	assert_int_equal(mlx5_dr_match_check(&match, value, 0x20), 0);
	value[0x20] = 1;
	assert_int_equal(mlx5_dr_match_check(&match, value, 0x21),
			 EINVAL); /* the last bytes, too */
}

/* The mask of version 6 has bits of others. */
static void a_version_is_the_one_of_the_mask(void **state)
{
	static const uint32_t headers[] = { MATCH_OUTER_HEADERS, MATCH_INNER_HEADERS };

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		for (unsigned int masked = 4; masked <= 6; masked += 2)
			for (unsigned int version = 0; version < 8; version++) {
				const uint32_t field = FLD_IN(headers[i], LYR_2_4_IP_VERSION);
				uint8_t mask[DR_MATCH_SIZE] = { 0 }, value[DR_MATCH_SIZE] = { 0 };
				struct dr_match match;

				fld_set(mask, field, masked);
				assert_int_equal(
					mlx5_dr_match_plan("test", mask, sizeof(mask), ALL, &match),
					0);
				fld_set(value, field, version);
				assert_int_equal(mlx5_dr_match_check(&match, value, sizeof(value)),
						 !version || version == masked ? 0 : EINVAL);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_those_of_the_release),
		cmocka_unit_test(odd_masks_are_refused),
		cmocka_unit_test(an_empty_mask_takes_one_entry),
		cmocka_unit_test(all_ones_fit),
		cmocka_unit_test(a_value_stays_in_its_mask),
		cmocka_unit_test(a_version_is_the_one_of_the_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
