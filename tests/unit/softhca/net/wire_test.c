/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire_test.c - conversion of messages to packets: whole packets with bytes and checksums from
 * other sources (scapy's RoCE layer; CRCs computed bit by bit, as in IBTA vol 1, 7.8), the headers
 * of each opcode, and damaged packets.
 *
 * Covers: softhca/net/wire.c, softhca/net/crc.c, softhca/net/segments.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/packet.h"
#include "softhca/net/crc.h"
#include "softhca/net/wire.h"
#include "tests/unit/hex.h"
#include "util/bits.h"

/* IBTA vol 1, 7.8.2: the low bit of each byte first, the register shifts towards x^15. */
static uint16_t slow_crc16(const uint8_t *data, size_t len)
{
	uint16_t reg = 0xffff, out = 0;

	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			uint16_t carry = (uint16_t)((reg >> 15 ^ data[i] >> bit) & 1);

			reg = (uint16_t)(reg << 1 ^ (carry ? 0x100b : 0));
		}
	for (int bit = 0; bit < 16; bit++)
		out |= (uint16_t)((reg >> bit & 1) << (15 - bit));
	return out;
}

static void checksums_are_the_published_ones(void **state)
{
	uint8_t data[100];

	(void)state;
	assert_int_equal((uint32_t)~crc32_add(UINT32_MAX, "123456789", 9), 0xcbf43926);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * i + 7);
	for (size_t i = 0; i <= sizeof(data); i++)
		assert_int_equal(crc16_add(0xffff, data, i), slow_crc16(data, i));
}

static const uint8_t gid_a[16] = { 0xfe, 0x80, [8] = 0, 2, 0xc9, 0xff, 0xfe, 0x5f, 0, 1 };
static const uint8_t gid_b[16] = { 0xfe, 0x80, [8] = 0, 2, 0xc9, 0xff, 0xfe, 0x5f, 0x10, 1 };
static const uint8_t ipv4_a[16] = { [10] = 0xff, 0xff, 198, 18, 0, 1 };
static const uint8_t ipv4_b[16] = { [10] = 0xff, 0xff, 198, 18, 1, 1 };

static struct fabric_msg send_only(const char *payload)
{
	return (struct fabric_msg){
		.op = FABRIC_SEND,
		.first = true,
		.last = true,
		.ack_req = true,
		.dest_qpn = 0x48,
		.psn = 0x10,
		.packets = 1,
		.pkey = 0xffff,
		.mtu = 1024,
		.payload = (const uint8_t *)payload,
		.payload_len = (uint32_t)strlen(payload),
	};
}

static void route_ib(struct fabric_msg *msg, bool grh)
{
	msg->addr.dlid = 0x41;
	msg->addr.slid = 1;
	msg->addr.sl = 1;
	msg->addr.grh = grh;
	msg->addr.traffic_class = 0xa5;
	msg->addr.flow_label = 0x12345;
	msg->addr.hop_limit = 5;
	memcpy(msg->addr.sgid, gid_a, 16);
	memcpy(msg->addr.dgid, gid_b, 16);
}

static void route_roce(struct fabric_msg *msg, enum fabric_roce version)
{
	static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 1 }, mac_b[6] = { 2, 0, 0, 0, 0, 2 };

	route_ib(msg, true);
	msg->addr.sl = 0;
	msg->addr.by_gid = true;
	msg->addr.roce = version;
	msg->addr.udp_sport = 0xc123;
	memcpy(msg->addr.smac, mac_a, 6);
	memcpy(msg->addr.dmac, mac_b, 6);
}

static void route_ipv4(struct fabric_msg *msg)
{
	route_roce(msg, FABRIC_ROCE_V2);
	msg->addr.ipv4 = true;
	msg->addr.traffic_class = 0x68;
	msg->addr.hop_limit = 64;
	memcpy(msg->addr.sgid, ipv4_a, 16);
	memcpy(msg->addr.dgid, ipv4_b, 16);
}

static void check_packet(const struct fabric_msg *msg, const char *hex)
{
	uint8_t packet[WIRE_PACKET_MAX], golden[WIRE_PACKET_MAX];
	size_t len = wire_encode(msg, 0, packet);

	assert_int_equal(len, from_hex(hex, golden));
	assert_memory_equal(packet, golden, len);
}

static void ipv4_packet_is_as_scapy_makes_it(void **state)
{
	struct fabric_msg msg = send_only("Hello");

	(void)state;
	route_ipv4(&msg);
	msg.solicited = true;
	check_packet(&msg, "02000000000202000000000108004568003400004000 4011ad2ac6120001c6120101"
			   "c12312b700200000 04f0ffff0000004880000010 48656c6c6f000000 c5d6e804");
}

static void ipv4_acknowledge_is_as_scapy_makes_it(void **state)
{
	struct fabric_msg msg = send_only("");

	(void)state;
	route_ipv4(&msg);
	msg.op = FABRIC_ACK;
	msg.ack_req = false;
	msg.dest_qpn = 0x123456;
	msg.psn = 0xabcdef;
	msg.msn = 7;
	msg.credits = AETH_NO_CREDITS;
	check_packet(&msg, "02000000000202000000000108004568003000004000 4011ad2ec6120001c6120101"
			   "c12312b7001c0000 1140ffff0012345600abcdef 1f000007 448f289a");
}

static void local_packet_has_lrh_and_both_checksums(void **state)
{
	struct fabric_msg msg = send_only("ABCDEFGH");

	(void)state;
	route_ib(&msg, false);
	check_packet(&msg, "0012004100080001 0440ffff0000004880000010 4142434445464748"
			   "aa429db9 6ccc");
}

static void global_packet_has_a_grh(void **state)
{
	struct fabric_msg msg = send_only("ABCDEFGH");

	(void)state;
	route_ib(&msg, true);
	check_packet(&msg, "0013004100120001 6a51234500181b05"
			   "fe800000000000000002c9fffe5f0001 fe800000000000000002c9fffe5f1001"
			   "0440ffff0000004880000010 4142434445464748 8c9dcc27 dd89");
}

static void roce_v1_packet_has_ethernet_and_grh(void **state)
{
	struct fabric_msg msg = send_only("ABCDEFGH");

	(void)state;
	route_roce(&msg, FABRIC_ROCE_V1);
	check_packet(&msg, "0200000000020200000000018915 6a51234500181b05"
			   "fe800000000000000002c9fffe5f0001 fe800000000000000002c9fffe5f1001"
			   "0440ffff0000004880000010 4142434445464748 34860324");
}

static void ipv6_packet_has_tag_and_udp_checksum(void **state)
{
	struct fabric_msg msg = send_only("ABCDEFGH");

	(void)state;
	route_roce(&msg, FABRIC_ROCE_V2);
	msg.addr.hop_limit = 64;
	msg.addr.tagged = true;
	msg.addr.vlan = 5;
	msg.addr.sl = 3;
	check_packet(&msg, "0200000000020200000000018100600586dd 6a51234500201140"
			   "fe800000000000000002c9fffe5f0001 fe800000000000000002c9fffe5f1001"
			   "c12312b70020aec5 0440ffff0000004880000010 4142434445464748"
			   "97d8b1c0");
}

#define BYTES8 "\1\2\3\4\5\6\7\x8"
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define NUMBER_OF_BYTES8 "0807060504030201"
#else
#define NUMBER_OF_BYTES8 "0102030405060708"
#endif

/* Headers of packet INDEX of a message: from the BTH to the payload */
static const struct {
	const char *hex;
	uint32_t index;
	struct fabric_msg msg;
} opcodes[] = {
#define BASE          .dest_qpn = 0x654321, .psn = 0xfffffe, .pkey = 0x8001, .mtu = 256
#define LONG_PAYLOAD  .packets = 3, .payload_len = 700
#define SHORT_PAYLOAD .packets = 1, .payload_len = 8
#define WHOLE         .first = true, .last = true
#define ACKED(code)   .msn = 5, .credits = (code)
#define REMOTE        .raddr = 0x1122334455667788, .rkey = 0xaabbccdd
#define DC_SESSION    .dc_key = 0x0123456789abcdef, .src_qpn = 0xabc, .session = 0x05000007
#define RC(bth)       bth "8001 00654321 "
	{ RC("0040") "00fffffe", 0, { .op = FABRIC_SEND, WHOLE, LONG_PAYLOAD, BASE } },
	{ RC("0140") "00ffffff", 1, { .op = FABRIC_SEND, WHOLE, LONG_PAYLOAD, BASE } },
	{ RC("0240") "80000000",
	  2,
	  { .op = FABRIC_SEND, WHOLE, LONG_PAYLOAD, BASE, .ack_req = true } },
	{ RC("03c0") "00000000 0badcafe",
	  2,
	  { .op = FABRIC_SEND, WHOLE, LONG_PAYLOAD, BASE, .solicited = true, .has_imm = true } },
	{ RC("1640") "00000000 0badcafe",
	  2,
	  { .op = FABRIC_SEND, WHOLE, LONG_PAYLOAD, BASE, .invalidate = true } },
	{ RC("0440") "00fffffe", 0, { .op = FABRIC_SEND, WHOLE, SHORT_PAYLOAD, BASE } },
	{ RC("0540") "00fffffe 0badcafe",
	  0,
	  { .op = FABRIC_SEND, WHOLE, SHORT_PAYLOAD, BASE, .has_imm = true } },
	{ RC("1740") "00fffffe 0badcafe",
	  0,
	  { .op = FABRIC_SEND, WHOLE, SHORT_PAYLOAD, BASE, .invalidate = true } },
	{ RC("0640") "00fffffe 1122334455667788 aabbccdd 000002bc",
	  0,
	  { .op = FABRIC_WRITE, WHOLE, LONG_PAYLOAD, BASE, REMOTE, .length = 700 } },
	{ RC("0740") "00ffffff", 1, { .op = FABRIC_WRITE, WHOLE, LONG_PAYLOAD, BASE } },
	{ RC("0840") "00000000", 2, { .op = FABRIC_WRITE, WHOLE, LONG_PAYLOAD, BASE } },
	{ RC("0940") "00000000 0badcafe",
	  2,
	  { .op = FABRIC_WRITE, WHOLE, LONG_PAYLOAD, BASE, .has_imm = true } },
	{ RC("0a40") "00fffffe 1122334455667788 aabbccdd 00000008",
	  0,
	  { .op = FABRIC_WRITE, WHOLE, SHORT_PAYLOAD, BASE, REMOTE, .length = 8 } },
	{ RC("0b40") "00fffffe 1122334455667788 aabbccdd 00000008 0badcafe",
	  0,
	  { .op = FABRIC_WRITE,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    .has_imm = true } },
	/* part of a longer request */
	{ RC("0740") "00fffffe",
	  0,
	  { .op = FABRIC_WRITE, .packets = 2, .payload_len = 512, BASE } },
	{ RC("0740") "80ffffff",
	  1,
	  { .op = FABRIC_WRITE, .packets = 2, .payload_len = 512, BASE, .ack_req = true } },
	{ RC("0c40") "80fffffe 1122334455667788 aabbccdd 000002bc",
	  0,
	  { .op = FABRIC_READ,
	    WHOLE,
	    LONG_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 700,
	    .ack_req = true } },
	{ RC("0d40") "00fffffe 0a000005",
	  0,
	  { .op = FABRIC_READ_RESPONSE, WHOLE, LONG_PAYLOAD, BASE, ACKED(10) } },
	{ RC("0e40") "00ffffff",
	  1,
	  { .op = FABRIC_READ_RESPONSE, WHOLE, LONG_PAYLOAD, BASE, ACKED(10) } },
	{ RC("0f40") "00000000 0a000005",
	  2,
	  { .op = FABRIC_READ_RESPONSE, WHOLE, LONG_PAYLOAD, BASE, ACKED(10) } },
	{ RC("1040") "00fffffe 1f000005",
	  0,
	  { .op = FABRIC_READ_RESPONSE, WHOLE, SHORT_PAYLOAD, BASE, ACKED(31) } },
	{ RC("1140") "00fffffe 1f000005", 0, { .op = FABRIC_ACK, .packets = 1, BASE, ACKED(31) } },
	{ RC("1140") "00fffffe 00000005", 0, { .op = FABRIC_ACK, .packets = 1, BASE, ACKED(0) } },
	{ RC("1140") "00fffffe 1e000005", 0, { .op = FABRIC_ACK, .packets = 1, BASE, ACKED(30) } },
	{ RC("1140") "00fffffe 60000005",
	  0,
	  { .op = FABRIC_NAK, .packets = 1, BASE, .msn = 5, .nak = FABRIC_NAK_PSN } },
	{ RC("1140") "00fffffe 62000005",
	  0,
	  { .op = FABRIC_NAK, .packets = 1, BASE, .msn = 5, .nak = FABRIC_NAK_REMOTE_ACCESS } },
	{ RC("1140") "00fffffe 2c000005",
	  0,
	  { .op = FABRIC_NAK,
	    .packets = 1,
	    BASE,
	    .msn = 5,
	    .nak = FABRIC_NAK_RNR,
	    .rnr_timer = 12 } },
	{ RC("1240") "00fffffe 1f000005 " NUMBER_OF_BYTES8,
	  0,
	  { .op = FABRIC_ATOMIC_RESPONSE, WHOLE, SHORT_PAYLOAD, BASE, ACKED(31) } },
	{ RC("1340") "80fffffe 1122334455667788 aabbccdd 0000000000000007 0000000000000009",
	  0,
	  { .op = FABRIC_ATOMIC_CS,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    .swap_add = 7,
	    .compare = 9,
	    .ack_req = true } },
	{ RC("1440") "00fffffe 1122334455667788 aabbccdd 0000000000000007 0000000000000000",
	  0,
	  { .op = FABRIC_ATOMIC_FA,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    .swap_add = 7 } },
	{ RC("1940") "80fffffe 1122334455667788 aabbccdd 00000008 0000000000000007 "
		     "0000000000000009 00000000000000ff 000000000000000f",
	  0,
	  { .op = FABRIC_MASKED_CS,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    .swap_add = 7,
	    .compare = 9,
	    .swap_mask = 0xff,
	    .compare_mask = 0xf,
	    .ack_req = true } },
	{ RC("1a40") "00fffffe 1122334455667788 aabbccdd 00000004 0000000000000007 "
		     "0000000080008000 0000000000000000 0000000000000000",
	  0,
	  { .op = FABRIC_MASKED_FA,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 4,
	    .swap_add = 7,
	    .compare = 0x80008000 } },
	{ RC("2040") "00fffffe",
	  0,
	  { .service = FABRIC_UC, .op = FABRIC_SEND, WHOLE, LONG_PAYLOAD, BASE } },
	{ RC("2b40") "00fffffe 1122334455667788 aabbccdd 00000008 0badcafe",
	  0,
	  { .service = FABRIC_UC,
	    .op = FABRIC_WRITE,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    .has_imm = true } },
	{ RC("6440") "00fffffe 80010000 00000abc",
	  0,
	  { .service = FABRIC_UD,
	    .op = FABRIC_SEND,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    .qkey = 0x80010000,
	    .src_qpn = 0xabc } },
	{ RC("6540") "00fffffe 80010000 00000abc 0badcafe",
	  0,
	  { .service = FABRIC_UD,
	    .op = FABRIC_SEND,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    .qkey = 0x80010000,
	    .src_qpn = 0xabc,
	    .has_imm = true } },
	{ RC("a440") "00fffffe 00000123",
	  0,
	  { .service = FABRIC_XRC, .op = FABRIC_SEND, WHOLE, SHORT_PAYLOAD, BASE, .srqn = 0x123 } },
	{ RC("aa40") "00fffffe 00000123 1122334455667788 aabbccdd 00000008",
	  0,
	  { .service = FABRIC_XRC,
	    .op = FABRIC_WRITE,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    .srqn = 0x123 } },
	{ RC("c440") "00fffffe 0123456789abcdef 00000abc 05000007",
	  0,
	  { .service = FABRIC_DC, .op = FABRIC_SEND, WHOLE, SHORT_PAYLOAD, BASE, DC_SESSION } },
	{ RC("ca40") "00fffffe 0123456789abcdef 00000abc 05000007 "
		     "1122334455667788 aabbccdd 00000008",
	  0,
	  { .service = FABRIC_DC,
	    .op = FABRIC_WRITE,
	    WHOLE,
	    SHORT_PAYLOAD,
	    BASE,
	    REMOTE,
	    .length = 8,
	    DC_SESSION } },
	{ RC("d840") "00fffffe 0123456789abcdef 00000abc 05000007",
	  0,
	  { .service = FABRIC_DC, .op = FABRIC_CLOSE, WHOLE, .packets = 1, BASE, DC_SESSION } },
	{ RC("d140") "00fffffe 65000005",
	  0,
	  { .service = FABRIC_DC,
	    .op = FABRIC_NAK,
	    .packets = 1,
	    BASE,
	    .msn = 5,
	    .nak = FABRIC_NAK_NO_TARGET } },
	{ RC("b140") "00fffffe 1f000005",
	  0,
	  { .service = FABRIC_XRC, .op = FABRIC_ACK, .packets = 1, BASE, ACKED(31) } },
};

static uint8_t payload[700];

static struct fabric_msg message(size_t i)
{
	struct fabric_msg msg = opcodes[i].msg;

	memcpy(payload, BYTES8, 8);
	for (size_t k = 8; k < sizeof(payload); k++)
		payload[k] = (uint8_t)(k * 7);
	route_ib(&msg, false);
	msg.payload = payload;
	memcpy(&msg.imm, "\x0b\xad\xca\xfe", 4);
	return msg;
}

enum { NUM_OPCODES = ARRAY_SIZE(opcodes), LRH = 8 };

static void headers_of_each_opcode(void **state)
{
	uint8_t packet[WIRE_PACKET_MAX], golden[80];

	(void)state;
	for (size_t i = 0; i < NUM_OPCODES; i++) {
		struct fabric_msg msg = message(i);
		size_t len = from_hex(opcodes[i].hex, golden);

		assert_true(opcodes[i].index < wire_packets(&msg));
		wire_encode(&msg, opcodes[i].index, packet);
		assert_memory_equal(packet + LRH, golden, len);
	}
}

static void check_decoded(const struct fabric_msg *got, const struct fabric_msg *sent,
			  uint32_t index)
{
	uint32_t count = wire_packets(sent), from = index * sent->mtu;
	bool carries = sent->op <= FABRIC_WRITE || sent->op == FABRIC_READ_RESPONSE;
	bool last = sent->last && index + 1 == count;

	assert_int_equal(got->op, sent->op);
	assert_int_equal(got->service, sent->service);
	assert_int_equal(got->dest_qpn, sent->dest_qpn);
	assert_int_equal(got->psn, (sent->psn + index) & 0xffffff);
	assert_int_equal(got->packets, 1);
	assert_int_equal(got->ack_req, sent->ack_req && index + 1 == count);
	assert_int_equal(got->nak, sent->nak);
	assert_int_equal(got->rnr_timer,
			 sent->nak == FABRIC_NAK_RNR ? sent->rnr_timer : got->rnr_timer);
	assert_int_equal(got->credits, index == 1 ? 0 : sent->credits);
	assert_int_equal(got->srqn, sent->srqn);
	assert_int_equal(got->dc_key, sent->dc_key);
	assert_int_equal(got->session, sent->session);
	assert_int_equal(got->qkey, sent->qkey);
	assert_int_equal(got->swap_add, sent->swap_add);
	assert_int_equal(got->compare, sent->compare);
	assert_int_equal(got->swap_mask, sent->swap_mask);
	assert_int_equal(got->compare_mask, sent->compare_mask);
	if (index == 0) {
		assert_int_equal(got->raddr, sent->raddr);
		assert_int_equal(got->rkey, sent->rkey);
		assert_int_equal(got->length, sent->length);
	}
	if (sent->op < FABRIC_ACK && sent->op != FABRIC_READ) {
		assert_int_equal(got->first, sent->first && index == 0);
		assert_int_equal(got->last, last);
	}
	assert_int_equal(got->has_imm, sent->has_imm && last);
	assert_int_equal(got->invalidate, sent->invalidate && last);
	if (got->has_imm || got->invalidate)
		assert_int_equal(got->imm, sent->imm);
	if (carries) {
		assert_true(got->payload_len == sent->payload_len - from ||
			    got->payload_len == sent->mtu);
		assert_memory_equal(got->payload, sent->payload + from, got->payload_len);
	}
}

static void messages_survive_the_wire(void **state)
{
	uint8_t packet[WIRE_PACKET_MAX];
	struct fabric_msg got;
	size_t len;

	(void)state;
	for (size_t i = 0; i < NUM_OPCODES; i++)
		for (int route = 0; route < 5; route++) {
			struct fabric_msg msg = message(i);

			if (route < 2)
				route_ib(&msg, route);
			else if (route < 4)
				route_roce(&msg, route == 2 ? FABRIC_ROCE_V1 : FABRIC_ROCE_V2);
			else
				route_ipv4(&msg);
			for (uint32_t index = 0; index < wire_packets(&msg); index++) {
				len = wire_encode(&msg, index, packet);
				assert_int_equal(wire_decode(route >= 2, packet, len, &got),
						 WIRE_OK);
				check_decoded(&got, &msg, index);
				assert_memory_equal(got.addr.dgid,
						    msg.addr.grh ? msg.addr.dgid : got.addr.dgid,
						    16);
				assert_int_equal(got.addr.slid, route < 2 ? 1 : 0);
			}
		}
}

static void atomic_result_is_in_the_host_s_order(void **state)
{
	uint64_t value = 0x1122334455667788, result;
	uint8_t packet[WIRE_PACKET_MAX];
	struct fabric_msg msg = send_only(""), got;
	size_t len;

	(void)state;
	route_ipv4(&msg);
	msg.op = FABRIC_ATOMIC_RESPONSE;
	msg.payload = (const uint8_t *)&value;
	msg.payload_len = sizeof(value);
	len = wire_encode(&msg, 0, packet);
	assert_memory_equal(packet + len - 12, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
	assert_int_equal(wire_decode(true, packet, len, &got), WIRE_OK);
	assert_int_equal(got.payload_len, 8);
	memcpy(&result, got.payload, 8);
	assert_int_equal(result, value);
}

static bool is_the_same(const struct fabric_msg *a, const struct fabric_msg *b)
{
	return a->op == b->op && a->service == b->service && a->dest_qpn == b->dest_qpn &&
	       a->psn == b->psn && a->raddr == b->raddr && a->rkey == b->rkey &&
	       a->length == b->length && a->payload_len == b->payload_len && a->pkey == b->pkey &&
	       !memcmp(a->addr.dgid, b->addr.dgid, 16) && a->addr.dlid == b->addr.dlid &&
	       (a->op == FABRIC_READ || !a->payload_len ||
		!memcmp(a->payload, b->payload, a->payload_len));
}

static void packet_damage(bool ethernet, const struct fabric_msg *msg)
{
	uint8_t packet[WIRE_PACKET_MAX], good[WIRE_PACKET_MAX], bad[WIRE_PACKET_MAX];
	struct fabric_msg sent, got;
	size_t len = wire_encode(msg, 0, packet);

	memcpy(good, packet, len);
	assert_int_equal(wire_decode(ethernet, good, len, &sent), WIRE_OK);
	for (size_t i = 0; i < len; i++) {
		uint8_t *exact = malloc(i + 1); /* exact size: a sanitizer sees overreads */

		memcpy(exact, packet, i);
		assert_int_not_equal(wire_decode(ethernet, exact, i, &got), WIRE_OK);
		free(exact);
	}
	for (size_t i = 0; i < len * 8; i++) {
		memcpy(bad, packet, len);
		bad[i / 8] ^= (uint8_t)(1 << i % 8);
		if (wire_decode(ethernet, bad, len, &got) == WIRE_OK)
			assert_true(is_the_same(&got, &sent));
	}
}

static void damaged_packets_are_not_taken_for_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OPCODES; i++) {
		struct fabric_msg msg = message(i);

		if (opcodes[i].index)
			continue;
		route_ib(&msg, i % 2);
		packet_damage(false, &msg);
		route_roce(&msg, i % 2 ? FABRIC_ROCE_V1 : FABRIC_ROCE_V2);
		packet_damage(true, &msg);
		route_ipv4(&msg);
		packet_damage(true, &msg);
	}
}

static void other_frames_are_left_alone(void **state)
{
	static const char *const frames[] = {
		/* ARP; IPv4 TCP; UDP to another port; a fragment of UDP; IPv6 neighbour
		 * solicitation */
		"ffffffffffff020000000001 0806 0001080006040001"
		"020000000001c6120001000000000000c6120101",
		"020000000002020000000001 0800 450000280000400040060000c6120001c6120101"
		"0016001600000000000000005000000000000000",
		"020000000002020000000001 0800 4500001c0000400040110000c6120001c6120101 "
		"12b7003500080000",
		"020000000002020000000001 0800 4500001c0000200040110000c6120001c6120101 "
		"c00012b700080000",
		"333300000001020000000001 86dd 6000000000003aff"
		"fe800000000000000000000000000001 ff020000000000000000000000000001",
	};
	uint8_t frame[128];
	struct fabric_msg msg;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		assert_int_equal(wire_decode(true, frame, from_hex(frames[i], frame), &msg),
				 WIRE_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_are_the_published_ones),
		cmocka_unit_test(ipv4_packet_is_as_scapy_makes_it),
		cmocka_unit_test(ipv4_acknowledge_is_as_scapy_makes_it),
		cmocka_unit_test(local_packet_has_lrh_and_both_checksums),
		cmocka_unit_test(global_packet_has_a_grh),
		cmocka_unit_test(roce_v1_packet_has_ethernet_and_grh),
		cmocka_unit_test(ipv6_packet_has_tag_and_udp_checksum),
		cmocka_unit_test(headers_of_each_opcode),
		cmocka_unit_test(messages_survive_the_wire),
		cmocka_unit_test(atomic_result_is_in_the_host_s_order),
		cmocka_unit_test(damaged_packets_are_not_taken_for_others),
		cmocka_unit_test(other_frames_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
