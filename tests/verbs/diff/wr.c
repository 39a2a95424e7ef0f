/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wr.c - batches of ibv_wr_*: several requests at once, abort, and errors that cancel a whole
 * batch.
 *
 * Covers: providers/mlx5/data/send_wr.c, providers/mlx4/data/send_wr.c,
 * providers/mlx5/data/batch.h, providers/mlx5/data/cq/stall.c, providers/mlx5/env.c
 */
#include <arpa/inet.h>

#include "data.h"

static void open_pair(struct rig *rig, struct rig_pair *pair)
{
	struct rig_conf conf = entry_conf(ENTRY_WR);

	rig_pair_open(rig, &conf, pair);
	strcpy((char *)pair->end[0].buf, "batch of requests");
}

static struct ibv_qp_ex *qpx_of(struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	MUST(qpx);
	return qpx;
}

static void put_write(struct rig_pair *pair, uint64_t wr_id, unsigned int flags, uint32_t offset)
{
	struct ibv_qp_ex *qpx = qpx_of(pair);

	qpx->wr_id = wr_id;
	qpx->wr_flags = flags;
	ibv_wr_rdma_write(qpx, pair->end[1].mr->rkey, (uintptr_t)pair->end[1].buf + offset);
	ibv_wr_set_sge(qpx, pair->end[0].mr->lkey, (uintptr_t)pair->end[0].buf, 18);
}

static void say_completions(struct rig_pair *pair, int expected)
{
	struct ibv_wc wc[32];
	int n = rig_poll(pair->end[0].cq, expected, wc);

	for (int i = 0; i < n; i++)
		say_wc("A", &wc[i], pair->end[1].qp->qp_num);
	say("%d of %d completions, then %d", n, expected, rig_drain(pair->end[0].cq));
}

static bool target_has(struct rig_pair *pair, uint32_t offset)
{
	return !strcmp((char *)pair->end[1].buf + offset, "batch of requests");
}

static void batch_of(struct rig_pair *pair, int n)
{
	struct ibv_qp_ex *qpx = qpx_of(pair);

	memset(pair->end[1].buf, 0, pair->conf.buf_size);
	ibv_wr_start(qpx);
	for (int i = 0; i < n; i++)
		put_write(pair, i, i == n - 1 ? IBV_SEND_SIGNALED : 0, i * 64);
	SAY_RET(ibv_wr_complete(qpx), "batch of %d", n);
	say_completions(pair, n ? 1 : 0);
	for (int i = 0; i < n; i++)
		say_check(target_has(pair, i * 64), "write %d", i);
}

/* Nothing of an aborted batch is executed, and its slots are free again. */
static void abort_batch(struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = qpx_of(pair);

	memset(pair->end[1].buf, 0, 4096);
	for (int i = 0; i < 50; i++) {
		ibv_wr_start(qpx);
		put_write(pair, 50, IBV_SEND_SIGNALED, 0);
		put_write(pair, 51, IBV_SEND_SIGNALED, 64);
		ibv_wr_abort(qpx);
	}
	ibv_wr_start(qpx);
	put_write(pair, 52, IBV_SEND_SIGNALED, 128);
	SAY_RET(ibv_wr_complete(qpx), "one after 50 aborted batches");
	say_completions(pair, 1);
	say_check(!pair->end[1].buf[0] && !pair->end[1].buf[64] && target_has(pair, 128),
		  "only the last was executed");
}

static void overfull_batch(struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = qpx_of(pair);

	ibv_wr_start(qpx);
	for (int i = 0; i < 2000; i++)
		put_write(pair, i, IBV_SEND_SIGNALED, 0);
	SAY_RET(ibv_wr_complete(qpx), "batch of 2000");
	say_completions(pair, 0);
	batch_of(pair, 2);
}

/* A request that cannot be built: COMPLETE reports it and nothing of the batch, before or after it,
 * is posted. */
static void bad_request(struct rig_pair *pair, const char *name, void (*put)(struct rig_pair *pair))
{
	struct ibv_qp_ex *qpx = qpx_of(pair);

	ibv_wr_start(qpx);
	put_write(pair, 1, IBV_SEND_SIGNALED, 0);
	put(pair);
	put_write(pair, 3, IBV_SEND_SIGNALED, 64);
	SAY_RET(ibv_wr_complete(qpx), "%s", name);
	say_completions(pair, 0);
	batch_of(pair, 1);
}

static void put_long_inline(struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = qpx_of(pair);

	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, pair->end[0].buf, 4096);
}

static void put_long_inline_list(struct rig_pair *pair)
{
	struct ibv_data_buf bufs[] = { { pair->end[0].buf, 60 }, { pair->end[0].buf, 5000 } };
	struct ibv_qp_ex *qpx = qpx_of(pair);

	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
}

static void put_many_sges(struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = qpx_of(pair);
	struct ibv_sge sges[64];

	for (size_t i = 0; i < ARRAY_SIZE(sges); i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)pair->end[0].buf, 1, pair->end[0].mr->lkey };
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, ARRAY_SIZE(sges), sges);
}

void diff_wr_batch(struct rig *rig)
{
	struct rig_pair pair;

	open_pair(rig, &pair);
	batch_of(&pair, 0);
	batch_of(&pair, 1);
	batch_of(&pair, 2);
	batch_of(&pair, 16);
	for (int i = 0; i < 10; i++)
		batch_of(&pair, 7);
	abort_batch(&pair);
	overfull_batch(&pair);
	bad_request(&pair, "inline of 4096 bytes", put_long_inline);
	bad_request(&pair, "inline list of 5060 bytes", put_long_inline_list);
	bad_request(&pair, "64 entries", put_many_sges);
	rig_pair_close(&pair);
}

/* Entries of length 0 are dropped by some builders and kept by others, so only results must
 * agree. */
static void odd_lists(struct rig_pair *pair)
{
	static const struct transfer cases[] = {
		{ "WRITE", IBV_WR_RDMA_WRITE, { 0, 5, 0, 6 }, 4, { 0 }, 0, 0 },
		{ "WRITE", IBV_WR_RDMA_WRITE, { 0, 0 }, 2, { 0 }, 0, 0 },
		{ "WRITE", IBV_WR_RDMA_WRITE, { 0, 5, 0, 6 }, 4, { 0 }, 0, IBV_SEND_INLINE },
		{ "WRITE", IBV_WR_RDMA_WRITE, { 0, 0 }, 2, { 0 }, 0, IBV_SEND_INLINE },
		{ "SEND", IBV_WR_SEND, { 0, 7, 0 }, 3, { 0, 3, 0, 4 }, 4, 0 },
		{ "READ", IBV_WR_RDMA_READ, { 0, 9 }, 2, { 0 }, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		transfer_run(pair, &cases[i], ENTRY_WR);
		transfer_run(pair, &cases[i], ENTRY_POST);
	}
}

/* A QP made for ibv_wr_* can be posted to the plain way as well, so the two share the ring. */
void diff_wr(struct rig *rig)
{
	static const struct transfer t = { "SEND", IBV_WR_SEND, { 33 }, 1, { 33 }, 1, 0 };
	struct rig_pair pair;

	open_pair(rig, &pair);
	for (int i = 0; i < 40; i++)
		transfer_run(&pair, &t, i % 3 ? ENTRY_WR : ENTRY_POST);
	odd_lists(&pair);
	rig_pair_close(&pair);
}
