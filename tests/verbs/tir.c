/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tir.c - verbs-tir [TOPIC...]: raw packet QPs whose TIR is set or modified by direct verbs: TCP
 * segments merged into one frame (LRO), and frames that return to their sender (loopback).
 *
 * Covers: providers/mlx5/dv/qp.c, softhca/device/eth/tir.c, softhca/device/eth/lro.c
 */
#include <arpa/inet.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum {
	SLOTS = 16,
	ROOM = 8192, /* of a frame */
	ETH = 14,
	IP = 20,
	TCP = 20,
	HEADERS = ETH + IP + TCP,
	PART = 1000, /* bytes of a segment */
	PERIOD = 32,
};

struct raw {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_flow *unicast, *group;
	struct ibv_mr *mr;
	uint8_t *buf; /* frames to send, then slots to receive in */
	uint32_t posted;
};

static const uint8_t group_mac[6] = { 0x01, 0x00, 0x5e, 1, 2, 3 };

static void own_mac(const struct rig *rig, uint8_t mac[6])
{
	const uint8_t *gid = rig->gid.raw;
	const uint8_t from_gid[6] = { gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15] };

	memcpy(mac, from_gid, 6);
}

static uint8_t *slot(const struct raw *raw, uint32_t n)
{
	return raw->buf + (size_t)(SLOTS + n % SLOTS) * ROOM;
}

static void post_receive(struct raw *raw)
{
	struct ibv_sge sge = { (uintptr_t)slot(raw, raw->posted), ROOM, raw->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = raw->posted++, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(raw->qp, &wr, &bad));
}

static struct ibv_qp *qp_make(const struct raw *raw, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = raw->cq,
					    .recv_cq = raw->cq,
					    .cap = { SLOTS, SLOTS, 1, 1, 0 },
					    .qp_type = IBV_QPT_RAW_PACKET,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = raw->pd };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					  .create_flags = flags };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	struct ibv_qp *qp;

	MUST(qp = mlx5dv_create_qp(raw->rig->ctx, &attr, &dv));
	MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PORT));
	to.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE));
	to.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE));
	return qp;
}

static struct ibv_flow *flow_make(struct ibv_qp *qp, const uint8_t mac[6])
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = { .attr = { .size = sizeof(rule), .num_of_specs = 1, .port = RIG_PORT },
		   .eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) } };
	struct ibv_flow *flow;

	memcpy(rule.eth.val.dst_mac, mac, 6);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	MUST(flow = ibv_create_flow(qp, &rule.attr));
	return flow;
}

static void raw_open(struct rig *rig, uint32_t flags, struct raw *raw)
{
	uint8_t mac[6];

	*raw = (struct raw){ .rig = rig };
	own_mac(rig, mac);
	MUST(raw->pd = ibv_alloc_pd(rig->ctx));
	MUST(raw->cq = ibv_create_cq(rig->ctx, 4 * SLOTS, NULL, NULL, 0));
	MUST(raw->buf = calloc(2 * SLOTS, ROOM));
	MUST(raw->mr = ibv_reg_mr(raw->pd, raw->buf, (size_t)2 * SLOTS * ROOM,
				  IBV_ACCESS_LOCAL_WRITE));
	raw->qp = qp_make(raw, flags);
	raw->unicast = flow_make(raw->qp, mac);
	raw->group = flow_make(raw->qp, group_mac);
	for (int i = 0; i < SLOTS; i++)
		post_receive(raw);
}

static void raw_close(struct raw *raw)
{
	MUST(!ibv_destroy_flow(raw->unicast) && !ibv_destroy_flow(raw->group));
	MUST(!ibv_destroy_qp(raw->qp) && !ibv_destroy_cq(raw->cq));
	MUST(!ibv_dereg_mr(raw->mr) && !ibv_dealloc_pd(raw->pd));
	free(raw->buf);
}

static uint32_t qp_tirn(struct ibv_qp *qp)
{
	struct mlx5dv_qp parts = { .comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES };
	struct mlx5dv_obj obj = { .qp = { qp, &parts } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	MUST(parts.comp_mask & MLX5DV_QP_MASK_RAW_QP_HANDLES && parts.tirn);
	return parts.tirn;
}

static void tir_begin(struct ibv_qp *qp, uint8_t *in)
{
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_TIR);
	fld_set(in, MODIFY_TIR_IN_TIRN, qp_tirn(qp));
}

static void tir_change(struct ibv_qp *qp, const uint8_t *in, const char *what)
{
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };

	SAY_RET(mlx5dv_devx_qp_modify(qp, in, 0x20 + PRM_TIRC_SIZE, out, sizeof(out)), "%s", what);
	say("status %#x", (unsigned int)fld_get(out, CMD_OUT_STATUS));
}

static void tir_lro(struct ibv_qp *qp, uint32_t of, uint32_t bytes, uint32_t period)
{
	uint8_t in[0x20 + PRM_TIRC_SIZE] = { 0 }, *tirc = fld_at(in, MODIFY_TIR_IN_CTX);

	tir_begin(qp, in);
	fld_set(fld_at(in, MODIFY_TIR_IN_BITMASK), MODIFY_TIR_BITMASK_PACKET_MERGE, 1);
	fld_set(tirc, TIRC_PACKET_MERGE_MASK, of);
	fld_set(tirc, TIRC_LRO_MAX_IP_PAYLOAD_SIZE, bytes / 256);
	fld_set(tirc, TIRC_LRO_TIMEOUT_PERIOD_USECS, period);
	say("LRO of %#x, %u bytes, %u microseconds", of, bytes, period);
	tir_change(qp, in, "modify");
}

static void tir_own_frames(struct ibv_qp *qp, uint32_t of)
{
	uint8_t in[0x20 + PRM_TIRC_SIZE] = { 0 };

	tir_begin(qp, in);
	fld_set(fld_at(in, MODIFY_TIR_IN_BITMASK), MODIFY_TIR_BITMASK_SELF_LB_EN, 1);
	fld_set(fld_at(in, MODIFY_TIR_IN_CTX), TIRC_SELF_LB_BLOCK, of);
	tir_change(qp, in, "own frames");
}

static void frame_begin(const struct raw *raw, uint8_t *frame, const uint8_t to[6], uint16_t type)
{
	memcpy(frame, to, 6);
	own_mac(raw->rig, frame + 6);
	frame[12] = (uint8_t)(type >> 8);
	frame[13] = type & 0xff;
}

static uint8_t byte_of(uint32_t n)
{
	return (uint8_t)(n * 7 + n / 251);
}

/* Builds a segment of the stream with the bytes of byte_of(). The adapter inserts the checksums. */
static void segment_build(const struct raw *raw, uint8_t *frame, uint32_t number, bool push)
{
	uint8_t mac[6], *ip = frame + ETH, *tcp = ip + IP;
	uint32_t sent = htonl(number * PART);

	own_mac(raw->rig, mac);
	memset(frame, 0, HEADERS);
	frame_begin(raw, frame, mac, 0x0800);
	memcpy(ip,
	       (uint8_t[]){ 0x45,
			    0,
			    (IP + TCP + PART) >> 8,
			    (IP + TCP + PART) & 0xff,
			    0,
			    1,
			    0x40,
			    0,
			    64,
			    6,
			    0,
			    0,
			    10,
			    0,
			    0,
			    1,
			    10,
			    0,
			    0,
			    2 },
	       IP);
	memcpy(tcp, (uint8_t[]){ 0x10, 0x01, 0x10, 0x02 }, 4);
	memcpy(tcp + 4, &sent, 4);
	tcp[12] = TCP / 4 << 4;
	tcp[13] = push ? 0x18 : 0x10;
	tcp[14] = 4;
	for (uint32_t i = 0; i < PART; i++)
		frame[HEADERS + i] = byte_of(number * PART + i);
}

static void frames_send(struct raw *raw, int count, uint32_t length, unsigned int flags)
{
	struct ibv_send_wr wr[SLOTS] = { 0 }, *bad;
	struct ibv_sge sge[SLOTS];

	for (int i = 0; i < count; i++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)raw->buf + (size_t)i * ROOM, length,
					   raw->mr->lkey };
		wr[i] = (struct ibv_send_wr){ .wr_id = 1000,
					      .next = i + 1 < count ? &wr[i + 1] : NULL,
					      .sg_list = &sge[i],
					      .num_sge = 1,
					      .opcode = IBV_WR_SEND,
					      .send_flags = IBV_SEND_SIGNALED | flags };
	}
	MUST(!ibv_post_send(raw->qp, wr, &bad));
}

/* Returns the number of received frames, and posts their slots again. The data of the stream, which
 * begins at *AT, must be right. */
static int frames_take(struct raw *raw, int sent, uint32_t *at)
{
	int frames = 0, sends = 0;
	struct ibv_wc wc;

	rig_settle();
	while (rig_poll(raw->cq, sends < sent, &wc) == 1 || ibv_poll_cq(raw->cq, 1, &wc) == 1) {
		const uint8_t *frame = slot(raw, (uint32_t)wc.wr_id);
		bool right = true;

		MUST(!wc.status);
		if (wc.opcode == IBV_WC_SEND) {
			sends++;
			continue;
		}
		frames++;
		if (at) {
			for (uint32_t i = HEADERS; i < wc.byte_len; i++)
				right = right && frame[i] == byte_of((*at)++);
			say_check(right, "frame of %u bytes", wc.byte_len);
		}
		post_receive(raw);
	}
	return frames;
}

static void stream_send(struct raw *raw, int count, uint32_t *at)
{
	uint32_t number = *at / PART;

	for (int i = 0; i < count; i++)
		segment_build(raw, raw->buf + (size_t)i * ROOM, number + (uint32_t)i,
			      i + 1 == count);
	frames_send(raw, count, HEADERS + PART, IBV_SEND_IP_CSUM);
	say("%d segments, %d frames", count, frames_take(raw, count, at));
	MUST(*at == (number + (uint32_t)count) * PART);
}

static void lro(struct rig *rig)
{
	struct raw raw;
	uint32_t at = 0;

	raw_open(rig, MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC, &raw);
	stream_send(&raw, 3, &at);
	tir_lro(raw.qp, PRM_LRO_IPV4, 6144, PERIOD);
	for (int count = 1; count <= 12; count += 2)
		stream_send(&raw, count, &at);
	tir_lro(raw.qp, 4, 6144, PERIOD);
	tir_lro(raw.qp, PRM_LRO_IPV4, 6144, PERIOD + 1);
	tir_lro(raw.qp, PRM_LRO_IPV4, 0, PERIOD);
	tir_lro(raw.qp, PRM_LRO_IPV4, 2304, PERIOD);
	stream_send(&raw, 5, &at);
	tir_lro(raw.qp, PRM_LRO_IPV6, 6144, PERIOD);
	stream_send(&raw, 5, &at);
	tir_lro(raw.qp, 0, 0, 0);
	stream_send(&raw, 5, &at);
	raw_close(&raw);
}

static int own_frames_of(struct raw *raw, const uint8_t to[6])
{
	frame_begin(raw, raw->buf, to, 0x88b5);
	frames_send(raw, 1, 100, 0);
	return frames_take(raw, 1, NULL);
}

static void say_own_frames(struct raw *raw, const char *what)
{
	uint8_t mac[6];
	int unicast, group;

	own_mac(raw->rig, mac);
	unicast = own_frames_of(raw, mac);
	group = own_frames_of(raw, group_mac);
	say("%s: of its own %d, and %d for a group", what, unicast, group);
}

static void own_frames(struct rig *rig)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} kinds[] = {
		{ "none", 0 },
		{ "unicast", MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC },
		{ "multicast", MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC },
		{ "both", MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC |
				  MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct raw raw;

		raw_open(rig, kinds[i].flags, &raw);
		say_own_frames(&raw, kinds[i].name);
		tir_own_frames(raw.qp, (uint32_t)(3 - i));
		say_own_frames(&raw, "changed");
		raw_close(&raw);
	}
}

static const struct rig_topic topics[] = {
	{ "lro", lro },
	{ "own-frames", own_frames },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
