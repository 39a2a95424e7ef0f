/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc.c - see xrc.h.
 */
#include "tests/lib/xrc.h"

#include <fcntl.h>
#include <stdlib.h>

#include "tests/lib/say.h"

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

	for (int i = 0; i < XRC_SRQS; i++) {
		MUST(xrc->srq[i] = ibv_create_srq_ex(xrc->rig->ctx, &attr));
		MUST(!ibv_get_srq_num(xrc->srq[i], &xrc->srqn[i]));
	}
}

static void target_open(struct xrc *xrc)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					    .xrcd = xrc->xrcd };

	MUST(xrc->to = ibv_create_qp_ex(xrc->rig->ctx, &attr));
}

void xrc_open(struct rig *rig, struct rig_conf conf, struct xrc *xrc)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };

	*xrc = (struct xrc){ .rig = rig, .conf = conf };
	MUST(xrc->pd = ibv_alloc_pd(rig->ctx));
	MUST(xrc->xrcd = ibv_open_xrcd(rig->ctx, &domain));
	MUST(xrc->sent = ibv_create_cq(rig->ctx, 32, NULL, NULL, 0));
	MUST(xrc->received = ibv_create_cq(rig->ctx, 32, NULL, NULL, 0));
	MUST(xrc->buf = aligned_alloc(XRC_SLICE, 2 * (size_t)XRC_SLICE));
	MUST(xrc->mr = ibv_reg_mr(xrc->pd, xrc->buf, 2 * (size_t)XRC_SLICE,
				  IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
	srqs_open(xrc);
	target_open(xrc);
}

struct ibv_qp_init_attr_ex xrc_initiator_attr(const struct xrc *xrc)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_SEND,
					    .send_cq = xrc->sent,
					    .cap = xrc->conf.cap,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = xrc->pd };

	attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	return attr;
}

void xrc_connect(struct xrc *xrc)
{
	rig_qp_to(xrc->rig, &xrc->conf, xrc->to, xrc->from->qp_num, IBV_QPS_RTR);
	rig_qp_to(xrc->rig, &xrc->conf, xrc->from, xrc->to->qp_num, IBV_QPS_RTS);
}

void xrc_receive(const struct xrc *xrc, int srq, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)xrc->buf + XRC_SLICE, XRC_SLICE, xrc->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(xrc->srq[srq], &wr, &bad));
}

void xrc_close(struct xrc *xrc)
{
	MUST(!ibv_destroy_qp(xrc->from) && !ibv_destroy_qp(xrc->to));
	for (int i = 0; i < XRC_SRQS; i++)
		MUST(!ibv_destroy_srq(xrc->srq[i]));
	MUST(!ibv_dereg_mr(xrc->mr) && !ibv_destroy_cq(xrc->sent));
	MUST(!ibv_destroy_cq(xrc->received) && !ibv_close_xrcd(xrc->xrcd));
	MUST(!ibv_dealloc_pd(xrc->pd));
	free(xrc->buf);
}
