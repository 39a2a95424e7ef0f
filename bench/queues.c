/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - queues [runs]: instructions of posting to WQs, with and without strides; or, with
 * runs, of polling compressed and other completions, if the library expands compressed ones.
 *
 * It runs under callgrind: see count.h.
 */
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "bench/count.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { BURST = 64, LIST = 16, POLL = 32, BYTES = 100 };

static struct ibv_wq *wq_make(struct rig *rig, struct ibv_pd *pd, struct ibv_cq *cq, bool strides)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = BURST, .max_sge = 1, .pd = pd, .cq = cq
	};
	struct mlx5dv_wq_init_attr dv = { .comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
					  .striding_rq_attrs = { 6, 9, 0 } };
	struct ibv_wq *wq = mlx5dv_create_wq(rig->ctx, &attr, strides ? &dv : NULL);

	MUST(wq);
	return wq;
}

static void wq_to(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = state };

	MUST(!ibv_modify_wq(wq, &attr));
}

/* Posts a burst of receives, in lists of STEP. */
static void wq_fill(struct ibv_wq *wq, struct ibv_recv_wr *list, int step)
{
	struct ibv_recv_wr *bad;
	int failed = 0;

	list[step - 1].next = NULL;
	CALLGRIND_TOGGLE_COLLECT;
	for (int i = 0; i < BURST; i += step)
		failed |= ibv_post_wq_recv(wq, list, &bad);
	CALLGRIND_TOGGLE_COLLECT;
	MUST(!failed);
}

static void count_posts(const struct rig_pair *pair, bool strides, int step, const char *name)
{
	struct ibv_sge sge = { (uintptr_t)pair->end[0].buf, 1 << 15, pair->end[0].mr->lkey };
	struct ibv_wq *wq = wq_make(pair->rig, pair->pd, pair->end[0].cq, strides);
	struct ibv_recv_wr list[LIST];

	for (int i = 0; i < LIST; i++)
		list[i] =
			(struct ibv_recv_wr){ .next = &list[i + 1], .sg_list = &sge, .num_sge = 1 };
	for (int round = 0; round < COUNT_ROUNDS; round++) {
		wq_to(wq, IBV_WQS_RDY);
		wq_fill(wq, list, step);
		wq_to(wq, IBV_WQS_RESET); /* nothing arrives, so a reset takes the requests back */
		count_round_end(round);
	}
	count_dump(name, BURST);
	MUST(!ibv_destroy_wq(wq));
}

/* Creates the receiver, whose CQ may compress. Payload inside CQEs is off, because such CQEs are
 * never compressed. */
static void receiver_make(struct rig_pair *pair, bool compresses)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 2 * BURST };
	struct mlx5dv_cq_init_attr cq = {
		.comp_mask = compresses ? MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE : 0,
		.cqe_comp_res_format = MLX5DV_CQE_RES_FORMAT_HASH
	};
	struct mlx5dv_qp_init_attr qp = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					  .create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE };
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC,
					    .cap = pair->conf.cap,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = pair->pd };
	struct rig_end *to = &pair->end[1];
	struct ibv_cq_ex *made;

	MUST(!ibv_destroy_qp(to->qp) && !ibv_destroy_cq(to->cq));
	MUST(made = mlx5dv_create_cq(pair->rig->ctx, &attr, &cq));
	init.send_cq = init.recv_cq = to->cq = ibv_cq_ex_to_cq(made);
	MUST(to->qp = mlx5dv_create_qp(pair->rig->ctx, &init, &qp));
	rig_pair_reconnect(pair);
}

/* Posts all sends with one doorbell, so that they complete together and can be compressed. */
static void messages_send(const struct rig_pair *pair)
{
	const struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge out = { (uintptr_t)from->buf, BYTES, from->mr->lkey };
	struct ibv_sge in = { (uintptr_t)to->buf, BYTES, to->mr->lkey };
	struct ibv_recv_wr receives[BURST], *bad_receive;
	struct ibv_send_wr sends[BURST], *bad_send;
	struct ibv_wc wc[BURST];

	for (int i = 0; i < BURST; i++) {
		receives[i] = (struct ibv_recv_wr){ .next = i + 1 < BURST ? &receives[i + 1] : NULL,
						    .sg_list = &in,
						    .num_sge = 1 };
		sends[i] = (struct ibv_send_wr){ .next = i + 1 < BURST ? &sends[i + 1] : NULL,
						 .sg_list = &out,
						 .num_sge = 1,
						 .opcode = IBV_WR_SEND,
						 .send_flags = IBV_SEND_SIGNALED };
	}
	MUST(!ibv_post_recv(to->qp, receives, &bad_receive));
	MUST(!ibv_post_send(from->qp, sends, &bad_send));
	MUST(rig_poll(from->cq, BURST, wc) == BURST);
	rig_settle();
}

static void count_polls(struct rig_pair *pair, bool compresses, const char *name)
{
	struct ibv_wc wc[POLL];
	int polled = 0;

	receiver_make(pair, compresses);
	for (int round = 0; round < COUNT_ROUNDS; round++) {
		messages_send(pair);
		CALLGRIND_TOGGLE_COLLECT;
		for (int i = 0; i < BURST; i += POLL)
			polled += ibv_poll_cq(pair->end[1].cq, POLL, wc);
		CALLGRIND_TOGGLE_COLLECT;
		count_round_end(round);
	}
	MUST(polled == COUNT_ROUNDS * BURST);
	count_dump(name, BURST);
}

int main(int argc, char **argv)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct rig rig;

	conf.cap.max_send_wr = conf.cap.max_recv_wr = BURST;
	conf.cqe = 2 * BURST;
	rig_open(&rig);
	rig_pair_open(&rig, &conf, &pair);
	if (argc > 1 && !strcmp(argv[1], "runs")) {
		count_polls(&pair, false, "poll_cq, 32 of 100 bytes");
		count_polls(&pair, true, "poll_cq, 32 of a run");
	} else {
		count_posts(&pair, false, 1, "post_wq_recv");
		count_posts(&pair, false, LIST, "post_wq_recv, list of 16");
		count_posts(&pair, true, 1, "post_wq_recv, strides");
		count_posts(&pair, true, LIST, "post_wq_recv, strides, list of 16");
	}
	rig_pair_close(&pair);
	rig_close(&rig);
	return 0;
}
