/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet_reformat_test.c - headers of tunnels: random tunnels around random frames, compared with
 * the bytes that the test has put there; frames cut at each byte; tunnels in flow tables; commands
 * that the device refuses.
 *
 * Covers: softhca/device/eth/flow/packet_reformat.c, softhca/device/eth/tunnel.c,
 * softhca/device/eth/flow/flow_match.c, softhca/device/eth/eth_port.c,
 * softhca/device/format/mlx5/cmd/flow/packet_reformat.c, softhca/device/format/mlx5/cmd/tir.c
 */
#include <errno.h>

#include "eth_rig.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/modify_header.h"
#include "prm/mlx5/packet_reformat.h"
#include "prm/mlx5/tir.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/tunnel.h"
#include "util/bits.h"

enum {
	RX = PRM_FLOW_NIC_RX,
	TX = PRM_FLOW_NIC_TX,
	ROUNDS = 5000,
};

#define L2_ON  PRM_REFORMAT_L2_TO_L2_TUNNEL
#define L3_OFF PRM_REFORMAT_L3_TUNNEL_TO_L2
#define L3_ON  PRM_REFORMAT_L2_TO_L3_TUNNEL

/* ---- the model ---- */

/* Outer headers that the test has built: SIZE bytes with lengths of zero. Offsets; 0: absent */
struct outer {
	uint8_t bytes[PACKET_REFORMAT_MAX];
	unsigned int size, ip, udp;
	bool v6, is_l3, inner_v6;
};

static void be16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static unsigned int random_below(unsigned int below)
{
	return (unsigned int)rand() % below;
}

static uint8_t *append(struct outer *outer, unsigned int size)
{
	uint8_t *at = outer->bytes + outer->size;

	for (unsigned int i = 0; i < size; i++)
		at[i] = (uint8_t)rand();
	outer->size += size;
	return at;
}

static void append_ip(struct outer *outer, uint8_t protocol)
{
	uint8_t *ip;

	outer->ip = outer->size;
	ip = append(outer, outer->v6 ? 40 : 20);
	ip[0] = outer->v6 ? 0x60 | (ip[0] & 15) : 0x45;
	if (outer->v6) {
		ip[6] = protocol;
		return;
	}
	ip[6] = 0x40; /* do not fragment: the header needs no identification */
	ip[7] = 0;
	ip[9] = protocol;
}

static void append_udp(struct outer *outer, uint16_t port)
{
	outer->udp = outer->size;
	be16(append(outer, 8) + 2, port);
}

static uint16_t inner_type(const struct outer *outer)
{
	return !outer->is_l3 ? 0x6558 : outer->inner_v6 ? 0x86dd : 0x0800;
}

static void append_gre(struct outer *outer)
{
	const unsigned int flags = random_below(8);
	const bool c = flags & 1, k = flags & 2, s = flags & 4;
	uint8_t *gre;

	append_ip(outer, 47);
	gre = append(outer, 4 + 4u * (c + k + s));
	gre[0] = (uint8_t)(c << 7 | k << 5 | s << 4);
	be16(gre + 2, inner_type(outer));
}

static void append_geneve(struct outer *outer)
{
	const unsigned int words = random_below(8);
	uint8_t *geneve;

	append_ip(outer, 17);
	append_udp(outer, 6081);
	geneve = append(outer, 8 + 4 * words);
	geneve[0] = (uint8_t)words;
	be16(geneve + 2, inner_type(outer));
}

static void append_gpe(struct outer *outer)
{
	append_ip(outer, 17);
	append_udp(outer, 4790);
	append(outer, 8)[3] = !outer->is_l3 ? 3 : outer->inner_v6 ? 2 : 1;
}

static void outer_random(struct outer *outer, bool is_l3, bool inner_v6)
{
	const unsigned int tags = random_below(3), kind = random_below(4);

	*outer = (struct outer){ .is_l3 = is_l3, .inner_v6 = inner_v6, .v6 = random_below(2) };
	append(outer, 12);
	for (unsigned int i = 0; i < tags; i++)
		be16(append(outer, 4), i ? 0x8100 : 0x88a8);
	be16(append(outer, 2), outer->v6 ? 0x86dd : 0x0800);
	if (kind == 0) {
		append_gre(outer);
	} else if (kind == 1) {
		append_geneve(outer);
	} else if (kind == 2) {
		append_gpe(outer);
	} else if (is_l3) {
		append_ip(outer, inner_v6 ? 41 : 4);
	} else {
		append_ip(outer, 17);
		append_udp(outer, 4789);
		append(outer, 8);
	}
}

static uint16_t ones_sum(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Puts OUTER in front of LEN bytes, with the lengths and sums that adapters write. */
static size_t model_wrap(const struct outer *outer, const uint8_t *inner, size_t len,
			 uint8_t *bytes)
{
	const size_t total = outer->size + len;
	uint8_t *ip = bytes + outer->ip;

	memcpy(bytes, outer->bytes, outer->size);
	memcpy(bytes + outer->size, inner, len);
	if (outer->v6) {
		be16(ip + 4, total - outer->ip - 40);
	} else {
		be16(ip + 2, total - outer->ip);
		be16(ip + 10, 0);
		be16(ip + 10, 0xffff & ~ones_sum(ip, 20));
	}
	if (outer->udp) {
		be16(bytes + outer->udp + 4, total - outer->udp);
		be16(bytes + outer->udp + 6, 0);
	}
	return total;
}

/* Builds an inner frame. Returns its length; *L3 is where IP begins. */
static size_t inner_random(bool v6, uint8_t *bytes, unsigned int *l3)
{
	const struct eth_flow flow = {
		.vlan = (uint16_t)(random_below(2) ? 5 : 0),
		.v6 = v6,
		.protocol = random_below(2) ? 6 : 17,
		.src = random_below(200),
		.dst = random_below(200),
		.sport = (uint16_t)rand(),
		.dport = (uint16_t)(1 + random_below(1000)),
		.payload = random_below(200),
	};

	*l3 = flow.vlan ? 18 : 14;
	return eth_build(&flow, bytes);
}

static struct packet_reformat reformat_of(enum prm_reformat type, const uint8_t *data,
					  unsigned int size)
{
	struct packet_reformat reformat = { .type = type, .size = size };

	assert_null(packet_reformat_check(type, size));
	memcpy(reformat.data, data, size);
	return reformat;
}

/* ---- random tunnels ---- */

static uint8_t inner[1024], expect[2048], wrapped[FABRIC_FRAME_MAX], out[FABRIC_FRAME_MAX];

static void frames_enter_tunnels_as_in_the_model(void **state)
{
	(void)state;
	srand(1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const bool is_l3 = random_below(2), v6 = random_below(2);
		struct packet_reformat reformat;
		struct frame frame;
		struct outer outer;
		unsigned int l3;
		size_t len, total;

		outer_random(&outer, is_l3, v6);
		len = inner_random(v6, inner, &l3);
		l3 = is_l3 ? l3 : 0;
		total = model_wrap(&outer, inner + l3, len - l3, expect);
		reformat = reformat_of(is_l3 ? L3_ON : L2_ON, outer.bytes, outer.size);
		frame_parse(&frame, inner, len);
		assert_int_equal(packet_reformat_apply(&reformat, &frame, out), total);
		assert_memory_equal(out, expect, total);
	}
}

static void frames_leave_tunnels_as_they_were(void **state)
{
	uint8_t l2[18];

	(void)state;
	srand(2);
	for (unsigned int i = 0; i < sizeof(l2); i++)
		l2[i] = (uint8_t)rand();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const bool is_l3 = random_below(2), v6 = random_below(2);
		const unsigned int size = random_below(2) ? 14 : 18;
		const struct packet_reformat reformat = reformat_of(L3_OFF, l2, size);
		struct frame frame;
		struct outer outer;
		unsigned int l3;
		size_t len, total;

		outer_random(&outer, is_l3, v6);
		len = inner_random(v6, inner, &l3);
		total = model_wrap(&outer, inner + (is_l3 ? l3 : 0), len - (is_l3 ? l3 : 0),
				   wrapped);
		frame_parse(&frame, wrapped, total);
		assert_int_equal(packet_reformat_decap(&frame, out), is_l3 ? 0 : len);
		if (!is_l3)
			assert_memory_equal(out, inner, len);
		assert_int_equal(packet_reformat_apply(&reformat, &frame, out), size + len - l3);
		assert_memory_equal(out, l2, size);
		assert_memory_equal(out + size, inner + l3, len - l3);
	}
}

/* Looks for a tunnel in the first LEN bytes of the frame, to which its outer IP header agrees. */
static struct tunnel tunnel_of_cut(const struct outer *outer, const uint8_t *bytes, size_t len)
{
	/* for the address sanitizer, which sees a read behind the end */
	uint8_t *cut = malloc(len);
	struct tunnel tunnel;
	struct frame frame;

	memcpy(cut, bytes, len);
	be16(cut + outer->ip + (outer->v6 ? 4 : 2), len - outer->ip - (outer->v6 ? 40 : 0));
	if (outer->udp && len >= outer->udp + 8)
		be16(cut + outer->udp + 4, len - outer->udp);
	frame_parse(&frame, cut, len);
	tunnel = tunnel_find(&frame);
	free(cut);
	return tunnel;
}

/* Cuts the frame at each byte behind the outer IP header: only a whole header may leave the tunnel,
 * or bytes behind the frame would be read. */
static void no_header_is_read_behind_the_end(void **state)
{
	(void)state;
	srand(3);
	for (unsigned int i = 0; i < 400; i++) {
		const bool is_l3 = i % 2, v6 = random_below(2);
		const unsigned int least = !is_l3 ? 14 : v6 ? 40 : 20;
		struct outer outer;
		unsigned int l3;
		size_t len, total;

		outer_random(&outer, is_l3, v6);
		len = inner_random(v6, inner, &l3);
		total = model_wrap(&outer, inner + (is_l3 ? l3 : 0), len - (is_l3 ? l3 : 0),
				   wrapped);
		for (size_t cut = outer.ip + (outer.v6 ? 40 : 20); cut <= total; cut++) {
			const struct tunnel tunnel = tunnel_of_cut(&outer, wrapped, cut);
			const unsigned int at = cut >= outer.size + least ? outer.size : 0;

			assert_int_equal(is_l3 ? tunnel.l3 : tunnel.l2, at);
		}
	}
}

static void fragments_and_other_frames_are_in_no_tunnel(void **state)
{
	struct outer outer;
	struct frame frame;
	unsigned int l3;
	size_t len, total;

	(void)state;
	srand(4);
	len = inner_random(false, inner, &l3);
	frame_parse(&frame, inner, len);
	assert_int_equal(packet_reformat_decap(&frame, out), 0);
	do
		outer_random(&outer, false, false);
	while (outer.v6);
	outer.bytes[outer.ip + 6] = 0x20; /* more fragments */
	total = model_wrap(&outer, inner, len, wrapped);
	frame_parse(&frame, wrapped, total);
	assert_int_equal(packet_reformat_decap(&frame, out), 0);
}

static unsigned int l2_of(const uint8_t *bytes, size_t len)
{
	struct frame frame;

	frame_parse(&frame, bytes, len);
	return tunnel_find(&frame).l2;
}

static unsigned int l3_of(const uint8_t *bytes, size_t len)
{
	struct frame frame;

	frame_parse(&frame, bytes, len);
	return tunnel_find(&frame).l3;
}

/* What a tunnel carries ends where UDP does, so that length must be within the packet. */
static void udp_lengths_are_checked(void **state)
{
	unsigned int l3;
	size_t len;

	(void)state;
	srand(7);
	len = inner_random(false, inner, &l3);
	for (unsigned int i = 0; i < 100; i++) {
		struct outer outer;
		size_t total;

		do
			outer_random(&outer, false, false);
		while (!outer.udp);
		total = model_wrap(&outer, inner, len, wrapped);
		assert_int_equal(l2_of(wrapped, total), outer.size);
		be16(wrapped + outer.udp + 4, total - outer.udp + 1);
		assert_int_equal(l2_of(wrapped, total), 0);
		be16(wrapped + outer.udp + 4, outer.size - outer.udp + 14);
		assert_int_equal(l2_of(wrapped, total), outer.size);
		assert_int_equal(l3_of(wrapped, total), 0);
		be16(wrapped + outer.udp + 4, outer.size - outer.udp + 13);
		assert_int_equal(l2_of(wrapped, total), 0);
		be16(wrapped + outer.udp + 4, outer.size - outer.udp - 1);
		assert_int_equal(l2_of(wrapped, total), 0);
		be16(wrapped + outer.udp + 4, 0);
		assert_int_equal(l2_of(wrapped, total), 0);
	}
}

static void packets_of_ipv6_end_in_the_frame(void **state)
{
	unsigned int l3;
	size_t len;

	(void)state;
	srand(8);
	len = inner_random(false, inner, &l3);
	for (unsigned int i = 0; i < 100; i++) {
		struct outer outer;
		size_t total;

		do
			outer_random(&outer, false, false);
		while (!outer.v6);
		total = model_wrap(&outer, inner, len, wrapped);
		assert_int_equal(l2_of(wrapped, total), outer.size);
		be16(wrapped + outer.ip + 4, total - outer.ip - 40 + 1);
		assert_int_equal(l2_of(wrapped, total), 0);
	}
}

/* Headers without IP, with IP cut off, and of odd length come as they are. */
static void headers_without_ip_come_as_they_are(void **state)
{
	uint8_t data[PACKET_REFORMAT_MAX];
	struct frame frame;
	unsigned int l3;
	size_t len;

	(void)state;
	srand(5);
	len = inner_random(false, inner, &l3);
	frame_parse(&frame, inner, len);
	for (unsigned int size = 14; size <= sizeof(data); size++) {
		struct packet_reformat reformat;

		for (unsigned int i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)rand();
		be16(data + 12, size < 34 ? 0x0800 : 0x88b5);
		reformat = reformat_of(L2_ON, data, size);
		assert_int_equal(packet_reformat_apply(&reformat, &frame, out), size + len);
		assert_memory_equal(out, data, size);
		assert_memory_equal(out + size, inner, len);
	}
}

static void frames_do_not_outgrow_the_buffer(void **state)
{
	const uint8_t data[PACKET_REFORMAT_MAX] = { 0 };
	const struct packet_reformat reformat = reformat_of(L2_ON, data, sizeof(data));
	struct frame frame;

	(void)state;
	memset(wrapped, 0, sizeof(wrapped));
	frame_parse(&frame, wrapped, FABRIC_FRAME_MAX - sizeof(data));
	assert_int_equal(packet_reformat_apply(&reformat, &frame, out), FABRIC_FRAME_MAX);
	frame_parse(&frame, wrapped, FABRIC_FRAME_MAX - sizeof(data) + 1);
	assert_int_equal(packet_reformat_apply(&reformat, &frame, out), 0);
}

static void frames_without_an_ethernet_header_keep_none(void **state)
{
	const uint8_t data[PACKET_REFORMAT_MAX] = { 0 };
	const struct packet_reformat reformat = reformat_of(L3_ON, data, sizeof(data));
	struct frame frame;

	(void)state;
	for (size_t len = 0; len < 14; len++) {
		frame_parse(&frame, inner, len);
		assert_int_equal(packet_reformat_apply(&reformat, &frame, out), 0);
	}
	frame_parse(&frame, inner, 14);
	assert_int_equal(packet_reformat_apply(&reformat, &frame, out), sizeof(data));
}

/* ---- in flow tables ---- */

static struct eth_sq_rig *sq;
static struct eth_rq_rig *rq[2];
static struct outer vxlan;

static int open_flows(void **state)
{
	eth_open_pair(state, &sq, rq);
	srand(6);
	vxlan = (struct outer){ .v6 = false };
	append(&vxlan, 12)[0] = 2;
	be16(append(&vxlan, 2), 0x0800);
	append_ip(&vxlan, 17);
	append_udp(&vxlan, 4789);
	append(&vxlan, 8);
	return 0;
}

static int close_flows(void **state)
{
	return eth_close_pair(state, sq, rq);
}

static uint32_t reformat_alloc(int hca, uint32_t type, uint32_t size, uint32_t bytes,
			       enum prm_status expect_status)
{
	uint8_t in[256] = { 0 }, answer[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	fld_set(in, ALLOC_REFORMAT_IN_TYPE, type);
	fld_set(in, ALLOC_REFORMAT_IN_DATA_SIZE, size);
	memcpy(fld_at(in, ALLOC_REFORMAT_IN_DATA), vxlan.bytes, size < 128 ? size : 128);
	flat_cmd_expect(flat.hca[hca], in, 34 + bytes, answer, sizeof(answer), expect_status);
	return (uint32_t)fld_get(answer, ALLOC_REFORMAT_OUT_ID);
}

static uint32_t reformat_new(int hca, uint32_t type, uint32_t size)
{
	return reformat_alloc(hca, type, size, size, PRM_STAT_OK);
}

static void reformat_end(int hca, uint32_t reformat, enum prm_status status)
{
	flat_simple(flat.hca[hca], PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, reformat, status);
}

static uint32_t table_of(int hca, uint32_t level, struct eth_entry entry)
{
	entry.table = eth_tunnel_table(hca, entry.type, level);
	entry.group = eth_group(hca, entry.type, entry.table, 0, 0, NULL, PRM_STAT_OK);
	eth_set(hca, &entry, PRM_STAT_OK);
	return entry.table;
}

static const struct eth_flow plain = {
	.protocol = 17, .src = 1, .dst = 2, .sport = 7, .dport = 1000, .payload = 40
};

static void received_is(unsigned int queue, const uint8_t *bytes, size_t len)
{
	const uint8_t *cqe, *got = eth_receive(rq[queue], &cqe);

	assert_non_null(got);
	assert_memory_equal(got, bytes, len);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT), len);
}

/* A frame enters a tunnel as it leaves one adapter, and leaves it in the other. */
static void tunnels_are_between_adapters(void **state)
{
	const uint32_t on = reformat_new(0, L2_ON, vxlan.size);
	struct eth_entry in = { .type = TX,
				.action = PRM_FLOW_ALLOW | PRM_FLOW_PACKET_REFORMAT,
				.reformat = on };
	struct eth_entry off = { .action = PRM_FLOW_FWD | PRM_FLOW_DECAP, .to_tir = rq[0]->tir };
	size_t len = eth_build(&plain, inner), total = model_wrap(&vxlan, inner, len, expect);

	(void)state;
	eth_root(0, TX, table_of(0, 0, in));
	eth_catch_all(1, rq[1]->tir);
	eth_send(sq, inner, (uint32_t)len);
	received_is(1, expect, total);
	eth_root(1, RX, table_of(1, 0, off));
	eth_send(sq, inner, (uint32_t)len);
	received_is(0, inner, len);
	reformat_end(0, on, PRM_STAT_BAD_RES_STATE_ERR);
	eth_root(0, TX, table_of(0, 1, (struct eth_entry){ .type = TX, .action = PRM_FLOW_ALLOW }));
	eth_send(sq, inner, (uint32_t)len);
	assert_null(eth_receive(rq[0], NULL)); /* in no tunnel */
}

static uint32_t tir_of_tunnels(enum prm_status status)
{
	uint8_t in[32 + PRM_TIRC_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX);

	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, eth_td(1));
	fld_set(tirc, TIRC_INLINE_RQN, rq[0]->n);
	fld_set(tirc, TIRC_TUNNELED_OFFLOAD_EN, 1);
	return eth_cmd(1, PRM_OP_CREATE_TIR, in, sizeof(in), status);
}

/* DPDK leads frames that leave tunnels to TIRs that ask for offloads of tunnels. There are none, so
 * these are as others: checksums and hashes are those of the first headers. */
static void tirs_of_tunnels_are_as_others(void **state)
{
	struct eth_entry off = { .action = PRM_FLOW_FWD | PRM_FLOW_DECAP };
	size_t len = eth_build(&plain, inner), total = model_wrap(&vxlan, inner, len, wrapped);

	(void)state;
	off.to_tir = tir_of_tunnels(PRM_STAT_OK);
	eth_root(1, RX, table_of(1, 0, off));
	eth_send(sq, wrapped, (uint32_t)total);
	received_is(0, inner, len);
}

static void tirs_do_not_hash_inner_headers(void **state)
{
	uint8_t in[32 + PRM_TIRC_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX);
	uint8_t *selector = fld_at(tirc, TIRC_RX_HASH_FIELD_SELECTOR_INNER);

	(void)state;
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, eth_td(1));
	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_INDIRECT);
	fld_set(tirc, TIRC_INDIRECT_TABLE, eth_rqt(1, &rq[0]->n, 1, PRM_STAT_OK));
	fld_set(tirc, TIRC_RX_HASH_FN, PRM_RX_HASH_TOEPLITZ);
	fld_set(tirc, TIRC_TUNNELED_OFFLOAD_EN, 1);
	fld_set(selector, RX_HASH_SELECTED_FIELDS, PRM_HASH_SRC_IP);
	eth_cmd(1, PRM_OP_CREATE_TIR, in, sizeof(in), PRM_STAT_BAD_PARAM_ERR);
	fld_set(selector, RX_HASH_SELECTED_FIELDS, 0);
	eth_cmd(1, PRM_OP_CREATE_TIR, in, sizeof(in), PRM_STAT_OK);
}

/* Tables behind see the inner frame; the entry's other destinations as well. */
static void later_tables_see_the_inner_frame(void **state)
{
	uint8_t mask[PRM_MATCH_SET_SIZE] = { 0 }, value[PRM_MATCH_SET_SIZE] = { 0 };
	struct eth_entry last = { .action = PRM_FLOW_FWD, .to_tir = rq[0]->tir, .value = value };
	struct eth_entry root = { .action = PRM_FLOW_FWD | PRM_FLOW_DECAP, .also_tir = rq[1]->tir };
	size_t len = eth_build(&plain, inner), total = model_wrap(&vxlan, inner, len, wrapped);

	(void)state;
	fld_set(mask, LYR_2_4_UDP_DPORT, 0xffff);
	fld_set(value, LYR_2_4_UDP_DPORT, 1000);
	last.table = root.to_table = eth_table(1, RX, 1, 0, PRM_STAT_OK);
	last.group = eth_group(1, RX, last.table, 0, 0, mask, PRM_STAT_OK);
	eth_set(1, &last, PRM_STAT_OK);
	eth_root(1, RX, table_of(1, 0, root));
	eth_send(sq, wrapped, (uint32_t)total);
	received_is(0, inner, len);
	received_is(1, inner, len);
}

/* Padding comes behind a tunnel that a short frame enters, not into it: the inner frame would have
 * wrong lengths. */
static void short_frames_are_padded_behind_the_tunnel(void **state)
{
	const struct eth_flow small = { .protocol = 17, .src = 1, .dst = 2, .payload = 1 };
	struct eth_entry in = { .type = TX,
				.action = PRM_FLOW_ALLOW | PRM_FLOW_PACKET_REFORMAT,
				.reformat = reformat_new(0, L2_ON, vxlan.size) };
	size_t len = eth_build(&small, inner), total = model_wrap(&vxlan, inner, len, expect);

	(void)state;
	assert_in_range(len, 42, 59);
	eth_catch_all(1, rq[0]->tir);
	memcpy(wrapped, inner, len);
	memset(wrapped + len, 0, 60 - len);
	eth_send(sq, inner, (uint32_t)len);
	received_is(0, wrapped, 60);
	eth_root(0, TX, table_of(0, 0, in));
	eth_send(sq, inner, (uint32_t)len);
	received_is(0, expect, total);
}

/* The port's longest frame does not fit a tunnel. It is discarded, not cut, as a receiver could not
 * tell a cut frame. */
static void too_long_frames_are_discarded(void **state)
{
	const struct port *port = &flat.hca[0]->port[0];
	const uint64_t before = port->sent.discards;
	struct eth_entry in = { .type = TX,
				.action = PRM_FLOW_ALLOW | PRM_FLOW_PACKET_REFORMAT,
				.reformat = reformat_new(0, L2_ON, vxlan.size) };
	const uint32_t most = port->mtu - FRAME_FCS_LEN;

	(void)state;
	assert_true(most < sizeof(wrapped) / 2);
	memset(wrapped, 0, sizeof(wrapped));
	wrapped[0] = 2;
	eth_root(0, TX, table_of(0, 0, in));
	eth_catch_all(1, rq[0]->tir);
	eth_send(sq, wrapped, most - vxlan.size);
	assert_non_null(eth_receive(rq[0], NULL));
	assert_int_equal(port->sent.discards, before);
	eth_send(sq, wrapped, most - vxlan.size + 1);
	assert_null(eth_receive(rq[0], NULL));
	assert_int_equal(port->sent.discards, before + 1);
}

/* ---- refusals ---- */

static void entries_need_tables_and_headers_that_fit(void **state)
{
	const uint32_t on = reformat_new(1, L2_ON, 50), off = reformat_new(1, L3_OFF, 14);
	struct eth_entry entry = { .action = PRM_FLOW_FWD | PRM_FLOW_PACKET_REFORMAT,
				   .to_tir = rq[0]->tir,
				   .reformat = off };

	(void)state;
	entry.table = eth_table(1, RX, 0, 0, PRM_STAT_OK);
	entry.group = eth_group(1, RX, entry.table, 0, 0, NULL, PRM_STAT_OK);
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR); /* reformat_en is not set */
	entry.action = PRM_FLOW_FWD | PRM_FLOW_DECAP;
	entry.reformat = 0;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR); /* decap_en is not set */
	entry.table = eth_tunnel_table(1, RX, 0);
	entry.group = eth_group(1, RX, entry.table, 0, 0, NULL, PRM_STAT_OK);
	eth_set(1, &entry, PRM_STAT_OK);
	eth_delete(1, RX, entry.table, 0, PRM_STAT_OK);
	entry.reformat = off;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR); /* headers, but no such action */
	entry.action |= PRM_FLOW_PACKET_REFORMAT;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR); /* both */
	entry.action = PRM_FLOW_FWD | PRM_FLOW_PACKET_REFORMAT;
	entry.reformat = on;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR); /* into a tunnel on receive */
	entry.reformat = 0;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR);
	entry.reformat = off;
	eth_set(1, &entry, PRM_STAT_OK);
	reformat_end(1, off, PRM_STAT_BAD_RES_STATE_ERR);
	eth_delete(1, RX, entry.table, 0, PRM_STAT_OK);
	reformat_end(1, off, PRM_STAT_OK);
	reformat_end(1, off, PRM_STAT_BAD_RES_ERR);
	reformat_end(1, on, PRM_STAT_OK);
}

static void table_refused(uint32_t type, bool reformat, bool decap)
{
	uint8_t in[64] = { 0 }, *ctx = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	fld_set(in, CREATE_FLOW_TABLE_IN_TABLE_TYPE, type);
	fld_set(ctx, FLOW_TABLE_CONTEXT_LOG_SIZE, 4);
	fld_set(ctx, FLOW_TABLE_CONTEXT_REFORMAT_EN, reformat);
	fld_set(ctx, FLOW_TABLE_CONTEXT_DECAP_EN, decap);
	eth_cmd(1, PRM_OP_CREATE_FLOW_TABLE, in, sizeof(in), PRM_STAT_BAD_PARAM_ERR);
}

static void commands_are_checked(void **state)
{
	static const struct {
		uint32_t type, size, bytes;
		enum prm_status status;
	} cases[] = {
		{ L2_ON, 14, 14, PRM_STAT_OK },
		{ L2_ON, 15, 15, PRM_STAT_OK },
		{ L2_ON, 128, 128, PRM_STAT_OK },
		{ L2_ON, 0, 14, PRM_STAT_BAD_PARAM_ERR },
		{ L2_ON, 1, 14, PRM_STAT_BAD_PARAM_ERR },
		{ L2_ON, 13, 13, PRM_STAT_BAD_PARAM_ERR },
		{ L2_ON, 129, 129, PRM_STAT_BAD_PARAM_ERR },
		{ L2_ON, 128, 127, PRM_STAT_BAD_INP_LEN_ERR },
		{ L2_ON, 1023, 129, PRM_STAT_BAD_INP_LEN_ERR },
		{ L3_ON, 14, 14, PRM_STAT_OK },
		{ L3_ON, 128, 128, PRM_STAT_OK },
		{ L3_ON, 129, 129, PRM_STAT_BAD_PARAM_ERR },
		{ L3_OFF, 14, 14, PRM_STAT_OK },
		{ L3_OFF, 18, 18, PRM_STAT_OK },
		{ L3_OFF, 13, 13, PRM_STAT_BAD_PARAM_ERR },
		{ L3_OFF, 16, 16, PRM_STAT_BAD_PARAM_ERR },
		{ L3_OFF, 22, 22, PRM_STAT_BAD_PARAM_ERR },
		{ 0, 14, 14, PRM_STAT_BAD_PARAM_ERR },
		{ 1, 14, 14, PRM_STAT_BAD_PARAM_ERR },
		{ 5, 14, 14, PRM_STAT_BAD_PARAM_ERR },
		{ 0xff, 14, 14, PRM_STAT_BAD_PARAM_ERR },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		reformat_alloc(1, cases[i].type, cases[i].size, cases[i].bytes, cases[i].status);
	table_refused(TX, false, true);
	table_refused(PRM_FLOW_SNIFFER_TX, true, false);
}

static void there_are_as_many_as_announced(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 1 << PACKET_REFORMAT_LOG; i++)
		reformat_new(1, L2_ON, 50);
	reformat_alloc(1, L2_ON, 50, 50, PRM_STAT_LIM_ERR);
}

/* What the device announces of tunnels, to programs and to a kernel driver */
static void announced(bool expected)
{
	static uint8_t caps[16 + PRM_HCA_CAP_SIZE];
	const uint8_t *page = fld_at(caps, QUERY_HCA_CAP_OUT_CAPABILITY);
	const uint8_t *receive = fld_at(page, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	const uint8_t *transmit = fld_at(page, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, PRM_CAP_FLOW_TABLE << 1 | 1);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), caps, sizeof(caps), PRM_STAT_OK);
	assert_int_equal(fld_get(page, FLOW_NIC_CAP_ENCAP_GENERAL_HEADER), expected);
	assert_int_equal(fld_get(page, FLOW_NIC_CAP_LOG_MAX_PACKET_REFORMAT_CONTEXT),
			 expected ? 10 : 0);
	assert_int_equal(fld_get(page, FLOW_NIC_CAP_MAX_ENCAP_HEADER_SIZE), expected ? 128 : 0);
	assert_int_equal(fld_get(receive, FT_PROP_REFORMAT), expected);
	assert_int_equal(fld_get(receive, FT_PROP_DECAP), expected);
	assert_int_equal(fld_get(receive, FT_PROP_REFORMAT_L3_TUNNEL_TO_L2), expected);
	assert_int_equal(fld_get(receive, FT_PROP_REFORMAT_AND_MODIFY_ACTION), expected);
	assert_int_equal(fld_get(receive, FT_PROP_REFORMAT_L2_TO_L3_TUNNEL), 0);
	assert_int_equal(fld_get(transmit, FT_PROP_REFORMAT), expected);
	assert_int_equal(fld_get(transmit, FT_PROP_REFORMAT_L2_TO_L3_TUNNEL), expected);
	assert_int_equal(fld_get(transmit, FT_PROP_REFORMAT_AND_MODIFY_ACTION), expected);
	assert_int_equal(fld_get(transmit, FT_PROP_DECAP), 0);
	assert_int_equal(fld_get(transmit, FT_PROP_REFORMAT_L3_TUNNEL_TO_L2), 0);
}

static void tunnels_are_announced_to_programs_only(void **state)
{
	(void)state;
	announced(true);
	flat.hca[1]->config.kernel_driver = true;
	announced(false);
	reformat_alloc(1, L2_ON, 50, 50, PRM_STAT_BAD_PARAM_ERR);
	table_refused(RX, true, false);
	table_refused(RX, false, true);
	table_refused(TX, true, false);
	tir_of_tunnels(PRM_STAT_BAD_PARAM_ERR);
	flat.hca[1]->config.kernel_driver = false;
}

#define FLOWS(test) cmocka_unit_test_setup_teardown(test, open_flows, close_flows)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_enter_tunnels_as_in_the_model),
		cmocka_unit_test(frames_leave_tunnels_as_they_were),
		cmocka_unit_test(no_header_is_read_behind_the_end),
		cmocka_unit_test(fragments_and_other_frames_are_in_no_tunnel),
		cmocka_unit_test(udp_lengths_are_checked),
		cmocka_unit_test(packets_of_ipv6_end_in_the_frame),
		cmocka_unit_test(headers_without_ip_come_as_they_are),
		cmocka_unit_test(frames_do_not_outgrow_the_buffer),
		cmocka_unit_test(frames_without_an_ethernet_header_keep_none),
		FLOWS(tunnels_are_between_adapters),
		FLOWS(tirs_of_tunnels_are_as_others),
		FLOWS(tirs_do_not_hash_inner_headers),
		FLOWS(later_tables_see_the_inner_frame),
		FLOWS(short_frames_are_padded_behind_the_tunnel),
		FLOWS(too_long_frames_are_discarded),
		FLOWS(entries_need_tables_and_headers_that_fit),
		FLOWS(commands_are_checked),
		FLOWS(there_are_as_many_as_announced),
		FLOWS(tunnels_are_announced_to_programs_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
