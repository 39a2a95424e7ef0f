/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw.c - raw packet QPs: flows of all kinds and the frames that they steer, counters, rate limits
 * and checksums.
 *
 * Covers: libibverbs/cmd/cmd_flow.c, providers/mlx5/flow.c, providers/mlx4/flow.c,
 * providers/mlx5/data/post_send_raw.c, providers/mlx5/data/send_wr_raw.c,
 * softhca/front/process/uverbs/flow/flow.c, softhca/front/process/uverbs/counters.c,
 * softhca/front/process/uverbs/mlx4/flow.c, softhca/front/process/driver/raw_qp.c,
 * softhca/front/process/driver/steering.c, softhca/front/process/driver/rate_limits.c,
 * softhca/front/process/driver/eth_queues.c, softhca/device/eth/pacing.c
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <time.h>

#include "diff.h"
#include "tests/lib/raw_frames.h"

enum { ETH = 14, IP4 = 20 };

static void send_and_count(struct rig *rig, struct raw *raw, const struct raw_frame *f,
			   const char *what)
{
	int first, second;

	raw_send(raw, raw_frame_build(rig, f, raw->buf), 0);
	rig_settle();
	first = raw_received(raw, 0);
	second = raw_received(raw, 1);
	say("%s: %d and %d", what, first, second);
}

/* ---- flows ---- */

struct rule {
	struct ibv_flow_attr attr;
	uint8_t specs[512];
};

static struct rule rule_of(enum ibv_flow_attr_type type, uint16_t priority, uint32_t flags)
{
	return (struct rule){ .attr = { .type = type,
					.size = sizeof(struct ibv_flow_attr),
					.priority = priority,
					.port = RIG_PORT,
					.flags = flags } };
}

static void rule_add(struct rule *rule, const void *spec, size_t len)
{
	memcpy((uint8_t *)&rule->attr + rule->attr.size, spec, len);
	rule->attr.size += (uint16_t)len;
	rule->attr.num_of_specs++;
}

#define ADD(rule, spec) rule_add(rule, &(spec), sizeof(spec))

static void add_eth(struct rule *rule, const uint8_t mac[6], uint16_t vid)
{
	struct ibv_flow_spec_eth eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(eth) };

	if (mac) {
		memcpy(eth.val.dst_mac, mac, 6);
		memset(eth.mask.dst_mac, 0xff, 6);
	}
	eth.val.vlan_tag = htons(vid);
	eth.mask.vlan_tag = vid ? htons(0xfff) : 0;
	ADD(rule, eth);
}

static struct ibv_flow *make_flow(struct raw *raw, int receiver, struct rule *rule,
				  const char *what)
{
	return SAY_PTR(ibv_create_flow(raw->to[receiver], &rule->attr), "%s", what);
}

/* A case adds a spec to an Ethernet spec. It has two frames: one matches, the other differs. */
struct steer_case {
	const char *name;
	union {
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_ipv4 ipv4;
		struct ibv_flow_spec_ipv4_ext ipv4_ext;
		struct ibv_flow_spec_ipv6 ipv6;
		struct ibv_flow_spec_tcp_udp l4;
		struct ibv_flow_spec_tunnel tunnel;
		struct ibv_flow_spec_gre gre;
		struct ibv_flow_spec_action_drop drop;
	} spec;
	struct raw_frame right, wrong;
};

#define PORTS                  .src = 1, .dst = 2, .sport = 100, .dport = 200
#define UDP4                   .version = 4, .protocol = 17, .ttl = 9, PORTS
#define UDP6                   .version = 6, .protocol = 17, .ttl = 9, PORTS
#define SPEC(member, id, kind) .spec.member.type = id, .spec.member.size = sizeof(struct kind)

static const struct steer_case cases[] = {
	{ "all", SPEC(eth, IBV_FLOW_SPEC_ETH, ibv_flow_spec_eth), .right = { UDP4 },
	  .wrong = { .version = 0 } },
	{ "ether type",
	  { .eth = { IBV_FLOW_SPEC_ETH,
		     sizeof(struct ibv_flow_spec_eth),
		     { .ether_type = 0xdd86 },
		     { .ether_type = 0xffff } } },
	  { UDP6 },
	  { UDP4 } },
	{ "vlan",
	  { .eth = { IBV_FLOW_SPEC_ETH,
		     sizeof(struct ibv_flow_spec_eth),
		     { .vlan_tag = 0x0500 },
		     { .vlan_tag = 0xff0f } } },
	  { UDP4, .vlan = true, .vid = 5 },
	  { UDP4, .vlan = true, .vid = 6 } },
	{ "ipv4 addresses",
	  { .ipv4 = { IBV_FLOW_SPEC_IPV4,
		      sizeof(struct ibv_flow_spec_ipv4),
		      { .dst_ip = 0x0200000a },
		      { .dst_ip = 0xffffffff } } },
	  { UDP4 },
	  { .version = 4, .protocol = 17, .src = 2, .dst = 1 } },
	{ "ipv4 protocol, tos",
	  { .ipv4_ext = { IBV_FLOW_SPEC_IPV4_EXT,
			  sizeof(struct ibv_flow_spec_ipv4_ext),
			  { .proto = 17, .tos = 0x28 },
			  { .proto = 255, .tos = 255 } } },
	  { UDP4, .tos = 0x28 },
	  { UDP4, .tos = 0x29 } },
	{ "ipv4 ttl",
	  { .ipv4_ext = { IBV_FLOW_SPEC_IPV4_EXT,
			  sizeof(struct ibv_flow_spec_ipv4_ext),
			  { .ttl = 9 },
			  { .ttl = 255 } } },
	  { UDP4 },
	  { UDP4 } },
	{ "ipv6 hops",
	  { .ipv6 = { IBV_FLOW_SPEC_IPV6,
		      sizeof(struct ibv_flow_spec_ipv6),
		      { .hop_limit = 9 },
		      { .hop_limit = 255 } } },
	  { UDP6 },
	  { UDP6 } },
	{ "ipv6 flow label",
	  { .ipv6 = { IBV_FLOW_SPEC_IPV6,
		      sizeof(struct ibv_flow_spec_ipv6),
		      { .flow_label = 0x45230100 },
		      { .flow_label = 0xffff0f00 } } },
	  { UDP6, .label = 0x12345 },
	  { UDP6, .label = 0x22345 } },
	{ "ipv6 next header, class",
	  { .ipv6 = { IBV_FLOW_SPEC_IPV6,
		      sizeof(struct ibv_flow_spec_ipv6),
		      { .next_hdr = 17, .traffic_class = 0x28 },
		      { .next_hdr = 255, .traffic_class = 255 } } },
	  { UDP6, .tos = 0x28 },
	  { UDP6, .tos = 0x2c } },
	{ "udp port",
	  { .l4 = { IBV_FLOW_SPEC_UDP,
		    sizeof(struct ibv_flow_spec_tcp_udp),
		    { .dst_port = 0xc800 },
		    { .dst_port = 0xffff } } },
	  { UDP4 },
	  { .version = 4, .protocol = 6, .dport = 200 } },
	{ "tcp port, half of it",
	  { .l4 = { IBV_FLOW_SPEC_TCP,
		    sizeof(struct ibv_flow_spec_tcp_udp),
		    { .src_port = 0x0001 },
		    { .src_port = 0x00ff } } },
	  { .version = 4, .protocol = 6, .sport = 0x1ff },
	  { .version = 4, .protocol = 6, .sport = 0x2ff } },
	{ "gre key",
	  { .gre = { IBV_FLOW_SPEC_GRE,
		     sizeof(struct ibv_flow_spec_gre),
		     { .key = 0x07000000 },
		     { .key = 0xffffffff } } },
	  { .version = 4, .protocol = 47, .key = 7 },
	  { .version = 4, .protocol = 47, .key = 8 } },
	{ "vxlan",
	  { .tunnel = { IBV_FLOW_SPEC_VXLAN_TUNNEL,
			sizeof(struct ibv_flow_spec_tunnel),
			{ .tunnel_id = 0x07000000 },
			{ .tunnel_id = 0xffffff00 } } },
	  { .version = 4, .protocol = 17, .dport = 4789, .key = 7 },
	  { .version = 4, .protocol = 17, .dport = 4789, .key = 8 } },
	{ "drop",
	  { .drop = { IBV_FLOW_SPEC_ACTION_DROP, sizeof(struct ibv_flow_spec_action_drop) } },
	  { UDP4 },
	  { UDP6 } },
};

static void steer_by_specs(struct rig *rig, struct raw *raw)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL, 1, 0);
		uint16_t size = cases[i].spec.eth.size;
		struct ibv_flow *flow;

		rule_add(&rule, &cases[i].spec, size);
		flow = make_flow(raw, 0, &rule, cases[i].name);
		if (!flow)
			continue;
		send_and_count(rig, raw, &cases[i].right, "a frame that matches");
		send_and_count(rig, raw, &cases[i].wrong, "a frame that does not");
		SAY_RET(ibv_destroy_flow(flow), "destroy");
	}
}

/* The first of two matching flows takes the frame, unless it passes the frame on. */
static void steer_by_priority(struct rig *rig, struct raw *raw)
{
	static const struct {
		uint16_t priority[RAW_RECEIVERS];
		uint32_t flags;
	} pairs[] = { { { 0, 1 }, 0 },
		      { { 1, 0 }, 0 },
		      { { 0, 1 }, IBV_FLOW_ATTR_FLAGS_DONT_TRAP },
		      { { 1, 1 }, 0 },
		      { { 15, 14 }, 0 } };
	const struct raw_frame frame = { UDP4 }, group = { UDP4, .group = true };

	for (unsigned int i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct ibv_flow *flow[RAW_RECEIVERS];

		for (int n = 0; n < RAW_RECEIVERS; n++) {
			struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL, pairs[i].priority[n],
						   n ? 0 : pairs[i].flags);

			add_eth(&rule, NULL, 0);
			flow[n] = make_flow(raw, n, &rule, "by priority");
		}
		send_and_count(rig, raw, &frame, "a frame for both");
		send_and_count(rig, raw, &group, "a group's frame for both");
		for (int n = 0; n < RAW_RECEIVERS; n++)
			if (flow[n])
				MUST(!ibv_destroy_flow(flow[n]));
	}
}

static void steer_the_rest(struct rig *rig, struct raw *raw)
{
	static const enum ibv_flow_attr_type types[] = { IBV_FLOW_ATTR_ALL_DEFAULT,
							 IBV_FLOW_ATTR_MC_DEFAULT };
	const struct raw_frame frame = { UDP4 }, group = { UDP4, .group = true };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		struct rule rest = rule_of(types[i], 0, 0);
		struct rule own = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
		struct ibv_flow *all = make_flow(raw, 0, &rest, "default"), *one;

		send_and_count(rig, raw, &frame, "a frame");
		send_and_count(rig, raw, &group, "a group's frame");
		add_eth(&own, raw_group_mac, 0);
		one = make_flow(raw, 1, &own, "of a group");
		send_and_count(rig, raw, &group, "a frame of that group");
		if (all)
			MUST(!ibv_destroy_flow(all));
		if (one)
			MUST(!ibv_destroy_flow(one));
	}
}

static void bad_flows(struct raw *raw)
{
	static const struct {
		uint32_t type;
		uint16_t priority;
		uint32_t flags;
		uint8_t port;
	} bad[] = {
		{ IBV_FLOW_ATTR_NORMAL, 16, 0, 1 },
		{ IBV_FLOW_ATTR_NORMAL, 1000, 0, 1 },
		{ IBV_FLOW_ATTR_NORMAL, 0, 8, 1 },
		{ IBV_FLOW_ATTR_NORMAL, 0, 0, 9 },
		{ IBV_FLOW_ATTR_SNIFFER, 0, 0, 1 },
		{ IBV_FLOW_ATTR_NORMAL, 0, IBV_FLOW_ATTR_FLAGS_EGRESS, 1 },
		{ IBV_FLOW_ATTR_ALL_DEFAULT, 0, IBV_FLOW_ATTR_FLAGS_EGRESS, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct rule rule = rule_of(bad[i].type, bad[i].priority, bad[i].flags);
		struct ibv_flow *flow;

		rule.attr.port = bad[i].port;
		if (bad[i].type == IBV_FLOW_ATTR_NORMAL)
			add_eth(&rule, NULL, 0);
		flow = SAY_PTR(ibv_create_flow(raw->to[0], &rule.attr),
			       "type %u priority %u flags %u port %u", bad[i].type, bad[i].priority,
			       bad[i].flags, bad[i].port);
		if (flow)
			MUST(!ibv_destroy_flow(flow));
	}
}

/* Receives may be posted from INIT on, and nothing is raw_received before RTR. */
static void receives_wait_for_rtr(struct rig *rig, struct raw *raw)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						    IBV_QPS_RTS,   IBV_QPS_ERR,  IBV_QPS_RESET,
						    IBV_QPS_INIT,  IBV_QPS_RTR,  IBV_QPS_RTS };
	struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	const struct raw_frame frame = { UDP4 };
	struct ibv_flow *flow;

	add_eth(&rule, NULL, 0);
	flow = make_flow(raw, 0, &rule, "for all");
	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++) {
		struct ibv_qp_attr attr = { .qp_state = states[i], .port_num = RIG_PORT };
		struct ibv_wc wc;
		bool came;

		MUST(!ibv_modify_qp(raw->to[0], &attr,
				    IBV_QP_STATE | (states[i] == IBV_QPS_INIT ? IBV_QP_PORT : 0)));
		if (states[i] == IBV_QPS_ERR)
			rig_drain(raw->cq[0]);
		for (unsigned int n = 0; states[i] == IBV_QPS_INIT && n < RAW_SLOTS; n++)
			raw_post_receive(raw, 0, n);
		raw_send(raw, raw_frame_build(rig, &frame, raw->buf), 0);
		rig_settle();
		came = ibv_poll_cq(raw->cq[0], 1, &wc) == 1 && !wc.status;
		say("in state %d: %d", (int)states[i], came);
		if (states[i] == IBV_QPS_RTR && came)
			raw_post_receive(raw, 0, (unsigned int)wc.wr_id);
	}
	if (flow)
		MUST(!ibv_destroy_flow(flow));
}

void diff_flow(struct rig *rig)
{
	struct raw raw = { 0 };

	if (!raw_open(rig, 0, &raw))
		return;
	steer_by_specs(rig, &raw);
	steer_by_priority(rig, &raw);
	steer_the_rest(rig, &raw);
	bad_flows(&raw);
	receives_wait_for_rtr(rig, &raw);
	raw_close(&raw);
}

/* A flow matches all frames, or frames with the group bit of MAC, or has an invalid
 * specification. */
struct copy_case {
	const char *name;
	enum ibv_flow_attr_type type;
	uint32_t flags;
	uint16_t priority;
	bool has_eth, has_ports;
	uint8_t mac, mask;
};

static void add_copy_specs(struct rule *rule, const struct copy_case *c)
{
	struct ibv_flow_spec_eth eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(eth) };
	struct ibv_flow_spec_tcp_udp udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof(udp) };

	eth.val.dst_mac[0] = c->mac;
	eth.mask.dst_mac[0] = c->mask;
	if (c->has_eth)
		ADD(rule, eth);
	if (c->has_ports)
		ADD(rule, udp);
}

/* A sniffer gets frames to other destinations when they are sent. */
static void sniffer_receives(struct rig *rig, struct raw *raw)
{
	const struct raw_frame away = { UDP4, .away = true };

	raw_send(raw, raw_frame_build(rig, &away, raw->buf), 0);
	rig_settle();
	say_check(raw_received(raw, 0) == 1 && !raw_received(raw, 1),
		  "a frame that leaves is seen");
}

void diff_flow_copies(struct rig *rig)
{
	static const struct copy_case table[] = {
		{ .name = "a sniffer", .type = IBV_FLOW_ATTR_SNIFFER },
		{ .name = "all", .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP },
		{ .name = "all, by a spec",
		  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		  .has_eth = true },
		{ .name = "groups",
		  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		  .has_eth = true,
		  .mac = 1,
		  .mask = 1 },
		{ .name = "no groups",
		  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		  .has_eth = true,
		  .mask = 1 },
		{ .name = "an address",
		  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		  .has_eth = true,
		  .mask = 3 },
		{ .name = "ports", .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP, .has_ports = true },
		{ .name = "two specs",
		  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		  .has_eth = true,
		  .has_ports = true },
		{ .name = "of a later priority",
		  .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
		  .priority = 1,
		  .has_eth = true },
		{ .name = "a late priority", .priority = 0xfff, .has_eth = true },
		{ .name = "no priority", .priority = 0x1000, .has_eth = true },
	};
	const struct raw_frame frame = { UDP4 }, group = { UDP4, .group = true };
	struct raw raw = { 0 };

	if (!raw_open(rig, 0, &raw))
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct rule copy = rule_of(table[i].type, table[i].priority, table[i].flags);
		struct rule own = rule_of(IBV_FLOW_ATTR_NORMAL, 2, 0);
		struct ibv_flow *first, *second;

		add_copy_specs(&copy, &table[i]);
		add_eth(&own, NULL, 0);
		first = make_flow(&raw, 0, &copy, table[i].name);
		second = make_flow(&raw, 1, &own, "beside it");
		send_and_count(rig, &raw, &frame, "a frame");
		send_and_count(rig, &raw, &group, "a group's frame");
		if (table[i].type == IBV_FLOW_ATTR_SNIFFER && first)
			sniffer_receives(rig, &raw);
		if (first)
			MUST(!ibv_destroy_flow(first));
		if (second)
			MUST(!ibv_destroy_flow(second));
	}
	raw_close(&raw);
}

/* ---- frames over several queues ---- */

enum { SPREAD = WQ_ROW, SPREAD_SLOTS = 32 };

struct spread {
	struct ibv_cq *cq;
	struct ibv_wq *wq[SPREAD], *spare[SPREAD];
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

static void spread_post(struct spread *s)
{
	for (unsigned int i = 0; i < SPREAD * SPREAD_SLOTS; i++) {
		struct ibv_sge sge = { (uintptr_t)(s->buf + (size_t)i * RAW_FRAME), RAW_FRAME,
				       s->mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

		MUST(!ibv_post_wq_recv(s->wq[i % SPREAD], &wr, &bad));
	}
}

/* The queues of an mlx4 table must have consecutive numbers, so they are created first. */
static bool spread_open(struct rig *rig, struct ibv_pd *pd, struct spread *s)
{
	struct ibv_rwq_ind_table_init_attr table = { .log_ind_tbl_size = 2, .ind_tbl = s->wq };
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	const size_t bytes = (size_t)SPREAD * SPREAD_SLOTS * RAW_FRAME;
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = SPREAD_SLOTS, .max_sge = 1, .pd = pd
	};

	MUST(s->buf = calloc(1, bytes));
	MUST(s->mr = ibv_reg_mr(pd, s->buf, bytes, IBV_ACCESS_LOCAL_WRITE));
	MUST(s->cq = ibv_create_cq(rig->ctx, SPREAD * SPREAD_SLOTS, NULL, NULL, 0));
	attr.cq = s->cq;
	MUST(diff_wq_row(rig->ctx, &attr, s->wq, s->spare));
	MUST(s->table = ibv_create_rwq_ind_table(rig->ctx, &table));
	for (int i = 0; i < SPREAD; i++)
		MUST(!ibv_modify_wq(s->wq[i], &ready));
	spread_post(s);
	return true;
}

static struct ibv_qp *spread_qp(struct rig *rig, struct ibv_pd *pd, struct spread *s)
{
	static uint8_t key[40] = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
				   0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
				   0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
				   0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = pd,
		.rwq_ind_tbl = s->table,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = sizeof(key),
				  .rx_hash_key = key,
				  .rx_hash_fields_mask =
					  IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
					  IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP },
	};
	struct ibv_qp *qp = SAY_PTR(ibv_create_qp_ex(rig->ctx, &attr), "a QP that spreads");
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	SAY_RET(ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PORT), "to INIT");
	state.qp_state = IBV_QPS_RTR;
	SAY_RET(ibv_modify_qp(qp, &state, IBV_QP_STATE), "to RTR");
	state.qp_state = IBV_QPS_RTS;
	SAY_RET(ibv_modify_qp(qp, &state, IBV_QP_STATE), "to RTS");
	return qp;
}

/* Each queue has its own buffer, so that the buffer shows where a frame arrived. */
static void spread_send(struct rig *rig, struct raw *raw, struct spread *s,
			const struct raw_frame *frame)
{
	int count[SPREAD] = { 0 };
	struct ibv_wc wc;

	raw_send(raw, raw_frame_build(rig, frame, raw->buf), 0);
	MUST(rig_poll(s->cq, 1, &wc) == 1 && !wc.status);
	count[wc.wr_id % SPREAD]++;
	say("version %u protocol %u ports %u %u: %d %d %d %d of %u bytes", frame->version,
	    frame->protocol, frame->sport, frame->dport, count[0], count[1], count[2], count[3],
	    wc.byte_len);
	say_check(wc.qp_num == s->wq[wc.wr_id % SPREAD]->wq_num || wc.qp_num == s->qp->qp_num ||
			  !wc.qp_num,
		  "the queue is named, or nothing");
}

void diff_spread(struct rig *rig)
{
	struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	struct raw_frame frame = { UDP4 };
	struct spread s = { .cq = NULL };
	struct ibv_flow *flow;
	struct raw raw = { 0 };
	struct ibv_pd *pd;

	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return;
	MUST(pd = ibv_alloc_pd(rig->ctx));
	if (!spread_open(rig, pd, &s) || !raw_open(rig, 0, &raw))
		return;
	s.qp = spread_qp(rig, pd, &s);
	add_eth(&rule, NULL, 0);
	MUST(flow = ibv_create_flow(s.qp, &rule.attr));
	for (uint16_t i = 0; i < 20; i++) {
		frame.sport = (uint16_t)(1000 + 7 * i);
		spread_send(rig, &raw, &s, &frame);
	}
	for (frame.protocol = 6; frame.protocol < 200; frame.protocol += 41)
		spread_send(rig, &raw, &s, &frame);
	frame.version = 0;
	spread_send(rig, &raw, &s, &frame);
	MUST(!ibv_destroy_flow(flow) && !ibv_destroy_qp(s.qp));
	raw_close(&raw);
	MUST(!ibv_destroy_rwq_ind_table(s.table));
	for (int i = 0; i < SPREAD; i++) {
		MUST(!ibv_destroy_wq(s.wq[i]));
		MUST(!s.spare[i] || !ibv_destroy_wq(s.spare[i]));
	}
	MUST(!ibv_destroy_cq(s.cq) && !ibv_dereg_mr(s.mr) && !ibv_dealloc_pd(pd));
	free(s.buf);
}

/* ---- counters ---- */

static void counter_attach(struct ibv_counters *counters, enum ibv_counter_description what,
			   uint32_t index)
{
	struct ibv_counter_attach_attr attr = { .counter_desc = what, .index = index };

	SAY_RET(ibv_attach_counters_point_flow(counters, &attr, NULL), "attach %d at %u", what,
		index);
}

static void read_values(struct ibv_counters *counters, uint32_t count, uint32_t flags)
{
	uint64_t values[8] = { 0 };

	if (!SAY_RET(ibv_read_counters(counters, values, count, flags), "read %u flags %u", count,
		     flags))
		say("values %llu %llu %llu", (unsigned long long)values[0],
		    (unsigned long long)values[1], (unsigned long long)values[2]);
}

static struct ibv_flow *counted_flow(struct raw *raw, struct ibv_counters *counters, uint16_t port)
{
	struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL, 1, 0);
	struct ibv_flow_spec_tcp_udp udp = {
		IBV_FLOW_SPEC_UDP, sizeof(udp), { .dst_port = htons(port) }, { .dst_port = 0xffff }
	};
	struct ibv_flow_spec_counter_action count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
						      .size = sizeof(count),
						      .counters = counters };

	add_eth(&rule, NULL, 0);
	ADD(&rule, udp);
	ADD(&rule, count);
	return make_flow(raw, 0, &rule, "counted flow");
}

void diff_counters(struct rig *rig)
{
	const struct raw_frame frame = { UDP4 }, other = { UDP4, .vlan = true, .vid = 3 };
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counters *counters;
	struct ibv_flow *flow, *second;
	struct raw raw = { 0 };

	if (!raw_open(rig, 0, &raw))
		return;
	counters = SAY_PTR(ibv_create_counters(rig->ctx, &init), "create");
	MUST(counters);
	read_values(counters, 3, 0);
	counter_attach(counters, IBV_COUNTER_BYTES, 0);
	counter_attach(counters, IBV_COUNTER_PACKETS, 2);
	MUST(flow = counted_flow(&raw, counters, 200));
	counter_attach(counters, IBV_COUNTER_PACKETS, 3);
	send_and_count(rig, &raw, &frame, "counted");
	send_and_count(rig, &raw, &frame, "counted");
	read_values(counters, 3, 0);
	read_values(counters, 3, IBV_READ_COUNTERS_ATTR_PREFER_CACHED);
	read_values(counters, 2, 0);
	read_values(counters, 8, 0);
	second = counted_flow(&raw, counters, 300);
	send_and_count(rig, &raw, &other, "with a tag");
	read_values(counters, 3, 0);
	SAY_RET(ibv_destroy_counters(counters), "destroy in use");
	MUST(!ibv_destroy_flow(flow));
	if (second)
		MUST(!ibv_destroy_flow(second));
	read_values(counters, 3, 0);
	SAY_RET(ibv_destroy_counters(counters), "destroy");
	raw_close(&raw);
}

void diff_flow_action(struct rig *rig)
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	struct ibv_flow_action_esp_attr attr = { .esp_attr = &esp };

	SAY_PTR(ibv_create_flow_action_esp(rig->ctx, &attr), "create_flow_action_esp");
}

static void try_rate(struct raw *raw, uint32_t rate, uint32_t burst, uint16_t packet)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = rate,
					       .max_burst_sz = burst,
					       .typical_pkt_sz = packet };

	SAY_RET(ibv_modify_qp_rate_limit(raw->from.qp, &attr), "rate %u burst %u packet %u", rate,
		burst, packet);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static uint64_t send_ten(struct raw *raw)
{
	uint64_t start = now_ms();

	for (int i = 0; i < 10; i++)
		raw_send(raw, 1250, 0);
	return now_ms() - start;
}

void diff_pacing(struct rig *rig)
{
	static const uint32_t rates[][3] = { { 1000, 0, 0 },     { 0, 0, 0 },
					     { 1, 0, 0 },        { 10000000, 0, 0 },
					     { 10000001, 0, 0 }, { 1000, 5000, 0 },
					     { 1000, 0, 100 },   { 1000, 5000, 100 },
					     { 0, 5000, 0 },     { 0, 0, 100 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .rate_limit = 2000 };
	struct ibv_device_attr_ex device;
	struct raw raw = { 0 };

	MUST(!ibv_query_device_ex(rig->ctx, NULL, &device));
	say("caps %u to %u qpts %#x", device.packet_pacing_caps.qp_rate_limit_min,
	    device.packet_pacing_caps.qp_rate_limit_max, device.packet_pacing_caps.supported_qpts);
	if (!raw_open(rig, 0, &raw))
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(rates); i++)
		try_rate(&raw, rates[i][0], rates[i][1], (uint16_t)rates[i][2]);
	SAY_RET(ibv_modify_qp(raw.from.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT),
		"RTS with a rate");
	/* 10 ms for each frame but the first */
	try_rate(&raw, 1000, 0, 0);
	say_check(send_ten(&raw) >= 85, "ten frames take their time");
	raw_close(&raw);
}

static uint32_t words_sum(const uint8_t *bytes, size_t len)
{
	uint32_t total = 0;

	for (size_t i = 0; i < len; i += 2)
		total += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

void diff_checksums(struct rig *rig)
{
	const struct raw_frame frame = { UDP4 };
	struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	struct ibv_flow *flow;
	struct raw raw = { 0 };
	struct ibv_wc wc;

	if (!raw_open(rig, 0, &raw))
		return;
	add_eth(&rule, NULL, 0);
	MUST(flow = make_flow(&raw, 0, &rule, "all"));
	for (int i = 0; i < 2; i++) {
		const uint8_t *ip;

		raw_send(&raw, raw_frame_build(rig, &frame, raw.buf), i ? IBV_SEND_IP_CSUM : 0);
		MUST(rig_poll(raw.cq[0], 1, &wc) == 1);
		ip = raw_slot(&raw, 0, (unsigned int)wc.wr_id) + ETH;
		say("sums asked for %d: flags %#x, header %s", i, wc.wc_flags,
		    words_sum(ip, IP4) == 0xffff ? "right" : "wrong");
		raw_post_receive(&raw, 0, (unsigned int)wc.wr_id);
	}
	MUST(!ibv_destroy_flow(flow));
	raw_close(&raw);
}
