/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.c - what one post or poll costs in software: cycles, or instructions under callgrind.
 *
 * Two QPs of this process are connected to each other, RC unless the operation says otherwise. A round posts BURST receives, posts BURST sends, waits until the
 * adapter has done its work, and polls; only the calls themselves are inside the timed regions, GROUP of them in each. An
 * operation's cost is that of its best region, because everything that disturbs one (the adapter reading the same cache
 * lines, interrupts) adds to it. The loop around the calls, a few instructions, is in all numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>
#include <valgrind/callgrind.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

#define GROUP    16 /* operations of one timed region */
#define GROUPS   4
#define BURST    (GROUP * GROUPS)
#define BYTES    32
#define MAX_SGES 16
#define GRH      40 /* in front of a datagram */
#define QKEY     0x11111111

#define SEND_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE)

struct bench {
	struct rig rig;
	struct rig_pair plain;  /* QPs of ibv_create_qp() */
	struct rig_pair ex;     /* of ibv_create_qp_ex() */
	struct rig_pair wide;   /* with MAX_SGES */
	struct rig_pair shared; /* its receiver is on the SRQ */
	struct rig_pair ud;
	struct ibv_srq *srq;
	struct ibv_ah *ah; /* of the UD pair */
	struct ibv_cq_ex *cq_ex;
	struct ibv_sge sge;
	struct ibv_sge parts[MAX_SGES]; /* the same bytes in pieces */
	struct ibv_sge target;
	struct ibv_send_wr sends[GROUP];
	struct ibv_recv_wr recvs[GROUP];
	uint64_t clock_cost; /* of a timed region in which nothing happens */
	bool counting;       /* under callgrind: few rounds, a dump for each operation */
};

/* Runs GROUP operations; returns how many were done. */
typedef int run_fn(struct bench *b, struct rig_pair *pair);

struct operation {
	const char *name;
	run_fn *run;
	enum { SENDS, RECVS, POLLS_SEND, POLLS_RECV, POLLS_NOTHING, POLLS_EX } phase;
	enum { PLAIN, EX, WIDE, SHARED, UD } pair;
	int num_sge; /* of sends; 0: 1 */
};

static struct rig_pair *pair_of(struct bench *b, const struct operation *op)
{
	struct rig_pair *const pairs[] = { &b->plain, &b->ex, &b->wide, &b->shared, &b->ud };

	return pairs[op->pair];
}

static void aim_send(struct bench *b, struct rig_pair *pair, const struct operation *op,
		     struct ibv_send_wr *wr)
{
	const int num_sge = op->num_sge ? op->num_sge : 1;

	*wr = (struct ibv_send_wr){
		.sg_list = num_sge > 1 ? b->parts : &b->sge,
		.num_sge = num_sge,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	wr->wr.ud.ah = b->ah;
	wr->wr.ud.remote_qpn = pair->end[1].qp->qp_num;
	wr->wr.ud.remote_qkey = QKEY;
}

static void aim(struct bench *b, struct rig_pair *pair, const struct operation *op)
{
	const uint64_t from = (uintptr_t)pair->end[0].buf;
	const uint32_t part = BYTES / (uint32_t)(op->num_sge ? op->num_sge : 1);

	b->sge = (struct ibv_sge){ from, BYTES, pair->end[0].mr->lkey };
	for (uint32_t i = 0; i < MAX_SGES; i++)
		b->parts[i] = (struct ibv_sge){ from + i * part, part, b->sge.lkey };
	/* A receive has room for what comes, and no more, so that small messages may come inside the CQE. */
	b->target = (struct ibv_sge){ (uintptr_t)pair->end[1].buf,
				      BYTES + (op->pair == UD ? GRH : 0), pair->end[1].mr->lkey };
	for (int i = 0; i < GROUP; i++) {
		aim_send(b, pair, op, &b->sends[i]);
		b->sends[i].wr_id = (uint64_t)i;
		b->sends[i].next = i + 1 < GROUP ? &b->sends[i + 1] : NULL;
		b->recvs[i] = (struct ibv_recv_wr){ .wr_id = (uint64_t)i,
						    .next = i + 1 < GROUP ? &b->recvs[i + 1] : NULL,
						    .sg_list = &b->target,
						    .num_sge = 1 };
	}
}

static int send_single(struct bench *b, struct rig_pair *pair)
{
	struct ibv_send_wr wr = b->sends[GROUP - 1], *bad;

	for (int i = 0; i < GROUP; i++)
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	return GROUP;
}

static int send_inline(struct bench *b, struct rig_pair *pair)
{
	struct ibv_send_wr wr = b->sends[GROUP - 1], *bad;

	wr.send_flags |= IBV_SEND_INLINE;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	return GROUP;
}

static int send_list(struct bench *b, struct rig_pair *pair)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(pair->end[0].qp, b->sends, &bad) ? 0 : GROUP;
}

static int wr_single(struct bench *b, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, b->sge.lkey, b->sge.addr, b->sge.length);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_inline(struct bench *b, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)b->sge.addr, b->sge.length);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_batch(struct bench *b, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	ibv_wr_start(qpx);
	for (int i = 0; i < GROUP; i++) {
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, b->sge.lkey, b->sge.addr, b->sge.length);
	}
	return ibv_wr_complete(qpx) ? 0 : GROUP;
}

static int recv_single(struct bench *b, struct rig_pair *pair)
{
	struct ibv_recv_wr wr = b->recvs[GROUP - 1], *bad;

	for (int i = 0; i < GROUP; i++)
		if (ibv_post_recv(pair->end[1].qp, &wr, &bad))
			return i;
	return GROUP;
}

static int recv_list(struct bench *b, struct rig_pair *pair)
{
	struct ibv_recv_wr *bad;

	return ibv_post_recv(pair->end[1].qp, b->recvs, &bad) ? 0 : GROUP;
}

static int srq_single(struct bench *b, struct rig_pair *pair)
{
	struct ibv_recv_wr wr = b->recvs[GROUP - 1], *bad;

	(void)pair;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_srq_recv(b->srq, &wr, &bad))
			return i;
	return GROUP;
}

static int srq_list(struct bench *b, struct rig_pair *pair)
{
	struct ibv_recv_wr *bad;

	(void)pair;
	return ibv_post_srq_recv(b->srq, b->recvs, &bad) ? 0 : GROUP;
}

static int poll_by(struct ibv_cq *cq, int step)
{
	struct ibv_wc wc[GROUP];
	int total = 0, n;

	for (int i = 0; i < GROUP; i += step) {
		n = ibv_poll_cq(cq, step, wc);
		total += n;
		if (n != step)
			break;
	}
	return total;
}

static int poll_single(struct bench *b, struct rig_pair *pair)
{
	(void)b;
	return poll_by(pair->end[0].cq, 1);
}

static int poll_list(struct bench *b, struct rig_pair *pair)
{
	(void)b;
	return poll_by(pair->end[0].cq, GROUP);
}

static int poll_recv_list(struct bench *b, struct rig_pair *pair)
{
	(void)b;
	return poll_by(pair->end[1].cq, GROUP);
}

static int poll_empty(struct bench *b, struct rig_pair *pair)
{
	struct ibv_wc wc[GROUP];

	(void)b;
	for (int i = 0; i < GROUP; i++)
		if (ibv_poll_cq(pair->end[0].cq, GROUP, wc))
			return i;
	return GROUP;
}

/* One start_poll for the group, and the readers that a message loop wants. */
static int poll_readers(struct bench *b, struct rig_pair *pair)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };
	uint32_t sum = 0;
	int i = 0;

	(void)pair;
	if (ibv_start_poll(b->cq_ex, &attr))
		return 0;
	do {
		sum += ibv_wc_read_opcode(b->cq_ex) + ibv_wc_read_byte_len(b->cq_ex) +
		       ibv_wc_read_qp_num(b->cq_ex);
		i++;
	} while (i < GROUP && !ibv_next_poll(b->cq_ex));
	ibv_end_poll(b->cq_ex);
	return sum ? i : 0;
}

static const struct operation operations[] = {
	{ "post_send", send_single, SENDS, PLAIN, 0 },
	{ "post_send, inline 32", send_inline, SENDS, PLAIN, 0 },
	{ "post_send, list of 16", send_list, SENDS, PLAIN, 0 },
	{ "post_send, 4 SGEs", send_single, SENDS, WIDE, 4 },
	{ "post_send, 16 SGEs", send_single, SENDS, WIDE, 16 },
	{ "post_send, UD", send_single, SENDS, UD, 0 },
	{ "post_send, UD, list of 16", send_list, SENDS, UD, 0 },
	{ "wr_send", wr_single, SENDS, EX, 0 },
	{ "wr_send, inline 32", wr_inline, SENDS, EX, 0 },
	{ "wr_send, batch of 16", wr_batch, SENDS, EX, 0 },
	{ "post_recv", recv_single, RECVS, PLAIN, 0 },
	{ "post_recv, list of 16", recv_list, RECVS, PLAIN, 0 },
	{ "post_srq_recv", srq_single, RECVS, SHARED, 0 },
	{ "post_srq_recv, list of 16", srq_list, RECVS, SHARED, 0 },
	{ "poll_cq, 1", poll_single, POLLS_SEND, PLAIN, 0 },
	{ "poll_cq, 16", poll_list, POLLS_SEND, PLAIN, 0 },
	{ "poll_cq, 16 receives", poll_recv_list, POLLS_RECV, PLAIN, 0 },
	{ "poll_cq, 16 of an SRQ", poll_recv_list, POLLS_RECV, SHARED, 0 },
	{ "poll_cq, 16 datagrams", poll_recv_list, POLLS_RECV, UD, 0 },
	{ "poll_cq, empty", poll_empty, POLLS_NOTHING, PLAIN, 0 },
	{ "start_poll, 16 receives", poll_readers, POLLS_EX, EX, 0 },
};

/* RUN between two readings of the clock; the fences keep earlier and later work out of it. */
static uint64_t timed_group(struct bench *b, struct rig_pair *pair, run_fn *run, int *done)
{
	uint64_t start, end;
	unsigned int cpu;

	_mm_lfence();
	start = __rdtsc();
	_mm_lfence();
	CALLGRIND_TOGGLE_COLLECT;
	*done += run(b, pair);
	CALLGRIND_TOGGLE_COLLECT;
	end = __rdtscp(&cpu);
	_mm_lfence();
	return end - start;
}

static int run_nothing(struct bench *b, struct rig_pair *pair)
{
	(void)b;
	(void)pair;
	return GROUP;
}

/* A burst, group by group; the cycles of the best group. */
static uint64_t timed(struct bench *b, struct rig_pair *pair, run_fn *run, int *done)
{
	uint64_t best = UINT64_MAX;

	*done = 0;
	for (int i = 0; i < GROUPS; i++) {
		uint64_t cycles = timed_group(b, pair, run, done);

		if (cycles < best)
			best = cycles;
	}
	return best;
}

/* The time in which the adapter finishes a burst, mostly: a round that it does not finish is not counted. Under callgrind
 * every round counts, so there is no hurry. */
static void settle(const struct bench *b)
{
	const struct timespec nap = { .tv_nsec = b->counting ? 100000000 : 1000000 };

	nanosleep(&nap, NULL);
}

static int ex_drain(struct bench *b)
{
	int total = 0;

	for (int tries = 0; total < BURST && tries < 5000; tries++) {
		int done = poll_readers(b, NULL);

		total += done;
		if (!done)
			settle(b);
	}
	return total;
}

/* Whatever the measured call left unpolled. */
static void drain(struct bench *b, struct rig_pair *pair, bool ex, int sends, int recvs)
{
	struct ibv_wc wc[BURST];

	MUST(rig_poll(pair->end[0].cq, sends, wc) == sends);
	if (recvs && ex)
		MUST(ex_drain(b) == recvs);
	else
		MUST(rig_poll(pair->end[1].cq, recvs, wc) == recvs);
}

static bool is_phase(const struct operation *op, int phase)
{
	return (int)op->phase == phase;
}

static void post_burst(struct bench *b, struct rig_pair *pair, run_fn *run)
{
	for (int i = 0; i < GROUPS; i++)
		MUST(run(b, pair) == GROUP);
}

/* One round. Returns the cycles of the best group, or UINT64_MAX when the adapter had not finished in time. */
static uint64_t measure_round(struct bench *b, struct rig_pair *pair, const struct operation *op)
{
	uint64_t cycles = UINT64_MAX;
	int done = BURST, sends = BURST, recvs = BURST;

	if (is_phase(op, RECVS))
		cycles = timed(b, pair, op->run, &done);
	else
		post_burst(b, pair, op->pair == SHARED ? srq_list : recv_list);
	MUST(done == BURST);
	if (is_phase(op, SENDS))
		cycles = timed(b, pair, op->run, &done);
	else
		post_burst(b, pair, send_list);
	MUST(done == BURST);
	if (is_phase(op, POLLS_SEND) || is_phase(op, POLLS_RECV) || is_phase(op, POLLS_EX)) {
		settle(b);
		cycles = timed(b, pair, op->run, &done);
		sends -= is_phase(op, POLLS_SEND) ? done : 0;
		recvs -= is_phase(op, POLLS_SEND) ? 0 : done;
	}
	drain(b, pair, op->pair == EX, sends, recvs);
	if (is_phase(op, POLLS_NOTHING))
		cycles = timed(b, pair, op->run, &done);
	return done == BURST ? cycles : UINT64_MAX;
}

static void measure(struct bench *b, const struct operation *op, int rounds)
{
	struct rig_pair *pair = pair_of(b, op);
	uint64_t best = UINT64_MAX;
	int valid = 0;

	aim(b, pair, op);
	for (int i = 0; i < rounds; i++) {
		uint64_t cycles = measure_round(b, pair, op);

		if (b->counting && i == 0) /* caches and lazy binding; the rounds after it count */
			CALLGRIND_ZERO_STATS;
		else if (cycles != UINT64_MAX)
			valid++;
		if (cycles < best)
			best = cycles;
	}
	if (b->counting) {
		MUST(valid == rounds - 1);
		CALLGRIND_DUMP_STATS_AT(op->name);
		printf("%s\t%d\n", op->name, valid * BURST);
	} else {
		MUST(valid > 0);
		printf("%s\t%.1f\n", op->name, (double)(best - b->clock_cost) / GROUP);
	}
}

/* The receiver of the pair takes its requests from an SRQ. */
static void open_shared(struct bench *b, struct rig_conf *conf)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 2 * BURST, .max_sge = 1 } };
	struct ibv_qp_init_attr attr;

	rig_pair_open(&b->rig, conf, &b->shared);
	MUST(b->srq = ibv_create_srq(b->shared.pd, &srq_attr));
	rig_qp_init_attr(conf, b->shared.end[1].cq, &attr);
	attr.srq = b->srq;
	MUST(!ibv_destroy_qp(b->shared.end[1].qp));
	MUST(b->shared.end[1].qp = ibv_create_qp(b->shared.pd, &attr));
	rig_pair_reconnect(&b->shared);
}

static void make_ud(struct bench *b, struct rig_end *end)
{
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = QKEY };
	struct ibv_qp_init_attr attr;

	rig_qp_init_attr(&b->ud.conf, end->cq, &attr);
	attr.qp_type = IBV_QPT_UD;
	MUST(!ibv_destroy_qp(end->qp));
	MUST(end->qp = ibv_create_qp(b->ud.pd, &attr));
	MUST(!ibv_modify_qp(end->qp, &to,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	to.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE));
	to.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void open_ud(struct bench *b, struct rig_conf *conf)
{
	struct ibv_ah_attr attr = { .dlid = b->rig.port.lid, .port_num = RIG_PORT };

	if (b->rig.port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.is_global = 1;
		attr.grh.dgid = b->rig.gid;
		attr.grh.hop_limit = 1;
	}
	rig_pair_open(&b->rig, conf, &b->ud);
	make_ud(b, &b->ud.end[0]);
	make_ud(b, &b->ud.end[1]);
	MUST(b->ah = ibv_create_ah(b->ud.pd, &attr));
}

static void close_others(struct bench *b)
{
	MUST(!ibv_destroy_ah(b->ah));
	rig_pair_close(&b->ud);
	rig_pair_close(&b->wide);
	/* The QP before the SRQ that it is on; closing the pair expects one. */
	MUST(!ibv_destroy_qp(b->shared.end[1].qp));
	MUST(!ibv_destroy_srq(b->srq));
	MUST(b->shared.end[1].qp =
		     rig_qp_create(b->shared.pd, &b->shared.conf, b->shared.end[1].cq));
	rig_pair_close(&b->shared);
}

static void open_all(struct bench *b)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 2 * BURST, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct rig_conf conf = rig_conf_default();

	conf.cap = (struct ibv_qp_cap){ .max_send_wr = 2 * BURST,
					.max_recv_wr = 2 * BURST,
					.max_send_sge = 1,
					.max_recv_sge = 1,
					.max_inline_data = BYTES };
	conf.cqe = 2 * BURST;
	rig_open(&b->rig);
	rig_pair_open(&b->rig, &conf, &b->plain);
	open_shared(b, &conf);
	open_ud(b, &conf);
	conf.cap.max_send_sge = MAX_SGES;
	rig_pair_open(&b->rig, &conf, &b->wide);
	conf.cap.max_send_sge = 1;
	conf.send_ops = SEND_OPS;
	rig_pair_open(&b->rig, &conf, &b->ex);
	MUST(b->cq_ex = ibv_create_cq_ex(b->rig.ctx, &attr));
	MUST(!ibv_destroy_qp(b->ex.end[1].qp));
	MUST(b->ex.end[1].qp = rig_qp_create(b->ex.pd, &conf, ibv_cq_ex_to_cq(b->cq_ex)));
	rig_pair_reconnect(&b->ex);
}

static void close_all(struct bench *b)
{
	close_others(b);
	MUST(!ibv_destroy_qp(b->ex.end[1].qp));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(b->cq_ex)));
	MUST(b->ex.end[1].qp = rig_qp_create(b->ex.pd, &b->ex.conf, b->ex.end[1].cq));
	rig_pair_close(&b->ex);
	rig_pair_close(&b->plain);
	rig_close(&b->rig);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	struct bench b = { .counting = RUNNING_ON_VALGRIND };

	if (rounds < 2 || argc > 2) {
		fprintf(stderr, "usage: datapath [ROUNDS], at least 2\n");
		return 2;
	}
	open_all(&b);
	b.clock_cost = UINT64_MAX;
	for (int i = 0; i < rounds; i++) {
		int done;
		uint64_t cycles = timed(&b, &b.plain, run_nothing, &done);

		b.clock_cost = cycles < b.clock_cost ? cycles : b.clock_cost;
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		measure(&b, &operations[i], rounds);
	close_all(&b);
	return 0;
}
