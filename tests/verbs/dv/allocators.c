/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators.c - a program's allocator for the queues of a context: the calls that use it, and that
 * all its memory is freed.
 *
 * Covers: providers/mlx5/dv/context.c, providers/common/memory/allocators.c
 */
#include <infiniband/mlx5dv.h>

#include "tests/lib/store.h"
#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

/* What was given and came back since the last report. */
static void store_report(struct store *store, const char *what)
{
	static unsigned int given, back;

	if (what)
		say("%s: %u given, %u back", what, store->given - given, store->back - back);
	given = store->given;
	back = store->back;
}

static void queues(struct rig *rig, struct store *store)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_srq_init_attr srq_attr = { .attr = { 31, 1, 0 } };
	struct mlx5dv_cq dv_cq = { 0 };
	struct mlx5dv_obj obj = { .cq = { cq, &dv_cq } };
	struct ibv_qp *qp;
	struct ibv_srq *srq;

	MUST(cq && pd);
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	say_check(store_has(store, dv_cq.buf), "the CQ's ring is the program's");
	say_check(store_has(store, dv_cq.dbrec), "its record too");
	store_report(store, NULL); /* a page of records may have been there before */
	MUST(qp = ibv_create_qp(pd, &attr));
	store_report(store, "QP");
	MUST(srq = ibv_create_srq(pd, &srq_attr));
	store_report(store, "SRQ");
	MUST(!ibv_destroy_srq(srq));
	store_report(store, "SRQ destroyed");
	MUST(!ibv_destroy_qp(qp));
	store_report(store, "QP destroyed");
	store->room = 0;
	SAY_PTR(ibv_create_cq(rig->ctx, 63, NULL, NULL, 0), "a CQ when nothing is left");
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}

static void traffic(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv = { .wr_id = 7 }, *bad_recv;
	struct ibv_wc wc;

	rig_pair_open(rig, &conf, &pair);
	MUST(!ibv_post_recv(pair.end[1].qp, &recv, &bad_recv));
	wr.send_flags = IBV_SEND_SIGNALED;
	MUST(!ibv_post_send(pair.end[0].qp, &wr, &bad));
	say("a message: %d and %d completions", rig_poll(pair.end[0].cq, 1, &wc),
	    rig_poll(pair.end[1].cq, 1, &wc));
	rig_pair_close(&pair);
}

void dv_allocators(struct rig *rig)
{
	struct store store = { .room = PIECES };
	struct mlx5dv_ctx_allocators allocators = { .alloc = store_give,
						    .free = store_take,
						    .data = &store };
	struct rig own;

	SAY_RET(mlx5dv_set_context_attr(rig->ctx, (enum mlx5dv_set_ctx_attr_type)7, NULL),
		"an unknown type");
	rig_open(&own);
	if (!SAY_RET(mlx5dv_set_context_attr(own.ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &allocators),
		     "allocators")) {
		traffic(&own);
		queues(&own, &store);
	}
	rig_close(&own);
	say_check(store.given == store.back, "all came back");
}

/* A CQ whose first ring is the program's gets another one after the allocators are removed. Not
 * compared, as the distribution's library cannot free the first one then. */
void dv_allocators_taken(struct rig *rig)
{
	struct store store = { .room = PIECES };
	struct mlx5dv_ctx_allocators allocators = { store_give, store_take, &store },
				     none = { NULL, NULL, NULL };
	unsigned int given;
	struct ibv_cq *cq;
	struct rig own;

	(void)rig;
	rig_open(&own);
	MUST(!mlx5dv_set_context_attr(own.ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &allocators));
	MUST(cq = ibv_create_cq(own.ctx, 63, NULL, NULL, 0));
	MUST(!mlx5dv_set_context_attr(own.ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &none));
	given = store.given;
	MUST(!ibv_resize_cq(cq, 4095));
	say_check(given && store.given == given, "the new ring is not the program's");
	MUST(!ibv_destroy_cq(cq));
	rig_close(&own);
	say_check(store.given == store.back, "all came back");
}
