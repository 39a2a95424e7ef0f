/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - objects exposed by mlx5dv_init_obj(): fields of each kind, and which requested
 * optional fields are filled in.
 *
 * Covers: providers/mlx5/dv/obj.c, providers/mlx5/dv/dv.h
 */
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

#define EVERY_PART                                                        \
	(MLX5DV_QP_MASK_UAR_MMAP_OFFSET | MLX5DV_QP_MASK_RAW_QP_HANDLES | \
	 MLX5DV_QP_MASK_RAW_QP_TIR_ADDR)

static void look_qp(struct ibv_qp *ibqp, uint64_t asked, const char *what)
{
	struct mlx5dv_qp qp = { .comp_mask = asked };
	struct mlx5dv_obj obj = { .qp = { ibqp, &qp } };

	if (SAY_RET(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "%s asked for %#llx", what,
		    (unsigned long long)asked))
		return;
	say("mask %#llx: TIR %s TIS %s RQ %s SQ %s address %#llx", (unsigned long long)qp.comp_mask,
	    qp.tirn ? "yes" : "no", qp.tisn ? "yes" : "no", qp.rqn ? "yes" : "no",
	    qp.sqn ? "yes" : "no", (unsigned long long)qp.tir_icm_addr);
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type,
			      uint32_t send, uint32_t receive)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq,
					 .recv_cq = cq,
					 .cap = { send, receive, !!send, !!receive, 0 },
					 .qp_type = type };

	return SAY_PTR(ibv_create_qp(pd, &attr), "QP of type %d, %u sends, %u receives", type, send,
		       receive);
}

static void qps(struct ibv_pd *pd, struct ibv_cq *cq)
{
	static const struct {
		enum ibv_qp_type type;
		uint32_t send, receive;
	} kinds[] = {
		{ IBV_QPT_RC, 4, 4 },         { IBV_QPT_UD, 4, 4 },
		{ IBV_QPT_RAW_PACKET, 4, 4 }, { IBV_QPT_RAW_PACKET, 4, 0 },
		{ IBV_QPT_RAW_PACKET, 0, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct ibv_qp *qp = make_qp(pd, cq, kinds[i].type, kinds[i].send, kinds[i].receive);

		if (!qp)
			continue;
		look_qp(qp, 0, "nothing");
		look_qp(qp, MLX5DV_QP_MASK_RAW_QP_HANDLES, "handles");
		look_qp(qp, EVERY_PART, "every part");
		say_ret(ibv_destroy_qp(qp), "destroy");
	}
}

static void wqs(struct rig *rig, struct ibv_pd *pd, struct ibv_cq *cq)
{
	for (uint32_t sges = 1; sges <= 8; sges *= 2) {
		struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ,
						 .max_wr = 5 * sges,
						 .max_sge = sges,
						 .pd = pd,
						 .cq = cq };
		struct ibv_wq *wq = ibv_create_wq(rig->ctx, &attr);
		struct mlx5dv_rwq rwq = { .comp_mask = 1 };
		struct mlx5dv_obj obj = { .rwq = { wq, &rwq } };

		if (!wq || say_ret(mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ), "RWQ"))
			continue;
		say("%u WQEs of %u bytes, mask %#llx", rwq.wqe_cnt, rwq.stride,
		    (unsigned long long)rwq.comp_mask);
		say_check(rwq.buf && rwq.dbrec, "ring and record");
		say_ret(ibv_destroy_wq(wq), "destroy");
	}
}

/* Asks for two kinds of objects at once, and for none. */
static void kinds(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct mlx5dv_pd dv_pd = { .comp_mask = 1 };
	struct mlx5dv_cq dv_cq = { .comp_mask = 1 };
	struct mlx5dv_obj obj = { .cq = { cq, &dv_cq }, .pd = { pd, &dv_pd } };

	SAY_RET(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD | MLX5DV_OBJ_CQ), "PD and CQ");
	say("PD %s mask %#llx, CQ of %u entries of %u bytes mask %#llx", dv_pd.pdn ? "yes" : "no",
	    (unsigned long long)dv_pd.comp_mask, dv_cq.cqe_cnt, dv_cq.cqe_size,
	    (unsigned long long)dv_cq.comp_mask);
	SAY_RET(mlx5dv_init_obj(&obj, 0), "nothing");
}

/* An XRC receiver has no queues, but mlx5dv_init_obj() must overwrite all fields all the same, as
 * programs pass uninitialised ones. */
static void xrc_receiver(struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	struct mlx5dv_qp out;
	struct mlx5dv_obj obj = { .qp.out = &out };

	attr.xrcd = ibv_open_xrcd(ctx, &domain);
	MUST(attr.xrcd);
	obj.qp.in = ibv_create_qp_ex(ctx, &attr);
	MUST(obj.qp.in);
	memset(&out, 0xa5, sizeof(out));
	out.comp_mask = 0;
	SAY_RET(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "an XRC receiver");
	say("%u blocks", out.sq.wqe_cnt);
	say_check((uintptr_t)out.bf.reg >> 56 != 0xa5 && out.bf.size <= 4096, "its register");
	MUST(!ibv_destroy_qp(obj.qp.in));
	MUST(!ibv_close_xrcd(attr.xrcd));
}

/* Of these, later QPs share their registers. */
enum { MANY_QPS = 20 };

static void registers(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp *qps[MANY_QPS];

	for (int i = 0; i < MANY_QPS; i++) {
		struct mlx5dv_qp qp = { 0 };
		struct mlx5dv_obj obj = { .qp = { NULL, &qp } };

		MUST(qps[i] = obj.qp.in = make_qp(pd, cq, IBV_QPT_RC, 4, 4));
		MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
		say("QP %d: pushes of %u bytes", i, qp.bf.size);
		say_check(qp.bf.reg != NULL, "it has a register");
	}
	for (int i = 0; i < MANY_QPS; i++)
		MUST(!ibv_destroy_qp(qps[i]));
}

void dv_objects(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(cq && pd);
	kinds(pd, cq);
	xrc_receiver(rig->ctx);
	qps(pd, cq);
	registers(pd, cq);
	wqs(rig, pd, cq);
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}
