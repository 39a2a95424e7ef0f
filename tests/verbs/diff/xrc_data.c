/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc_data.c - every opcode of an XRC send QP through both doors, to two SRQs behind one receive
 * QP, the payload checked byte by byte.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>

#include "data.h"

enum { SRQS = 2, SLICE = 4096, ROUNDS = 3 };

struct xrc {
	struct rig *rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	struct ibv_cq *sent, *received;
	struct ibv_srq *srq[SRQS];
	uint32_t srqn[SRQS];
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	uint8_t *buf; /* a slice to send from, and one to receive in */
};

/* ---- objects ---- */

static void srqs_open(struct xrc *xrc)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { 16, 2, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = xrc->pd,
		.xrcd = xrc->xrcd,
		.cq = xrc->received,
	};

	for (int i = 0; i < SRQS; i++) {
		MUST(xrc->srq[i] = ibv_create_srq_ex(xrc->rig->ctx, &attr));
		MUST(!ibv_get_srq_num(xrc->srq[i], &xrc->srqn[i]));
	}
}

static void qps_open(struct xrc *xrc)
{
	struct ibv_qp_init_attr_ex from = { .qp_type = IBV_QPT_XRC_SEND,
					    .send_cq = xrc->sent,
					    .cap = xrc->conf.cap,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = xrc->pd,
					    .send_ops_flags = xrc->conf.send_ops };
	struct ibv_qp_init_attr_ex to = { .qp_type = IBV_QPT_XRC_RECV,
					  .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					  .xrcd = xrc->xrcd };

	from.cap.max_recv_wr = from.cap.max_recv_sge = 0;
	if (from.send_ops_flags)
		from.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	MUST(xrc->from = ibv_create_qp_ex(xrc->rig->ctx, &from));
	MUST(xrc->to = ibv_create_qp_ex(xrc->rig->ctx, &to));
	rig_qp_to(xrc->rig, &xrc->conf, xrc->to, xrc->from->qp_num, IBV_QPS_RTR);
	rig_qp_to(xrc->rig, &xrc->conf, xrc->from, xrc->to->qp_num, IBV_QPS_RTS);
}

static void xrc_open(struct rig *rig, enum entry entry, struct xrc *xrc)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };

	*xrc = (struct xrc){ .rig = rig, .conf = entry_conf(entry) };
	MUST(xrc->pd = ibv_alloc_pd(rig->ctx));
	MUST(xrc->xrcd = ibv_open_xrcd(rig->ctx, &domain));
	MUST(xrc->sent = ibv_create_cq(rig->ctx, 32, NULL, NULL, 0));
	MUST(xrc->received = ibv_create_cq(rig->ctx, 32, NULL, NULL, 0));
	MUST(xrc->buf = aligned_alloc(SLICE, 2 * (size_t)SLICE));
	MUST(xrc->mr = ibv_reg_mr(xrc->pd, xrc->buf, 2 * (size_t)SLICE,
				  IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
	srqs_open(xrc);
	qps_open(xrc);
}

static void xrc_close(struct xrc *xrc)
{
	MUST(!ibv_destroy_qp(xrc->from) && !ibv_destroy_qp(xrc->to));
	for (int i = 0; i < SRQS; i++)
		MUST(!ibv_destroy_srq(xrc->srq[i]));
	MUST(!ibv_dereg_mr(xrc->mr) && !ibv_destroy_cq(xrc->sent));
	MUST(!ibv_destroy_cq(xrc->received) && !ibv_close_xrcd(xrc->xrcd));
	MUST(!ibv_dealloc_pd(xrc->pd));
	free(xrc->buf);
}

/* ---- requests ---- */

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

static void receive_post(const struct xrc *xrc, int srq, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)xrc->buf + SLICE, SLICE, xrc->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(xrc->srq[srq], &wr, &bad));
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
		receive_post(xrc, srq, 100 + (uint64_t)srq);
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

		xrc_open(rig, entry, &xrc);
		for (int round = 0; round < ROUNDS; round++)
			for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
				request_run(&xrc, &requests[i], entry, (int)i % SRQS);
		xrc_close(&xrc);
	}
}
