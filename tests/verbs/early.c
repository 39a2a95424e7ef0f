/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * early.c - queue pairs that take messages out of order. The adapter that this runs on makes the
 * first packet late, until three more have gone: what was sent later is in memory before it, and
 * completions come in the order of sending, each with the request that its message has taken.
 *
 * Exit code 0; 1: something was otherwise than it should be; 77: there is no adapter.
 */
#include <infiniband/mlx5dv.h>
#include <string.h>
#include <time.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

enum {
	OUT_OF_ORDER = 1 << 7, /* MLX5DV_QP_CREATE_OOO_DP, which older headers lack */
	MESSAGES = 4,
	SIZE = 256,
	PATIENT = 20, /* as ack timeout: nothing is sent again while the program looks */
	WAIT_MS = 20000,
};

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buf[MESSAGES * SIZE];
};

static struct ibv_qp *qp_create(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { MESSAGES, MESSAGES, 1, 1, 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					  .create_flags = OUT_OF_ORDER };
	struct ibv_qp *qp;

	MUST(qp = mlx5dv_create_qp(pd->context, &attr, &dv));
	return qp;
}

static void side_open(struct ibv_pd *pd, struct side *side)
{
	memset(side, 0, sizeof(*side));
	MUST(side->cq = ibv_create_cq(pd->context, 2 * MESSAGES, NULL, NULL, 0));
	MUST(side->mr = ibv_reg_mr(pd, side->buf, sizeof(side->buf), IBV_ACCESS_LOCAL_WRITE));
	side->qp = qp_create(pd, side->cq);
}

static void side_close(struct side *side)
{
	MUST(!ibv_destroy_qp(side->qp) && !ibv_dereg_mr(side->mr) && !ibv_destroy_cq(side->cq));
}

static struct ibv_sge slot(struct side *side, unsigned int n)
{
	return (struct ibv_sge){ (uintptr_t)side->buf + (size_t)n * SIZE, SIZE, side->mr->lkey };
}

static void post_receives(struct side *side)
{
	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct ibv_sge sge = slot(side, i);
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

		MUST(!ibv_post_recv(side->qp, &wr, &bad));
	}
}

/* Message N is so many bytes N + 1. */
static void post_send(struct side *side, unsigned int n)
{
	struct ibv_sge sge = slot(side, n);
	struct ibv_send_wr wr = { .wr_id = n,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	memset(side->buf + (size_t)n * SIZE, (int)n + 1, SIZE);
	MUST(!ibv_post_send(side->qp, &wr, &bad));
}

static bool is_message(const struct side *side, uint64_t place, unsigned int n)
{
	const volatile uint8_t *bytes = side->buf + place * SIZE;

	for (unsigned int i = 0; i < SIZE; i++)
		if (bytes[i] != n + 1)
			return false;
	return true;
}

static bool wait_for_message(const struct side *side, uint64_t place, unsigned int n)
{
	for (unsigned int ms = 0; ms < WAIT_MS; ms++) {
		if (is_message(side, place, n))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return false;
}

static bool is_anywhere(const struct side *side, unsigned int n)
{
	for (unsigned int i = 0; i < MESSAGES; i++)
		if (is_message(side, i, n))
			return true;
	return false;
}

/* The late message has what nobody else took: the fourth request. */
static void check_order(struct side *from, struct side *to)
{
	static const uint64_t taken[MESSAGES] = { 3, 0, 1, 2 };
	struct ibv_wc sent[MESSAGES], received[MESSAGES];

	MUST(rig_poll(to->cq, MESSAGES, received) == MESSAGES);
	MUST(rig_poll(from->cq, MESSAGES, sent) == MESSAGES);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		say_check(!sent[i].status && sent[i].wr_id == i, "send %u completes in its turn",
			  i);
		say_check(!received[i].status && received[i].byte_len == SIZE &&
				  received[i].wr_id < MESSAGES && received[i].wr_id == taken[i] &&
				  is_message(to, received[i].wr_id, i),
			  "message %u completes in its turn, with its request", i);
	}
}

int main(void)
{
	struct rig_conf conf = rig_conf_default();
	static struct side from, to;
	struct ibv_pd *pd;
	struct rig rig;

	rig_open(&rig);
	conf.timeout = PATIENT;
	MUST(pd = ibv_alloc_pd(rig.ctx));
	side_open(pd, &from);
	side_open(pd, &to);
	rig_qp_to(&rig, &conf, from.qp, to.qp->qp_num, IBV_QPS_RTS);
	rig_qp_to(&rig, &conf, to.qp, from.qp->qp_num, IBV_QPS_RTS);
	post_receives(&to);
	for (unsigned int i = 0; i < MESSAGES - 1; i++)
		post_send(&from, i);
	say_check(wait_for_message(&to, 0, 1) && wait_for_message(&to, 1, 2),
		  "messages 1 and 2 are in memory");
	say_check(!is_anywhere(&to, 0), "message 0 is not");
	say_check(!rig_drain(to.cq) && !rig_drain(from.cq), "nothing has completed");
	post_send(&from, MESSAGES - 1);
	check_order(&from, &to);
	side_close(&from);
	side_close(&to);
	MUST(!ibv_dealloc_pd(pd));
	rig_close(&rig);
	return say_failures() != 0;
}
