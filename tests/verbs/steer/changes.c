/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * changes.c - flows that change headers: what arrives, byte by byte, and calls that are refused.
 *
 * Covers: softhca/front/process/uverbs/flow/action.c, softhca/front/process/uverbs/flow/dv.c,
 * softhca/front/process/driver/steering.c, softhca/device/eth/flow/modify_header.c
 */
#include <string.h>

#include "prm/mlx5/modify_header.h"
#include "tests/verbs/steer/steer.h"
#include "util/bits.h"

enum { PORT = 200, OTHER = 201, ETH = 14, IP4 = 20, IP6 = 40, MOST = 16 };

static const struct steer_rule to_port = { STEER_TO_PORT(PORT) };
static const struct steer_rule sent_to_port = { STEER_TO_PORT(PORT),
						.table = MLX5DV_FLOW_TABLE_TYPE_NIC_TX };

static uint16_t sum_of(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The sum of L4 and its pseudo header; L4 has 20 bytes */
static uint16_t l4_sum(const struct raw_frame *f, const uint8_t *ip)
{
	const bool is_v4 = f->version == 4;
	const uint32_t before = f->protocol + 20u;

	return sum_of(sum_of(before, ip + (is_v4 ? 12 : 8), is_v4 ? 8 : 32),
		      ip + (is_v4 ? IP4 : IP6), 20);
}

static uint8_t *l4_sum_at(const struct raw_frame *f, uint8_t *ip)
{
	return ip + (f->version == 4 ? IP4 : IP6) + (f->protocol == 6 ? 16 : 6);
}

static void put_sum(uint8_t *at, uint16_t sum)
{
	at[0] = (uint8_t)(sum >> 8);
	at[1] = (uint8_t)sum;
}

static size_t frame_build(const struct rig *rig, const struct raw_frame *f, uint8_t *bytes)
{
	const size_t len = raw_frame_build(rig, f, bytes);
	uint8_t *ip = bytes + ETH + 4 * f->vlan;

	if (f->version == 4)
		put_sum(ip + 10, (uint16_t)~sum_of(0, ip, IP4));
	put_sum(l4_sum_at(f, ip), (uint16_t)~l4_sum(f, ip));
	return len;
}

/* Prints the headers of a frame behind the addresses, and whether its sums are right. */
static void frame_say(const struct raw_frame *f, uint8_t *bytes, const char *what)
{
	uint8_t *ip = bytes + ETH + 4 * f->vlan;
	const size_t len = (size_t)(ip - bytes) + (f->version == 4 ? IP4 : IP6) + 20;
	char hex[2 * 100 + 1];

	for (size_t i = 12; i < len; i++)
		snprintf(hex + 2 * (i - 12), 3, "%02x", bytes[i]);
	say("%s: %s, sums %s and %s", what, hex,
	    f->version == 6 || sum_of(0, ip, IP4) == 0xffff ? "right" : "wrong",
	    l4_sum(f, ip) == 0xffff ? "right" : "wrong");
}

static void frame_pass(struct rig *rig, struct raw *raw, const struct raw_frame *f,
		       const char *what)
{
	struct ibv_wc wc;

	raw_send(raw, frame_build(rig, f, raw->buf), 0);
	rig_settle();
	if (ibv_poll_cq(raw->cq[0], 1, &wc) != 1) {
		say("%s: no frame", what);
		return;
	}
	MUST(!wc.status);
	frame_say(f, raw_slot(raw, 0, (unsigned int)wc.wr_id), what);
	raw_post_receive(raw, 0, (unsigned int)wc.wr_id);
}

#define SET(field, offset, length, data)                    \
	{                                                   \
		PRM_HEADER_SET, field, offset, length, data \
	}
#define ADD(field, data)                          \
	{                                         \
		PRM_HEADER_ADD, field, 0, 0, data \
	}
#define COPY(from, offset, length, to, to_offset)                                    \
	{                                                                            \
		PRM_HEADER_COPY, from, offset, length, (to) << 16 | (to_offset) << 8 \
	}

struct change {
	uint32_t type, field, offset, length, data;
};

static struct ibv_flow_action *changes_try(struct ibv_context *ctx, const struct change *changes,
					   size_t count, enum mlx5dv_flow_table_type table)
{
	uint64_t raw[MOST + 1] = { 0 };

	for (size_t i = 0; i < count; i++) {
		fld_set(&raw[i], HEADER_ACTION_TYPE, changes[i].type);
		fld_set(&raw[i], HEADER_ACTION_FIELD, changes[i].field);
		fld_set(&raw[i], HEADER_ACTION_OFFSET, changes[i].offset);
		fld_set(&raw[i], HEADER_ACTION_LENGTH, changes[i].length);
		fld_set(&raw[i], HEADER_ACTION_DATA, changes[i].data);
	}
	errno = 0;
	return mlx5dv_create_flow_action_modify_header(ctx, count * sizeof(raw[0]), raw, table);
}

struct change_case {
	const char *name;
	struct raw_frame frame;
	size_t count;
	struct change change[3];
};

/* A frame that goes to PORT */
#define TO_PORT(of, next)                                                                        \
	{                                                                                        \
		.version = (of), .protocol = (next), .ttl = 9, .src = 1, .dst = 2, .sport = 100, \
		.dport = PORT, .label = 0x12345                                                  \
	}
#define TAGGED_TO_PORT                                                                    \
	{                                                                                 \
		.version = 4, .protocol = 17, .ttl = 9, .src = 1, .dst = 2, .sport = 100, \
		.dport = PORT, .vlan = true, .vid = 5                                     \
	}

static const struct change_case cases[] = {
	{ "ports",
	  TO_PORT(4, 17),
	  2,
	  { SET(PRM_HEADER_UDP_SPORT, 0, 16, 0x1234), SET(PRM_HEADER_UDP_DPORT, 0, 16, 0x5678) } },
	{ "four bits of a port", TO_PORT(4, 17), 1, { SET(PRM_HEADER_UDP_SPORT, 4, 4, 0xa) } },
	{ "addresses",
	  TO_PORT(4, 17),
	  2,
	  { SET(PRM_HEADER_SIPV4, 0, 0, 0xc6120001), SET(PRM_HEADER_DIPV4, 8, 8, 0x77) } },
	{ "time to live", TO_PORT(4, 17), 1, { ADD(PRM_HEADER_IP_TTL, 0xff) } },
	{ "class", TO_PORT(4, 17), 1, { SET(PRM_HEADER_IP_DSCP, 0, 6, 0x2e) } },
	{ "IPv6",
	  TO_PORT(6, 17),
	  3,
	  { SET(PRM_HEADER_SIPV6_31_0, 0, 0, 0xdeadbeef), SET(PRM_HEADER_DIPV6_127_96, 0, 8, 1),
	    ADD(PRM_HEADER_IPV6_HOPLIMIT, UINT32_MAX) } },
	{ "class of IPv6", TO_PORT(6, 17), 1, { SET(PRM_HEADER_IP_DSCP, 0, 6, 0x2e) } },
	{ "a copy", TO_PORT(4, 17), 1, { COPY(PRM_HEADER_SIPV4, 0, 8, PRM_HEADER_DIPV4, 24) } },
	{ "swapped by way of the addresses",
	  TO_PORT(4, 17),
	  3,
	  { COPY(PRM_HEADER_UDP_SPORT, 0, 16, PRM_HEADER_DMAC_15_0, 0),
	    COPY(PRM_HEADER_UDP_DPORT, 0, 16, PRM_HEADER_UDP_SPORT, 0),
	    COPY(PRM_HEADER_DMAC_15_0, 0, 16, PRM_HEADER_UDP_DPORT, 0) } },
	{ "fields of another protocol",
	  TO_PORT(4, 17),
	  3,
	  { SET(PRM_HEADER_TCP_SPORT, 0, 16, 1), SET(PRM_HEADER_IPV6_HOPLIMIT, 0, 8, 1),
	    SET(PRM_HEADER_FIRST_VID, 0, 12, 1) } },
	{ "VLAN", TAGGED_TO_PORT, 1, { SET(PRM_HEADER_FIRST_VID, 0, 12, 0xabc) } },
	{ "type", TO_PORT(4, 17), 1, { SET(PRM_HEADER_ETHERTYPE, 0, 16, 0x88b5) } },
};

static void change_pass(struct rig *rig, struct raw *raw, const struct change_case *c)
{
	struct ibv_flow_action *action =
		changes_try(rig->ctx, c->change, c->count, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	struct mlx5dv_flow_action_attr attrs[] = { CHANGED(action), TO_QP(raw->to[0]) };
	struct steered steered;

	if (!say_ptr(action, "%s: an action", c->name))
		return;
	steered = steer_make(rig->ctx, &to_port, 2, attrs, c->name);
	frame_pass(rig, raw, &c->frame, c->name);
	SAY_RET(ibv_destroy_flow_action(action), "while a flow uses it");
	steer_end(&steered);
	MUST(!ibv_destroy_flow_action(action));
}

/* Frames of our own are changed as they leave, and once more as they arrive. */
static void change_sent(struct rig *rig, struct raw *raw)
{
	const struct change out = SET(PRM_HEADER_UDP_SPORT, 0, 16, 0x1111);
	const struct change in = SET(PRM_HEADER_UDP_DPORT, 0, 16, 0x2222);
	struct ibv_flow_action *sent =
		changes_try(rig->ctx, &out, 1, MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
	struct ibv_flow_action *received =
		changes_try(rig->ctx, &in, 1, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	struct mlx5dv_flow_action_attr on_sent[] = { CHANGED(sent) };
	struct mlx5dv_flow_action_attr on_received[] = { CHANGED(received), TO_QP(raw->to[0]) };
	const struct raw_frame frame = TO_PORT(4, 17);
	struct steered one, other;

	if (!say_ptr(sent, "an action on what is sent") || !received)
		return;
	one = steer_make(rig->ctx, &sent_to_port, 1, on_sent, "on what is sent");
	other = steer_make(rig->ctx, &to_port, 2, on_received, "on what is received");
	frame_pass(rig, raw, &frame, "both");
	steer_end(&one);
	frame_pass(rig, raw, &frame, "one");
	one = steer_make(rig->ctx, &sent_to_port, 1, on_received, "an action of another table");
	steer_end(&one);
	steer_end(&other);
	MUST(!ibv_destroy_flow_action(sent) && !ibv_destroy_flow_action(received));
}

/* Flows with the same match share an entry if they change the same. */
static void change_shared(struct rig *rig, struct raw *raw)
{
	const struct change change = SET(PRM_HEADER_UDP_SPORT, 0, 16, 0x1111);
	struct ibv_flow_action *one =
		changes_try(rig->ctx, &change, 1, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	struct ibv_flow_action *other =
		changes_try(rig->ctx, &change, 1, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	struct mlx5dv_flow_action_attr first[] = { CHANGED(one), TO_QP(raw->to[0]) };
	struct mlx5dv_flow_action_attr second[] = { CHANGED(one), TO_QP(raw->to[1]) };
	struct mlx5dv_flow_action_attr third[] = { CHANGED(other), TO_QP(raw->to[1]) };
	struct mlx5dv_flow_action_attr twice[] = { CHANGED(one), CHANGED(other),
						   TO_QP(raw->to[1]) };
	struct steered steered, same;

	if (!one || !other)
		return;
	steered = steer_make(rig->ctx, &to_port, 2, first, "a change");
	same = steer_make(rig->ctx, &to_port, 2, second, "the same change");
	steer_send(rig, raw, PORT, "to both");
	steer_end(&same);
	same = steer_make(rig->ctx, &to_port, 2, third, "another change");
	steer_end(&same);
	same = steer_make(rig->ctx, &to_port, 1, &second[1], "no change");
	steer_end(&same);
	steer_end(&steered);
	steered = steer_make(rig->ctx, &to_port, 3, twice, "two changes");
	steer_end(&steered);
	MUST(!ibv_destroy_flow_action(one) && !ibv_destroy_flow_action(other));
}

void steer_changes(struct rig *rig)
{
	struct raw raw;

	if (!raw_open(rig, 0, &raw))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		change_pass(rig, &raw, &cases[i]);
	change_sent(rig, &raw);
	change_shared(rig, &raw);
	raw_close(&raw);
}

static void refuse(struct rig *rig, struct change change, const char *what)
{
	struct ibv_flow_action *action =
		changes_try(rig->ctx, &change, 1, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);

	say_ptr(action, "%s", what);
	if (action)
		MUST(!ibv_destroy_flow_action(action));
}

void steer_odd_changes(struct rig *rig)
{
	static const struct change same[MOST + 1] = { SET(PRM_HEADER_ETHERTYPE, 0, 16, 1) };
	struct change many[MOST + 1];

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = same[0];
	refuse(rig, (struct change)SET(PRM_HEADER_ETHERTYPE, 0, 0, 1), "32 of 16 bits");
	refuse(rig, (struct change)SET(PRM_HEADER_ETHERTYPE, 1, 16, 1), "16 bits from the second");
	refuse(rig, (struct change)SET(0x18, 0, 1, 1), "an unknown field");
	refuse(rig, (struct change)ADD(PRM_HEADER_SIPV4, 1), "an address to add to");
	refuse(rig, (struct change){ .type = 0 }, "no action");
	refuse(rig, (struct change){ .type = 15 }, "an unknown action");
	refuse(rig, (struct change)COPY(PRM_HEADER_ETHERTYPE, 0, 16, 0x18, 0), "a copy to nowhere");
	for (size_t count = MOST; count <= MOST + 1; count++)
		for (int table = 0; table < 6; table++) {
			struct ibv_flow_action *action = changes_try(
				rig->ctx, many, count, (enum mlx5dv_flow_table_type)table);

			say_ptr(action, "%zu changes, table %d", count, table);
			if (action)
				MUST(!ibv_destroy_flow_action(action));
		}
}
