/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict.c - verbs-strict CASE: a program that breaks the adapter's rules on purpose, in the queues
 * that mlx5dv_init_obj() exposes; run-strict checks softhca's reports.
 *
 * Covers: softhca/strict.c, softhca/device/queue/rules.c
 */
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#define SIGNALED (2 << 2)

struct driven {
	struct rig rig;
	struct rig_pair pair;
	struct mlx5dv_qp qp;
};

static void qp_take(struct driven *d)
{
	struct mlx5dv_obj obj = { .qp = { .in = d->pair.end[0].qp, .out = &d->qp } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
}

/* A NOP is written as the first request of the queue. */
static struct mlx5_wqe_ctrl_seg *nop_put(struct driven *d)
{
	struct mlx5_wqe_ctrl_seg *ctrl = d->qp.sq.buf;

	memset(ctrl, 0, 64);
	ctrl->qpn_ds = htobe32(d->pair.end[0].qp->qp_num << 8 | 1);
	ctrl->fm_ce_se = SIGNALED;
	return ctrl;
}

static void record_put(struct driven *d, uint32_t value)
{
	__atomic_store_n(&d->qp.dbrec[MLX5_SND_DBR], htobe32(value), __ATOMIC_RELEASE);
}

static void register_put(struct driven *d, uint64_t value)
{
	__atomic_store_n((uint64_t *)d->qp.bf.reg, value, __ATOMIC_RELEASE);
}

static void ring_with_garbage(struct driven *d)
{
	nop_put(d);
	record_put(d, 1);
	register_put(d, 0x123456789abcdef0ull);
	rig_settle();
}

static void ring_before_the_record(struct driven *d)
{
	uint64_t value;

	memcpy(&value, nop_put(d), sizeof(value));
	register_put(d, value);
	rig_settle();
}

static void record_beyond_the_ring(struct driven *d)
{
	uint64_t value;

	memcpy(&value, nop_put(d), sizeof(value));
	record_put(d, d->qp.sq.wqe_cnt + 1);
	register_put(d, value);
	rig_settle();
}

static void record_without_a_doorbell(struct driven *d)
{
	nop_put(d);
	record_put(d, 1);
	sleep(2);
}

/* The adapter looks at records several times a second, so the report comes within one. */
static void record_before_the_request(struct driven *d)
{
	uint64_t value;

	record_put(d, 1);
	usleep(600000);
	memcpy(&value, nop_put(d), sizeof(value));
	register_put(d, value);
	rig_settle();
}

static void reserved_bits(struct driven *d)
{
	struct mlx5_wqe_ctrl_seg *ctrl = nop_put(d);
	uint64_t value;

	ctrl->fm_ce_se |= 1;
	memcpy(&value, ctrl, sizeof(value));
	record_put(d, 1);
	register_put(d, value);
	rig_settle();
}

static void page_write(struct driven *d, const uint8_t *at)
{
	struct rig_end *from = &d->pair.end[0], *to = &d->pair.end[1];
	struct ibv_sge sge = { (uintptr_t)from->buf, 100, from->mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge,
					.num_sge = 1,
					.opcode = IBV_WR_RDMA_WRITE,
					.send_flags = IBV_SEND_SIGNALED,
					.wr.rdma = { (uintptr_t)at, to->mr->rkey } };
	struct ibv_wc wc;

	MUST(!ibv_post_send(from->qp, &wr, &bad));
	MUST(rig_poll(from->cq, 1, &wc) == 1);
}

/* A page of the buffer is unmapped, and another mapped at its address. */
static void memory_is_another(struct driven *d)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *at = (uint8_t *)(((uintptr_t)d->pair.end[1].buf + page - 1) & -page);

	void *other = mmap(NULL, page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	MUST(other != MAP_FAILED);
	page_write(d, at);
	MUST(mremap(other, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
	page_write(d, at);
}

/* On an mlx4 adapter: uses a region's key as a window's */
static void region_bound_as_a_window(struct driven *d)
{
	struct rig_end *end = &d->pair.end[0];
	struct ibv_mw window = { end->qp->context, end->qp->pd, end->mr->rkey, 0, IBV_MW_TYPE_1 };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mr *tool = ibv_reg_mr(end->qp->pd, end->buf, 4096,
					 IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_wc wc;

	MUST(tool);
	wr.bind_mw.mw = &window;
	wr.bind_mw.rkey = ibv_inc_rkey(window.rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ tool, (uintptr_t)end->buf, 4096,
							  IBV_ACCESS_REMOTE_READ };
	MUST(!ibv_post_send(end->qp, &wr, &bad));
	MUST(rig_poll(end->cq, 1, &wc) == 1);
	MUST(wc.status == IBV_WC_MW_BIND_ERR);
	MUST(!ibv_dereg_mr(tool));
}

static const struct {
	const char *name;
	void (*run)(struct driven *d);
} cases[] = {
	{ "garbage", ring_with_garbage },       { "early", ring_before_the_record },
	{ "beyond", record_beyond_the_ring },   { "missing", record_without_a_doorbell },
	{ "reserved", reserved_bits },          { "moved", memory_is_another },
	{ "region", region_bound_as_a_window }, { "unfinished", record_before_the_request },
};

int main(int argc, char **argv)
{
	struct rig_conf conf = rig_conf_default();
	struct driven d;

	TOPICS_CHOOSE(cases, argc, argv);
	MUST(argc == 2); /* as one spoils the queue for the next */
	rig_open(&d.rig);
	rig_pair_open(&d.rig, &conf, &d.pair);
	memset(d.pair.end[0].buf, 1, conf.buf_size);
	memset(d.pair.end[1].buf, 2, conf.buf_size);
	if (strcmp(argv[1], "region"))
		qp_take(&d);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (topic_begin(cases[i].name))
			cases[i].run(&d);
	rig_pair_close(&d.pair);
	rig_close(&d.rig);
	return topics_end();
}
