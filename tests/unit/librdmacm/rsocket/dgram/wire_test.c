/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Headers of datagrams, byte for byte as Debian's udpong and an IPv6 program send them
 * (rsocket/dgram/wire.h).
 *
 * Covers: librdmacm/rsocket/dgram/wire.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/dgram/wire.h"

#include <arpa/inet.h>
#include <string.h>

static const uint8_t answer_4[] = { 0x55, 0x55, 0x55, 0x55, 0x04, 0x07, 0x10, 0x00,
				    0x00, 0x00, 0x00, 0x49, 0x7f, 0x00, 0x00, 0x01 };
static const uint8_t control_6[] = { 0x55, 0x55, 0x55, 0x55, 0x06, 0x00, 0x1c, 0x00, 0x00, 0x00,
				     0x00, 0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
				     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01 };
static const uint8_t data_4[] = { 0x04, 0x08, 0xee, 0x25, 0x7f, 0x00, 0x00, 0x01 };
static const uint8_t data_6[] = { 0x06, 0x18, 0x1e, 0x61, 0x00, 0x00, 0x00, 0x00,
				  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
				  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01 };

static struct sockaddr_storage v4(uint16_t port)
{
	struct sockaddr_storage addr = { .ss_family = AF_INET };
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_port = htons(port);
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static struct sockaddr_storage v6(uint16_t port)
{
	struct sockaddr_storage addr = { .ss_family = AF_INET6 };
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&addr;

	in->sin6_port = htons(port);
	in->sin6_addr = in6addr_loopback;
	return addr;
}

static void heads_have_the_bytes_that_were_seen(void **state)
{
	struct sockaddr_storage four = v4(60965), six = v6(7777);
	uint8_t head[DGRAM_MAX_CONTROL];

	(void)state;
	assert_int_equal(rdmacm_dgram_control_pack(head, CONTROL_ANSWER, 0x49, &four),
			 sizeof(answer_4));
	assert_memory_equal(head, answer_4, sizeof(answer_4));
	assert_int_equal(rdmacm_dgram_control_pack(head, CONTROL_DATA, 0x48, &six),
			 sizeof(control_6));
	assert_memory_equal(head, control_6, sizeof(control_6));
	assert_int_equal(rdmacm_dgram_data_pack(head, &four), sizeof(data_4));
	assert_memory_equal(head, data_4, sizeof(data_4));
	assert_int_equal(rdmacm_dgram_data_pack(head, &six), sizeof(data_6));
	assert_memory_equal(head, data_6, sizeof(data_6));
}

static void heads_that_were_seen_are_understood(void **state)
{
	struct sockaddr_storage addr, four = v4(60965), six = v6(7777);
	uint32_t qpn = 0;
	uint8_t op = 0;

	(void)state;
	assert_int_equal(rdmacm_dgram_control_unpack(answer_4, sizeof(answer_4), &op, &qpn), 16);
	assert_int_equal(op, CONTROL_ANSWER);
	assert_int_equal(qpn, 0x49);
	assert_int_equal(rdmacm_dgram_control_unpack(control_6, sizeof(control_6), &op, &qpn), 28);
	assert_int_equal(op, CONTROL_DATA);
	assert_int_equal(qpn, 0x48);
	assert_int_equal(rdmacm_dgram_data_unpack(data_4, sizeof(data_4), &addr), 8);
	assert_memory_equal(&addr, &four, sizeof(addr));
	assert_int_equal(rdmacm_dgram_data_unpack(data_6, sizeof(data_6), &addr), 24);
	assert_memory_equal(&addr, &six, sizeof(addr));
}

/* The QPN has 24 bits; IPv6 has a flow label. */
static void each_field_is_taken(void **state)
{
	uint8_t control[sizeof(control_6)], data[sizeof(data_6)], op;
	struct sockaddr_storage addr;
	uint32_t qpn;

	(void)state;
	memcpy(control, control_6, sizeof(control));
	control[8] = 0xff;
	assert_int_equal(rdmacm_dgram_control_unpack(control, sizeof(control), &op, &qpn), 28);
	assert_int_equal(qpn, 0x48);
	memcpy(data, data_6, sizeof(data));
	memcpy(data + 4, "flow", 4);
	assert_int_equal(rdmacm_dgram_data_unpack(data, sizeof(data), &addr), 24);
	assert_memory_equal(&((struct sockaddr_in6 *)&addr)->sin6_flowinfo, "flow", 4);
}

static void what_is_no_head_is_refused(void **state)
{
	uint8_t bytes[sizeof(control_6)], op;
	struct sockaddr_storage addr;
	uint32_t qpn;

	(void)state;
	for (size_t size = 0; size < sizeof(control_6); size++)
		assert_int_equal(rdmacm_dgram_control_unpack(control_6, size, &op, &qpn), 0);
	for (size_t size = 0; size < sizeof(data_6); size++)
		assert_int_equal(rdmacm_dgram_data_unpack(data_6, size, &addr), 0);
	memcpy(bytes, control_6, sizeof(bytes));
	bytes[0] = 0x54;
	assert_int_equal(rdmacm_dgram_control_unpack(bytes, sizeof(bytes), &op, &qpn), 0);
	bytes[0] = 0x55;
	bytes[4] = 5;
	assert_int_equal(rdmacm_dgram_control_unpack(bytes, sizeof(bytes), &op, &qpn), 0);
	bytes[4] = 4; /* the other family's length */
	assert_int_equal(rdmacm_dgram_control_unpack(bytes, sizeof(bytes), &op, &qpn), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_have_the_bytes_that_were_seen),
		cmocka_unit_test(heads_that_were_seen_are_understood),
		cmocka_unit_test(each_field_is_taken),
		cmocka_unit_test(what_is_no_head_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
