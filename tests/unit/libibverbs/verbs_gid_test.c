/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GIDs, P_Keys and port speeds on kernels without commands for them: they come from sysfs, here a
 * tree of the test, or from the port's attributes.
 *
 * Covers: libibverbs/verbs_gid.c, libibverbs/verbs_pkey.c, libibverbs/cmd/cmd_port.c
 */
#include "fake_kernel.h"

#include "temp_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GID_LINE "fe80:0000:0000:0000:0202:c9ff:fe00:1a%02x\n"

static struct ibv_port_attr port_attr;

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	(void)context;
	(void)port_num;
	memcpy(attr, &port_attr, attr_size);
	return 0;
}

static int query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	(void)input;
	memset(attr, 0, attr_size);
	attr->orig_attr.phys_port_cnt = 1;
	return 0;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .query_port = query_port, .query_device_ex = query_device };
	struct fake_context *fake = fake_open();

	snprintf(fake->vdev.device.ibdev_path, sizeof(fake->vdev.device.ibdev_path), "%s/fake_0",
		 ibv_get_sysfs_path());
	verbs_set_ops(&fake->vctx, &ops);
	port_attr =
		(struct ibv_port_attr){ .gid_tbl_len = 4, .link_layer = IBV_LINK_LAYER_ETHERNET };
	expect(NULL, NULL);
	kernel.err = EOPNOTSUPP;
	*state = fake;
	return 0;
}

static void put_gid(int index, int last, const char *type)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "fake_0/ports/1/gids/%d", index);
	snprintf(text, sizeof(text), GID_LINE, last);
	tree_put(path, last ? text : "0000:0000:0000:0000:0000:0000:0000:0000\n");
	snprintf(path, sizeof(path), "fake_0/ports/1/gid_attrs/types/%d", index);
	tree_put(path, type);
}

static void fill_tree(void)
{
	put_gid(0, 1, "IB/RoCE v1\n");
	put_gid(1, 2, "RoCE v2\n");
	put_gid(2, 0, "");
	put_gid(3, 4, "RoCE v2\n");
	tree_put("fake_0/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:c000:0201\n");
	tree_put("fake_0/ports/1/pkeys/0", "0xffff\n");
	tree_put("fake_0/ports/1/pkeys/1", "0x8001\n");
}

static void a_gid_table_has_no_empty_slots(void **state)
{
	struct ibv_gid_entry entries[4];

	assert_int_equal(ibv_query_gid_table(context_of(state), entries, 4, 0), 3);
	assert_int_equal(entries[0].gid_type, IBV_GID_TYPE_ROCE_V1);
	assert_int_equal(entries[1].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(entries[2].gid_index, 3);
	assert_int_equal(entries[2].gid.raw[15], 1);
	assert_int_equal(entries[2].port_num, 1);
}

static void a_gid_table_without_room_is_einval(void **state)
{
	struct ibv_gid_entry entries[3];

	assert_int_equal(ibv_query_gid_table(context_of(state), entries, 3, 0), 3);
	assert_int_equal(ibv_query_gid_table(context_of(state), entries, 2, 0), -EINVAL);
}

static void a_gid_beyond_the_table_is_einval(void **state)
{
	struct ibv_gid_entry entry;

	assert_int_equal(ibv_query_gid_ex(context_of(state), 1, 1, &entry, 0), 0);
	assert_int_equal(entry.gid.raw[15], 2);
	assert_int_equal(ibv_query_gid_ex(context_of(state), 1, 2, &entry, 0), ENODATA);
	assert_int_equal(ibv_query_gid_ex(context_of(state), 1, 4, &entry, 0), EINVAL);
}

/* Counts from 0: RoCE v1 and InfiniBand share that number. */
int verbs_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			 unsigned int *type);

static void a_gids_type_is_0_or_1(void **state)
{
	static const unsigned int want[] = { 0, 1, 0, 1 };
	unsigned int type;

	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++) {
		type = 99;
		assert_int_equal(verbs_query_gid_type(context_of(state), 1, i, &type), 0);
		assert_int_equal(type, want[i]);
	}
	type = 99;
	errno = 0;
	assert_int_equal(verbs_query_gid_type(context_of(state), 1, 4, &type), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(type, 99);
}

static void an_older_caller_gets_zeros_for_an_empty_slot(void **state)
{
	static const union ibv_gid zeros;
	union ibv_gid gid;

	memset(&gid, 0xee, sizeof(gid));
	assert_int_equal(ibv_query_gid(context_of(state), 1, 2, &gid), 0);
	assert_memory_equal(&gid, &zeros, sizeof(gid));
	errno = 0;
	assert_int_equal(ibv_query_gid(context_of(state), 1, 4, &gid), -1);
	assert_int_equal(errno, EINVAL);
}

static void flags_and_short_entries_are_refused(void **state)
{
	struct ibv_gid_entry entry;

	assert_int_equal(ibv_query_gid_ex(context_of(state), 1, 1, &entry, 1), EINVAL);
	assert_int_equal(_ibv_query_gid_ex(context_of(state), 1, 1, &entry, 0, sizeof(entry) - 1),
			 EINVAL);
	assert_int_equal(_ibv_query_gid_ex(context_of(state), 1, 1, &entry, 0, sizeof(entry)), 0);
	assert_int_equal(ibv_query_gid_table(context_of(state), &entry, 1, 1), -EINVAL);
	assert_int_equal(_ibv_query_gid_table(context_of(state), &entry, 1, 0, sizeof(entry) - 1),
			 -EINVAL);
}

static void a_longer_entry_of_a_newer_program_is_filled_up(void **state)
{
	struct {
		struct ibv_gid_entry entry;
		uint32_t newer[2];
	} longer;
	struct ibv_gid_entry entry;

	memset(&longer, 0xee, sizeof(longer));
	assert_int_equal(ibv_query_gid_ex(context_of(state), 1, 1, &entry, 0), 0);
	assert_int_equal(
		_ibv_query_gid_ex(context_of(state), 1, 1, &longer.entry, 0, sizeof(longer)), 0);
	assert_memory_equal(&longer.entry.gid, &entry.gid, sizeof(entry.gid));
	assert_int_equal(longer.entry.gid_index, 1);
	assert_int_equal(longer.entry.gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(longer.newer[0], 0);
	assert_int_equal(longer.newer[1], 0);
}

/* An attribute has at most 65535 bytes, so 2047 entries of 32 bytes fit. */
static void a_large_gid_table_is_asked_for_in_part(void **state)
{
	static struct ibv_gid_entry entries[4096];

	expect(IDS(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
		   UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES),
	       NULL);
	assert_int_equal(ibv_query_gid_table(context_of(state), entries, 4096, 0), 0);
	assert_non_null(strstr(kernel.text, " 002>65504 "));
}

/* RFC 1071 */
static uint16_t checksum_of(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Returns an IPv4 header behind 20 leftover bytes that begin like an IPv6 header. */
static struct ibv_grh grh_of_ipv4(uint8_t last)
{
	uint8_t bytes[40] = {
		[0] = 0x60, [20] = 0x45, [22] = 0,    [23] = 84,  [28] = 64, [29] = 17,
		[32] = 192, [34] = 2,    [35] = last, [36] = 192, [38] = 2,  [39] = 1
	};
	struct ibv_grh grh;
	uint16_t sum = checksum_of(bytes + 20);

	bytes[30] = (uint8_t)(sum >> 8);
	bytes[31] = (uint8_t)sum;
	memcpy(&grh, bytes, sizeof(grh));
	return grh;
}

static void an_ipv4_header_is_known_by_its_checksum(void **state)
{
	struct ibv_wc wc = { .wc_flags = IBV_WC_GRH };
	struct ibv_ah_attr attr;

	for (unsigned int last = 2; last < 255; last++) {
		struct ibv_grh grh = grh_of_ipv4((uint8_t)last);

		assert_int_equal(ibv_init_ah_from_wc(context_of(state), 1, &wc, &grh, &attr), 0);
		assert_int_equal(attr.grh.sgid_index, 3);
		assert_int_equal(attr.grh.dgid.raw[11], 0xff);
		assert_int_equal(attr.grh.dgid.raw[15], last);
		assert_int_equal(attr.grh.hop_limit, 64);
		grh.dgid.raw[15] ^= 4;
		errno = 0;
		assert_int_equal(ibv_init_ah_from_wc(context_of(state), 1, &wc, &grh, &attr), -1);
		assert_int_equal(errno, EPROTONOSUPPORT);
	}
}

static void a_pkey_is_in_network_order(void **state)
{
	__be16 pkey;

	assert_int_equal(ibv_query_pkey(context_of(state), 1, 1, &pkey), 0);
	assert_int_equal(pkey, htobe16(0x8001));
	assert_int_equal(ibv_get_pkey_index(context_of(state), 1, htobe16(0x8001)), 1);
	assert_int_equal(ibv_get_pkey_index(context_of(state), 1, htobe16(0x8002)), -1);
}

/* The kernel writes "0x" and four digits; anything else is EINVAL. */
static void a_pkey_that_is_no_number_of_16_bits_is_einval(void **state)
{
	static const char *const texts[] = { "pkey\n", "\n", "0x10000\n", "-1\n" };
	__be16 pkey = htobe16(0x1234);

	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		tree_put("fake_0/ports/1/pkeys/1", texts[i]);
		errno = 0;
		assert_int_equal(ibv_query_pkey(context_of(state), 1, 1, &pkey), -1);
		assert_int_equal(errno, EINVAL);
		assert_int_equal(pkey, htobe16(0x1234));
	}
	tree_put("fake_0/ports/1/pkeys/1", "0xffff\n");
	assert_int_equal(ibv_query_pkey(context_of(state), 1, 1, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	tree_put("fake_0/ports/1/pkeys/1", "0x8001\n");
}

#define TABLE_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(a_gid_table_has_no_empty_slots),
		TABLE_TEST(a_gid_table_without_room_is_einval),
		TABLE_TEST(a_gid_beyond_the_table_is_einval),
		TABLE_TEST(a_gids_type_is_0_or_1),
		TABLE_TEST(an_older_caller_gets_zeros_for_an_empty_slot),
		TABLE_TEST(flags_and_short_entries_are_refused),
		TABLE_TEST(a_longer_entry_of_a_newer_program_is_filled_up),
		TABLE_TEST(a_large_gid_table_is_asked_for_in_part),
		TABLE_TEST(an_ipv4_header_is_known_by_its_checksum),
		TABLE_TEST(a_pkey_is_in_network_order),
		TABLE_TEST(a_pkey_that_is_no_number_of_16_bits_is_einval),
	};
	int failed;

	setenv("SYSFS_PATH", tree_make(), 1);
	fill_tree();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tree_remove();
	return failed;
}
