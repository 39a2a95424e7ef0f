/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port_roce_test.c - RoCE on an mlx4 adapter, as a driver sets it up: management datagrams of both
 * versions, and the GID table.
 *
 * Covers: softhca/device/format/mlx4/cmd/port.c, softhca/device/format/mlx4/cmd/eth_port.c,
 * softhca/device/format/mlx4/special_wqe.c
 */
#include <errno.h>
#include <string.h>

#include "vfio_mlx4_rig.h"

/* Writes the headers of a RoCE datagram; they need two inline segments. */
static void fill_roce_headers(uint32_t wqe, const uint8_t *gid, uint16_t type)
{
	enum { FIRST = 44, ALL = 14 + 40 + 12 + 8 };
	uint8_t headers[ALL] = { 0 };

	memcpy(headers, own_mac, 6);
	memcpy(headers + 6, own_mac, 6);
	headers[12] = type >> 8;
	headers[13] = (uint8_t)type;
	put32(headers + 14, 6u << 28 | 0x5a << 20);
	put32(headers + 18, (12 + 8 + 256 + 4) << 16 | 0x1b << 8 | 64);
	memcpy(headers + 22, gid, 16);
	memcpy(headers + 38, gid, 16);
	put32(headers + 54, 0x6400ffff); /* BTH: UD, SEND, to QP1 */
	put32(headers + 58, 1);
	put32(headers + 66, 0x80010000); /* DETH */
	put32(headers + 70, 1);
	put32(guest(wqe + 16), 1u << 31 | FIRST);
	memcpy(guest(wqe + 20), headers, FIRST);
	put32(guest(wqe + 64), 1u << 31 | (ALL - FIRST));
	memcpy(guest(wqe + 68), headers + FIRST, ALL - FIRST);
}

static void post_roce_datagram(uint32_t wqe, const uint8_t *gid, uint16_t type)
{
	fill_roce_headers(wqe, gid, type);
	put32(guest(wqe + 112), 256);
	put32(guest(wqe + 116), KEY << 8);
	put64(guest(wqe + 120), DATA);
	put32(guest(wqe + 128), 1u << 31 | 4);
	put32(guest(wqe + 4), 9);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe), 0xa);
}

static const uint8_t roce_gids[2][16] = { { 0xfe, 0x80, [15] = 1 }, { 0xfe, 0x80, [15] = 2 } };

enum { ROCE_QP1 = SPECIAL + 2 };

static void make_roce_qp1(void)
{
	set_up();
	make_queues_and_key();
	memcpy(in(0), roce_gids, sizeof(roce_gids));
	assert_int_equal(mailbox(SET_PORT, GIDS, ETHERNET), OK);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, SPECIAL, 0), OK);
	special_to_rts(ROCE_QP1, false, 8);
}

static void a_management_datagram_has_a_source(void **state)
{
	static const uint8_t foreign[16] = { 0xfe, 0x80, [15] = 3 };

	(void)state;
	make_roce_qp1();
	post_roce_datagram(RINGS, foreign, 0x8915);
	doorbell32(UAR * 0x1000 + 0x14, ROCE_QP1 << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x7f, OF_SEND | CQE_ERROR);
	assert_int_equal(cqe(0)[0x1a], BAD_AV);
}

/* The source GID of the received datagram is the second GID of the port, as its header says. */
static void a_management_datagram_arrives_on_roce(void **state)
{
	const uint8_t(*gids)[16] = roce_gids;
	uint32_t qpn = ROCE_QP1, recv_ring = RINGS + 8 * 256;

	(void)state;
	make_roce_qp1();
	memset(guest(DATA), 0x5c, 256);
	put32(guest(recv_ring), 296);
	put32(guest(recv_ring + 4), KEY << 8);
	put64(guest(recv_ring + 8), DATA + 0x800);
	put32(guest(RECORDS + 0x80), 1);
	post_roce_datagram(RINGS, gids[1], 0x8915);
	post_roce_datagram(RINGS + 256, gids[1], 0x8100);
	doorbell32(UAR * 0x1000 + 0x14, qpn << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0) + 8), 1u << 31 | 1); /* from QP1, with a GRH */
	assert_int_equal(get32(cqe(0) + 0x14), 296);
	assert_int_equal(get32(guest(DATA + 0x800)), 6u << 28 | 0x5a << 20);
	assert_memory_equal(guest(DATA + 0x808), gids[1], 16);
	assert_memory_equal(guest(DATA + 0x818), gids[1], 16);
	assert_memory_equal(guest(DATA + 0x800 + 40), guest(DATA), 256);
	assert_int_equal(cqe(1)[31] & 0x7f, 0x4a);
	assert_int_equal(cqe(2)[31] & 0x7f, OF_SEND | CQE_ERROR);
	assert_int_equal(cqe(2)[0x1a], BAD_AV);
}

enum { V2_GIDS = 0xd << 8 | 1, IPV6 = 1 };

static void fill_gid(unsigned int index, const uint8_t gid[16], uint8_t version, uint8_t type)
{
	memcpy(in(index * 32), gid, 16);
	in(index * 32)[0x1a] = type;
	in(index * 32)[0x1b] = version;
}

static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };

static void gids_have_a_version(void **state)
{
	static const struct {
		const uint8_t *gid;
		uint8_t version, type;
		unsigned int status;
	} entries[] = {
		{ roce_gids[0], 0, 0, OK },
		{ roce_gids[0], 2, IPV6, OK },
		{ mapped, 2, 0, OK },
		{ mapped, 0, 0, OK },
		{ roce_gids[0], 1, IPV6, BAD_PARAM },
		{ roce_gids[0], 3, IPV6, BAD_PARAM },
		{ roce_gids[0], 2, 0, BAD_PARAM },
		{ mapped, 2, IPV6, BAD_PARAM },
	};

	(void)state;
	set_up();
	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		fill_gid(127, entries[i].gid, entries[i].version, entries[i].type);
		assert_int_equal(mailbox(SET_PORT, V2_GIDS, ETHERNET), entries[i].status);
	}
}

static void the_port_of_roce_is_fixed(void **state)
{
	(void)state;
	set_up();
	put32(in(0), 1 << 3);
	put32(in(0x14), 4791);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 0), OK);
	put32(in(0), 1 << 3);
	put32(in(0x14), 4792);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 0), BAD_PARAM);
	put32(in(0), 1 << 0);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 0), BAD_PARAM);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 1), BAD_OP);
}

/* Writes IPv4 and UDP headers, behind a VLAN tag unless VLAN is 0. */
static uint32_t fill_udp_headers(uint8_t *headers, uint32_t vlan)
{
	uint8_t *at = headers + 12;

	memcpy(headers, own_mac, 6);
	memcpy(headers + 6, own_mac, 6);
	if (vlan) {
		put32(at, 0x8100u << 16 | vlan);
		at += 4;
	}
	at[0] = 0x08;
	at += 2;
	put32(at, 0x455au << 16 | (20 + 8 + 12 + 8 + 256 + 4));
	put32(at + 8, 64u << 24 | 17 << 16);
	memcpy(at + 12, mapped + 12, 4);
	memcpy(at + 16, mapped + 12, 4);
	put32(at + 20, 0xc123u << 16 | 4791);
	put32(at + 28, 0x6400ffff); /* BTH: UD, SEND, to QP1 */
	put32(at + 32, 1);
	put32(at + 40, 0x80010000); /* DETH */
	put32(at + 44, 1);
	return (uint32_t)(at + 48 - headers);
}

static void post_udp_datagram(uint32_t wqe, uint32_t vlan)
{
	enum { FIRST = 44 };
	uint8_t headers[80] = { 0 };
	uint32_t all = fill_udp_headers(headers, vlan);

	put32(guest(wqe + 16), 1u << 31 | FIRST);
	memcpy(guest(wqe + 20), headers, FIRST);
	put32(guest(wqe + 64), 1u << 31 | (all - FIRST));
	memcpy(guest(wqe + 68), headers + FIRST, all - FIRST);
	put32(guest(wqe + 96), 256);
	put32(guest(wqe + 100), KEY << 8);
	put64(guest(wqe + 104), DATA);
	put32(guest(wqe + 112), 1u << 31 | 4);
	put32(guest(wqe + 4), 8);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe), 0xa);
}

/* A driver sends RoCE v2 datagrams of QP1 through another QP. Both ends have IPv4 GIDs of both
 * versions; the second datagram has a VLAN tag. */
static void a_management_datagram_arrives_by_udp(void **state)
{
	enum { TAG = 5 << 13 | 77 };
	const uint8_t *header = guest(DATA + 0x800 + 20);
	uint32_t recv_ring = RINGS + 8 * 256;

	(void)state;
	make_roce_qp1();
	fill_gid(0, mapped, 0, 0);
	fill_gid(1, mapped, 2, 0);
	assert_int_equal(mailbox(SET_PORT, V2_GIDS, ETHERNET), OK);
	special_to_rts(QPN, true, 8);
	memset(guest(DATA), 0x5c, 256);
	for (unsigned int i = 0; i < 2; i++) {
		put32(guest(recv_ring + i * 16), 296);
		put32(guest(recv_ring + i * 16 + 4), KEY << 8);
		put64(guest(recv_ring + i * 16 + 8), DATA + 0x800 + i * 0x200);
		post_udp_datagram(RINGS + 0x1000 + i * 256, i * TAG);
	}
	put32(guest(RECORDS + 0x80), 2);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0)) & 0xffffff, ROCE_QP1);
	assert_int_equal(get32(cqe(0) + 8), 1u << 31 | 1); /* from QP1, with a GRH */
	assert_int_equal(get32(cqe(0)) >> 29 & 1, 0);
	assert_int_equal(get32(header) >> 16,
			 0x455a); /* an IPv4 header takes the last 20 bytes of the GRH's 40 */
	assert_memory_equal(header + 12, mapped + 12, 4);
	assert_memory_equal(guest(DATA + 0x800 + 40), guest(DATA), 256);
	assert_int_equal(get32(cqe(1)) & 0xffffff, QPN);
	assert_int_equal(cqe(1)[31] & 0x7f, 0x4a);
	assert_int_equal(get32(cqe(2)) >> 29 & 1, 1);
	assert_int_equal(get32(cqe(2) + 0xc) >> 16, TAG);
	assert_memory_equal(guest(DATA + 0xa00 + 40), guest(DATA), 256);
}

static void fill_roce_rtr(uint8_t mode, uint8_t gid)
{
	uint8_t *qpc = in(8);

	fill_qp(QPN, false, 0);
	qpc[8] = 5 << 5 | 12; /* MTU */
	qpc[0xb] = (uint8_t)(mode << 6);
	qpc[0x18 + 5] = 0x80; /* GRH */
	qpc[0x18 + 9] = gid;
}

static void a_path_has_the_version_of_its_gid(void **state)
{
	enum { VLAN_TABLE = 3 << 8 | 1, TAGGED = 0x40 };

	(void)state;
	set_up();
	make_eq_and_cq();
	fill_gid(0, mapped, 0, 0);
	fill_gid(1, mapped, 2, 0);
	assert_int_equal(mailbox(SET_PORT, V2_GIDS, ETHERNET), OK);
	put32(in(5 * 4), 1u << 31 | 77);
	assert_int_equal(mailbox(SET_PORT, VLAN_TABLE, ETHERNET), OK);
	fill_qp(QPN, false, 0);
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	fill_roce_rtr(2, 0);
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(0, 1);
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(2, 2);
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(2, 1);
	in(8)[0x18] = TAGGED;
	in(8)[0x18 + 0x21] = 4; /* an unknown VLAN index */
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(2, 1);
	in(8)[0x18] = TAGGED;
	in(8)[0x18 + 0x21] = 5;
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	assert_int_equal(guest(OUT + 8)[0xb], 2 << 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ROCE(a_management_datagram_arrives_on_roce),
		TEST_ROCE(a_management_datagram_has_a_source),
		TEST_ROCE(gids_have_a_version),
		TEST_ROCE(the_port_of_roce_is_fixed),
		TEST_ROCE(a_management_datagram_arrives_by_udp),
		TEST_ROCE(a_path_has_the_version_of_its_gid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
