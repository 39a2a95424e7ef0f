/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * early.c - verbs-early KIND [mixture]: QPs that receive messages out of order, RC ("rc"), RC with
 * SRQ ("srq"), XRC ("xrc") or DC ("dc"). One message and its acknowledge are in time. The adapter
 * delays the next packet until three more are sent: later messages arrive in memory first, but
 * completions are in the order of sending, each with the receive request that its message has used.
 *
 * A mixture has all operations and too few receives, on an adapter that loses or delays requests
 * and responses: each operation runs once, after all earlier ones, and completes in order. Exit
 * code 0, or 1 if a check failed.
 *
 * Covers: softhca/device/transport/out_of_order.c, providers/mlx5/qp/extra.c
 */
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <string.h>
#include <time.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

/* What older headers lack */
enum { OUT_OF_ORDER = 1 << 7 /* MLX5DV_QP_CREATE_OOO_DP */ };

enum {
	MESSAGES = 4,
	ROUND = 5, /* of a mixture: SEND, WRITE, SEND, READ, FETCH_ADD */
	REQUESTS = 16 * ROUND,
	RECEIVES = 3, /* posted at a time */
	SLOTS = 2 * REQUESTS + 1,
	SIZE = 256,
	PATIENT = 20, /* as ack timeout, so that nothing is sent again while the program looks */
	IMPATIENT = 12,
	WAIT_MS = 20000,
	KEY = 0x4711, /* of DC */
};

/* One side of a kind: how its QP is made, and which attributes do not go with its changes of state.
 */
struct role {
	enum ibv_qp_type type;
	enum mlx5dv_dc_type dc_type;
	int not_init, not_rtr;
	enum ibv_qp_state last;
};

struct kind {
	const char *name;
	bool has_srq;
	struct role from, to;
};

static const struct kind kinds[] = {
	{ "rc",
	  false,
	  { .type = IBV_QPT_RC, .last = IBV_QPS_RTS },
	  { .type = IBV_QPT_RC, .last = IBV_QPS_RTS } },
	{ "srq",
	  true,
	  { .type = IBV_QPT_RC, .last = IBV_QPS_RTS },
	  { .type = IBV_QPT_RC, .last = IBV_QPS_RTS } },
	{ "xrc",
	  true,
	  { .type = IBV_QPT_XRC_SEND,
	    .not_rtr = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	    .last = IBV_QPS_RTS },
	  { .type = IBV_QPT_XRC_RECV, .last = IBV_QPS_RTR } },
	{ "dc",
	  true,
	  { .type = IBV_QPT_DRIVER,
	    .dc_type = MLX5DV_DCTYPE_DCI,
	    .not_init = IBV_QP_ACCESS_FLAGS,
	    .not_rtr = IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		       IBV_QP_MIN_RNR_TIMER,
	    .last = IBV_QPS_RTS },
	  { .type = IBV_QPT_DRIVER,
	    .dc_type = MLX5DV_DCTYPE_DCT,
	    .not_rtr = IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC,
	    .last = IBV_QPS_RTR } },
};

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buf[SLOTS * SIZE];
};

struct early {
	const struct kind *kind;
	bool mixture;
	uint32_t depth; /* of queues */
	struct rig *rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd; /* of XRC */
	struct ibv_srq *srq;   /* of the receiver; NULL: it has a queue of its own */
	uint32_t srqn;
	struct ibv_ah *ah;
	struct side from, to;
};

static void srq_open(struct early *early)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { early->depth, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_BASIC,
		.pd = early->pd,
	};

	if (!early->kind->has_srq)
		return;
	if (early->xrcd) {
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		attr.srq_type = IBV_SRQT_XRC;
		attr.xrcd = early->xrcd;
		attr.cq = early->to.cq;
	}
	MUST(early->srq = ibv_create_srq_ex(early->rig->ctx, &attr));
	if (early->xrcd)
		MUST(!ibv_get_srq_num(early->srq, &early->srqn));
}

static struct ibv_qp *qp_create(const struct early *early, const struct role *role,
				struct ibv_cq *cq)
{
	bool is_dc = role->type == IBV_QPT_DRIVER, sends = role == &early->kind->from;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = role->type,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { early->depth, early->srq ? 0 : early->depth, 1, early->srq ? 0 : 1, 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = early->pd,
		.srq = sends || early->xrcd ? NULL : early->srq,
	};
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					  .create_flags = OUT_OF_ORDER };
	struct ibv_qp *qp;

	if (role->type == IBV_QPT_XRC_RECV) {
		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		attr.xrcd = early->xrcd;
		attr.send_cq = attr.recv_cq = NULL;
	}
	if (is_dc) {
		dv.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DC;
		dv.dc_init_attr.dc_type = role->dc_type;
		dv.dc_init_attr.dct_access_key = sends ? 0 : KEY;
	}
	if (sends) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
				      IBV_QP_EX_WITH_RDMA_READ |
				      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	}
	MUST(qp = mlx5dv_create_qp(early->rig->ctx, &attr, &dv));
	return qp;
}

static void qp_to(const struct early *early, const struct role *role, struct ibv_qp *qp,
		  uint32_t dest_qpn)
{
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= role->last; state++) {
		struct ibv_qp_attr attr;
		int mask = rig_qp_attr(early->rig, &early->conf, dest_qpn, state, &attr);

		if (state == IBV_QPS_INIT)
			mask &= ~role->not_init;
		if (state == IBV_QPS_RTR)
			mask &= ~role->not_rtr;
		MUST(!ibv_modify_qp(qp, &attr, mask));
	}
}

static void side_open(const struct early *early, struct side *side)
{
	MUST(side->cq = ibv_create_cq(early->rig->ctx, 2 * (int)early->depth, NULL, NULL, 0));
	MUST(side->mr = ibv_reg_mr(early->pd, side->buf, sizeof(side->buf),
				   IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
}

static void side_close(struct side *side)
{
	MUST(!ibv_dereg_mr(side->mr) && !ibv_destroy_cq(side->cq));
}

static void early_open(struct early *early)
{
	const struct kind *kind = early->kind;
	struct ibv_xrcd_init_attr xrcd = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1,
					   .oflags = O_CREAT };
	struct ibv_qp_attr attr;

	MUST(early->pd = ibv_alloc_pd(early->rig->ctx));
	side_open(early, &early->from);
	side_open(early, &early->to);
	if (kind->to.type == IBV_QPT_XRC_RECV)
		MUST(early->xrcd = ibv_open_xrcd(early->rig->ctx, &xrcd));
	srq_open(early);
	rig_qp_attr(early->rig, &early->conf, 0, IBV_QPS_RTR, &attr);
	MUST(early->ah = ibv_create_ah(early->pd, &attr.ah_attr));
	early->from.qp = qp_create(early, &kind->from, early->from.cq);
	early->to.qp = qp_create(early, &kind->to, early->to.cq);
	qp_to(early, &kind->to, early->to.qp, early->from.qp->qp_num);
	qp_to(early, &kind->from, early->from.qp, early->to.qp->qp_num);
}

static void early_close(struct early *early)
{
	MUST(!ibv_destroy_qp(early->from.qp) && !ibv_destroy_qp(early->to.qp));
	MUST(!ibv_destroy_ah(early->ah));
	MUST(!early->srq || !ibv_destroy_srq(early->srq));
	MUST(!early->xrcd || !ibv_close_xrcd(early->xrcd));
	side_close(&early->from);
	side_close(&early->to);
	MUST(!ibv_dealloc_pd(early->pd));
}

static struct ibv_sge slot(struct side *side, unsigned int n)
{
	return (struct ibv_sge){ (uintptr_t)side->buf + (size_t)n * SIZE, SIZE, side->mr->lkey };
}

static void post_receive(struct early *early, unsigned int n)
{
	struct ibv_sge sge = slot(&early->to, n);
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (early->srq)
		MUST(!ibv_post_srq_recv(early->srq, &wr, &bad));
	else
		MUST(!ibv_post_recv(early->to.qp, &wr, &bad));
}

static void post_to_target(struct early *early, unsigned int n, const struct ibv_sge *sge)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(early->from.qp);

	ibv_wr_start(qp);
	qp->wr_id = n;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), early->ah, early->to.qp->qp_num,
			      KEY);
	ibv_wr_set_sge(qp, sge->lkey, sge->addr, sge->length);
	MUST(!ibv_wr_complete(qp));
}

/* Message N is so many bytes N + 1. */
static void post_send(struct early *early, unsigned int n)
{
	struct ibv_sge sge = slot(&early->from, n);
	struct ibv_send_wr wr = { .wr_id = n,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .qp_type.xrc.remote_srqn = early->srqn },
			   *bad;

	memset(early->from.buf + (size_t)n * SIZE, (int)n + 1, SIZE);
	if (early->kind->from.type == IBV_QPT_DRIVER)
		post_to_target(early, n, &sge);
	else
		MUST(!ibv_post_send(early->from.qp, &wr, &bad));
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

/* The late message uses the remaining receive, the fourth. */
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

/* An acknowledge tells the sender how many messages it may send without waiting for the next
 * acknowledge. */
static void learn_credits(struct early *early)
{
	struct ibv_wc wc;

	post_send(early, MESSAGES);
	MUST(rig_poll(early->from.cq, 1, &wc) == 1 && !wc.status);
	MUST(rig_poll(early->to.cq, 1, &wc) == 1 && !wc.status && wc.wr_id == MESSAGES);
}

static void early_check(struct early *early)
{
	struct side *from = &early->from, *to = &early->to;

	post_receive(early, MESSAGES);
	for (unsigned int i = 0; i < MESSAGES; i++)
		post_receive(early, i);
	learn_credits(early);
	for (unsigned int i = 0; i < MESSAGES - 1; i++)
		post_send(early, i);
	say_check(wait_for_message(to, 0, 1) && wait_for_message(to, 1, 2),
		  "messages 1 and 2 are in memory");
	say_check(!is_anywhere(to, 0), "message 0 is not");
	say_check(!rig_drain(to->cq) && !rig_drain(from->cq), "nothing has completed");
	post_send(early, MESSAGES - 1);
	check_order(from, to);
}

static const enum ibv_wr_opcode round_of[ROUND] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_SEND,
						    IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD };

enum { ROUND_SENDS = 2, SENDS = REQUESTS / ROUND * ROUND_SENDS, COUNTER = 2 * REQUESTS };

/* Returns the address at the receiver that request N accesses: a READ reads the result of the WRITE
 * in its round. */
static uint64_t remote(const struct early *early, unsigned int n)
{
	unsigned int at =
		round_of[n % ROUND] == IBV_WR_ATOMIC_FETCH_AND_ADD ? COUNTER : REQUESTS + n / ROUND;

	return (uintptr_t)early->to.buf + (uint64_t)at * SIZE;
}

static void mixture_begin(const struct early *early, struct ibv_qp_ex *qp, unsigned int n)
{
	uint32_t rkey = early->to.mr->rkey;

	switch (round_of[n % ROUND]) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, rkey, remote(early, n));
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, rkey, remote(early, n));
		break;
	default:
		ibv_wr_atomic_fetch_add(qp, rkey, remote(early, n), 1);
	}
}

static void mixture_post(struct early *early, unsigned int n)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(early->from.qp);
	bool adds = round_of[n % ROUND] == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_sge sge = slot(&early->from, n);

	memset(early->from.buf + (size_t)n * SIZE, (int)n + 1, SIZE);
	ibv_wr_start(qp);
	qp->wr_id = n;
	qp->wr_flags = IBV_SEND_SIGNALED;
	mixture_begin(early, qp, n);
	if (early->kind->from.type == IBV_QPT_DRIVER)
		mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), early->ah,
				      early->to.qp->qp_num, KEY);
	if (early->kind->from.type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qp, early->srqn);
	ibv_wr_set_sge(qp, sge.lkey, sge.addr, adds ? 8 : sge.length);
	MUST(!ibv_wr_complete(qp));
}

/* Receives the sends of a mixture, which arrive in order, each in a request of its own. Posts
 * another receive for each completion. */
static unsigned int mixture_receive(struct early *early)
{
	bool taken[SENDS] = { false };
	unsigned int right = 0;

	for (unsigned int i = 0; i < SENDS; i++) {
		unsigned int n = i / ROUND_SENDS * ROUND + i % ROUND_SENDS * 2;
		struct ibv_wc wc;

		MUST(rig_poll(early->to.cq, 1, &wc) == 1);
		MUST(!wc.status && wc.wr_id < SENDS && !taken[wc.wr_id]);
		taken[wc.wr_id] = true;
		right += is_message(&early->to, wc.wr_id, n);
		if (i + RECEIVES < SENDS)
			post_receive(early, i + RECEIVES);
	}
	return right;
}

/* What a request has brought is in memory when it has completed. */
static bool mixture_is_done(const struct early *early, unsigned int n)
{
	uint64_t found;

	switch (round_of[n % ROUND]) {
	case IBV_WR_RDMA_WRITE:
		return is_message(&early->to, REQUESTS + n / ROUND, n);
	case IBV_WR_RDMA_READ:
		return is_message(&early->from, n, n - 2);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		memcpy(&found, early->from.buf + (size_t)n * SIZE, sizeof(found));
		return found == n / ROUND;
	default:
		return true;
	}
}

static void mixture_check(struct early *early)
{
	unsigned int in_turn = 0, done = 0;

	for (unsigned int i = 0; i < RECEIVES; i++)
		post_receive(early, i);
	for (unsigned int n = 0; n < REQUESTS; n++)
		mixture_post(early, n);
	say_check(mixture_receive(early) == SENDS, "%d messages are received in their turn", SENDS);
	for (unsigned int n = 0; n < REQUESTS; n++) {
		struct ibv_wc wc;

		MUST(rig_poll(early->from.cq, 1, &wc) == 1);
		in_turn += !wc.status && wc.wr_id == n;
		done += mixture_is_done(early, n);
	}
	say_check(in_turn == REQUESTS, "%d requests complete in their turn", REQUESTS);
	say_check(done == REQUESTS, "and each was done once, behind those before it");
	say_check(!rig_drain(early->to.cq) && !rig_drain(early->from.cq), "nothing else completes");
}

static void early_run(struct early *early)
{
	struct rig rig;

	early->depth = early->mixture ? REQUESTS : MESSAGES + 1;
	rig_open(&rig);
	early->rig = &rig;
	early->conf = rig_conf_default();
	early->conf.timeout = early->mixture ? IMPATIENT : PATIENT;
	early_open(early);
	if (early->mixture)
		mixture_check(early);
	else
		early_check(early);
	early_close(early);
	rig_close(&rig);
}

int main(int argc, char **argv)
{
	static struct early early;

	early.mixture = argc == 3 && !strcmp(argv[2], "mixture");
	TOPICS_CHOOSE(kinds, argc - early.mixture, argv);
	MUST(argc == 2 + early.mixture); /* one life each */
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!topic_begin(kinds[i].name))
			continue;
		early.kind = &kinds[i];
		early_run(&early);
	}
	return topics_end();
}
