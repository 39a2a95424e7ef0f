/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reformats.c - flows that put frames into tunnels and take them out: what arrives, byte by byte,
 * beside other actions, and calls that are refused.
 *
 * Covers: softhca/front/process/uverbs/flow/action.c, softhca/front/process/uverbs/flow/dv.c,
 * softhca/front/process/driver/steering.c, softhca/device/eth/flow/packet_reformat.c,
 * softhca/device/eth/tunnel.c
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/modify_header.h"
#include "tests/verbs/steer/steer.h"
#include "util/bits.h"

enum { PORT = 200, VXLAN = 4789, GENEVE = 6081, ETH = 14, IP4 = 20, IP6 = 40, UDP = 8, MOST = 128 };

#define L2_OFF MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2
#define L2_ON  MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL
#define L3_OFF MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2
#define L3_ON  MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL
#define RX     MLX5DV_FLOW_TABLE_TYPE_NIC_RX
#define TX     MLX5DV_FLOW_TABLE_TYPE_NIC_TX

static const struct raw_frame inner_frame = {
	.version = 4, .protocol = 17, .ttl = 9, .src = 1, .dst = 2, .sport = 100, .dport = PORT
};

enum bottom { IN_UDP, IN_GRE, IN_IP };

struct tunnel_case {
	const char *name;
	uint8_t version;
	enum bottom bottom;
	uint16_t port; /* IN_UDP */
	bool is_l3, vlan;
	uint8_t size, tail[16]; /* what follows IP or UDP */
};

static const struct tunnel_case tunnels[] = {
	{ "VXLAN", 4, IN_UDP, VXLAN, false, false, 8, { 8, 0, 0, 0, 0, 0, 7 } },
	{ "VXLAN on IPv6", 6, IN_UDP, VXLAN, false, false, 8, { 8, 0, 0, 0, 0, 0, 7 } },
	{ "VXLAN in a VLAN", 4, IN_UDP, VXLAN, false, true, 8, { 8, 0, 0, 0, 0, 0, 7 } },
	{ "NVGRE", 4, IN_GRE, 0, false, false, 8, { 0x20, 0, 0x65, 0x58, 0, 0, 1 } },
	{ "GRE without a key", 6, IN_GRE, 0, false, false, 4, { 0, 0, 0x65, 0x58 } },
	{ "GENEVE",
	  4,
	  IN_UDP,
	  GENEVE,
	  false,
	  false,
	  12,
	  { 1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 0 } },
	{ "GRE of IP", 4, IN_GRE, 0, true, false, 4, { 0, 0, 8, 0 } },
	{ "GENEVE of IP", 6, IN_UDP, GENEVE, true, false, 8, { 0, 0, 8, 0, 0, 0, 7 } },
	{ "IP in IP", 4, IN_IP, 0, true, false, 0, { 0 } },
};

static void put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint16_t sum_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static uint8_t *ip_at(const struct tunnel_case *t, uint8_t *header)
{
	return header + ETH + 4 * t->vlan;
}

/* Builds the outer headers, as a program would: without lengths and sums. Returns their size. */
static size_t header_build(const struct rig *rig, const struct tunnel_case *t, uint8_t *header)
{
	const uint8_t below[] = { [IN_UDP] = 17, [IN_GRE] = 47, [IN_IP] = 4 };
	uint8_t *at = ip_at(t, header);

	memset(header, 0, MOST);
	raw_own_mac(rig, header);
	raw_own_mac(rig, header + 6);
	if (t->vlan)
		put16(header + 12, 0x8100);
	if (t->vlan)
		put16(header + 14, 5);
	put16(at - 2, t->version == 4 ? 0x0800 : 0x86dd);
	at[0] = t->version == 4 ? 0x45 : 0x60;
	at[t->version == 4 ? 8 : 7] = 64;
	at[t->version == 4 ? 9 : 6] = below[t->bottom];
	at[t->version == 4 ? 12 : 8] = 0xfd;
	at[t->version == 4 ? 16 : 24] = 0xfe;
	at += t->version == 4 ? IP4 : IP6;
	if (t->bottom == IN_UDP) {
		put16(at, 1234);
		put16(at + 2, t->port);
		at += UDP;
	}
	memcpy(at, t->tail, t->size);
	return (size_t)(at - header) + t->size;
}

/* Completes outer headers in front of LEN bytes, as adapters do. */
static void header_complete(const struct tunnel_case *t, uint8_t *header, size_t size, size_t len)
{
	uint8_t *ip = ip_at(t, header);
	const size_t behind = size - (size_t)(ip - header) + len;

	if (t->version == 4) {
		put16(ip + 2, behind);
		put16(ip + 10, (uint16_t)~sum_of(ip, IP4));
	} else {
		put16(ip + 4, behind - IP6);
	}
	if (t->bottom == IN_UDP)
		put16(ip + (t->version == 4 ? IP4 + 4 : IP6 + 4),
		      behind - (t->version == 4 ? IP4 : IP6));
}

static struct steer_rule rule_of(const struct tunnel_case *t)
{
	const uint8_t below[] = { [IN_UDP] = 17, [IN_GRE] = 47, [IN_IP] = 4 };

	return (struct steer_rule){ .criteria = PRM_MATCH_OUTER,
				    .field = { { OUTER(LYR_2_4_IP_PROTOCOL), 0xff,
						 below[t->bottom] } } };
}

static struct ibv_flow_action *reformat_make(struct rig *rig, size_t size, void *data, int type)
{
	struct ibv_flow_action *action = mlx5dv_create_flow_action_packet_reformat(
		rig->ctx, size, data, (enum mlx5dv_flow_action_packet_reformat_type)type,
		type == L2_ON || type == L3_ON ? TX : RX);

	MUST(action);
	return action;
}

static struct ibv_flow_action *change_make(struct rig *rig, uint32_t field, uint32_t length,
					   uint32_t data, enum mlx5dv_flow_table_type table)
{
	struct ibv_flow_action *action;
	uint64_t raw = 0;

	fld_set(&raw, HEADER_ACTION_TYPE, PRM_HEADER_SET);
	fld_set(&raw, HEADER_ACTION_FIELD, field);
	fld_set(&raw, HEADER_ACTION_LENGTH, length);
	fld_set(&raw, HEADER_ACTION_DATA, data);
	MUST(action = mlx5dv_create_flow_action_modify_header(rig->ctx, sizeof(raw), &raw, table));
	return action;
}

static const struct steer_rule sent = { STEER_TO_PORT(PORT), .table = TX };

struct ways {
	const struct tunnel_case *tunnel;
	uint8_t header[MOST];
	size_t size;
	struct ibv_flow_action *on, *off;
};

static struct ways ways_open(struct rig *rig, const struct tunnel_case *tunnel)
{
	struct ways ways = { .tunnel = tunnel };

	ways.size = header_build(rig, tunnel, ways.header);
	ways.on = reformat_make(rig, ways.size, ways.header, tunnel->is_l3 ? L3_ON : L2_ON);
	if (tunnel->is_l3) {
		uint8_t l2[ETH];

		memcpy(l2, ways.header, ETH);
		put16(l2 + 12, 0x0800);
		ways.off = reformat_make(rig, sizeof(l2), l2, L3_OFF);
	} else {
		ways.off = reformat_make(rig, 0, NULL, L2_OFF);
	}
	return ways;
}

static void ways_close(struct ways *ways)
{
	MUST(!ibv_destroy_flow_action(ways->on) && !ibv_destroy_flow_action(ways->off));
}

/* Sends LEN bytes, and checks that the first receiver gets EXPECT; NULL: nothing. */
static void frame_pass(struct raw *raw, size_t len, const uint8_t *expect, size_t expected,
		       const char *what)
{
	uint8_t *slot = NULL;
	struct ibv_wc wc;

	raw_send(raw, len, 0);
	rig_settle();
	if (ibv_poll_cq(raw->cq[0], 1, &wc) == 1) {
		MUST(!wc.status);
		slot = raw_slot(raw, 0, (unsigned int)wc.wr_id);
	}
	if (!expect)
		say_check(!slot, "%s: no frame", what);
	else
		say_check(slot && wc.byte_len == expected && !memcmp(slot, expect, expected),
			  "%s: %zu bytes", what, expected);
	if (slot)
		raw_post_receive(raw, 0, (unsigned int)wc.wr_id);
}

static size_t inner_build(struct rig *rig, struct raw *raw)
{
	return raw_frame_build(rig, &inner_frame, raw->buf);
}

/* Returns the length of the frame in the buffer with the headers of WAYS, which it writes. */
static size_t outer_build(const struct ways *ways, const struct raw *raw, size_t len,
			  uint8_t *outer)
{
	const size_t gone = ways->tunnel->is_l3 ? ETH : 0;

	memcpy(outer, ways->header, ways->size);
	header_complete(ways->tunnel, outer, ways->size, len - gone);
	memcpy(outer + ways->size, raw->buf + gone, len - gone);
	return ways->size + len - gone;
}

/* Passes a frame through each tunnel: a flow of the sender puts it in; then a flow of the receiver
 * also takes it out. */
static void tunnel_pass(struct rig *rig, struct raw *raw, const struct tunnel_case *tunnel)
{
	struct ways ways = ways_open(rig, tunnel);
	struct mlx5dv_flow_action_attr in[] = { CHANGED(ways.on) };
	struct mlx5dv_flow_action_attr out[] = { CHANGED(ways.off), TO_QP(raw->to[0]) };
	const struct steer_rule arrives = rule_of(tunnel);
	struct steered on = steer_make(rig->ctx, &sent, 1, in, "on what is sent");
	struct steered off = steer_make(rig->ctx, &arrives, 1, &out[1], "as it is");
	const size_t len = inner_build(rig, raw);
	uint8_t outer[RAW_FRAME];
	const size_t size = outer_build(&ways, raw, len, outer);

	frame_pass(raw, len, outer, size, tunnel->name);
	SAY_RET(ibv_destroy_flow_action(ways.on), "while a flow uses it");
	steer_end(&off);
	off = steer_make(rig->ctx, &arrives, 2, out, "taken out");
	frame_pass(raw, len, raw->buf, len, tunnel->name);
	SAY_RET(ibv_destroy_flow_action(ways.off), "while a flow uses it");
	steer_end(&off);
	steer_end(&on);
	ways_close(&ways);
}

/* Changes fields of sent frames before the tunnel, and of received frames behind it, so that the
 * order of both actions shows. */
static void with_changes(struct rig *rig, struct raw *raw)
{
	struct ways ways = ways_open(rig, &tunnels[0]);
	struct ibv_flow_action *ttl = change_make(rig, PRM_HEADER_IP_TTL, 8, 99, TX);
	struct ibv_flow_action *port = change_make(rig, PRM_HEADER_UDP_SPORT, 16, 0x1234, RX);
	struct mlx5dv_flow_action_attr in[] = { CHANGED(ways.on), CHANGED(ttl) };
	struct mlx5dv_flow_action_attr out[] = { CHANGED(port), CHANGED(ways.off),
						 TO_QP(raw->to[0]) };
	const struct steer_rule arrives = rule_of(ways.tunnel);
	struct steered on = steer_make(rig->ctx, &sent, 2, in, "changed, then sent");
	struct steered off = steer_make(rig->ctx, &arrives, 3, out, "received, then changed");
	const size_t len = inner_build(rig, raw);
	uint8_t expect[RAW_FRAME];

	memcpy(expect, raw->buf, len);
	expect[ETH + 8] = 99;
	put16(expect + ETH + 10, (uint16_t)(((99 - 9) << 8) ^ 0xffff));
	put16(expect + ETH + IP4, 0x1234);
	frame_pass(raw, len, expect, len, "with changes");
	steer_end(&off);
	steer_end(&on);
	MUST(!ibv_destroy_flow_action(ttl) && !ibv_destroy_flow_action(port));
	ways_close(&ways);
}

static void with_others(struct rig *rig, struct raw *raw)
{
	struct steer_counter counter = steer_counter_make(rig->ctx);
	struct ways ways = ways_open(rig, &tunnels[0]);
	struct mlx5dv_flow_action_attr in[] = { CHANGED(ways.on), COUNTED(counter.obj) };
	struct mlx5dv_flow_action_attr out[] = { CHANGED(ways.off), TAGGED(77), TO_QP(raw->to[0]) };
	struct mlx5dv_flow_action_attr dropped[] = { CHANGED(ways.off), DROPPED };
	const struct steer_rule arrives = rule_of(ways.tunnel);
	struct steered on = steer_make(rig->ctx, &sent, 2, in, "with a counter");
	struct steered off = steer_make(rig->ctx, &arrives, 3, out, "with a tag");
	const size_t len = inner_build(rig, raw);

	frame_pass(raw, len, raw->buf, len, "with others");
	steer_counter_say(&counter, "counted");
	steer_end(&off);
	off = steer_make(rig->ctx, &arrives, 2, dropped, "with a drop");
	frame_pass(raw, len, NULL, 0, "dropped");
	steer_end(&off);
	steer_end(&on);
	ways_close(&ways);
	MUST(!mlx5dv_devx_obj_destroy(counter.obj));
}

/* Flows with the same match share an entry if they use the same action. */
static void shared(struct rig *rig, struct raw *raw)
{
	struct ways one = ways_open(rig, &tunnels[6]), other = ways_open(rig, &tunnels[0]);
	const struct steer_rule arrives = rule_of(one.tunnel);
	struct mlx5dv_flow_action_attr first[] = { CHANGED(one.off), TO_QP(raw->to[0]) };
	struct mlx5dv_flow_action_attr second[] = { CHANGED(one.off), TO_QP(raw->to[1]) };
	struct mlx5dv_flow_action_attr third[] = { CHANGED(other.off), TO_QP(raw->to[1]) };
	struct mlx5dv_flow_action_attr both[] = { CHANGED(one.off), CHANGED(other.off),
						  TO_QP(raw->to[1]) };
	struct mlx5dv_flow_action_attr twice[] = { CHANGED(one.on), CHANGED(other.on) };
	struct mlx5dv_flow_action_attr ons[] = { CHANGED(one.on) }, offs[] = { CHANGED(one.off) };
	struct steered steered = steer_make(rig->ctx, &arrives, 2, first, "a way out"), same;

	same = steer_make(rig->ctx, &arrives, 2, second, "the same");
	steer_end(&same);
	same = steer_make(rig->ctx, &arrives, 2, third, "another");
	steer_end(&same);
	same = steer_make(rig->ctx, &arrives, 1, &second[1], "none");
	steer_end(&same);
	steer_end(&steered);
	steered = steer_make(rig->ctx, &arrives, 3, both, "both ways out");
	steer_end(&steered);
	steered = steer_make(rig->ctx, &sent, 2, twice, "two ways in");
	steer_end(&steered);
	steered = steer_make(rig->ctx, &sent, 1, offs, "out of what is sent");
	steer_end(&steered);
	steered = steer_make(rig->ctx, &arrives, 1, ons, "into what is received");
	steer_end(&steered);
	steered = steer_make(rig->ctx, &sent, 1, ons, "a way in");
	same = steer_make(rig->ctx, &sent, 1, &twice[1], "another way in");
	steer_end(&same);
	steer_end(&steered);
	ways_close(&one);
	ways_close(&other);
}

/* Frames that are in no tunnel, or end within its headers, are dropped, as there is nothing to take
 * out. */
static void no_tunnel(struct rig *rig, struct raw *raw)
{
	struct ways ways = ways_open(rig, &tunnels[0]);
	struct mlx5dv_flow_action_attr out[] = { CHANGED(ways.off), TO_QP(raw->to[0]) };
	const struct steer_rule arrives = rule_of(ways.tunnel);
	struct steered off = steer_make(rig->ctx, &arrives, 2, out, "all of UDP");
	struct raw_frame frame = inner_frame;

	frame_pass(raw, raw_frame_build(rig, &frame, raw->buf), NULL, 0, "no tunnel");
	frame.dport = VXLAN;
	frame_pass(raw, raw_frame_build(rig, &frame, raw->buf), NULL, 0, "no room for a frame");
	steer_end(&off);
	ways_close(&ways);
}

void steer_reformats(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tunnels); i++)
		tunnel_pass(rig, &raw, &tunnels[i]);
	with_changes(rig, &raw);
	with_others(rig, &raw);
	shared(rig, &raw);
	no_tunnel(rig, &raw);
	raw_close(&raw);
}

void steer_odd_reformats(struct rig *rig)
{
	static const size_t sizes[] = { 0, 1, 13, 14, 15, 18, 22, 50, MOST - 1, MOST, MOST + 1 };
	static uint8_t header[MOST + 1];

	for (int type = 0; type < 5; type++)
		for (int table = 0; table < 6; table++)
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
				struct ibv_flow_action *action =
					mlx5dv_create_flow_action_packet_reformat(
						rig->ctx, sizes[i], sizes[i] ? header : NULL,
						(enum mlx5dv_flow_action_packet_reformat_type)type,
						(enum mlx5dv_flow_table_type)table);

				say_ptr(action, "type %d, table %d, %zu bytes", type, table,
					sizes[i]);
				if (action)
					MUST(!ibv_destroy_flow_action(action));
			}
}
