/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc_data.c - every opcode of an XRC send QP by both calls, to two SRQs behind one receive QP,
 * with each byte of the payload checked.
 *
 * Covers: providers/mlx5/qp/xrc.c, providers/mlx5/data/post_send.c,
 * providers/mlx5/data/send_wr_addr.c, providers/mlx4/data/send_wr.c
 */
#include <arpa/inet.h>

#include "data.h"
#include "tests/lib/xrc.h"

enum { SRQS = XRC_SRQS, SLICE = XRC_SLICE, ROUNDS = 3 };

static void qps_open(struct xrc *xrc)
{
	struct ibv_qp_init_attr_ex attr = xrc_initiator_attr(xrc);

	attr.send_ops_flags = xrc->conf.send_ops;
	if (attr.send_ops_flags)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	MUST(xrc->from = ibv_create_qp_ex(xrc->rig->ctx, &attr));
	xrc_connect(xrc);
}

struct request {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t lens[2];
	int n;
	unsigned int flags;
	bool receives;
};

static const struct request requests[] = {
	{ "SEND", IBV_WR_SEND, { 100 }, 1, 0, true },
	{ "SEND", IBV_WR_SEND, { 0 }, 0, 0, true },
	{ "SEND", IBV_WR_SEND, { 1000, 2000 }, 2, IBV_SEND_SOLICITED, true },
	{ "SEND", IBV_WR_SEND, { 33 }, 1, IBV_SEND_INLINE, true },
	{ "SEND", IBV_WR_SEND, { 11, 22 }, 2, IBV_SEND_INLINE, true },
	{ "SEND_IMM", IBV_WR_SEND_WITH_IMM, { 50 }, 1, 0, true },
	{ "SEND_IMM", IBV_WR_SEND_WITH_IMM, { 64 }, 1, IBV_SEND_INLINE, true },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 3000 }, 1, 0, false },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 7, 8 }, 2, IBV_SEND_INLINE, false },
	{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, { 77, 88 }, 2, 0, true },
	{ "READ", IBV_WR_RDMA_READ, { 1500 }, 1, 0, false },
	{ "READ", IBV_WR_RDMA_READ, { 10, 20 }, 2, IBV_SEND_FENCE, false },
	{ "CMP_SWAP", IBV_WR_ATOMIC_CMP_AND_SWP, { 8 }, 1, 0, false },
	{ "FETCH_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, { 8 }, 1, 0, false },
};

static bool is_atomic(const struct request *request)
{
	return request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static struct ibv_send_wr request_wr(const struct xrc *xrc, const struct request *request,
				     struct ibv_sge *sges)
{
	struct ibv_send_wr wr = { .wr_id = request->opcode,
				  .sg_list = sges,
				  .num_sge = request->n,
				  .opcode = request->opcode,
				  .send_flags = IBV_SEND_SIGNALED | request->flags,
				  .imm_data = htonl(0xabad1dea) };
	uint64_t there = (uintptr_t)xrc->buf + SLICE;

	sges[0] = (struct ibv_sge){ (uintptr_t)xrc->buf, request->lens[0], xrc->mr->lkey };
	sges[1] = (struct ibv_sge){ sges[0].addr + request->lens[0], request->lens[1],
				    xrc->mr->lkey };
	if (is_atomic(request)) {
		wr.wr.atomic.remote_addr = there;
		wr.wr.atomic.rkey = xrc->mr->rkey;
		wr.wr.atomic.compare_add = 0x0706050403020100;
		wr.wr.atomic.swap = 0x1122334455667788;
	} else {
		wr.wr.rdma.remote_addr = there;
		wr.wr.rdma.rkey = xrc->mr->rkey;
	}
	return wr;
}

static int request_post(const struct xrc *xrc, struct ibv_send_wr *wr, enum entry entry,
			uint32_t srqn)
{
	struct ibv_send_wr *bad;
	struct ibv_qp_ex *qpx;

	wr->qp_type.xrc.remote_srqn = srqn;
	if (entry == ENTRY_POST)
		return ibv_post_send(xrc->from, wr, &bad);
	qpx = ibv_qp_to_qp_ex(xrc->from);
	ibv_wr_start(qpx);
	wr_operation(qpx, wr);
	ibv_wr_set_xrc_srqn(qpx, srqn);
	wr_data(qpx, wr);
	return ibv_wr_complete(qpx);
}

static void completion_say(struct ibv_cq *cq, const char *who)
{
	struct ibv_wc wc;

	if (rig_poll(cq, 1, &wc) == 1)
		say_wc(who, &wc, 0);
	else
		say("%s nothing", who);
}

static void request_run(struct xrc *xrc, const struct request *request, enum entry entry, int srq)
{
	uint32_t len = request->lens[0] + request->lens[1];
	struct ibv_sge sges[2];
	struct ibv_send_wr wr = request_wr(xrc, request, sges);

	for (int i = 0; i < 2 * SLICE; i++)
		xrc->buf[i] = (uint8_t)(i < SLICE ? 3 * i + 1 : i);
	if (request->receives)
		xrc_receive(xrc, srq, 100 + (uint64_t)srq);
	if (SAY_RET(request_post(xrc, &wr, entry, xrc->srqn[srq]), "%s %s, %u bytes in %d",
		    entry_name(entry), request->name, len, request->n))
		return;
	completion_say(xrc->sent, "A");
	if (request->receives)
		completion_say(xrc->received, "B");
	if (!is_atomic(request))
		say_check(!memcmp(xrc->buf, xrc->buf + SLICE, len), "%u bytes", len);
	else
		say("was %#llx, is %#llx", (unsigned long long)*(uint64_t *)xrc->buf,
		    (unsigned long long)*(uint64_t *)(xrc->buf + SLICE));
}

void diff_xrc_data(struct rig *rig)
{
	for (enum entry entry = ENTRY_POST; entry <= ENTRY_WR; entry++) {
		struct xrc xrc;

		xrc_open(rig, entry_conf(entry), &xrc);
		qps_open(&xrc);
		for (int round = 0; round < ROUNDS; round++)
			for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
				request_run(&xrc, &requests[i], entry, (int)i % SRQS);
		xrc_close(&xrc);
	}
}
