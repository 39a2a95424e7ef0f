/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_tags.c - instructions of the calls for the tags of an SRQ. They run on InfiniBand,
 * because release 65.0 creates no such SRQ on Ethernet.
 */
#include <errno.h>
#include <infiniband/verbs.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { TAGS = 2 * EACH - 1 };

struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq_ex *cq;
	struct ibv_srq *tags;
	struct ibv_mr *mr;
	uint32_t handle[EACH];
	char bytes[64];
};

static bool tag_add(struct world *w, int i)
{
	struct ibv_sge sge = { (uintptr_t)w->bytes, sizeof(w->bytes), w->mr->lkey };
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_ADD,
				 .tm = { .add = { .sg_list = &sge, .num_sge = 1, .tag = 1 } } };
	struct ibv_ops_wr *bad;
	int ret;

	ret = ibv_post_srq_ops(w->tags, &wr, &bad);
	w->handle[i] = wr.tm.handle;
	return step_done(ret);
}

static bool tag_end(struct world *w, int i)
{
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_DEL,
				 .flags = IBV_OPS_SIGNALED,
				 .tm = { .handle = w->handle[i] } };
	struct ibv_ops_wr *bad;

	return step_done(ibv_post_srq_ops(w->tags, &wr, &bad));
}

static bool tag_poll(struct world *w, int i)
{
	struct ibv_wc wc;

	(void)i;
	MUST(rig_poll(ibv_cq_ex_to_cq(w->cq), 1, &wc) == 1);
	return true;
}

static bool tag_drop(struct world *w, int i)
{
	return tag_end(w, i) && tag_poll(w, i);
}

static const struct row rows[] = {
	{ "post_srq_ops, a tag added", NULL, tag_add, tag_drop },
	{ "post_srq_ops, a tag removed", tag_add, tag_end, tag_poll },
};

static void world_make(struct world *w)
{
	struct ibv_cq_init_attr_ex of_cq = { .cqe = 256, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_srq_init_attr_ex attr = {
		.attr = { TAGS, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.tm_cap = { TAGS, TAGS },
	};

	rig_open(&w->rig);
	MUST(attr.pd = w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq_ex(w->rig.ctx, &of_cq));
	attr.cq = ibv_cq_ex_to_cq(w->cq);
	MUST(w->tags = ibv_create_srq_ex(w->rig.ctx, &attr));
	MUST(w->mr = ibv_reg_mr(w->pd, w->bytes, sizeof(w->bytes), IBV_ACCESS_LOCAL_WRITE));
}

static void world_end(struct world *w)
{
	MUST(!ibv_dereg_mr(w->mr));
	MUST(!ibv_destroy_srq(w->tags));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(w->cq)));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}
