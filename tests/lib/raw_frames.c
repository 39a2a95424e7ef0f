/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_frames.c - raw packet QPs and the frames between them. See raw_frames.h.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/raw_frames.h"
#include "tests/lib/say.h"

enum { ADDRESSES = 12, ETH = 14, VLAN = 4, IP4 = 20, IP6 = 40, L4 = 20 };

static struct ibv_qp *raw_qp_make(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq,
					 .recv_cq = cq,
					 .cap = { RAW_SLOTS, RAW_SLOTS, 2, 1, 0 },
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp)
		return NULL;
	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PORT));
	state.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE));
	state.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE));
	return qp;
}

uint8_t *raw_slot(struct raw *raw, int receiver, unsigned int n)
{
	return raw->buf + (size_t)(1 + receiver * RAW_SLOTS + n) * RAW_FRAME;
}

void raw_post_receive(struct raw *raw, int receiver, unsigned int n)
{
	struct ibv_sge sge = { (uintptr_t)raw_slot(raw, receiver, n), RAW_FRAME, raw->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(raw->to[receiver], &wr, &bad));
}

static void raw_sender_open(struct raw_sender *from, struct ibv_device *device, void *frame)
{
	MUST(from->ctx = ibv_open_device(device));
	MUST(from->pd = ibv_alloc_pd(from->ctx));
	MUST(from->mr = ibv_reg_mr(from->pd, frame, RAW_FRAME, 0));
	MUST(from->cq = ibv_create_cq(from->ctx, RAW_CQ, NULL, NULL, 0));
	MUST(from->qp = raw_qp_make(from->pd, from->cq));
}

static void raw_sender_close(struct raw_sender *from)
{
	MUST(!ibv_destroy_qp(from->qp));
	MUST(!ibv_destroy_cq(from->cq));
	MUST(!ibv_dereg_mr(from->mr));
	MUST(!ibv_dealloc_pd(from->pd));
	MUST(!ibv_close_device(from->ctx));
}

static struct ibv_cq *raw_cq_make(struct ibv_context *ctx, uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = RAW_CQ, .wc_flags = wc_flags };
	struct ibv_cq *cq = wc_flags ? ibv_cq_ex_to_cq(ibv_create_cq_ex(ctx, &attr))
				     : ibv_create_cq(ctx, RAW_CQ, NULL, NULL, 0);

	MUST(cq);
	return cq;
}

bool raw_open(struct rig *rig, uint64_t wc_flags, struct raw *raw)
{
	size_t bytes = (size_t)(1 + RAW_RECEIVERS * RAW_SLOTS) * RAW_FRAME;

	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return false;
	MUST(raw->buf = calloc(1, bytes));
	raw_sender_open(&raw->from, rig->ctx->device, raw->buf);
	MUST(raw->pd = ibv_alloc_pd(rig->ctx));
	MUST(raw->mr = ibv_reg_mr(raw->pd, raw->buf, bytes, IBV_ACCESS_LOCAL_WRITE));
	for (int i = 0; i < RAW_RECEIVERS; i++) {
		raw->cq[i] = raw_cq_make(rig->ctx, wc_flags);
		MUST(raw->to[i] = raw_qp_make(raw->pd, raw->cq[i]));
		for (unsigned int n = 0; n < RAW_SLOTS; n++)
			raw_post_receive(raw, i, n);
	}
	return true;
}

void raw_close(struct raw *raw)
{
	for (int i = 0; i < RAW_RECEIVERS; i++) {
		MUST(!ibv_destroy_qp(raw->to[i]));
		MUST(!ibv_destroy_cq(raw->cq[i]));
	}
	MUST(!ibv_dereg_mr(raw->mr));
	MUST(!ibv_dealloc_pd(raw->pd));
	raw_sender_close(&raw->from);
	free(raw->buf);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

void raw_own_mac(const struct rig *rig, uint8_t mac[6])
{
	const uint8_t *gid = rig->gid.raw;
	const uint8_t from_gid[6] = { gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15] };

	memcpy(mac, from_gid, 6);
}

const uint8_t raw_group_mac[6] = { 0x01, 0x00, 0x5e, 1, 2, 3 };

static size_t put_l4(const struct raw_frame *f, uint8_t *at)
{
	memset(at, 0, L4);
	if (f->protocol == 47) {
		put16(at, 0x2000);
		put16(at + 2, 0x6558);
		put16(at + 4, f->key >> 16);
		put16(at + 6, f->key & 0xffff);
		return L4;
	}
	put16(at, f->sport);
	put16(at + 2, f->dport);
	if (f->protocol == 6)
		at[12] = 5 << 4;
	else
		put16(at + 4, L4);
	at[8] = f->dport == 4789 ? 8 : 0;
	if (f->dport == 4789) {
		at[12] = f->key >> 16;
		at[13] = f->key >> 8 & 0xff;
		at[14] = f->key & 0xff;
	}
	return L4;
}

static size_t put_ip(const struct raw_frame *f, uint8_t *at)
{
	memset(at, 0, IP6);
	if (f->version == 4) {
		at[0] = 0x45;
		at[1] = f->tos;
		put16(at + 2, IP4 + L4);
		at[8] = f->ttl;
		at[9] = f->protocol;
		memcpy(at + 12, (uint8_t[]){ 10, 0, 0, f->src, 10, 0, 0, f->dst }, 8);
		return IP4;
	}
	at[0] = 6 << 4 | f->tos >> 4;
	at[1] = (uint8_t)(f->tos << 4 | f->label >> 16);
	put16(at + 2, (uint16_t)f->label);
	put16(at + 4, L4);
	at[6] = f->protocol;
	at[7] = f->ttl;
	at[8] = at[24] = 0xfd;
	at[23] = f->src;
	at[39] = f->dst;
	return IP6;
}

size_t raw_frame_build(const struct rig *rig, const struct raw_frame *f, uint8_t *bytes)
{
	size_t len = ETH;

	raw_own_mac(rig, bytes);
	if (f->group)
		memcpy(bytes, raw_group_mac, sizeof(raw_group_mac));
	bytes[5] ^= f->away;
	raw_own_mac(rig, bytes + 6);
	if (f->vlan) {
		put16(bytes + 12, 0x8100);
		put16(bytes + 14, f->vid);
		len += VLAN;
	}
	put16(bytes + len - 2, f->version == 4 ? 0x0800 : f->version == 6 ? 0x86dd : 0x88b5);
	if (f->version)
		len += put_ip(f, bytes + len);
	if (f->version)
		len += put_l4(f, bytes + len);
	if (len < 60)
		memset(bytes + len, 0, 60 - len);
	return len < 60 ? 60 : len;
}

void raw_send(struct raw *raw, size_t len, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)raw->buf, (uint32_t)len, raw->from.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED | flags },
			   *bad;
	struct ibv_wc wc;

	MUST(!ibv_post_send(raw->from.qp, &wr, &bad));
	MUST(rig_poll(raw->from.cq, 1, &wc) == 1 && !wc.status);
}

int raw_received(struct raw *raw, int receiver)
{
	struct ibv_wc wc;
	int n = 0;

	while (ibv_poll_cq(raw->cq[receiver], 1, &wc) == 1) {
		MUST(!wc.status);
		n += !memcmp(raw_slot(raw, receiver, (unsigned int)wc.wr_id), raw->buf, ADDRESSES);
		raw_post_receive(raw, receiver, (unsigned int)wc.wr_id);
	}
	return n;
}
