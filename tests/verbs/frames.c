/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames.c - frames and large sends of a raw packet QP of mlx4 by all calls: inline and by pointer,
 * by ibv_post_send() and by ibv_wr_*, often enough for several laps of the send ring. The
 * distribution's libmlx4 has neither large sends nor ibv_wr_*; it can run the topic one-entry: a QP
 * with one request each way.
 *
 * Covers: providers/mlx4/data/post_send.c, providers/mlx4/data/send_wr.c,
 * providers/mlx4/data/send_wqe.h, softhca/device/format/mlx4/frame.c
 */
#include <stdlib.h>

#include "tests/lib/frame_wr.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum {
	SLOTS = 8,
	SLOT = 2048,
	LONGEST = 128,
	MSS = 500,
	PAYLOAD = 1400,
	SEGMENTS = 3,
	ROUNDS = 60
};
enum { ETH = 14, IP4 = 20, TCP = 20 };

struct pair {
	struct ibv_pd *pd;
	struct ibv_cq *cq[2];
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	struct ibv_flow *flow;
	uint8_t *buf; /* the frame to send, then the receive slots */
	unsigned int next;
};

static int try_receive(struct pair *p, unsigned int n)
{
	struct ibv_sge sge = { (uintptr_t)(p->buf + (size_t)(1 + n) * SLOT), SLOT, p->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(p->to, &wr, &bad);
}

static void post_receive(struct pair *p, unsigned int n)
{
	MUST(!try_receive(p, n));
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PORT));
	state.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE));
	state.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE));
}

typedef struct ibv_qp *make_qp_fn(const struct rig *rig, struct pair *p, struct ibv_cq *cq);

static struct ibv_qp *make_qp(const struct rig *rig, struct pair *p, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { SLOTS, SLOTS, 2, 1, 100 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			     IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
		.pd = p->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO,
		.max_tso_header = LONGEST,
	};
	return ibv_create_qp_ex(rig->ctx, &attr);
}

static struct ibv_qp *make_small_qp(const struct rig *rig, struct pair *p, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq,
					 .recv_cq = cq,
					 .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	(void)rig;
	say("%u sends of %u, %u receives of %u", attr.cap.max_send_wr, attr.cap.max_send_sge,
	    attr.cap.max_recv_wr, attr.cap.max_recv_sge);
	return qp;
}

static void pair_open(const struct rig *rig, unsigned int slots, make_qp_fn *make, struct pair *p)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = { .attr = { .size = sizeof(rule), .num_of_specs = 1, .port = 1 },
		   .eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) } };

	*p = (struct pair){ .next = 0 };
	MUST(p->pd = ibv_alloc_pd(rig->ctx));
	MUST(p->buf = calloc(1 + SLOTS, SLOT));
	MUST(p->mr = ibv_reg_mr(p->pd, p->buf, (size_t)(1 + SLOTS) * SLOT, IBV_ACCESS_LOCAL_WRITE));
	for (int i = 0; i < 2; i++)
		MUST(p->cq[i] = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	MUST(p->from = make(rig, p, p->cq[0]));
	MUST(p->to = make(rig, p, p->cq[1]));
	to_rts(p->from);
	to_rts(p->to);
	MUST(p->flow = ibv_create_flow(p->to, &rule.attr));
	for (unsigned int n = 0; n < slots; n++)
		post_receive(p, n);
}

static void pair_close(struct pair *p)
{
	MUST(!ibv_destroy_flow(p->flow) && !ibv_destroy_qp(p->from) && !ibv_destroy_qp(p->to));
	MUST(!ibv_destroy_cq(p->cq[0]) && !ibv_destroy_cq(p->cq[1]));
	MUST(!ibv_dereg_mr(p->mr) && !ibv_dealloc_pd(p->pd));
	free(p->buf);
}

/* Headers of IPv4, and of TCP with OPTIONS bytes of options; a large send's lengths come later. */
static size_t put_headers(const struct rig *rig, size_t options, uint8_t *at)
{
	const uint8_t *gid = rig->gid.raw;
	const uint8_t mac[6] = { gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15] };
	uint8_t *ip = at + ETH, *tcp = ip + IP4;

	memset(at, 0, ETH + IP4 + TCP + options);
	memcpy(at, mac, sizeof(mac));
	memcpy(at + 6, mac, sizeof(mac));
	at[12] = 8;
	ip[0] = 0x45;
	ip[3] = (uint8_t)(IP4 + TCP + options + 100);
	ip[8] = 64;
	ip[9] = 6;
	ip[12] = ip[16] = 10;
	tcp[3] = 80;
	tcp[7] = 1; /* sequence number */
	tcp[12] = (uint8_t)((TCP + options) / 4 << 4);
	memset(tcp + TCP, 1, options);
	return ETH + IP4 + TCP + options;
}

static void post_send(struct pair *p, bool by_wr, struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p->from);
	struct ibv_send_wr *bad;

	wr->send_flags |= IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM;
	if (!by_wr) {
		MUST(!ibv_post_send(p->from, wr, &bad));
		return;
	}
	frame_wr_begin(qpx, wr);
	if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)wr->sg_list->addr,
				       wr->sg_list->length);
	else
		ibv_wr_set_sge_list(qpx, (size_t)wr->num_sge, wr->sg_list);
	MUST(!ibv_wr_complete(qpx));
}

/* Takes the next frame, of LEN bytes, with its checksums right. */
static const uint8_t *frame_receive(struct pair *p, uint32_t len)
{
	struct ibv_wc wc;
	const uint8_t *bytes;

	MUST(rig_poll(p->cq[1], 1, &wc) == 1 && !wc.status);
	MUST(wc.byte_len == len && wc.wc_flags == IBV_WC_IP_CSUM_OK);
	bytes = p->buf + (size_t)(1 + wc.wr_id) * SLOT;
	post_receive(p, (unsigned int)wc.wr_id);
	return bytes;
}

static void expect_sent(struct pair *p, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	MUST(rig_poll(p->cq[0], 1, &wc) == 1 && !wc.status && wc.opcode == opcode);
}

static void send_frame(const struct rig *rig, struct pair *p, bool by_wr, bool is_inline)
{
	uint32_t len = (uint32_t)put_headers(rig, 0, p->buf) + 40;
	struct ibv_sge sge = { (uintptr_t)p->buf, len, p->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = is_inline ? IBV_SEND_INLINE : 0 };

	p->buf[ETH + 3] = (uint8_t)(len - ETH);
	p->buf[len - 1] = (uint8_t)++p->next;
	post_send(p, by_wr, &wr);
	MUST(frame_receive(p, len)[len - 1] == (uint8_t)p->next);
	expect_sent(p, IBV_WC_SEND);
}

static void send_large(const struct rig *rig, struct pair *p, bool by_wr, size_t options)
{
	uint8_t header[LONGEST];
	uint32_t size = (uint32_t)put_headers(rig, options, header);
	struct ibv_sge sges[] = { { (uintptr_t)p->buf, 600, p->mr->lkey },
				  { (uintptr_t)p->buf + 600, PAYLOAD - 600, p->mr->lkey } };
	struct ibv_send_wr wr = { .sg_list = sges,
				  .num_sge = 2,
				  .opcode = IBV_WR_TSO,
				  .tso = { header, (uint16_t)size, MSS } };
	uint32_t at = 0;

	for (uint32_t i = 0; i < PAYLOAD; i++)
		p->buf[i] = (uint8_t)(i * 7 + p->next);
	p->next++;
	post_send(p, by_wr, &wr);
	for (int i = 0; i < SEGMENTS; i++) {
		uint32_t part = PAYLOAD - at < MSS ? PAYLOAD - at : MSS;
		const uint8_t *bytes = frame_receive(p, size + part);

		MUST(!memcmp(bytes + size, p->buf + at, part));
		MUST(!memcmp(bytes + ETH + IP4 + TCP, header + ETH + IP4 + TCP, options));
		at += part;
	}
	expect_sent(p, IBV_WC_TSO);
}

static void all_calls(struct rig *rig)
{
	static const size_t options[] = { 0, 4, 8, 12, 40 };
	struct pair pair;

	pair_open(rig, SLOTS, make_qp, &pair);
	for (int i = 0; i < ROUNDS; i++) {
		send_frame(rig, &pair, i & 1, i & 2);
		send_large(rig, &pair, i & 1, options[i % 5]);
	}
	say_check(true, "frames and large sends, by all calls");
	pair_close(&pair);
}

/* Posts the same frame until the ring of sends is full, and returns how often. */
static int fill_sends(struct pair *p, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, len, p->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	int count = 0, ret;

	while (!(ret = ibv_post_send(p->from, &wr, &bad)))
		count++;
	say_ret(ret, "one more send");
	return count;
}

/* One frame finds a request, and those behind it find none. */
static void full_of_frames(const struct rig *rig, struct pair *p)
{
	uint32_t len = (uint32_t)put_headers(rig, 0, p->buf) + 40;
	struct ibv_wc wc[64];
	int count;

	count = fill_sends(p, len);
	say("%d sends are posted", count);
	for (int i = 0; i < count; i++)
		expect_sent(p, IBV_WC_SEND);
	MUST(rig_poll(p->cq[1], 1, wc) == 1 && !wc[0].status && wc[0].byte_len == len);
	say("frames received: %d", 1 + rig_drain(p->cq[1]));
	post_receive(p, 0);
}

static void one_entry(struct rig *rig)
{
	struct pair pair;

	pair_open(rig, 1, make_small_qp, &pair);
	say_ret(try_receive(&pair, 0), "one more receive");
	for (int i = 0; i < 2 * ROUNDS; i++)
		send_frame(rig, &pair, false, false);
	full_of_frames(rig, &pair);
	send_frame(rig, &pair, false, false);
	say_check(true, "each frame found the one request");
	pair_close(&pair);
}

static const struct rig_topic topics[] = { { "frames", all_calls }, { "one-entry", one_entry } };

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
