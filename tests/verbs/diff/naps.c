/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * naps.c - a doorbell right before a command, after a pause so long that softhca polls doorbells
 * rarely. An adapter would have seen the doorbell before the command, so the request must run even
 * if the command destroys its resources.
 *
 * Covers: softhca/front/process/driver/engine.c, softhca/device/format/mlx5/doorbell.c
 */
#include "diff.h"

#include <time.h>

enum { ROUNDS = 3, BYTES = 4096 };

static const struct timespec silence = { .tv_nsec = 60000000 };

enum ending { DESTROY, RESET, ERROR, DEREGISTER, ENDINGS };

static const char *const names[ENDINGS] = { "QP is destroyed", "QP is reset", "QP is to fail",
					    "memory is deregistered" };

static void post_receive(struct rig_end *end)
{
	struct ibv_sge sge = { (uintptr_t)end->buf, BYTES, end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(end->buf, 0, BYTES);
	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

static void end_by(struct rig_end *end, enum ending ending)
{
	struct ibv_qp_attr attr = { .qp_state = ending == RESET ? IBV_QPS_RESET : IBV_QPS_ERR };

	if (ending == DESTROY)
		MUST(!ibv_destroy_qp(end->qp));
	else if (ending == DEREGISTER)
		MUST(!ibv_dereg_mr(end->mr));
	else
		MUST(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
}

/* Creates the destroyed object again, so that the end can be closed. */
static void end_restore(struct rig_pair *pair, enum ending ending)
{
	struct rig_end *end = &pair->end[0];

	if (ending == DESTROY)
		MUST(end->qp = rig_qp_create(pair->pd, &pair->conf, end->cq));
	if (ending == DEREGISTER)
		MUST(end->mr = ibv_reg_mr(pair->pd, end->buf, pair->conf.buf_size,
					  pair->conf.mr_access));
}

static void ring_and_end(struct rig *rig, enum ending ending)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_send_wr wr = { .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;

	rig_pair_open(rig, &conf, &pair);
	post_receive(&pair.end[1]);
	memset(pair.end[0].buf, 7, BYTES);
	sge = (struct ibv_sge){ (uintptr_t)pair.end[0].buf, BYTES, pair.end[0].mr->lkey };
	wr.sg_list = &sge;
	nanosleep(&silence, NULL);
	MUST(!ibv_post_send(pair.end[0].qp, &wr, &bad));
	end_by(&pair.end[0], ending);
	say_check(rig_poll(pair.end[1].cq, 1, &wc) == 1 && !wc.status &&
			  !memcmp(pair.end[0].buf, pair.end[1].buf, BYTES),
		  "what was posted is received, although its %s", names[ending]);
	end_restore(&pair, ending);
	rig_pair_close(&pair);
}

void diff_naps(struct rig *rig)
{
	for (int i = 0; i < ROUNDS; i++)
		for (enum ending ending = DESTROY; ending < ENDINGS; ending++)
			ring_and_end(rig, ending);
}
