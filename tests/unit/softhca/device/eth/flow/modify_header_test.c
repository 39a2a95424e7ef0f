/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_header_test.c - lists of header changes: random lists on random frames, compared with a
 * model that counts bits and sums whole frames; lists in flow tables; commands that the device
 * refuses.
 *
 * Covers: softhca/device/eth/flow/modify_header.c, softhca/device/eth/frame.c,
 * softhca/device/eth/frame_copy.c, softhca/device/eth/flow/flow_match.c,
 * softhca/device/format/mlx5/cmd/flow/modify_header.c
 */
#include "eth_rig.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/modify_header.h"
#include "softhca/device/eth/eth.h"
#include "util/bits.h"

enum { RX = PRM_FLOW_NIC_RX, TX = PRM_FLOW_NIC_TX, ROUNDS = 5000 };

enum part { L2, TYPE, TAG, V4, V6, TCP, UDP, PARTS };

static const struct {
	uint32_t number;
	enum part part;
	unsigned int bit, width; /* bits from the start of the part */
} model[] = {
	{ 0x1, L2, 48, 32 },   { 0x2, L2, 80, 16 },   { 0x3, TYPE, 0, 16 },  { 0x4, L2, 0, 32 },
	{ 0x5, L2, 32, 16 },   { 0x6, V4, 8, 6 },     { 0x6, V6, 4, 6 },     { 0x7, TCP, 103, 9 },
	{ 0x8, TCP, 0, 16 },   { 0x9, TCP, 16, 16 },  { 0xa, V4, 64, 8 },    { 0xb, UDP, 0, 16 },
	{ 0xc, UDP, 16, 16 },  { 0xd, V6, 64, 32 },   { 0xe, V6, 96, 32 },   { 0xf, V6, 128, 32 },
	{ 0x10, V6, 160, 32 }, { 0x11, V6, 192, 32 }, { 0x12, V6, 224, 32 }, { 0x13, V6, 256, 32 },
	{ 0x14, V6, 288, 32 }, { 0x15, V4, 96, 32 },  { 0x16, V4, 128, 32 }, { 0x17, TAG, 4, 12 },
	{ 0x47, V6, 56, 8 },   { 0x59, TCP, 32, 32 }, { 0x5b, TCP, 64, 32 },
};

/* A frame that the test has built, with the offsets of its parts; offset 0 means that a part is
 * absent. */
struct made {
	uint8_t bytes[256];
	unsigned int at[PARTS];
	unsigned int len, l3, l4, sum; /* offsets; SUM: of the L4 checksum, 0 if none */
};

static uint32_t bits_get(const uint8_t *bytes, unsigned int bit, unsigned int width)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < width; i++)
		value = value << 1 | (bytes[(bit + i) / 8] >> (7 - (bit + i) % 8) & 1);
	return value;
}

static void bits_put(uint8_t *bytes, unsigned int bit, unsigned int width, uint32_t value)
{
	for (unsigned int i = 0; i < width; i++) {
		const uint8_t mask = (uint8_t)(0x80 >> (bit + i) % 8);

		bytes[(bit + i) / 8] &= (uint8_t)~mask;
		if (value >> (width - 1 - i) & 1)
			bytes[(bit + i) / 8] |= mask;
	}
}

static uint32_t words_sum(const uint8_t *bytes, unsigned int len)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Sums L4 with its pseudo header and its checksum: 0xffff means that the checksum is right. */
static uint16_t whole_sum(const struct made *made)
{
	const unsigned int addresses = made->at[V4] ? 8 : 32;
	const unsigned int len = made->len - made->l4;

	return folded(words_sum(made->bytes + made->l3 + (made->at[V4] ? 12 : 8), addresses) + len +
		      (made->at[TCP] ? 6 : 17) + words_sum(made->bytes + made->l4, len));
}

/* Computes the checksums anew; NO_L4 leaves UDP without one. */
static void sums_put(struct made *made, bool no_l4)
{
	uint16_t sum;

	if (made->at[V4]) {
		bits_put(made->bytes, 8 * (made->l3 + 10), 16, 0);
		bits_put(made->bytes, 8 * (made->l3 + 10), 16,
			 0xffff & ~folded(words_sum(made->bytes + made->l3, 20)));
	}
	if (!made->sum)
		return;
	bits_put(made->bytes, 8 * made->sum, 16, 0);
	if (no_l4)
		return;
	sum = (uint16_t)~whole_sum(made);
	bits_put(made->bytes, 8 * made->sum, 16, !sum && made->at[UDP] ? 0xffff : sum);
}

static void l3_put(struct made *made, bool v6, uint8_t protocol, unsigned int payload)
{
	uint8_t *ip = made->bytes + made->l3;

	if (v6) {
		ip[0] = (uint8_t)(6 << 4 | (ip[0] & 15));
		bits_put(ip, 32, 16, payload);
		ip[6] = protocol;
		made->l4 = made->l3 + 40;
	} else {
		ip[0] = 0x45;
		bits_put(ip, 16, 16, 20 + payload);
		bits_put(ip, 48, 16, 0x4000); /* do not fragment */
		ip[9] = protocol;
		made->l4 = made->l3 + 20;
	}
	made->at[v6 ? V6 : V4] = made->l3;
	made->len = made->l4 + payload;
}

/* Makes a frame of random bytes with random headers: none to two tags, then no IP, or IP with TCP,
 * UDP or another protocol. */
static void made_random(struct made *made)
{
	static const uint8_t protocols[] = { 6, 17, 50 };
	const unsigned int kind = (unsigned int)rand() % 7, tags = (unsigned int)rand() % 3;
	const unsigned int payload = 20 + (unsigned int)rand() % 40;

	memset(made, 0, sizeof(*made));
	for (unsigned int i = 0; i < sizeof(made->bytes); i++)
		made->bytes[i] = (uint8_t)rand();
	for (unsigned int i = 0; i < tags; i++)
		bits_put(made->bytes, 8 * (12 + 4 * i), 16, i ? 0x8100 : 0x88a8);
	made->at[TYPE] = 12 + 4 * tags;
	made->at[TAG] = tags ? 14 : 0;
	made->l3 = made->at[TYPE] + 2;
	made->len = made->l3 + payload;
	bits_put(made->bytes, 8 * made->at[TYPE], 16,
		 kind == 6  ? 0x88b5
		 : kind % 2 ? 0x86dd
			    : 0x0800);
	if (kind == 6)
		return;
	l3_put(made, kind % 2, protocols[kind / 2], payload);
	if (kind / 2 == 0)
		made->at[TCP] = made->l4;
	if (kind / 2 == 1)
		made->at[UDP] = made->l4;
	made->sum = kind / 2 == 0 ? made->l4 + 16 : kind / 2 == 1 ? made->l4 + 6 : 0;
}

/* Returns the first bit of the field in the frame, or -1 if the frame lacks the field. */
static int model_find(const struct made *made, uint32_t number, unsigned int *width)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(model); i++) {
		if (model[i].number != number)
			continue;
		*width = model[i].width;
		if (model[i].part == L2 || made->at[model[i].part])
			return (int)(8 * made->at[model[i].part] + model[i].bit);
	}
	return -1;
}

struct action {
	uint32_t type, field, offset, length, data, to, to_offset;
};

static void model_act(struct made *made, const struct action *action)
{
	unsigned int width, to_width;
	int bit = model_find(made, action->field, &width), to;
	uint32_t value;

	if (bit < 0)
		return;
	value = bits_get(made->bytes, (unsigned int)bit, width);
	if (action->type == PRM_HEADER_SET) {
		bits_put(made->bytes, (unsigned int)bit + width - action->offset - action->length,
			 action->length, action->data);
	} else if (action->type == PRM_HEADER_ADD) {
		bits_put(made->bytes, (unsigned int)bit, width, value + action->data);
	} else {
		to = model_find(made, action->to, &to_width);
		if (to >= 0)
			bits_put(made->bytes,
				 (unsigned int)to + to_width - action->to_offset - action->length,
				 action->length, value >> action->offset);
	}
}

static void action_write(const struct action *action, uint8_t raw[PRM_HEADER_ACTION_SIZE])
{
	bits_put(raw, 0, 4, action->type);
	bits_put(raw, 4, 12, action->field);
	bits_put(raw, 16, 32, 0);
	bits_put(raw, 48, 16, 0);
	if (action->type == PRM_HEADER_ADD) {
		bits_put(raw, 32, 32, action->data);
		return;
	}
	bits_put(raw, 19, 5, action->offset);
	bits_put(raw, 27, 5, action->length);
	if (action->type == PRM_HEADER_SET) {
		bits_put(raw, 32, 32, action->data);
	} else {
		bits_put(raw, 36, 12, action->to);
		bits_put(raw, 51, 5, action->to_offset);
	}
}

static unsigned int smaller_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static struct action action_random(void)
{
	static const uint32_t add[] = { 0xa, 0x47, 0x59, 0x5b };
	const unsigned int from = (unsigned int)rand() % ARRAY_SIZE(model);
	const unsigned int to = (unsigned int)rand() % ARRAY_SIZE(model);
	struct action action = { .type = 1 + (uint32_t)rand() % 3,
				 .field = model[from].number,
				 .to = model[to].number,
				 .data = (uint32_t)rand() << 8 ^ (uint32_t)rand() };
	unsigned int room = model[from].width;

	if (action.type == PRM_HEADER_ADD)
		action.field = add[(unsigned int)rand() % ARRAY_SIZE(add)];
	if (action.type == PRM_HEADER_COPY)
		room = smaller_of(room, model[to].width);
	action.length = 1 + (uint32_t)rand() % room;
	action.offset = (uint32_t)rand() % (model[from].width - action.length + 1);
	if (action.type == PRM_HEADER_COPY)
		action.to_offset = (uint32_t)rand() % (model[to].width - action.length + 1);
	return action;
}

static uint8_t registers[40]; /* no action is on these */

static void list_random(struct modify_header *list, struct made *made)
{
	list->count = 1 + (unsigned int)rand() % MODIFY_HEADER_MAX;
	for (unsigned int i = 0; i < list->count; i++) {
		const struct action action = action_random();

		action_write(&action, list->action[i]);
		assert_null(modify_header_check(list->action[i]));
		model_act(made, &action);
	}
}

static void lists_change_what_the_model_changes(void **state)
{
	(void)state;
	srand(1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const bool no_l4 = i % 4 == 0;
		struct modify_header list;
		uint8_t changed[256];
		struct frame frame;
		struct made made, before;

		made_random(&made);
		sums_put(&made, no_l4 && made.at[UDP]);
		before = made;
		frame_parse(&frame, before.bytes, before.len);
		memcpy(changed, before.bytes, sizeof(changed));
		list_random(&list, &made);
		sums_put(&made, no_l4 && made.at[UDP]);
		modify_header_apply(&list, &frame, changed, registers);
		assert_memory_equal(changed, made.bytes, sizeof(changed));
	}
}

/* Sweeps 16 bits of the source address, so that some checksums become zero: IPv4 and TCP send 0,
 * UDP sends all ones, since 0 means "no checksum" there. */
static void sums_of_zero_are_written_as_the_protocol_says(void **state)
{
	struct action action = { PRM_HEADER_SET, PRM_HEADER_SIPV4, 0, 16, 0, 0, 0 };
	struct modify_header list = { .count = 1 };

	(void)state;
	srand(3);
	for (unsigned int udp = 0; udp < 2; udp++) {
		struct made made, before;
		struct frame frame;

		do
			made_random(&made);
		while (!made.at[V4] || !made.at[udp ? UDP : TCP]);
		sums_put(&made, false);
		before = made;
		frame_parse(&frame, before.bytes, before.len);
		for (action.data = 0; action.data <= UINT16_MAX; action.data++) {
			uint8_t changed[256];

			memcpy(changed, before.bytes, sizeof(changed));
			action_write(&action, list.action[0]);
			model_act(&made, &action);
			sums_put(&made, false);
			modify_header_apply(&list, &frame, changed, registers);
			assert_memory_equal(changed, made.bytes, sizeof(changed));
		}
	}
}

/* Header changes update a checksum by the difference, so a wrong one stays wrong by the same
 * amount. */
static void wrong_sums_stay_wrong(void **state)
{
	unsigned int seen = 0;

	(void)state;
	srand(2);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct modify_header list;
		struct made made, model_made;
		struct frame frame;
		uint8_t before[256];
		uint16_t wrong;

		made_random(&made);
		if (!made.sum)
			continue;
		sums_put(&made, false);
		bits_put(made.bytes, 8 * made.sum, 16, 1 + (uint32_t)rand() % 0xfffe);
		wrong = whole_sum(&made);
		memcpy(before, made.bytes, sizeof(before));
		frame_parse(&frame, before, made.len);
		model_made = made;
		list_random(&list, &model_made);
		modify_header_apply(&list, &frame, made.bytes, registers);
		assert_int_equal(whole_sum(&made) % 0xffff, wrong % 0xffff);
		seen += wrong != 0xffff;
	}
	assert_true(seen > ROUNDS / 4);
}

static struct eth_sq_rig *sq;
static struct eth_rq_rig *rq[2];
static uint8_t sent[4096];

static int open_flows(void **state)
{
	eth_open_pair(state, &sq, rq);
	return 0;
}

static int close_flows(void **state)
{
	return eth_close_pair(state, sq, rq);
}

/* Makes a list of one action: PORT as the UDP port of the destination. */
static uint32_t port_list_as(int hca, uint32_t type, uint16_t port, enum prm_status expect)
{
	const struct action action = { PRM_HEADER_SET, PRM_HEADER_UDP_DPORT, 0, 16, port, 0, 0 };
	uint8_t in[PRM_CMD_IN_SIZE + PRM_HEADER_ACTION_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	fld_set(in, ALLOC_MODIFY_HEADER_IN_TABLE_TYPE, type);
	fld_set(in, ALLOC_MODIFY_HEADER_IN_NUM_OF_ACTIONS, 1);
	action_write(&action, fld_at(in, ALLOC_MODIFY_HEADER_IN_ACTIONS));
	flat_cmd_expect(flat.hca[hca], in, sizeof(in), out, sizeof(out), expect);
	return (uint32_t)fld_get(out, ALLOC_MODIFY_HEADER_OUT_ID);
}

static uint32_t port_list(int hca, uint32_t type, uint16_t port)
{
	return port_list_as(hca, type, port, PRM_STAT_OK);
}

static void list_end(int hca, uint32_t list, enum prm_status expect)
{
	flat_simple(flat.hca[hca], PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, list, expect);
}

static void udp_send(uint16_t port)
{
	const struct eth_flow flow = {
		.protocol = 17, .src = 1, .dst = 2, .dport = port, .payload = 40
	};

	eth_send(sq, sent, eth_build(&flow, sent));
}

/* Returns the UDP port of the next frame of a queue, or 0; fails if the frame's checksums are
 * wrong. */
static uint32_t port_received(unsigned int queue)
{
	const uint8_t *bytes = eth_receive(rq[queue], NULL);
	struct frame frame;

	if (!bytes)
		return 0;
	frame_parse(&frame, bytes, 14 + 20 + 8 + 40);
	assert_true(frame_l3_ok(&frame) && frame_l4_ok(&frame));
	return (uint32_t)fld_get(bytes + frame.l4, L4_DESTINATION_PORT);
}

static void port_match(uint8_t set[PRM_MATCH_SET_SIZE], uint16_t port)
{
	memset(set, 0, PRM_MATCH_SET_SIZE);
	fld_set(set, LYR_2_4_UDP_DPORT, port);
}

static uint32_t table_for(uint32_t level, uint16_t port, struct eth_entry entry)
{
	uint8_t mask[PRM_MATCH_SET_SIZE], value[PRM_MATCH_SET_SIZE];

	port_match(mask, 0xffff);
	port_match(value, port);
	entry.table = eth_table(1, RX, level, 0, PRM_STAT_OK);
	entry.group = eth_group(1, RX, entry.table, 0, 0, mask, PRM_STAT_OK);
	entry.value = value;
	eth_set(1, &entry, PRM_STAT_OK);
	return entry.table;
}

/* Tables that an entry leads to see its changes; the entry's other destinations do not see changes
 * of those tables. */
static void later_tables_see_the_change(void **state)
{
	const uint32_t first = port_list(1, RX, 2000), second = port_list(1, RX, 3000);
	struct eth_entry last = { .action = PRM_FLOW_FWD | PRM_FLOW_MODIFY_HEADER,
				  .to_tir = rq[0]->tir,
				  .change = second };
	struct eth_entry root = { .action = PRM_FLOW_FWD | PRM_FLOW_MODIFY_HEADER,
				  .change = first,
				  .also_tir = rq[1]->tir };

	(void)state;
	root.to_table = table_for(1, 2000, last);
	eth_root(1, RX, table_for(0, 1000, root));
	udp_send(1000);
	assert_int_equal(port_received(0), 3000);
	assert_int_equal(port_received(1), 2000);
	udp_send(2000);
	assert_int_equal(port_received(0), 0);
	list_end(1, first, PRM_STAT_BAD_RES_STATE_ERR);
}

static void sent_frames_are_changed(void **state)
{
	struct eth_entry entry = { .type = TX,
				   .action = PRM_FLOW_ALLOW | PRM_FLOW_MODIFY_HEADER,
				   .change = port_list(0, TX, 4000) };

	(void)state;
	eth_catch_all(1, rq[0]->tir);
	entry.table = eth_table(0, TX, 0, 0, PRM_STAT_OK);
	entry.group = eth_group(0, TX, entry.table, 0, 0, NULL, PRM_STAT_OK);
	eth_set(0, &entry, PRM_STAT_OK);
	eth_root(0, TX, entry.table);
	udp_send(1000);
	assert_int_equal(port_received(0), 4000);
	eth_delete(0, TX, entry.table, 0, PRM_STAT_OK);
	udp_send(1000);
	assert_int_equal(port_received(0), 1000);
	list_end(0, entry.change, PRM_STAT_OK);
	list_end(0, entry.change, PRM_STAT_BAD_RES_ERR);
}

static void entries_need_the_list_they_name(void **state)
{
	const uint32_t list = port_list(1, TX, 1);
	struct eth_entry entry = { .action = PRM_FLOW_FWD | PRM_FLOW_MODIFY_HEADER,
				   .to_tir = rq[0]->tir,
				   .change = list };

	(void)state;
	entry.table = eth_table(1, RX, 0, 0, PRM_STAT_OK);
	entry.group = eth_group(1, RX, entry.table, 0, 0, NULL, PRM_STAT_OK);
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR);
	entry.change = 0;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR);
	entry.action = PRM_FLOW_FWD;
	entry.change = port_list(1, RX, 1);
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR);
	entry.action = PRM_FLOW_MODIFY_HEADER;
	entry.to_tir = 0;
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR);
	list_end(1, list, PRM_STAT_OK);
}

static void lists_are_checked(void **state)
{
	static const struct {
		struct action action;
		uint32_t type, count, bytes;
		enum prm_status status;
	} cases[] = {
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, RX, 1, 8, PRM_STAT_OK },
		{ { 1, 0x15, 0, 0, 1, 0, 0 }, RX, 1, 8, PRM_STAT_OK },
		{ { 1, 0x3, 0, 0, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x3, 1, 16, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x18, 0, 1, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0xfff, 0, 1, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 0, 0x3, 0, 16, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 4, 0x3, 0, 16, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 2, 0xa, 0, 0, 1, 0, 0 }, RX, 1, 8, PRM_STAT_OK },
		{ { 2, 0x15, 0, 0, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 3, 0x3, 0, 16, 0, 0x8, 0 }, RX, 1, 8, PRM_STAT_OK },
		{ { 1, 0x49, 0, 0, 1, 0, 0 }, TX, 1, 8, PRM_STAT_OK },
		{ { 3, 0x3, 0, 16, 0, 0x58, 16 }, RX, 1, 8, PRM_STAT_OK },
		{ { 3, 0x3, 0, 16, 0, 0x58, 17 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x4a, 0, 1, 1, 0, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 3, 0x3, 0, 16, 0, 0x8, 1 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 3, 0x3, 0, 16, 0, 0x18, 0 }, RX, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, TX, 1, 8, PRM_STAT_OK },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, 2, 1, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, RX, 0, 8, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, RX, 16, 128, PRM_STAT_OK },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, RX, 17, 136, PRM_STAT_BAD_PARAM_ERR },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, RX, 16, 127, PRM_STAT_BAD_INP_LEN_ERR },
		{ { 1, 0x3, 0, 16, 1, 0, 0 }, RX, 1, 0, PRM_STAT_BAD_INP_LEN_ERR },
	};
	uint8_t in[PRM_CMD_IN_SIZE + 17 * PRM_HEADER_ACTION_SIZE], out[PRM_CMD_OUT_SIZE];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(in, 0, sizeof(in));
		fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT);
		fld_set(in, ALLOC_MODIFY_HEADER_IN_TABLE_TYPE, cases[i].type);
		fld_set(in, ALLOC_MODIFY_HEADER_IN_NUM_OF_ACTIONS, cases[i].count);
		for (unsigned int n = 0; n < 17; n++)
			action_write(&cases[i].action,
				     (uint8_t *)fld_at(in, ALLOC_MODIFY_HEADER_IN_ACTIONS) +
					     (size_t)n * PRM_HEADER_ACTION_SIZE);
		flat_cmd_expect(flat.hca[1], in, PRM_CMD_IN_SIZE + cases[i].bytes, out, sizeof(out),
				cases[i].status);
	}
}

static void lists_are_announced_to_programs_only(void **state)
{
	struct eth_entry entry = { .action = PRM_FLOW_FWD | PRM_FLOW_MODIFY_HEADER,
				   .to_tir = rq[0]->tir,
				   .change = port_list(1, RX, 1) };

	(void)state;
	entry.table = eth_table(1, RX, 0, 0, PRM_STAT_OK);
	entry.group = eth_group(1, RX, entry.table, 0, 0, NULL, PRM_STAT_OK);
	flat.hca[1]->config.kernel_driver = true;
	port_list_as(1, RX, 1, PRM_STAT_BAD_PARAM_ERR);
	eth_set(1, &entry, PRM_STAT_BAD_PARAM_ERR);
	flat.hca[1]->config.kernel_driver = false;
	eth_set(1, &entry, PRM_STAT_OK);
}

#define FLOWS(test) cmocka_unit_test_setup_teardown(test, open_flows, close_flows)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_change_what_the_model_changes),
		cmocka_unit_test(sums_of_zero_are_written_as_the_protocol_says),
		cmocka_unit_test(wrong_sums_stay_wrong),
		FLOWS(later_tables_see_the_change),
		FLOWS(sent_frames_are_changed),
		FLOWS(entries_need_the_list_they_name),
		FLOWS(lists_are_checked),
		FLOWS(lists_are_announced_to_programs_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
