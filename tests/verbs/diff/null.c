/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * null.c - the null region: writes to it are dropped at any address, also if the data is in the
 * CQE; reads from it return zeros.
 *
 * Covers: providers/mlx5/mr.c, softhca/device/memory/mkey.c
 */
#include "diff.h"

#define BEHIND 0u    /* offset of the bytes that the null entry's address names */
#define REST   4096u /* offset of the entry that follows */
#define SOURCE 8192u
#define PART   4096u

struct null_case {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t dropped, kept; /* bytes for the null entry, and for one behind it */
};

static const struct null_case null_cases[] = {
	{ "message", IBV_WR_SEND, 32, 0 },
	{ "short message", IBV_WR_SEND, 1, 0 },
	{ "half of a message", IBV_WR_SEND, 10, 20 },
	{ "long message", IBV_WR_SEND, 1000, 1000 },
	{ "read", IBV_WR_RDMA_READ, 32, 0 },
	{ "half of a read", IBV_WR_RDMA_READ, 7, 8 },
	{ "long read", IBV_WR_RDMA_READ, 500, 600 },
	{ "atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0 },
};

static bool all_are(const uint8_t *at, uint32_t len, uint8_t value)
{
	while (len && *at == value)
		at++, len--;
	return !len;
}

/* Messages to END are scattered to the null region first. */
static void null_entries(const struct null_case *test, const struct rig_end *end,
			 const struct ibv_mr *null, struct ibv_sge *sges)
{
	sges[0] = (struct ibv_sge){ (uintptr_t)end->buf + BEHIND, test->dropped, null->lkey };
	sges[1] = (struct ibv_sge){ (uintptr_t)end->buf + REST, test->kept, end->mr->lkey };
}

static void null_check(const struct null_case *test, const struct rig_end *to,
		       const struct ibv_wc *wc)
{
	say("%s: %s, %u bytes", test->name, ibv_wc_status_str(wc->status), wc->byte_len);
	say_check(all_are(to->buf + BEHIND, PART, 0), "nothing is behind the null key");
	say_check(all_are(to->buf + REST, test->kept, 0x5a), "the rest has its place");
}

static void null_message(struct rig_pair *pair, const struct null_case *test,
			 const struct ibv_mr *null)
{
	struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = { (uintptr_t)from->buf + SOURCE, test->dropped + test->kept,
				  from->mr->lkey };
	struct ibv_send_wr send = { .sg_list = &source, .num_sge = 1, .opcode = IBV_WR_SEND },
			   *bad_send;
	struct ibv_sge sges[2];
	struct ibv_recv_wr recv = { .sg_list = sges, .num_sge = test->kept ? 2 : 1 }, *bad_recv;
	struct ibv_wc wc;

	null_entries(test, to, null, sges);
	MUST(!ibv_post_recv(to->qp, &recv, &bad_recv));
	MUST(!ibv_post_send(from->qp, &send, &bad_send));
	MUST(rig_poll(to->cq, 1, &wc) == 1);
	null_check(test, to, &wc);
}

static void null_answer(struct rig_pair *pair, const struct null_case *test,
			const struct ibv_mr *null)
{
	struct rig_end *to = &pair->end[0], *from = &pair->end[1];
	const uint64_t remote = (uintptr_t)from->buf + SOURCE;
	struct ibv_sge sges[2];
	struct ibv_send_wr wr = { .sg_list = sges,
				  .num_sge = test->kept ? 2 : 1,
				  .opcode = test->opcode,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	null_entries(test, to, null, sges);
	if (test->opcode == IBV_WR_RDMA_READ) {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = from->mr->rkey;
	} else {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = from->mr->rkey;
	}
	MUST(!ibv_post_send(to->qp, &wr, &bad));
	MUST(rig_poll(to->cq, 1, &wc) == 1);
	null_check(test, to, &wc);
}

static void null_zeros(struct rig_pair *pair, const struct ibv_mr *null)
{
	struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = { (uintptr_t)from->buf + SOURCE, 100, null->lkey };
	struct ibv_send_wr wr = { .sg_list = &source,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { (uintptr_t)to->buf + SOURCE, to->mr->rkey } },
			   *bad;
	struct ibv_wc wc;

	MUST(!ibv_post_send(from->qp, &wr, &bad));
	MUST(rig_poll(from->cq, 1, &wc) == 1);
	say("write from there: %s", ibv_wc_status_str(wc.status));
	say_check(all_are(to->buf + SOURCE, 100, 0), "what comes from there is zeros");
}

/* Answers come inside the CQE when all requests are signaled, so both ways are tried. */
static void null_cases_run(struct rig *rig, int sig_all)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_mr *null;

	conf.sig_all = sig_all;
	rig_pair_open(rig, &conf, &pair);
	MUST(null = ibv_alloc_null_mr(pair.pd));
	for (size_t i = 0; i < ARRAY_SIZE(null_cases); i++) {
		for (int end = 0; end < 2; end++) {
			memset(pair.end[end].buf, 0, SOURCE);
			memset(pair.end[end].buf + SOURCE, 0x5a, PART);
		}
		if (null_cases[i].opcode == IBV_WR_SEND)
			null_message(&pair, &null_cases[i], null);
		else
			null_answer(&pair, &null_cases[i], null);
		rig_drain(pair.end[0].cq);
	}
	null_zeros(&pair, null);
	MUST(!ibv_dereg_mr(null));
	rig_pair_close(&pair);
}

void diff_null_mr(struct rig *rig)
{
	null_cases_run(rig, 0);
	null_cases_run(rig, 1);
}
