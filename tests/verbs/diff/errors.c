/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * errors.c - posted requests that fail: wrong keys, ranges and rights at either end, a peer that
 * does not answer or has no receive; and the order of the requests that are flushed afterwards.
 *
 * Covers: providers/mlx5/data/cq/cqe_error.c, providers/mlx4/data/cq/cqe_error.c,
 * softhca/device/transport/req.c, softhca/device/transport/resp.c
 */
#include <stdlib.h>

#include "data.h"

/* The wrong fields of one request; all others are right. */
struct bad_access {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int local_access, remote_access, qp_access;
	enum {
		FAULT_NONE,
		FAULT_LKEY, /* never registered */
		FAULT_LKEY_OTHER_PD,
		FAULT_LOCAL_RANGE,  /* one byte past the end */
		FAULT_LOCAL_BEFORE, /* one byte before the start */
		FAULT_RKEY,
		FAULT_RKEY_OTHER_PD,
		FAULT_REMOTE_RANGE,
		FAULT_REMOTE_BEFORE,
		FAULT_LKEY_DEREGISTERED,
		FAULT_RKEY_DEREGISTERED,
		FAULT_UNALIGNED,
	} fault;
};

#define LW  IBV_ACCESS_LOCAL_WRITE
#define RW  IBV_ACCESS_REMOTE_WRITE
#define RR  IBV_ACCESS_REMOTE_READ
#define RA  IBV_ACCESS_REMOTE_ATOMIC
#define ALL (LW | RW | RR | RA)

static const struct bad_access bad_accesses[] = {
	{ "nothing wrong", IBV_WR_RDMA_WRITE, 0, LW | RW, RW, FAULT_NONE },
	{ "unknown lkey", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_LKEY },
	{ "unknown lkey", IBV_WR_SEND, ALL, ALL, ALL, FAULT_LKEY },
	{ "unknown lkey", IBV_WR_RDMA_READ, ALL, ALL, ALL, FAULT_LKEY },
	{ "lkey of another PD", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_LKEY_OTHER_PD },
	{ "lkey of another PD", IBV_WR_SEND, ALL, ALL, ALL, FAULT_LKEY_OTHER_PD },
	{ "deregistered lkey", IBV_WR_SEND, ALL, ALL, ALL, FAULT_LKEY_DEREGISTERED },
	{ "past the local MR", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_LOCAL_RANGE },
	{ "past the local MR", IBV_WR_SEND, ALL, ALL, ALL, FAULT_LOCAL_RANGE },
	{ "past the local MR", IBV_WR_RDMA_READ, ALL, ALL, ALL, FAULT_LOCAL_RANGE },
	{ "before the local MR", IBV_WR_SEND, ALL, ALL, ALL, FAULT_LOCAL_BEFORE },
	{ "no local write right", IBV_WR_RDMA_READ, RR, ALL, ALL, FAULT_NONE },
	{ "no local write right", IBV_WR_ATOMIC_FETCH_AND_ADD, RR, ALL, ALL, FAULT_NONE },
	{ "no local right is needed", IBV_WR_SEND, 0, ALL, ALL, FAULT_NONE },
	{ "unknown rkey", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_RKEY },
	{ "unknown rkey", IBV_WR_RDMA_READ, ALL, ALL, ALL, FAULT_RKEY },
	{ "unknown rkey", IBV_WR_ATOMIC_FETCH_AND_ADD, ALL, ALL, ALL, FAULT_RKEY },
	{ "rkey of another PD", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_RKEY_OTHER_PD },
	{ "rkey of another PD", IBV_WR_RDMA_READ, ALL, ALL, ALL, FAULT_RKEY_OTHER_PD },
	{ "deregistered rkey", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_RKEY_DEREGISTERED },
	{ "past the remote MR", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_REMOTE_RANGE },
	{ "past the remote MR", IBV_WR_RDMA_READ, ALL, ALL, ALL, FAULT_REMOTE_RANGE },
	{ "before the remote MR", IBV_WR_RDMA_WRITE, ALL, ALL, ALL, FAULT_REMOTE_BEFORE },
	{ "MR without remote write", IBV_WR_RDMA_WRITE, ALL, LW | RR | RA, ALL, FAULT_NONE },
	{ "MR without remote read", IBV_WR_RDMA_READ, ALL, LW | RW | RA, ALL, FAULT_NONE },
	{ "MR without remote atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, ALL, LW | RW | RR, ALL,
	  FAULT_NONE },
	{ "QP without remote write", IBV_WR_RDMA_WRITE, ALL, ALL, RR | RA, FAULT_NONE },
	{ "QP without remote read", IBV_WR_RDMA_READ, ALL, ALL, RW | RA, FAULT_NONE },
	{ "QP without remote atomic", IBV_WR_ATOMIC_CMP_AND_SWP, ALL, ALL, RW | RR, FAULT_NONE },
	{ "unaligned atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, ALL, ALL, ALL, FAULT_UNALIGNED },
};

struct access_rig {
	struct rig_pair pair;
	struct ibv_pd *other_pd;
	struct ibv_mr *local,
		*remote; /* the second 4 KiB of each end's buffer, with the rights of the case */
	struct ibv_mr *foreign; /* the same memory of end 0, in other_pd */
};

static void access_rig_open(struct rig *rig, const struct bad_access *c, struct access_rig *a)
{
	struct rig_conf conf = rig_conf_default();

	conf.qp_access = c->qp_access;
	rig_pair_open(rig, &conf, &a->pair);
	MUST(a->other_pd = ibv_alloc_pd(rig->ctx));
	MUST(a->local = ibv_reg_mr(a->pair.pd, a->pair.end[0].buf + 4096, 4096, c->local_access));
	MUST(a->remote = ibv_reg_mr(a->pair.pd, a->pair.end[1].buf + 4096, 4096, c->remote_access));
	MUST(a->foreign = ibv_reg_mr(a->other_pd,
				     a->pair.end[c->fault == FAULT_RKEY_OTHER_PD].buf + 4096, 4096,
				     ALL));
}

static void access_rig_close(struct access_rig *a)
{
	if (a->local)
		MUST(!ibv_dereg_mr(a->local));
	if (a->remote)
		MUST(!ibv_dereg_mr(a->remote));
	MUST(!ibv_dereg_mr(a->foreign));
	MUST(!ibv_dealloc_pd(a->other_pd));
	rig_pair_close(&a->pair);
}

static void request_spoil(struct access_rig *a, const struct bad_access *c, struct ibv_sge *sge,
			  uint64_t *addr, uint32_t *rkey)
{
	switch (c->fault) {
	case FAULT_NONE:
		break;
	case FAULT_LKEY:
		sge->lkey ^= 0x5500;
		break;
	case FAULT_LKEY_OTHER_PD:
		sge->lkey = a->foreign->lkey;
		break;
	case FAULT_LOCAL_RANGE:
		sge->addr += 4096 - 8 + 1;
		break;
	case FAULT_LOCAL_BEFORE:
		sge->addr -= 1;
		break;
	case FAULT_RKEY:
		*rkey ^= 0x5500;
		break;
	case FAULT_RKEY_OTHER_PD:
		*rkey = a->foreign->rkey;
		break;
	case FAULT_REMOTE_RANGE:
		*addr += 4096 - 8 + 1;
		break;
	case FAULT_REMOTE_BEFORE:
		*addr -= 1;
		break;
	case FAULT_LKEY_DEREGISTERED:
		MUST(!ibv_dereg_mr(a->local));
		a->local = NULL;
		break;
	case FAULT_RKEY_DEREGISTERED:
		MUST(!ibv_dereg_mr(a->remote));
		a->remote = NULL;
		break;
	case FAULT_UNALIGNED:
		*addr += 4;
		break;
	}
}

static void post_recvs(struct rig_end *end, int n)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 4096, .lkey = end->mr->lkey };

	for (int i = 0; i < n; i++) {
		struct ibv_recv_wr wr = { .wr_id = 100 + i, .sg_list = &sge, .num_sge = 1 }, *bad;

		MUST(!ibv_post_recv(end->qp, &wr, &bad));
	}
}

static void say_completions(const char *who, struct rig_end *end, int expected)
{
	struct ibv_wc wc[32];
	int n = rig_poll(end->cq, expected, wc);

	for (int i = 0; i < n; i++)
		say_wc(who, &wc[i], 0);
	say("%s %d of %d completions, %d unexpected", who, n, expected, rig_drain(end->cq));
}

static void say_qp_state(const char *who, struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	say("%s is in state %d, qp->state %d", who, attr.qp_state, qp->state);
}

static void access_case(struct rig *rig, const struct bad_access *c)
{
	struct access_rig a;
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .wr_id = 1,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	uint64_t addr;
	uint32_t rkey;
	bool is_send = c->opcode == IBV_WR_SEND;

	access_rig_open(rig, c, &a);
	say("%s, opcode %d:", c->name, c->opcode);
	sge = (struct ibv_sge){ (uintptr_t)a.local->addr, 8, a.local->lkey };
	addr = (uintptr_t)a.remote->addr;
	rkey = a.remote->rkey;
	request_spoil(&a, c, &sge, &addr, &rkey);
	wr.opcode = c->opcode;
	if (c->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || c->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	if (is_send)
		post_recvs(&a.pair.end[1], 1);
	MUST(!ibv_post_send(a.pair.end[0].qp, &wr, &bad));
	say_completions("A", &a.pair.end[0], 1);
	say_completions("B", &a.pair.end[1], is_send && c->fault == FAULT_NONE);
	say_qp_state("A", a.pair.end[0].qp);
	say_qp_state("B", a.pair.end[1].qp);
	access_rig_close(&a);
}

/* The fault is in the receive, which a message then uses. */
static void receive_case(struct rig *rig, const char *name, uint32_t recv_len,
			 unsigned int recv_access, uint32_t flip, uint32_t msg_len)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_send_wr wr = {
		.wr_id = 1, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED
	};
	struct ibv_recv_wr recv = { .wr_id = 2, .num_sge = 1 }, *bad_recv;
	struct ibv_sge from, to;
	struct ibv_send_wr *bad;
	struct rig_pair pair;
	struct ibv_mr *mr;

	rig_pair_open(rig, &conf, &pair);
	MUST(mr = ibv_reg_mr(pair.pd, pair.end[1].buf, 4096, recv_access));
	from = (struct ibv_sge){ (uintptr_t)pair.end[0].buf, msg_len, pair.end[0].mr->lkey };
	to = (struct ibv_sge){ (uintptr_t)pair.end[1].buf, recv_len, mr->lkey ^ flip };
	wr.sg_list = &from;
	recv.sg_list = &to;
	say("receive with %s:", name);
	MUST(!ibv_post_recv(pair.end[1].qp, &recv, &bad_recv));
	MUST(!ibv_post_send(pair.end[0].qp, &wr, &bad));
	say_completions("A", &pair.end[0], 1);
	say_completions("B", &pair.end[1], 1);
	say_qp_state("B", pair.end[1].qp);
	MUST(!ibv_dereg_mr(mr));
	rig_pair_close(&pair);
}

void diff_access_errors(struct rig *rig)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_accesses); i++)
		access_case(rig, &bad_accesses[i]);
	receive_case(rig, "too little room", 64, ALL, 0, 100);
	receive_case(rig, "too little room for several packets", 3000, ALL, 0, 4096);
	receive_case(rig, "no room", 0, ALL, 0, 1);
	receive_case(rig, "no local write right", 4096, 0, 0, 100);
	receive_case(rig, "an unknown lkey", 4096, ALL, 0x5500, 100);
	receive_case(rig, "a range outside its MR", 8192, ALL, 0, 5000);
}

static void post_sends(struct rig_end *end, int n)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 8, .lkey = end->mr->lkey };

	for (int i = 0; i < n; i++) {
		struct ibv_send_wr wr = {
			.wr_id = 1 + i,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = i % 2 ? 0
					    /* either, as errors are reported for all of them */
					    : IBV_SEND_SIGNALED,
		};
		struct ibv_send_wr *bad;

		MUST(!ibv_post_send(end->qp, &wr, &bad));
	}
}

static void no_receive(struct rig *rig, uint8_t rnr_retry)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.rnr_retry = rnr_retry;
	rig_pair_open(rig, &conf, &pair);
	say("no receive at the peer, rnr_retry %u:", rnr_retry);
	post_sends(&pair.end[0], 3);
	say_completions("A", &pair.end[0], 3);
	say_qp_state("A", pair.end[0].qp);
	say_qp_state("B", pair.end[1].qp);
	rig_pair_close(&pair);
}

/* With rnr_retry 7, the sender waits without limit. */
static void late_receive(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	rig_pair_open(rig, &conf, &pair);
	say("a receive that comes late:");
	post_sends(&pair.end[0], 1);
	say("%d completions before", rig_drain(pair.end[0].cq));
	post_recvs(&pair.end[1], 1);
	say_completions("A", &pair.end[0], 1);
	say_completions("B", &pair.end[1], 1);
	rig_pair_close(&pair);
}

static void dead_peer(struct rig *rig, enum ibv_qp_state peer_state)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.timeout = 8;
	conf.retry_cnt = 1;
	rig_pair_open(rig, &conf, &pair);
	rig_qp_to(rig, &conf, pair.end[1].qp, pair.end[0].qp->qp_num, peer_state);
	say("peer in state %d:", peer_state);
	post_sends(&pair.end[0], 3);
	say_completions("A", &pair.end[0], 3);
	say_qp_state("A", pair.end[0].qp);
	rig_pair_close(&pair);
}

static void no_peer(struct rig *rig, int destroyed)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct rig_end *gone;

	conf.timeout = 8;
	conf.retry_cnt = 1;
	rig_pair_open(rig, &conf, &pair);
	gone = &pair.end[1];
	if (destroyed)
		MUST(!ibv_destroy_qp(gone->qp));
	else
		rig_qp_to(rig, &conf, pair.end[0].qp, 0xfffff0, IBV_QPS_RTS);
	say(destroyed ? "peer destroyed:" : "peer never existed:");
	post_sends(&pair.end[0], 2);
	say_completions("A", &pair.end[0], 2);
	if (destroyed)
		MUST(gone->qp = rig_qp_create(pair.pd, &conf, gone->cq));
	rig_pair_close(&pair);
}

/* A QP that failed works again once it has been reset. */
static void recovers(struct rig *rig)
{
	static const struct transfer t = { "SEND", IBV_WR_SEND, { 100 }, 1, { 100 }, 1, 0 };
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.rnr_retry = 0;
	rig_pair_open(rig, &conf, &pair);
	post_sends(&pair.end[0], 1);
	say_completions("A", &pair.end[0], 1);
	rig_pair_reconnect(&pair);
	say("through RESET to RTS again:");
	transfer_run(&pair, &t, ENTRY_POST);
	rig_pair_close(&pair);
}

void diff_transport_errors(struct rig *rig)
{
	no_receive(rig, 0);
	no_receive(rig, 1);
	no_receive(rig, 3);
	late_receive(rig);
	dead_peer(rig, IBV_QPS_RESET);
	dead_peer(rig, IBV_QPS_INIT);
	dead_peer(rig, IBV_QPS_ERR);
	no_peer(rig, 0);
	no_peer(rig, 1);
	recovers(rig);
}

static void to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	SAY_RET(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "modify_qp to ERR");
}

/* Both queues of one QP, one CQ: send and receive flushes, each in its order. */
static void flush_on_modify(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	rig_pair_open(rig, &conf, &pair);
	say("receives, then ERR:");
	post_recvs(&pair.end[0], 5);
	to_error(pair.end[0].qp);
	say_completions("A", &pair.end[0], 5);
	say("posted in ERR:");
	post_recvs(&pair.end[0], 2);
	say_completions("A", &pair.end[0], 2);
	post_sends(&pair.end[0], 4);
	say_completions("A", &pair.end[0], 4);
	rig_pair_close(&pair);
}

/* The first request fails, the following ones are flushed, and earlier completions stay valid. */
static void flush_after_failure(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.rnr_retry = 0;
	rig_pair_open(rig, &conf, &pair);
	say("two receives for five sends:");
	post_recvs(&pair.end[1], 2);
	post_recvs(&pair.end[0], 3);
	post_sends(&pair.end[0], 5);
	say_completions("B", &pair.end[1], 2);
	say_completions("A", &pair.end[0], 1 + 3 + 3);
	rig_pair_close(&pair);
}

static void reset_drops(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	rig_pair_open(rig, &conf, &pair);
	say("receives, then RESET:");
	post_recvs(&pair.end[0], 5);
	rig_qp_to(rig, &conf, pair.end[0].qp, 0, IBV_QPS_RESET);
	say_completions("A", &pair.end[0], 0);
	rig_pair_close(&pair);
}

/* Destroying a QP removes its completions from the CQ, as a later QP may get its number; those of
 * other QPs stay. */
static void destroy_cleans_cq(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_wc wc;
	struct ibv_qp *extra;

	rig_pair_open(rig, &conf, &pair);
	MUST(extra = rig_qp_create(pair.pd, &conf, pair.end[0].cq));
	rig_qp_to(rig, &conf, extra, 0, IBV_QPS_INIT);
	post_recvs(&(struct rig_end){ .qp = extra, .buf = pair.end[0].buf, .mr = pair.end[0].mr },
		   3);
	post_recvs(&pair.end[0], 2);
	to_error(extra);
	to_error(pair.end[0].qp);
	rig_settle();
	SAY_RET(ibv_destroy_qp(extra), "destroy_qp");
	say_completions("A", &pair.end[0], 2);
	say("%d left", ibv_poll_cq(pair.end[0].cq, 1, &wc));
	rig_pair_close(&pair);
}

void diff_flush(struct rig *rig)
{
	flush_on_modify(rig);
	flush_after_failure(rig);
	reset_drops(rig);
	destroy_cleans_cq(rig);
}
