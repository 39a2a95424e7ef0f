/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes that both ends of a stream exchange, as Debian's rstream sends them (rsocket/wire.h).
 *
 * Covers: librdmacm/rsocket/wire.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/wire.h"
#include "util/bits.h"

#include <errno.h>
#include <string.h>

/* Private data of a request of rstream: 384 messages, a receive buffer of twice 512 KiB. */
static const uint8_t seen[] = {
	0x01, 0x02, 0x01, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x55, 0x94, 0x74, 0x60,
	0x90, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x7e, 0xfe,
	0x18, 0x37, 0xb0, 0x00, 0x00, 0x01, 0x03, 0x00, 0x00, 0x08, 0x00, 0x00,
};

static const struct wire_peer same = {
	.credits = 384,
	.slots_addr = 0x559474609000,
	.slots_key = 0x10200,
	.data = { 0x7efe1837b000, 0x10300, 0x80000 },
};

static void hello_has_the_bytes_that_were_seen(void **state)
{
	struct wire_hello hello;

	(void)state;
	rdmacm_wire_hello_pack(&hello, &same);
	assert_int_equal(sizeof(hello), sizeof(seen));
	/* The bytes come from a little-endian host. */
	assert_int_equal(!!(hello.flags & WIRE_BIG_ENDIAN_HOST), __BYTE_ORDER == __BIG_ENDIAN);
	hello.flags &= ~WIRE_BIG_ENDIAN_HOST;
	assert_memory_equal(&hello, seen, sizeof(seen));
}

static void hello_that_was_seen_is_understood(void **state)
{
	struct wire_peer peer;

	(void)state;
	assert_int_equal(rdmacm_wire_hello_unpack(seen, sizeof(seen), &peer), 0);
	assert_int_equal(peer.credits, same.credits);
	assert_int_equal(peer.slots_addr, same.slots_addr);
	assert_int_equal(peer.slots_key, same.slots_key);
	assert_memory_equal(&peer.data, &same.data, sizeof(peer.data));
	assert_int_equal(peer.mappings, 0);
	assert_int_equal(peer.swapped, __BYTE_ORDER == __BIG_ENDIAN);
}

static void what_is_no_hello_is_refused(void **state)
{
	struct wire_peer peer;
	uint8_t other[sizeof(seen)];

	(void)state;
	assert_int_equal(rdmacm_wire_hello_unpack(NULL, 0, &peer), EPROTO);
	assert_int_equal(rdmacm_wire_hello_unpack(seen, sizeof(seen) - 1, &peer), EPROTO);
	memcpy(other, seen, sizeof(seen));
	other[0] = 2; /* version */
	assert_int_equal(rdmacm_wire_hello_unpack(other, sizeof(other), &peer), EPROTO);
	memcpy(other, seen, sizeof(seen));
	other[23] = 1; /* slots */
	assert_int_equal(rdmacm_wire_hello_unpack(other, sizeof(other), &peer), EPROTO);
	memcpy(other, seen, sizeof(seen));
	memset(other + offsetof(struct wire_hello, slots_addr), 0, sizeof(uint64_t));
	assert_int_equal(rdmacm_wire_hello_unpack(other, sizeof(other), &peer), EPROTO);
}

static void private_data_may_be_longer_than_a_hello(void **state)
{
	uint8_t padded[196] = { 0 }; /* padded, as the CM's private data has a fixed size */
	struct wire_peer peer;

	(void)state;
	memcpy(padded, seen, sizeof(seen));
	assert_int_equal(rdmacm_wire_hello_unpack(padded, sizeof(padded), &peer), 0);
	assert_int_equal(peer.credits, 384);
}

static void other_byte_order_is_noticed(void **state)
{
	uint8_t other[sizeof(seen)];
	struct wire_peer peer;
	struct wire_segment segment = { 0x1122334455667788, 0x01020304, 0x0a0b0c0d };

	(void)state;
	memcpy(other, seen, sizeof(seen));
	other[1] |= WIRE_BIG_ENDIAN_HOST;
	assert_int_equal(rdmacm_wire_hello_unpack(other, sizeof(other), &peer), 0);
	assert_int_equal(peer.swapped, __BYTE_ORDER == __LITTLE_ENDIAN);
	rdmacm_wire_segment_swap(&segment);
	assert_int_equal(segment.addr, 0x8877665544332211);
	assert_int_equal(segment.key, 0x04030201);
	assert_int_equal(segment.length, 0x0d0c0b0a);
}

static void immediate_data_is_operation_and_value(void **state)
{
	(void)state;
	assert_int_equal(wire_imm(WIRE_DATA, 16), 0x00000010);
	assert_int_equal(wire_imm(WIRE_SEGMENT, 384), 0x80000180);
	assert_int_equal(wire_imm(WIRE_MAPPING, 8), 0xc0000008);
	assert_int_equal(wire_imm(WIRE_CONTROL, WIRE_DISCONNECT), 0xe0000000);
	assert_int_equal(wire_imm(WIRE_CONTROL, WIRE_SHUTDOWN), 0xe0000002);
	assert_int_equal(wire_imm_op(0xc0000008), WIRE_MAPPING);
	assert_int_equal(wire_imm_value(0xc0000008), 8);
}

static void counts_of_mappings_fit_a_byte(void **state)
{
	static const struct {
		unsigned int asked, kept;
	} cases[] = { { 0, 0 },       { 1, 1 },         { 128, 128 },    { 129, 128 },
		      { 255, 128 },   { 256, 256 },     { 300, 256 },    { 1000, 768 },
		      { 5000, 4864 }, { 32512, 32512 }, { 65535, 32512 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(rdmacm_wire_count_unscale(rdmacm_wire_count_scale(cases[i].asked)),
				 cases[i].kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_has_the_bytes_that_were_seen),
		cmocka_unit_test(hello_that_was_seen_is_understood),
		cmocka_unit_test(what_is_no_hello_is_refused),
		cmocka_unit_test(private_data_may_be_longer_than_a_hello),
		cmocka_unit_test(other_byte_order_is_noticed),
		cmocka_unit_test(immediate_data_is_operation_and_value),
		cmocka_unit_test(counts_of_mappings_fit_a_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
