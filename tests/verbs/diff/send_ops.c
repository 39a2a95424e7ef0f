/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_ops.c - every opcode by ibv_post_send() on queue pairs that were created for SEND alone
 * (send_ops_flags). That flag limits ibv_wr_*(); ibv_post_send() has all opcodes of the type.
 *
 * Covers: providers/mlx5/data/post_send.c, providers/mlx5/qp/rules.c, providers/mlx5/qp/routines.c
 */
#include <string.h>

#include "diff.h"
#include "tests/lib/xrc.h"

/* IN_HEAD bytes of inline data fill a block behind the head of a SEND. */
enum { SLICE = XRC_SLICE, PIECE = 24, IN_HEAD = 44 };

/* The posting queue, and memory: the first slice is local, the second remote. */
struct place {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	uint32_t srqn;
	struct ibv_mw *window;
};

static bool is_on_key(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_BIND_MW || opcode == IBV_WR_LOCAL_INV;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void request_make(const struct place *at, enum ibv_wr_opcode opcode, int pieces,
			 struct ibv_sge *sges, struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){ .wr_id = opcode,
				    .sg_list = sges,
				    .num_sge = is_on_key(opcode)   ? 0
					       : is_atomic(opcode) ? 1
								   : pieces,
				    .opcode = opcode,
				    .send_flags = IBV_SEND_SIGNALED };
	for (int i = 0; i < pieces; i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)at->buf + (size_t)i * PIECE, PIECE,
					    at->mr->lkey };
	wr->qp_type.xrc.remote_srqn = at->srqn;
	if (opcode == IBV_WR_BIND_MW) {
		wr->bind_mw.mw = at->window;
		wr->bind_mw.rkey = ibv_inc_rkey(at->window->rkey);
		wr->bind_mw.bind_info = (struct ibv_mw_bind_info){ at->mr, (uintptr_t)at->buf,
								   SLICE, IBV_ACCESS_REMOTE_WRITE };
	} else if (opcode == IBV_WR_LOCAL_INV) {
		wr->invalidate_rkey = at->window->rkey;
	} else if (is_atomic(opcode)) {
		wr->wr.atomic.remote_addr = (uintptr_t)at->buf + SLICE;
		wr->wr.atomic.rkey = at->mr->rkey;
	} else {
		wr->wr.rdma.remote_addr = (uintptr_t)at->buf + SLICE;
		wr->wr.rdma.rkey = at->mr->rkey;
	}
}

static void say_end(const struct place *at, const char *what)
{
	struct ibv_wc wc;

	if (rig_poll(at->cq, 1, &wc) == 1)
		say("%s: wr_id %d, opcode %d, status %d", what, (int)wc.wr_id, (int)wc.opcode,
		    (int)wc.status);
	else
		say("%s: no completion", what);
}

static void opcode_run(struct place *at, enum ibv_wr_opcode opcode, int pieces, unsigned int flags)
{
	struct ibv_sge sges[4];
	struct ibv_send_wr wr, *bad;

	for (int i = 0; i < 2 * SLICE; i++)
		at->buf[i] = (uint8_t)(i < SLICE ? 3 * i + 1 : 0);
	request_make(at, opcode, pieces, sges, &wr);
	wr.send_flags |= flags;
	if (flags & IBV_SEND_INLINE)
		sges[0].length = IN_HEAD;
	if (SAY_RET(ibv_post_send(at->qp, &wr, &bad), "opcode %d of %d%s", (int)opcode, pieces,
		    flags ? ", inline" : ""))
		return;
	say_end(at, "alone");
	if (opcode == IBV_WR_BIND_MW)
		at->window->rkey = wr.bind_mw.rkey;
	if (opcode == IBV_WR_RDMA_WRITE)
		say_check(!memcmp(at->buf, at->buf + SLICE,
				  flags ? (size_t)IN_HEAD : (size_t)pieces * PIECE),
			  "its bytes");
}

/* Three writes around a binding and a revocation, again and again: none overwrites another. */
static void lists_run(struct place *at, int pieces)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_BIND_MW,
						      IBV_WR_RDMA_WRITE, IBV_WR_LOCAL_INV,
						      IBV_WR_RDMA_WRITE };
	struct ibv_send_wr wrs[ARRAY_SIZE(opcodes)], *bad;
	struct ibv_sge sges[ARRAY_SIZE(opcodes)][4];

	for (int round = 0; round < 12; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
			request_make(at, opcodes[i], pieces, sges[i], &wrs[i]);
			wrs[i].next = i + 1 < ARRAY_SIZE(opcodes) ? &wrs[i + 1] : NULL;
		}
		at->window->rkey = wrs[1].bind_mw.rkey;
		wrs[3].invalidate_rkey = at->window->rkey;
		if (SAY_RET(ibv_post_send(at->qp, wrs, &bad), "a list"))
			return;
		for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
			say_end(at, "in a list");
	}
}

static void place_run(struct place *at, int pieces, bool reads)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,         IBV_WR_BIND_MW,
		IBV_WR_LOCAL_INV,          IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	for (size_t i = 0; i < (reads ? ARRAY_SIZE(opcodes) : 3); i++)
		opcode_run(at, opcodes[i], pieces, 0);
	opcode_run(at, IBV_WR_RDMA_WRITE, 1, IBV_SEND_INLINE);
	lists_run(at, pieces);
}

static struct rig_conf ops_conf(int pieces, bool unreliable)
{
	struct rig_conf conf = rig_conf_default();

	conf.send_ops = IBV_QP_EX_WITH_SEND;
	conf.unreliable = unreliable;
	conf.cap.max_send_sge = (uint32_t)pieces;
	conf.cap.max_inline_data = IN_HEAD;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	return conf;
}

static void pair_run(struct rig *rig, int pieces, bool unreliable)
{
	const struct rig_conf conf = ops_conf(pieces, unreliable);
	struct rig_pair pair;
	struct place at;

	say("%s, %d pieces", unreliable ? "UC" : "RC", pieces);
	rig_pair_open(rig, &conf, &pair);
	at = (struct place){ .qp = pair.end[0].qp,
			     .cq = pair.end[0].cq,
			     .mr = pair.end[0].mr,
			     .buf = pair.end[0].buf };
	MUST(at.window = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2));
	place_run(&at, pieces, !unreliable);
	MUST(!ibv_dealloc_mw(at.window));
	rig_pair_close(&pair);
}

/* Windows of XRC are left out: no QP of XRC has them in RESPONSES. */
static void xrc_run(struct rig *rig, int pieces)
{
	struct ibv_qp_init_attr_ex attr;
	struct place at;
	struct xrc xrc;

	say("XRC, %d pieces", pieces);
	xrc_open(rig, ops_conf(pieces, false), &xrc);
	attr = xrc_initiator_attr(&xrc);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	MUST(xrc.from = ibv_create_qp_ex(rig->ctx, &attr));
	xrc_connect(&xrc);
	at = (struct place){ xrc.from, xrc.sent, xrc.mr, xrc.buf, xrc.srqn[0], NULL };
	MUST(at.window = ibv_alloc_mw(xrc.pd, IBV_MW_TYPE_2));
	opcode_run(&at, IBV_WR_RDMA_WRITE, pieces, 0);
	opcode_run(&at, IBV_WR_RDMA_READ, pieces, 0);
	opcode_run(&at, IBV_WR_ATOMIC_CMP_AND_SWP, pieces, 0);
	opcode_run(&at, IBV_WR_ATOMIC_FETCH_AND_ADD, pieces, 0);
	opcode_run(&at, IBV_WR_LOCAL_INV, pieces, 0);
	MUST(!ibv_dealloc_mw(at.window));
	xrc_close(&xrc);
}

void diff_send_ops(struct rig *rig)
{
	for (int pieces = 1; pieces <= 4; pieces++) {
		pair_run(rig, pieces, false);
		pair_run(rig, pieces, true);
		xrc_run(rig, pieces);
	}
}
