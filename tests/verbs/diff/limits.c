/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limits.c - a full adapter: the number of objects of each kind, the error of the next one, and
 * room for as many again once they are destroyed; and the longest message. run-diff --small runs it
 * on an adapter with low limits; on a large one, each kind stops at MANY.
 *
 * Covers: softhca/device/res.c, softhca/front/process/uverbs/objects.h,
 * softhca/front/process/driver/
 */
#include <stdlib.h>

#include "diff.h"

#define MANY 64

struct limit_rig {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	uint8_t buf[64];
};

static void *make_pd(struct limit_rig *l)
{
	return ibv_alloc_pd(l->rig->ctx);
}

static int drop_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *make_mr(struct limit_rig *l)
{
	return ibv_reg_mr(l->pd, l->buf, sizeof(l->buf), 0);
}

static int drop_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_cq(struct limit_rig *l)
{
	return ibv_create_cq(l->rig->ctx, 1, NULL, NULL, 0);
}

static int drop_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *make_qp(struct limit_rig *l)
{
	struct rig_conf conf = rig_conf_default();

	return rig_qp_create(l->pd, &conf, l->cq);
}

static int drop_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static int limit_fill(struct limit_rig *l, const char *name, void *(*make)(struct limit_rig *l),
		      int (*drop)(void *object))
{
	void *objects[MANY];
	int n = 0;

	errno = 0;
	while (n < MANY && (objects[n] = make(l)))
		n++;
	say("%d %s, then %s", n, name, n < MANY ? say_errno(errno) : "no more tried");
	for (int i = 0; i < n; i++)
		MUST(!drop(objects[i]));
	return n;
}

static void fill_twice(struct limit_rig *l, const char *name, void *(*make)(struct limit_rig *l),
		       int (*drop)(void *object))
{
	int first = limit_fill(l, name, make, drop);

	say_check(first > 0 && limit_fill(l, name, make, drop) == first, "as many %s again", name);
}

static void longest_message(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	if (rig->port.max_msg_sz >= conf.buf_size) {
		say("max_msg_sz is too large to be exceeded here");
		return;
	}
	for (uint32_t more = 0; more < 2; more++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
					  .send_flags = IBV_SEND_SIGNALED,
					  .num_sge = 1 },
				   *bad;
		struct ibv_sge sge;
		struct ibv_wc wc;

		rig_pair_open(rig, &conf, &pair);
		sge = (struct ibv_sge){ (uintptr_t)pair.end[0].buf, rig->port.max_msg_sz + more,
					pair.end[0].mr->lkey };
		wr.sg_list = &sge;
		wr.wr.rdma.remote_addr = (uintptr_t)pair.end[1].buf;
		wr.wr.rdma.rkey = pair.end[1].mr->rkey;
		if (!SAY_RET(ibv_post_send(pair.end[0].qp, &wr, &bad), "max_msg_sz + %u", more) &&
		    rig_poll(pair.end[0].cq, 1, &wc) == 1)
			say_wc("A", &wc, 0);
		rig_pair_close(&pair);
	}
}

void diff_limits(struct rig *rig)
{
	struct limit_rig l = { .rig = rig };

	MUST(l.pd = ibv_alloc_pd(rig->ctx));
	MUST(l.cq = ibv_create_cq(rig->ctx, 1, NULL, NULL, 0));
	fill_twice(&l, "PDs", make_pd, drop_pd);
	fill_twice(&l, "MRs", make_mr, drop_mr);
	fill_twice(&l, "CQs", make_cq, drop_cq);
	fill_twice(&l, "QPs", make_qp, drop_qp);
	MUST(!ibv_destroy_cq(l.cq));
	MUST(!ibv_dealloc_pd(l.pd));
	longest_message(rig);
}
