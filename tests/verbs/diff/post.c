/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.c - requests that the library itself refuses: the error, bad_wr, and that all requests
 * before it were posted and none from it on.
 *
 * Covers: providers/mlx5/data/post_send.c, providers/mlx5/data/post_recv.c,
 * providers/mlx4/data/post_send.c, providers/mlx4/data/post_recv.c
 */
#include <stdio.h>

#include "diff.h"

#define MANY 64

struct post_rig {
	struct rig_pair pair;
	struct ibv_sge sges[MANY];
};

static void post_rig_open(struct rig *rig, struct post_rig *p, uint64_t send_ops)
{
	struct rig_conf conf = rig_conf_default();

	conf.send_ops = send_ops;
	rig_pair_open(rig, &conf, &p->pair);
	for (int i = 0; i < MANY; i++)
		p->sges[i] = (struct ibv_sge){ (uintptr_t)p->pair.end[0].buf + i, 1,
					       p->pair.end[0].mr->lkey };
}

static struct ibv_send_wr write_wr(struct post_rig *p, uint64_t wr_id)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = p->sges,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)p->pair.end[1].buf;
	wr.wr.rdma.rkey = p->pair.end[1].mr->rkey;
	return wr;
}

static int count_completions(struct ibv_cq *cq, int expected)
{
	struct ibv_wc wc[MANY];
	int n = rig_poll(cq, expected, wc);

	return n + rig_drain(cq);
}

/* A list of three, of which the second is BAD. */
static void middle_one(struct post_rig *p, const char *name, struct ibv_send_wr bad_one)
{
	struct ibv_send_wr wrs[3] = { write_wr(p, 1), bad_one, write_wr(p, 3) }, *bad = NULL;
	int ret;

	wrs[0].next = &wrs[1];
	wrs[1].next = &wrs[2];
	wrs[1].wr_id = 2;
	ret = SAY_RET(ibv_post_send(p->pair.end[0].qp, wrs, &bad), "%s", name);
	if (ret)
		say("bad_wr is number %td", bad ? bad - wrs : -1);
	say("%d completions", count_completions(p->pair.end[0].cq, ret ? 1 : 3));
	rig_pair_reconnect(&p->pair);
}

static void bad_inline(struct post_rig *p)
{
	static const uint32_t lens[] = { 64, 65, 128, 256, 1024, 65536 };
	struct ibv_send_wr wr = write_wr(p, 0);
	struct ibv_sge sge = p->sges[0];
	char name[64];

	wr.send_flags |= IBV_SEND_INLINE;
	wr.sg_list = &sge;
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		struct ibv_qp_init_attr init;
		struct ibv_qp_attr attr;

		MUST(!ibv_query_qp(p->pair.end[0].qp, &attr, IBV_QP_CAP, &init));
		sge.length = lens[i];
		snprintf(name, sizeof(name), "inline %u of %u", lens[i], init.cap.max_inline_data);
		middle_one(p, name, wr);
	}
}

static void bad_sges(struct post_rig *p)
{
	static const int counts[] = { 3, 4, 5, 6, 8, MANY };
	struct ibv_send_wr wr = write_wr(p, 0);
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		wr.num_sge = counts[i];
		snprintf(name, sizeof(name), "%d entries", counts[i]);
		middle_one(p, name, wr);
	}
}

static void bad_opcodes(struct post_rig *p)
{
	static const int opcodes[] = { 10 /* TSO */, 14, 16, 100, -1 };
	struct ibv_send_wr wr = write_wr(p, 0);
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr.opcode = (enum ibv_wr_opcode)opcodes[i];
		snprintf(name, sizeof(name), "opcode %d", opcodes[i]);
		middle_one(p, name, wr);
	}
}

static void bad_receives(struct post_rig *p)
{
	static const int counts[] = { 0, 4, 5, 8, MANY };
	struct rig_end *end = &p->pair.end[1];

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct ibv_recv_wr wrs[3] = { 0 }, *bad = NULL;

		for (int k = 0; k < 3; k++)
			wrs[k] = (struct ibv_recv_wr){ .sg_list = p->sges,
						       .next = k < 2 ? &wrs[k + 1] : NULL };
		wrs[1].num_sge = counts[i];
		if (SAY_RET(ibv_post_recv(end->qp, wrs, &bad), "receive of %d entries", counts[i]))
			say("bad_wr is number %td", bad ? bad - wrs : -1);
		rig_pair_reconnect(&p->pair);
	}
}

static void empty_lists(struct post_rig *p)
{
	struct ibv_send_wr *bad_send = NULL;
	struct ibv_recv_wr *bad_recv = NULL;

	SAY_RET(ibv_post_send(p->pair.end[0].qp, NULL, &bad_send), "post_send of no request");
	SAY_RET(ibv_post_recv(p->pair.end[0].qp, NULL, &bad_recv), "post_recv of no request");
}

/* Posts as ibv_post_send() does, by the other entry point. */
static int send_by_wr(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags;
	ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	ibv_wr_set_sge(qpx, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
	return ibv_wr_complete(qpx);
}

/* Prints flushed requests: in ERR all accepted ones are flushed. They are polled one by one,
 * because the two queues flush independently. */
static void say_flush(struct rig_end *end, bool expected)
{
	struct ibv_wc wc;

	if (expected && rig_poll(end->cq, 1, &wc) == 1)
		say_wc("A", &wc, 0);
}

/* Prints which requests the QP accepts in its state. */
static void post_all_ways(struct post_rig *p, const char *state)
{
	bool is_err = !strncmp(state, "ERR", 3);
	struct rig_end *end = &p->pair.end[0];
	struct ibv_send_wr send = write_wr(p, 11), *bad_send;
	struct ibv_recv_wr recv = { .wr_id = 12 }, *bad_recv;
	int ret;

	ret = SAY_RET(ibv_post_recv(end->qp, &recv, &bad_recv), "post_recv in %s", state);
	say_flush(end, !ret && is_err);
	ret = SAY_RET(ibv_post_send(end->qp, &send, &bad_send), "post_send in %s", state);
	say_flush(end, !ret && is_err);
	send.wr_id = 13;
	ret = SAY_RET(send_by_wr(end->qp, &send), "wr_complete in %s", state);
	say_flush(end, !ret && is_err);
}

/* Requests that a state accepted are dropped by the reset that follows, so they have no
 * completions. */
static void wrong_states(struct rig *rig)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS" };
	struct ibv_qp_attr to_err = { .qp_state = IBV_QPS_ERR };
	struct post_rig p;

	post_rig_open(rig, &p, IBV_QP_EX_WITH_RDMA_WRITE);
	for (enum ibv_qp_state state = IBV_QPS_RESET; state <= IBV_QPS_RTS; state++) {
		struct ibv_qp *qp = p.pair.end[0].qp;
		char name[32];

		rig_qp_to(rig, &p.pair.conf, qp, p.pair.end[1].qp->qp_num, state);
		post_all_ways(&p, names[state]);
		if (state == IBV_QPS_RESET)
			continue;
		rig_qp_to(rig, &p.pair.conf, qp, p.pair.end[1].qp->qp_num, state);
		MUST(!ibv_modify_qp(qp, &to_err, IBV_QP_STATE));
		snprintf(name, sizeof(name), "ERR after %s", names[state]);
		post_all_ways(&p, name);
	}
	rig_pair_close(&p.pair);
}

void diff_post_errors(struct rig *rig)
{
	struct post_rig p;

	post_rig_open(rig, &p, 0);
	bad_inline(&p);
	bad_sges(&p);
	bad_opcodes(&p);
	bad_receives(&p);
	empty_lists(&p);
	rig_pair_close(&p.pair);
	wrong_states(rig);
}

/* Post one list, longer than the queue, without polling: where does it stop? */
static void overfill_send(struct rig *rig, uint32_t max_send_wr, uint32_t max_send_sge,
			  uint32_t max_inline)
{
	static struct ibv_send_wr wrs[4096];
	struct post_rig p;
	struct rig_conf conf = rig_conf_default();
	struct ibv_send_wr *bad = NULL;

	conf.cap.max_send_wr = max_send_wr;
	conf.cap.max_send_sge = max_send_sge;
	conf.cap.max_inline_data = max_inline;
	conf.cqe = 4096;
	rig_pair_open(rig, &conf, &p.pair);
	p.sges[0] = (struct ibv_sge){ (uintptr_t)p.pair.end[0].buf, 1, p.pair.end[0].mr->lkey };
	for (size_t i = 0; i < ARRAY_SIZE(wrs); i++) {
		wrs[i] = write_wr(&p, i);
		wrs[i].next = i + 1 < ARRAY_SIZE(wrs) ? &wrs[i + 1] : NULL;
	}
	SAY_RET(ibv_post_send(p.pair.end[0].qp, wrs, &bad), "send queue of %u x %u, inline %u",
		max_send_wr, max_send_sge, max_inline);
	say("bad_wr is number %td", bad ? bad - wrs : -1);
	if (bad)
		for (int i = 0; i < bad - wrs; i++) {
			struct ibv_wc wc;

			MUST(rig_poll(p.pair.end[0].cq, 1, &wc) == 1);
			MUST(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i);
		}
	say("then %d more completions", count_completions(p.pair.end[0].cq, 0));
	wrs[0].next = NULL;
	SAY_RET(ibv_post_send(p.pair.end[0].qp, wrs, &bad), "one more, after polling");
	say("%d completions", count_completions(p.pair.end[0].cq, 1));
	rig_pair_close(&p.pair);
}

/* Only polling a signaled completion frees the unsignaled ones before it, as they have no CQE. */
static void unsignaled(struct rig *rig)
{
	struct ibv_send_wr wr, *bad;
	struct post_rig p;
	struct ibv_wc wc;
	int posted = 0;

	post_rig_open(rig, &p, 0);
	wr = write_wr(&p, 1);
	wr.send_flags = 0;
	while (!ibv_post_send(p.pair.end[0].qp, &wr, &bad))
		posted++;
	say("%d unsignaled requests fit", posted);
	say("%d completions", count_completions(p.pair.end[0].cq, 0));
	rig_pair_reconnect(&p.pair);
	for (int i = 0; i < posted; i++) {
		wr.send_flags = i == posted - 1 ? IBV_SEND_SIGNALED : 0;
		MUST(!ibv_post_send(p.pair.end[0].qp, &wr, &bad));
	}
	MUST(rig_poll(p.pair.end[0].cq, 1, &wc) == 1);
	wr.send_flags = 0;
	for (posted = 0; !ibv_post_send(p.pair.end[0].qp, &wr, &bad); posted++)
		;
	say("%d fit again after one completion", posted);
	rig_pair_close(&p.pair);
}

static void overfill_recv(struct rig *rig, uint32_t max_recv_wr, uint32_t max_recv_sge)
{
	static struct ibv_recv_wr wrs[4096];
	struct rig_conf conf = rig_conf_default();
	struct ibv_recv_wr *bad = NULL;
	struct rig_pair pair;

	conf.cap.max_recv_wr = max_recv_wr;
	conf.cap.max_recv_sge = max_recv_sge;
	rig_pair_open(rig, &conf, &pair);
	for (size_t i = 0; i < ARRAY_SIZE(wrs); i++)
		wrs[i] = (struct ibv_recv_wr){ .wr_id = i,
					       .next = i + 1 < ARRAY_SIZE(wrs) ? &wrs[i + 1]
									       : NULL };
	SAY_RET(ibv_post_recv(pair.end[1].qp, wrs, &bad), "receive queue of %u x %u", max_recv_wr,
		max_recv_sge);
	say("bad_wr is number %td", bad ? bad - wrs : -1);
	SAY_RET(ibv_post_recv(pair.end[1].qp, wrs, &bad), "again");
	say("bad_wr is number %td", bad ? bad - wrs : -1);
	rig_pair_close(&pair);
}

void diff_full_queues(struct rig *rig)
{
	overfill_send(rig, 1, 1, 0);
	overfill_send(rig, 16, 4, 64);
	overfill_send(rig, 17, 1, 0);
	overfill_send(rig, 100, 1, 0);
	overfill_send(rig, 100, 8, 200);
	unsignaled(rig);
	overfill_recv(rig, 0, 0);
	overfill_recv(rig, 1, 1);
	overfill_recv(rig, 16, 4);
	overfill_recv(rig, 100, 3);
}
