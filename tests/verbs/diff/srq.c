/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - shared receive queues: granted sizes, refused posts, alternating messages of two QPs, and
 * the limit event.
 *
 * Covers: libibverbs/verbs_srq.c, libibverbs/cmd/cmd_srq.c, providers/mlx5/srq.c,
 * providers/mlx5/data/post_srq.c, providers/mlx4/srq.c, softhca/front/process/uverbs/srq.c
 */
#include "diff.h"

static void try_create(struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge, uint32_t limit)
{
	struct ibv_srq_init_attr attr = { .attr = { max_wr, max_sge, limit } };
	struct ibv_srq_attr query;
	struct ibv_srq *srq = SAY_PTR(ibv_create_srq(pd, &attr), "create %u x %u limit %u", max_wr,
				      max_sge, limit);

	if (!srq)
		return;
	say("granted %u x %u", attr.attr.max_wr, attr.attr.max_sge);
	/* max_wr is not printed: the distribution's library makes the ring twice as long as it
	 * grants. */
	if (!SAY_RET(ibv_query_srq(srq, &query), "query"))
		say("query x %u limit %u", query.max_sge, query.srq_limit);
	SAY_RET(ibv_destroy_srq(srq), "destroy");
}

void diff_srq_create(struct rig *rig)
{
	static const uint32_t sizes[][2] = { { 1, 1 },     { 2, 2 },    { 3, 3 },     { 100, 4 },
					     { 255, 15 },  { 256, 16 }, { 1000, 31 }, { 32767, 1 },
					     { 32768, 1 }, { 1, 0 },    { 1, 32 },    { 1, 1000 } };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(pd);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		try_create(pd, sizes[i][0], sizes[i][1], 0);
	try_create(pd, UINT32_MAX, 1, 0);
	try_create(pd, 1, UINT32_MAX, 0);
	MUST(!ibv_dealloc_pd(pd));
}

#define SLOTS 7 /* granted to an SRQ that requests this many */

struct shared {
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *sender[2], *receiver[2];
	uint8_t buf[8192];
};

static struct ibv_qp *make_qp(struct shared *s, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = { .send_cq = s->cq,
					 .recv_cq = s->cq,
					 .srq = srq,
					 .cap = { 64, 5, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp = SAY_PTR(ibv_create_qp(s->pd, &attr), "create_qp srq %d", srq != NULL);

	MUST(qp);
	say("cap recv %u x %u", attr.cap.max_recv_wr, attr.cap.max_recv_sge);
	return qp;
}

static void shared_open(struct rig *rig, struct shared *s)
{
	struct ibv_srq_init_attr attr = { .attr = { SLOTS, 2, 0 } };

	s->conf = rig_conf_default();
	MUST(s->pd = ibv_alloc_pd(rig->ctx));
	MUST(s->cq = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	MUST(s->mr = ibv_reg_mr(s->pd, s->buf, sizeof(s->buf), IBV_ACCESS_LOCAL_WRITE));
	MUST(s->srq = ibv_create_srq(s->pd, &attr));
	for (int i = 0; i < 2; i++) {
		s->sender[i] = make_qp(s, NULL);
		s->receiver[i] = make_qp(s, s->srq);
		rig_qp_to(rig, &s->conf, s->sender[i], s->receiver[i]->qp_num, IBV_QPS_RTS);
		rig_qp_to(rig, &s->conf, s->receiver[i], s->sender[i]->qp_num, IBV_QPS_RTS);
	}
}

static void shared_close(struct shared *s)
{
	SAY_RET(ibv_destroy_srq(s->srq), "destroy_srq in use");
	for (int i = 0; i < 2; i++) {
		MUST(!ibv_destroy_qp(s->sender[i]));
		MUST(!ibv_destroy_qp(s->receiver[i]));
	}
	SAY_RET(ibv_destroy_srq(s->srq), "destroy_srq");
	MUST(!ibv_dereg_mr(s->mr));
	MUST(!ibv_destroy_cq(s->cq));
	MUST(!ibv_dealloc_pd(s->pd));
}

static void post_srq(struct shared *s, uint64_t wr_id, int num_sge)
{
	struct ibv_sge sges[4];
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sges, .num_sge = num_sge },
			   *bad = NULL;

	for (int i = 0; i < 4; i++)
		sges[i] =
			(struct ibv_sge){ (uintptr_t)s->buf + 4096 + wr_id * 64, 64, s->mr->lkey };
	SAY_RET(ibv_post_srq_recv(s->srq, &wr, &bad), "post_srq_recv %d num_sge %d", (int)wr_id,
		num_sge);
	if (bad)
		say("bad_wr is the first: %d", bad == &wr);
}

static void send_and_report(struct shared *s, int from)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, 10, s->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_wc wc;

	MUST(!ibv_post_send(s->sender[from], &wr, &bad));
	if (rig_poll(s->cq, 1, &wc) != 1) {
		say("nothing came");
		return;
	}
	say_wc("receive", &wc, s->sender[from]->qp_num);
	say_check(wc.qp_num == s->receiver[from]->qp_num, "it is of the receiver's QP");
}

void diff_srq_data(struct rig *rig)
{
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_async_event event;
	struct shared s = { 0 };

	shared_open(rig, &s);
	for (int i = 0; i < SLOTS + 1; i++)
		post_srq(&s, (uint64_t)i, 1);
	post_srq(&s, 20, 3);
	post_srq(&s, 21, 4);
	for (int i = 0; i < 20; i++) {
		send_and_report(&s, i % 3 == 0);
		post_srq(&s, (uint64_t)(i % 10), 1 + i % 2);
	}
	SAY_RET(ibv_modify_srq(s.srq, &limit, IBV_SRQ_LIMIT), "modify limit 2");
	for (int i = 0; i < SLOTS - 1; i++)
		send_and_report(&s, 0);
	MUST(!ibv_get_async_event(rig->ctx, &event));
	say("event %d of the SRQ: %d", (int)event.event_type, event.element.srq == s.srq);
	ibv_ack_async_event(&event);
	MUST(!ibv_modify_qp(s.receiver[1], &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR },
			    IBV_QP_STATE));
	MUST(!ibv_get_async_event(rig->ctx, &event));
	say("event %d of the QP in error: %d", (int)event.event_type,
	    event.element.qp == s.receiver[1]);
	ibv_ack_async_event(&event);
	limit.srq_limit = 1000000;
	SAY_RET(ibv_modify_srq(s.srq, &limit, IBV_SRQ_LIMIT), "modify limit too large");
	SAY_RET(ibv_modify_srq(s.srq, &limit, IBV_SRQ_MAX_WR), "modify max_wr");
	shared_close(&s);
}
