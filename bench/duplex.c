/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * duplex.c - duplex [ROUNDS]: two threads use one QP, each on its own CPU: one posts groups of
 * sends, the other polls their completions. Prints the nanoseconds of a post and of a poll: medians
 * of ROUNDS groups, which include the reading of the clock. Needs three idle CPUs: softhca is on
 * one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"

enum { GROUP = 16, DEPTH = 64 * GROUP, MOST = 1 << 20, NO_QP = 1 << 22, QKEY = 1 };

struct duplex {
	struct rig rig;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	int rounds;
	atomic_int completed;
	double *posts, *polls; /* microseconds of each group */
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fprintf(stderr, "CPU %d cannot be had alone\n", cpu);
}

static void *group_poll(void *arg)
{
	struct duplex *d = arg;
	struct ibv_wc wc[GROUP];
	int done = 0, groups = 0;

	stay_on(1);
	while (done < d->rounds * GROUP) {
		double start = now_us();
		int count = ibv_poll_cq(d->cq, GROUP, wc);
		double end = now_us();

		MUST(count >= 0);
		for (int i = 0; i < count; i++)
			MUST(wc[i].status == IBV_WC_SUCCESS);
		if (count)
			d->polls[groups++] = (end - start) / count;
		done += count;
		atomic_store(&d->completed, done);
	}
	printf("poll beside a poster, ns\t%.1f\n", 1000 * median(d->polls, groups));
	return NULL;
}

static void group_post(struct duplex *d)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND,
					.send_flags = IBV_SEND_SIGNALED,
					.wr.ud = { d->ah, NO_QP, QKEY } };

	stay_on(0);
	for (int round = 0; round < d->rounds; round++) {
		double start;

		while ((round + 1) * GROUP - atomic_load(&d->completed) > DEPTH)
			;
		start = now_us();
		for (int i = 0; i < GROUP; i++)
			MUST(!ibv_post_send(d->qp, &wr, &bad));
		d->posts[round] = (now_us() - start) / GROUP;
	}
}

static void qp_open(struct duplex *d)
{
	struct ibv_ah_attr to = { .dlid = d->rig.port.lid, .port_num = RIG_PORT };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = QKEY };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD, .cap = { DEPTH, 1, 1, 1, 0 } };
	struct ibv_pd *pd = ibv_alloc_pd(d->rig.ctx);

	MUST(pd);
	MUST(d->ah = ibv_create_ah(pd, &to));
	MUST(d->cq = ibv_create_cq(d->rig.ctx, DEPTH, NULL, NULL, 0));
	init.send_cq = init.recv_cq = d->cq;
	MUST(d->qp = ibv_create_qp(pd, &init));
	MUST(!ibv_modify_qp(d->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(d->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(d->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

int main(int argc, char **argv)
{
	struct duplex d = { .rounds = argc > 1 ? atoi(argv[1]) : 2000 };
	pthread_t poller;

	if (d.rounds < 1 || d.rounds > MOST)
		return 2;
	MUST(d.posts = calloc((size_t)d.rounds, sizeof(*d.posts)));
	MUST(d.polls = calloc((size_t)d.rounds * GROUP, sizeof(*d.polls)));
	rig_open(&d.rig);
	qp_open(&d);
	MUST(!pthread_create(&poller, NULL, group_poll, &d));
	group_post(&d);
	MUST(!pthread_join(poller, NULL));
	printf("post beside a poller, ns\t%.1f\n", 1000 * median(d.posts, d.rounds));
	exit(0); /* exit(), as the kernel destroys the objects */
}
