/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedulers.c - the bandwidth that schedulers of mlx5dv give to QPs that always have requests
 * posted: two QPs with shares 1 and 3 of a common arbiter, and one with a maximum.
 *
 * It prints "name<tab>value" lines; the values should be 25 % and 200 Mbit/s.
 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <string.h>

#include "bench/measure.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"

enum {
	PIECE = 64 * 1024,
	/* writes that each QP has posted: enough, so that it is busy without the program */
	POSTED = 256,
	WARM_UP_US = 100 * 1000,
	MEASURED_US = 2 * 1000 * 1000,
	MAXIMUM = 200,
	SHARED = 2000, /* common maximum of the QPs with shares */
};

struct flow {
	struct rig_pair pair;
	struct mlx5dv_sched_leaf *leaf;
	uint64_t done;
};

static void flow_open(struct rig *rig, struct mlx5dv_sched_node *parent, struct flow *flow,
		      uint32_t flags, uint32_t share, uint32_t max, uint32_t posted)
{
	struct mlx5dv_sched_attr attr = {
		.parent = parent, .flags = flags, .bw_share = share, .max_avg_bw = max
	};
	struct rig_conf conf = rig_conf_default();

	conf.cap.max_send_wr = posted;
	conf.cqe = (int)(2 * posted);
	conf.buf_size = PIECE;
	rig_pair_open(rig, &conf, &flow->pair);
	MUST(flow->leaf = mlx5dv_sched_leaf_create(rig->ctx, &attr));
	MUST(!mlx5dv_modify_qp_sched_elem(flow->pair.end[0].qp, flow->leaf, NULL));
	flow->done = 0;
}

static void flow_close(struct flow *flow)
{
	rig_pair_close(&flow->pair);
	MUST(!mlx5dv_sched_leaf_destroy(flow->leaf));
}

static void flow_post(const struct flow *flow)
{
	const struct rig_end *from = &flow->pair.end[0], *to = &flow->pair.end[1];
	struct ibv_sge sge = { (uintptr_t)from->buf, PIECE, from->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)to->buf;
	wr.wr.rdma.rkey = to->mr->rkey;
	MUST(!ibv_post_send(from->qp, &wr, &bad));
}

static void flow_go_on(struct flow *flow)
{
	struct ibv_wc wc[POSTED];
	int n = ibv_poll_cq(flow->pair.end[0].cq, POSTED, wc);

	MUST(n >= 0);
	for (int i = 0; i < n; i++) {
		MUST(!wc[i].status);
		flow->done += PIECE;
		flow_post(flow);
	}
}

static void flow_run(struct flow *flow, double us)
{
	double end = now_us() + us;

	while (now_us() < end)
		flow_go_on(flow);
}

/* Returns the length of the measurement in microseconds. */
static double flow_measure(struct flow *flow)
{
	double start;

	for (unsigned int n = 0; n < POSTED; n++)
		flow_post(flow);
	flow_run(flow, WARM_UP_US);
	flow->done = 0;
	start = now_us();
	flow_run(flow, MEASURED_US);
	return now_us() - start;
}

/* ---- shares: all requests are posted at once, and the order of the completions shows the shares;
 * times would depend on how the machine schedules the program and the adapter */

enum { BATCH = 2048 };

static struct ibv_qp *beside_open(const struct flow *flow, struct ibv_qp **peer)
{
	const struct rig_pair *pair = &flow->pair;
	struct ibv_qp *qp = rig_qp_create(pair->pd, &pair->conf, pair->end[0].cq);

	*peer = rig_qp_create(pair->pd, &pair->conf, pair->end[1].cq);
	rig_qp_to(pair->rig, &pair->conf, *peer, qp->qp_num, IBV_QPS_RTS);
	rig_qp_to(pair->rig, &pair->conf, qp, (*peer)->qp_num, IBV_QPS_RTS);
	return qp;
}

static void batch_post(const struct flow *flow, struct ibv_qp *qp)
{
	static struct ibv_send_wr wr[BATCH];
	const struct rig_end *from = &flow->pair.end[0], *to = &flow->pair.end[1];
	struct ibv_sge sge = { (uintptr_t)from->buf, PIECE, from->mr->lkey };
	struct ibv_send_wr *bad;

	for (unsigned int i = 0; i < BATCH; i++) {
		wr[i] = (struct ibv_send_wr){ .next = i + 1 < BATCH ? &wr[i + 1] : NULL,
					      .sg_list = &sge,
					      .num_sge = 1,
					      .opcode = IBV_WR_RDMA_WRITE,
					      .send_flags = IBV_SEND_SIGNALED };
		wr[i].wr.rdma.remote_addr = (uintptr_t)to->buf;
		wr[i].wr.rdma.rkey = to->mr->rkey;
	}
	MUST(!ibv_post_send(qp, wr, &bad));
}

/* Returns how many messages the other QP has sent between the first and the last one of QP. */
static unsigned int others_between(struct ibv_cq *cq, const struct ibv_qp *qp)
{
	unsigned int own = 0, others = 0;
	struct ibv_wc wc;

	while (own < BATCH) {
		MUST(rig_poll(cq, 1, &wc) == 1 && !wc.status);
		if (wc.qp_num == qp->qp_num)
			own++;
		else
			others += own > 0;
	}
	return others;
}

static void shares_measure(struct rig *rig, struct mlx5dv_sched_node *root)
{
	struct mlx5dv_sched_attr attr = { .parent = root,
					  .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW,
					  .max_avg_bw = SHARED };
	struct mlx5dv_sched_node *both = mlx5dv_sched_node_create(rig->ctx, &attr);
	struct mlx5dv_sched_leaf *leaf;
	struct ibv_qp *qp, *peer;
	struct flow flow;
	unsigned int n;

	MUST(both);
	flow_open(rig, both, &flow, MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE, 1, 0, BATCH);
	attr = (struct mlx5dv_sched_attr){ .parent = both,
					   .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
					   .bw_share = 3 };
	MUST(leaf = mlx5dv_sched_leaf_create(rig->ctx, &attr));
	qp = beside_open(&flow, &peer);
	MUST(!mlx5dv_modify_qp_sched_elem(qp, leaf, NULL));
	batch_post(&flow, flow.pair.end[0].qp);
	batch_post(&flow, qp);
	n = others_between(flow.pair.end[0].cq, qp);
	printf("share of 1 beside 3, %%\t%.1f\n", 100.0 * n / (n + BATCH));
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_qp(peer));
	flow_close(&flow);
	MUST(!mlx5dv_sched_leaf_destroy(leaf));
	MUST(!mlx5dv_sched_node_destroy(both));
}

static void maximum_measure(struct rig *rig, struct mlx5dv_sched_node *root)
{
	struct flow flow;
	double us;

	flow_open(rig, root, &flow, MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW, 0, MAXIMUM, POSTED);
	us = flow_measure(&flow);
	printf("maximum of %u Mbit/s, Mbit/s\t%.1f\n", MAXIMUM, flow.done * 8 / us);
	flow_close(&flow);
}

int main(void)
{
	struct mlx5dv_sched_attr attr = { 0 };
	struct mlx5dv_sched_node *root;
	struct rig rig;

	rig_open(&rig);
	MUST(root = mlx5dv_sched_node_create(rig.ctx, &attr));
	shares_measure(&rig, root);
	maximum_measure(&rig, root);
	MUST(!mlx5dv_sched_node_destroy(root));
	rig_close(&rig);
	return 0;
}
