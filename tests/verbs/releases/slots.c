/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slots.c - the tables of operations in a context, as programs with their own headers use them:
 * each slot that release 65.0 fills is filled, and calls through slots do the same as the public
 * calls.
 *
 * Covers: libibverbs/compat/old_slots.c
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { PAGE = 4096 };

/* Calls through a slot, with the type of release 65.0's operation. */
#define THROUGH(ctx, slot, type) ((type)(void (*)(void))(ctx)->ops._compat_##slot)

typedef struct ibv_pd *(*alloc_pd_fn)(struct ibv_context *);
typedef int (*dealloc_pd_fn)(struct ibv_pd *);
typedef struct ibv_mr *(*reg_mr_fn)(struct ibv_pd *, void *, size_t, uint64_t, int);
typedef int (*rereg_mr_fn)(struct ibv_mr *, int, struct ibv_pd *, void *, size_t, int);
typedef int (*dereg_mr_fn)(struct ibv_mr *);
typedef struct ibv_cq *(*create_cq_fn)(struct ibv_context *, int, struct ibv_comp_channel *, int);
typedef int (*resize_cq_fn)(struct ibv_cq *, int);
typedef int (*destroy_cq_fn)(struct ibv_cq *);
typedef struct ibv_srq *(*create_srq_fn)(struct ibv_pd *, struct ibv_srq_init_attr *);
typedef int (*modify_srq_fn)(struct ibv_srq *, struct ibv_srq_attr *, int);
typedef int (*query_srq_fn)(struct ibv_srq *, struct ibv_srq_attr *);
typedef int (*destroy_srq_fn)(struct ibv_srq *);
typedef struct ibv_qp *(*create_qp_fn)(struct ibv_pd *, struct ibv_qp_init_attr *);
typedef int (*query_qp_fn)(struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *);
typedef int (*modify_qp_fn)(struct ibv_qp *, struct ibv_qp_attr *, int);
typedef int (*destroy_qp_fn)(struct ibv_qp *);
typedef struct ibv_ah *(*create_ah_fn)(struct ibv_pd *, struct ibv_ah_attr *);
typedef int (*destroy_ah_fn)(struct ibv_ah *);

static unsigned int slots_count_empty(const void *table, size_t bytes)
{
	unsigned int empty = 0;
	void *slot;

	for (size_t at = 0; at < bytes; at += sizeof(slot)) {
		memcpy(&slot, (const char *)table + at, sizeof(slot));
		empty += !slot;
	}
	return empty;
}

static void filled(struct rig *rig)
{
	const struct verbs_context *vctx = verbs_get_ctx(rig->ctx);

	say_check(!slots_count_empty(&rig->ctx->ops, sizeof(rig->ctx->ops)), "the first table");
	MUST(vctx);
	say_check(!slots_count_empty(vctx, offsetof(struct verbs_context, priv)),
		  "the second, up to what is the library's own");
}

static void regions(struct rig *rig, struct ibv_pd *pd)
{
	void *memory =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = THROUGH(rig->ctx, reg_mr, reg_mr_fn)(pd, memory, PAGE, 3 * PAGE,
								 IBV_ACCESS_LOCAL_WRITE);

	MUST(memory != MAP_FAILED);
	say_check(mr && mr->pd == pd && mr->addr == memory && mr->length == PAGE, "reg_mr");
	MUST(mr);
	say_check(!THROUGH(rig->ctx, rereg_mr, rereg_mr_fn)(mr, IBV_REREG_MR_CHANGE_TRANSLATION,
							    NULL, memory, 2 * PAGE, 0) &&
			  mr->length == 2 * PAGE,
		  "rereg_mr");
	say_check(!THROUGH(rig->ctx, dereg_mr, dereg_mr_fn)(mr), "dereg_mr");
	munmap(memory, 2 * PAGE);
}

static struct ibv_cq *completions(struct rig *rig)
{
	struct ibv_cq *cq = THROUGH(rig->ctx, create_cq, create_cq_fn)(rig->ctx, 7, NULL, 0);

	say_check(cq && cq->context == rig->ctx && cq->cqe == 7, "create_cq");
	MUST(cq);
	say_check(!THROUGH(rig->ctx, resize_cq, resize_cq_fn)(cq, 15) && cq->cqe == 15,
		  "resize_cq");
	return cq;
}

static void shared_receives(struct rig *rig, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct ibv_srq *srq = THROUGH(rig->ctx, create_srq, create_srq_fn)(pd, &init);

	say_check(srq && srq->pd == pd, "create_srq");
	MUST(srq);
	say_check(!THROUGH(rig->ctx, modify_srq, modify_srq_fn)(srq, &attr, IBV_SRQ_LIMIT),
		  "modify_srq");
	say_check(!THROUGH(rig->ctx, query_srq, query_srq_fn)(srq, &attr) && attr.max_wr >= 8,
		  "query_srq");
	say_check(!THROUGH(rig->ctx, destroy_srq, destroy_srq_fn)(srq), "destroy_srq");
}

static void queues(struct rig *rig, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_UD
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5 };
	struct ibv_qp *qp = THROUGH(rig->ctx, create_qp, create_qp_fn)(pd, &init);

	say_check(qp && qp->pd == pd && qp->send_cq == cq && qp->qp_num, "create_qp");
	MUST(qp);
	say_check(!THROUGH(rig->ctx, modify_qp, modify_qp_fn)(qp, &attr,
							      IBV_QP_STATE | IBV_QP_PKEY_INDEX |
								      IBV_QP_PORT | IBV_QP_QKEY) &&
			  qp->state == IBV_QPS_INIT,
		  "modify_qp");
	attr.qkey = 0;
	say_check(!THROUGH(rig->ctx, query_qp, query_qp_fn)(qp, &attr, IBV_QP_QKEY, &init) &&
			  attr.qkey == 5,
		  "query_qp");
	say_check(!THROUGH(rig->ctx, destroy_qp, destroy_qp_fn)(qp), "destroy_qp");
}

static void addresses(struct rig *rig, struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = { .port_num = 1, .dlid = rig->port.lid, .is_global = 1 };
	struct ibv_ah *ah;

	attr.grh.dgid = rig->gid;
	ah = THROUGH(rig->ctx, create_ah, create_ah_fn)(pd, &attr);
	say_check(ah && ah->pd == pd, "create_ah");
	say_check(ah && !THROUGH(rig->ctx, destroy_ah, destroy_ah_fn)(ah), "destroy_ah");
}

static void called(struct rig *rig)
{
	struct ibv_pd *pd = THROUGH(rig->ctx, alloc_pd, alloc_pd_fn)(rig->ctx);
	struct ibv_cq *cq;

	say_check(pd && pd->context == rig->ctx, "alloc_pd");
	MUST(pd);
	cq = completions(rig);
	regions(rig, pd);
	shared_receives(rig, pd);
	queues(rig, pd, cq);
	addresses(rig, pd);
	say_check(!THROUGH(rig->ctx, destroy_cq, destroy_cq_fn)(cq), "destroy_cq");
	say_check(!THROUGH(rig->ctx, dealloc_pd, dealloc_pd_fn)(pd), "dealloc_pd");
}

static void called_in_the_second(struct rig *rig)
{
	const struct verbs_context *vctx = verbs_get_ctx(rig->ctx);
	struct ibv_dmah_init_attr hint = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 };
	struct ibv_dmah *dmah = vctx->alloc_dmah(rig->ctx, &hint);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_mr_init_attr attr = {
		.length = PAGE,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
		.dmah = dmah,
	};
	struct ibv_buf *buf = NULL;
	struct ibv_mr *mr;

	MUST(pd);
	say_check(dmah && dmah->context == rig->ctx, "alloc_dmah");
	attr.addr = vctx->alloc_buf(pd, PAGE, &buf);
	say_check(attr.addr && buf, "alloc_buf");
	mr = vctx->reg_mr_ex(pd, &attr);
	say_check(mr && mr->length == PAGE && !ibv_dereg_mr(mr), "reg_mr_ex");
	vctx->free_buf(buf);
	say_check(!vctx->dealloc_dmah(dmah), "dealloc_dmah");
	ibv_dealloc_pd(pd);
}

static const struct rig_topic topics[] = {
	{ "slots-filled", filled },
	{ "slots-called", called },
	{ "slots-called-in-the-second", called_in_the_second },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
