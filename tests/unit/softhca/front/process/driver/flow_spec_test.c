/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_spec_test.c - conversion of verbs flow specs to masks and values; specs with a wrong size
 * are errors.
 *
 * Covers: softhca/front/process/driver/flow_spec.c
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <rdma/ib_user_verbs.h>

#include "prm/mlx5/flow.h"
#include "softhca/front/process/driver/flow_spec.h"

enum { SPEC_ETH = 0x20, SPEC_IPV4 = 0x30, SPEC_UDP = 0x41, SPEC_ESP = 0x34, SPEC_TAG = 0x1000 };

/* htobe16() is a call in places where a constant initializer is needed. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define BE16(value) __builtin_bswap16(value)
#define BE32(value) __builtin_bswap32(value)
#else
#define BE16(value) (value)
#define BE32(value) (value)
#endif

static const struct ib_uverbs_flow_spec_eth eth = {
	.type = SPEC_ETH,
	.size = sizeof(eth),
	.val = { .dst_mac = { 0x24, 0x8a, 7, 0xa5, 0x28, 0xc8 }, .vlan_tag = BE16(0x1234) },
	.mask = { .dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0 }, .vlan_tag = BE16(0x0fff) },
};

static const struct ib_uverbs_flow_spec_ipv4 ipv4 = {
	.type = SPEC_IPV4,
	.size = sizeof(ipv4),
	.val = { .dst_ip = BE32(0x01020304), .proto = 99, .tos = 0xff },
	.mask = { .dst_ip = 0xffffffff, .tos = 0xfc },
};

static int read_one(const void *spec, size_t size, struct flow_specs *specs)
{
	void *copy = malloc(size); /* exact size, so that a sanitizer sees overreads */
	int ret;

	memcpy(copy, spec, size);
	ret = flow_specs_read(copy, size, 1, specs);
	free(copy);
	return ret;
}

static void ethernet_is_masked(void **state)
{
	struct flow_specs specs;

	(void)state;
	assert_int_equal(read_one(&eth, sizeof(eth), &specs), 0);
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_DMAC_47_16), 0x248a07a5);
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_DMAC_15_0), 0x2800);
	assert_int_equal(fld_get(specs.match.mask, LYR_2_4_DMAC_15_0), 0xff00);
	assert_int_equal(fld_get(specs.match.mask, LYR_2_4_SMAC_47_16), 0);
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_CVLAN_TAG), 1);
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_FIRST_VID), 0x234);
	assert_int_equal(fld_get(specs.match.mask, LYR_2_4_FIRST_PRIO), 0);
}

static void ipv4_says_its_version(void **state)
{
	struct flow_specs specs;

	(void)state;
	assert_int_equal(read_one(&ipv4, sizeof(ipv4), &specs), 0);
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_IP_VERSION), 4);
	assert_memory_equal((uint8_t *)fld_at(specs.match.value, LYR_2_4_DST_IPV4_DST_IPV6) + 12,
			    "\1\2\3\4", 4);
	/* 0, as it is not in the mask */
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_IP_PROTOCOL), 0);
	assert_int_equal(fld_get(specs.match.value, LYR_2_4_IP_DSCP), 0x3f);
	assert_int_equal(fld_get(specs.match.mask, LYR_2_4_IP_ECN), 0);
}

static void sizes_have_to_fit(void **state)
{
	struct ib_uverbs_flow_spec_eth bad = eth;
	struct flow_specs specs;

	(void)state;
	for (size_t len = 0; len < sizeof(eth); len++)
		assert_int_equal(read_one(&eth, len, &specs), EINVAL);
	for (unsigned int size = 0; size < sizeof(eth); size++) {
		bad.size = size;
		assert_int_equal(read_one(&bad, sizeof(bad), &specs), EINVAL);
	}
	bad.size = 0xffff;
	assert_int_equal(read_one(&bad, sizeof(bad), &specs), EINVAL);
}

static void the_count_has_to_fit(void **state)
{
	struct flow_specs specs;

	(void)state;
	assert_int_equal(flow_specs_read(&eth, sizeof(eth), 2, &specs), EINVAL);
	assert_int_equal(flow_specs_read(&eth, sizeof(eth), 0, &specs), EINVAL);
	assert_int_equal(flow_specs_read(NULL, 0, 0, &specs), 0);
}

static void what_cannot_be_matched_is_refused(void **state)
{
	struct ib_uverbs_flow_spec_esp esp = { .type = SPEC_ESP, .size = sizeof(esp) };
	struct ib_uverbs_flow_spec_ipv4 fragments = ipv4;
	struct flow_specs specs;

	(void)state;
	fragments.mask.flags = 1;
	assert_int_equal(read_one(&esp, sizeof(esp), &specs), EOPNOTSUPP);
	assert_int_equal(read_one(&fragments, sizeof(fragments), &specs), EOPNOTSUPP);
}

static void tags_have_24_bits(void **state)
{
	struct ib_uverbs_flow_spec_action_tag tag = { .type = SPEC_TAG,
						      .size = sizeof(tag),
						      .tag_id = 0xffffff };
	struct flow_specs specs;

	(void)state;
	assert_int_equal(read_one(&tag, sizeof(tag), &specs), 0);
	assert_int_equal(specs.tag, 0xffffff);
	tag.tag_id++;
	assert_int_equal(read_one(&tag, sizeof(tag), &specs), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ethernet_is_masked),
		cmocka_unit_test(ipv4_says_its_version),
		cmocka_unit_test(sizes_have_to_fit),
		cmocka_unit_test(the_count_has_to_fit),
		cmocka_unit_test(tags_have_24_bits),
		cmocka_unit_test(what_cannot_be_matched_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
