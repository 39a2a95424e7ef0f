/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The address of a datagram's sender, from the 40 bytes before the datagram: a GRH, or an IPv4
 * header at their end.
 */
#include "unit.h"

#include "fake_device.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 2, TABLE = 4, NEXT_HDR_BTH = 0x1b };

static struct ibv_gid_entry table[TABLE];
static int refusal;
static struct ibv_ah_attr asked;

int __wrap_verbs_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
			   struct ibv_gid_entry *entry);

int __wrap_verbs_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
			   struct ibv_gid_entry *entry)
{
	(void)context;
	assert_int_equal(port, PORT);
	assert_in_range(index, 0, TABLE - 1);
	if (index == 0) /* empty */
		return ENODATA;
	*entry = table[index];
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	(void)context;
	assert_int_equal(port_num, PORT);
	memset(attr, 0, attr_size);
	attr->gid_tbl_len = TABLE;
	return refusal;
}

static int create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	(void)pd;
	asked = *attr;
	*ah = refusal ? NULL : calloc(1, sizeof(**ah));
	return refusal;
}

static int destroy_ah(struct ibv_ah *ah)
{
	if (!refusal)
		free(ah);
	return refusal;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .query_port = query_port,
				       .create_ah = create_ah,
				       .destroy_ah = destroy_ah };
	struct fake_context *fake = fake_open();

	verbs_set_ops(&fake->vctx, &ops);
	refusal = 0;
	memset(table, 0, sizeof(table));
	table[0].gid.raw[0] = table[1].gid.raw[0] = table[2].gid.raw[0] = 0xfe;
	table[1].gid_type = IBV_GID_TYPE_ROCE_V1;
	table[2].gid_type = IBV_GID_TYPE_ROCE_V2;
	memcpy(table[3].gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x07", 16);
	table[3].gid_type = IBV_GID_TYPE_ROCE_V2;
	*state = fake;
	return 0;
}

static int close_rig(void **state)
{
	fake_close(*state);
	return 0;
}

static struct ibv_context *context_of(void **state)
{
	return &((struct fake_context *)*state)->vctx.context;
}

static struct ibv_wc with_grh = {
	.wc_flags = IBV_WC_GRH, .slid = 0x11, .sl = 3, .dlid_path_bits = 5
};

static struct ibv_grh grh_with(uint8_t next_hdr)
{
	struct ibv_grh grh = {
		.version_tclass_flow = htobe32(6u << 28 | 0x9au << 20 | 0x54321),
		.next_hdr = next_hdr,
		.hop_limit = 77,
	};

	grh.dgid.raw[0] = 0xfe;
	memset(grh.sgid.raw, 0x22, sizeof(grh.sgid.raw));
	return grh;
}

/* Returns an IPv4 header in the last 20 bytes, the first 20 of which are all FIRST. */
static struct ibv_grh ipv4_after(uint8_t first)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tos = 0x44,
		.ttl = 55,
		.protocol = IPPROTO_UDP,
		.saddr = htobe32(0x0a000008),
		.daddr = htobe32(0x0a000007),
	};
	uint16_t words[sizeof(ip) / 2];
	uint32_t sum = 0;
	struct ibv_grh grh;

	memcpy(words, &ip, sizeof(ip));
	for (size_t i = 0; i < sizeof(ip) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	ip.check = (uint16_t) ~(sum + (sum >> 16));
	memset(&grh, first, sizeof(grh));
	memcpy((char *)&grh + sizeof(grh) - sizeof(ip), &ip, sizeof(ip));
	return grh;
}

static int address_of(struct ibv_context *context, struct ibv_grh grh, struct ibv_ah_attr *attr)
{
	int ret;

	memset(attr, 0xee, sizeof(*attr));
	errno = 0;
	ret = ibv_init_ah_from_wc(context, PORT, &with_grh, &grh, attr);
	return ret == -1 ? errno : ret;
}

static void without_a_grh_the_lid_is_the_address(void **state)
{
	struct ibv_wc wc = { .slid = 0x11, .sl = 3, .dlid_path_bits = 5, .wc_flags = 0 };
	struct ibv_ah_attr attr;

	memset(&attr, 0xee, sizeof(attr));
	assert_int_equal(ibv_init_ah_from_wc(context_of(state), PORT, &wc, NULL, &attr), 0);
	assert_int_equal(attr.is_global, 0);
	assert_int_equal(attr.dlid, 0x11);
	assert_int_equal(attr.sl, 3);
	assert_int_equal(attr.src_path_bits, 5);
	assert_int_equal(attr.port_num, PORT);
	assert_int_equal(attr.static_rate, 0);
}

static void a_grh_names_sender_flow_and_class(void **state)
{
	struct ibv_grh grh = grh_with(NEXT_HDR_BTH);
	struct ibv_ah_attr attr;

	assert_int_equal(address_of(context_of(state), grh, &attr), 0);
	assert_int_equal(attr.is_global, 1);
	assert_memory_equal(&attr.grh.dgid, &grh.sgid, sizeof(grh.sgid));
	assert_int_equal(attr.grh.flow_label, 0x54321);
	assert_int_equal(attr.grh.traffic_class, 0x9a);
	assert_int_equal(attr.grh.hop_limit, 77);
	assert_int_equal(attr.grh.sgid_index, 1);
	assert_int_equal(attr.dlid, 0x11);
	assert_int_equal(attr.port_num, PORT);
}

/* Two entries have the same GID, one for each version of RoCE, so the datagram's version
 * decides. */
static void the_local_gid_is_of_the_datagrams_version(void **state)
{
	struct ibv_ah_attr attr;

	assert_int_equal(address_of(context_of(state), grh_with(NEXT_HDR_BTH), &attr), 0);
	assert_int_equal(attr.grh.sgid_index, 1);
	assert_int_equal(address_of(context_of(state), grh_with(IPPROTO_UDP), &attr), 0);
	assert_int_equal(attr.grh.sgid_index, 2);
}

static void an_ipv4_header_is_found_behind_any_bytes(void **state)
{
	static const uint8_t first[] = { 0, 0x45, 0x60, 0xff };
	static const uint8_t sender[] = "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x08";
	struct ibv_ah_attr attr;

	for (size_t i = 0; i < sizeof(first); i++) {
		assert_int_equal(address_of(context_of(state), ipv4_after(first[i]), &attr), 0);
		assert_memory_equal(&attr.grh.dgid, sender, 16);
		assert_int_equal(attr.grh.sgid_index, 3);
		assert_int_equal(attr.grh.traffic_class, 0x44);
		assert_int_equal(attr.grh.hop_limit, 55);
		assert_int_equal(attr.grh.flow_label, 0);
	}
}

/* A GID may look like the start of an IPv4 header, so only the checksum tells them apart. */
static void a_gid_that_looks_like_ipv4_is_a_gid(void **state)
{
	struct ibv_grh grh = grh_with(IPPROTO_UDP);
	struct ibv_ah_attr attr;

	grh.sgid.raw[12] = 0x45; /* where the last 20 bytes begin */
	assert_int_equal(address_of(context_of(state), grh, &attr), 0);
	assert_memory_equal(&attr.grh.dgid, &grh.sgid, sizeof(grh.sgid));
}

static void what_is_neither_header_is_refused(void **state)
{
	struct ibv_grh grh = grh_with(IPPROTO_TCP), ip = ipv4_after(0);
	struct ibv_ah_attr attr;

	assert_int_equal(address_of(context_of(state), grh, &attr), EPROTONOSUPPORT);
	grh = grh_with(NEXT_HDR_BTH);
	grh.version_tclass_flow = htobe32(5u << 28);
	assert_int_equal(address_of(context_of(state), grh, &attr), EPROTONOSUPPORT);
	((uint8_t *)&ip)[20] = 0x46; /* options */
	assert_int_equal(address_of(context_of(state), ip, &attr), EPROTONOSUPPORT);
	((uint8_t *)&ip)[20] = 0x55; /* version 5 */
	assert_int_equal(address_of(context_of(state), ip, &attr), EPROTONOSUPPORT);
}

static void a_destination_that_is_not_of_the_port_is_refused(void **state)
{
	struct ibv_grh grh = grh_with(IPPROTO_UDP);
	struct ibv_ah_attr attr;

	grh.dgid.raw[15] = 1;
	assert_int_equal(address_of(context_of(state), grh, &attr), EINVAL);
	refusal = EIO;
	assert_int_equal(address_of(context_of(state), grh, &attr), EIO);
}

static void a_handle_is_made_for_the_sender(void **state)
{
	struct ibv_pd pd = { .context = context_of(state) };
	struct ibv_grh grh = grh_with(NEXT_HDR_BTH);
	struct ibv_ah *ah = ibv_create_ah_from_wc(&pd, &with_grh, &grh, PORT);

	assert_non_null(ah);
	assert_ptr_equal(ah->context, pd.context);
	assert_ptr_equal(ah->pd, &pd);
	assert_memory_equal(&asked.grh.dgid, &grh.sgid, sizeof(grh.sgid));
	assert_int_equal(asked.grh.sgid_index, 1);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	grh.dgid.raw[15] = 1;
	errno = 0;
	assert_null(ibv_create_ah_from_wc(&pd, &with_grh, &grh, PORT));
	assert_int_equal(errno, EINVAL);
}

static void a_refusal_of_the_provider_is_passed_on(void **state)
{
	struct ibv_pd pd = { .context = context_of(state) };
	struct ibv_ah_attr attr = { .port_num = PORT };
	struct ibv_ah *ah = ibv_create_ah(&pd, &attr);

	assert_non_null(ah);
	refusal = ENOMEM;
	errno = 0;
	assert_null(ibv_create_ah(&pd, &attr));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_int_equal(ibv_destroy_ah(ah), ENOMEM);
	assert_int_equal(errno, ENOMEM);
	refusal = 0;
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

#define AH_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AH_TEST(without_a_grh_the_lid_is_the_address),
		AH_TEST(a_grh_names_sender_flow_and_class),
		AH_TEST(the_local_gid_is_of_the_datagrams_version),
		AH_TEST(an_ipv4_header_is_found_behind_any_bytes),
		AH_TEST(a_gid_that_looks_like_ipv4_is_a_gid),
		AH_TEST(what_is_neither_header_is_refused),
		AH_TEST(a_destination_that_is_not_of_the_port_is_refused),
		AH_TEST(a_handle_is_made_for_the_sender),
		AH_TEST(a_refusal_of_the_provider_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
