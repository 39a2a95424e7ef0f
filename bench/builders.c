/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * builders.c - builders [frames]: instructions of ibv_wr_*(), one row for each that datapath.c and
 * services.c leave out; with "frames", of large sends, on Ethernet. A request is one batch.
 *
 * It runs under callgrind: see row.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { HEADER = 54, PAYLOAD = 1400, MSS = 500, SLOT = 2048 };

/* QPX is the sender of the rows, whose peer is TO. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_mw *window[EACH];
	struct ibv_qp_ex *qpx;
	struct ibv_qp *to;
	struct ibv_srq *srq; /* receives for XRC */
	struct ibv_xrcd *xrcd;
	uint32_t srqn;
	uint8_t bytes[SLOT] __attribute__((aligned(64)));
};

static void batch_begin(const struct world *w)
{
	ibv_wr_start(w->qpx);
	w->qpx->wr_id = 1;
	w->qpx->wr_flags = IBV_SEND_SIGNALED;
}

static bool batch_end(const struct world *w)
{
	ibv_wr_set_sge(w->qpx, w->mr->lkey, (uintptr_t)w->bytes, 8);
	return step_done(ibv_wr_complete(w->qpx));
}

/* A builder's row: CALL is one request, with data of 8 bytes. */
#define BUILDS(name, call)                       \
	static bool name(struct world *w, int i) \
	{                                        \
		(void)i;                         \
		batch_begin(w);                  \
		call;                            \
		return batch_end(w);             \
	}

#define THERE(w) (w)->mr->rkey, (uintptr_t)(w)->bytes + 64

BUILDS(build_send_imm, ibv_wr_send_imm(w->qpx, 1))
BUILDS(build_write_imm, ibv_wr_rdma_write_imm(w->qpx, THERE(w), 1))
BUILDS(build_read, ibv_wr_rdma_read(w->qpx, THERE(w)))
BUILDS(build_swap, ibv_wr_atomic_cmp_swp(w->qpx, THERE(w), 0, 1))
BUILDS(build_add, ibv_wr_atomic_fetch_add(w->qpx, THERE(w), 1))
BUILDS(build_send_inv, ibv_wr_send_inv(w->qpx, w->window[i]->rkey))
BUILDS(build_to_srq, (ibv_wr_send(w->qpx), ibv_wr_set_xrc_srqn(w->qpx, w->srqn)))

static bool build_large(struct world *w, int i)
{
	(void)i;
	batch_begin(w);
	ibv_wr_send_tso(w->qpx, w->bytes, HEADER, MSS);
	ibv_wr_set_sge(w->qpx, w->mr->lkey, (uintptr_t)w->bytes, PAYLOAD);
	return step_done(ibv_wr_complete(w->qpx));
}

static bool receive_post(struct world *w, int i)
{
	struct ibv_sge sge = { (uintptr_t)w->bytes + 128, 64, w->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)i;
	return step_done(w->srq ? ibv_post_srq_recv(w->srq, &wr, &bad)
				: ibv_post_recv(w->to, &wr, &bad));
}

static bool completes(struct world *w, int i)
{
	struct ibv_wc wc;

	(void)i;
	MUST(rig_poll(w->cq, 1, &wc) == 1);
	MUST(!wc.status);
	return true;
}

static bool both_complete(struct world *w, int i)
{
	return completes(w, i) && completes(w, i);
}

/* Binds a window at the receiver, so that the message can revoke it. */
static bool window_bind(struct world *w, int i)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *bad;

	w->window[i]->rkey = ibv_inc_rkey(w->window[i]->rkey);
	wr.bind_mw.mw = w->window[i];
	wr.bind_mw.rkey = w->window[i]->rkey;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ w->mr, (uintptr_t)w->bytes, 64,
							  IBV_ACCESS_REMOTE_WRITE };
	MUST(!ibv_post_send(w->to, &wr, &bad));
	return completes(w, i) && receive_post(w, i);
}

static const struct row connected[] = {
	{ "wr_send_imm", receive_post, build_send_imm, both_complete },
	{ "wr_send_inv", window_bind, build_send_inv, both_complete },
	{ "wr_rdma_write_imm", receive_post, build_write_imm, both_complete },
	{ "wr_rdma_read", NULL, build_read, completes },
	{ "wr_atomic_cmp_swp", NULL, build_swap, completes },
	{ "wr_atomic_fetch_add", NULL, build_add, completes },
};

static const struct row of_xrc[] = {
	{ "wr_send, XRC", receive_post, build_to_srq, both_complete },
};

static const struct row frames[] = {
	{ "wr_send_tso", NULL, build_large, completes },
};

static void world_make(struct world *w)
{
	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 255, NULL, NULL, 0));
	MUST(w->mr = ibv_reg_mr(w->pd, w->bytes, sizeof(w->bytes),
				IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE | IBV_ACCESS_MW_BIND));
}

static void world_end(struct world *w)
{
	MUST(!ibv_dereg_mr(w->mr));
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

static struct ibv_qp *qp_make(struct world *w, enum ibv_qp_type type, uint64_t operations)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = w->cq,
		.recv_cq = type == IBV_QPT_XRC_SEND ? NULL : w->cq,
		.cap = { .max_send_wr = 64, .max_send_sge = 1 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = w->pd,
		.send_ops_flags = operations,
	};

	if (type != IBV_QPT_XRC_SEND)
		attr.cap.max_recv_wr = 64, attr.cap.max_recv_sge = 1;
	if (type == IBV_QPT_RAW_PACKET) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
		attr.max_tso_header = HEADER;
	}
	return ibv_create_qp_ex(w->rig.ctx, &attr);
}

static void rows_absent(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		count_absent(rows[i].name);
}

static void connected_measure(struct world *w)
{
	const struct rig_conf conf = rig_conf_default();
	struct ibv_qp *from;

	from = qp_make(w, IBV_QPT_RC,
		       IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_SEND_WITH_INV |
			       IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
			       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
	if (!from) {
		rows_absent(connected, ARRAY_SIZE(connected));
		return;
	}
	MUST(w->to = rig_qp_create(w->pd, &conf, w->cq));
	rig_qp_to(&w->rig, &conf, from, w->to->qp_num, IBV_QPS_RTS);
	rig_qp_to(&w->rig, &conf, w->to, from->qp_num, IBV_QPS_RTS);
	for (int i = 0; i < EACH; i++)
		MUST(w->window[i] = ibv_alloc_mw(w->pd, IBV_MW_TYPE_2));
	MUST(w->qpx = ibv_qp_to_qp_ex(from));
	rows_measure(w, connected, ARRAY_SIZE(connected));
	MUST(!ibv_destroy_qp(from) && !ibv_destroy_qp(w->to));
	for (int i = 0; i < EACH; i++)
		MUST(!ibv_dealloc_mw(w->window[i]));
}

static void xrc_receiver_make(struct world *w)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };
	struct ibv_srq_init_attr_ex attr = {
		.attr = { 64, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = w->pd,
		.cq = w->cq,
	};
	struct ibv_qp_init_attr_ex to = { .qp_type = IBV_QPT_XRC_RECV,
					  .comp_mask = IBV_QP_INIT_ATTR_XRCD };

	MUST(to.xrcd = attr.xrcd = w->xrcd = ibv_open_xrcd(w->rig.ctx, &domain));
	MUST(w->srq = ibv_create_srq_ex(w->rig.ctx, &attr));
	MUST(!ibv_get_srq_num(w->srq, &w->srqn));
	MUST(w->to = ibv_create_qp_ex(w->rig.ctx, &to));
}

static void xrc_measure(struct world *w)
{
	const struct rig_conf conf = rig_conf_default();
	struct ibv_qp *from = qp_make(w, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND);

	if (!from) {
		rows_absent(of_xrc, ARRAY_SIZE(of_xrc));
		return;
	}
	xrc_receiver_make(w);
	rig_qp_to(&w->rig, &conf, w->to, from->qp_num, IBV_QPS_RTR);
	rig_qp_to(&w->rig, &conf, from, w->to->qp_num, IBV_QPS_RTS);
	MUST(w->qpx = ibv_qp_to_qp_ex(from));
	rows_measure(w, of_xrc, ARRAY_SIZE(of_xrc));
	MUST(!ibv_destroy_qp(from) && !ibv_destroy_qp(w->to) && !ibv_destroy_srq(w->srq));
	MUST(!ibv_close_xrcd(w->xrcd));
}

/* A frame of IPv4, as large sends have one. */
static void frame_fill(struct world *w)
{
	static const uint8_t ip[] = { 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 6 };
	const uint8_t *gid = w->rig.gid.raw;
	const uint8_t mac[6] = { gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15] };

	memcpy(w->bytes, mac, sizeof(mac));
	memcpy(w->bytes + sizeof(mac), mac, sizeof(mac));
	memcpy(w->bytes + 2 * sizeof(mac), ip, sizeof(ip));
}

/* No queue receives the frames. */
static void frames_measure(struct world *w)
{
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	struct ibv_qp *from = qp_make(w, IBV_QPT_RAW_PACKET, IBV_QP_EX_WITH_TSO);

	if (!from) {
		rows_absent(frames, ARRAY_SIZE(frames));
		return;
	}
	frame_fill(w);
	MUST(!ibv_modify_qp(from, &to, IBV_QP_STATE | IBV_QP_PORT));
	for (to.qp_state = IBV_QPS_RTR; to.qp_state <= IBV_QPS_RTS; to.qp_state++)
		MUST(!ibv_modify_qp(from, &to, IBV_QP_STATE));
	MUST(w->qpx = ibv_qp_to_qp_ex(from));
	rows_measure(w, frames, ARRAY_SIZE(frames));
	MUST(!ibv_destroy_qp(from));
}

int main(int argc, char **argv)
{
	static struct world w;

	world_make(&w);
	if (argc > 1 && !strcmp(argv[1], "frames")) {
		frames_measure(&w);
	} else {
		connected_measure(&w);
		xrc_measure(&w);
	}
	world_end(&w);
	return 0;
}
