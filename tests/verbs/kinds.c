/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kinds.c - adapters of two kinds in one process, which thus has two providers: a QP of one is
 * connected to a QP of the other, with messages, writes, reads and atomics both ways.
 *
 * Covers: providers/mlx5/provider.c, providers/mlx4/provider.c, libibverbs/discovery/loader.c
 */
#include <stdio.h>
#include <string.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

enum { SIDES = 2, BYTES = 5000 };

struct side {
	struct rig rig;
	struct ibv_pd *pd;
	struct rig_end end;
};

static void side_open(struct side *side, struct ibv_device *device, const struct rig_conf *conf)
{
	MUST(side->rig.ctx = ibv_open_device(device));
	MUST(!ibv_query_port(side->rig.ctx, RIG_PORT, &side->rig.port));
	MUST(!ibv_query_gid(side->rig.ctx, RIG_PORT, 0, &side->rig.gid));
	MUST(side->pd = ibv_alloc_pd(side->rig.ctx));
	rig_end_open(side->pd, conf, &side->end);
}

static void side_close(struct side *side)
{
	rig_end_close(&side->end);
	MUST(!ibv_dealloc_pd(side->pd));
	MUST(!ibv_close_device(side->rig.ctx));
}

static void side_send(struct side *from, struct side *to, enum ibv_wr_opcode opcode,
		      const char *what)
{
	const bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool receives = opcode == IBV_WR_SEND_WITH_IMM;
	uint8_t *here = from->end.buf, *there = to->end.buf;
	struct ibv_sge sge = { (uintptr_t)here, atomic ? 8 : BYTES, from->end.mr->lkey };
	struct ibv_sge room = { (uintptr_t)there, BYTES, to->end.mr->lkey };
	struct ibv_send_wr wr = { .opcode = opcode,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED,
				  .imm_data = htobe32(0x1234) },
			   *bad;
	struct ibv_recv_wr recv = { .sg_list = &room, .num_sge = 1 }, *bad_recv;
	struct ibv_wc wc;
	uint64_t count = 40;

	for (int i = 0; i < BYTES; i++) {
		here[i] = (uint8_t)(i * 7);
		there[i] = (uint8_t)(i * 13);
	}
	if (atomic) {
		memcpy(there, &count, sizeof(count));
		wr.wr.atomic.remote_addr = (uintptr_t)there;
		wr.wr.atomic.rkey = to->end.mr->rkey;
		wr.wr.atomic.compare_add = 2;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)there;
		wr.wr.rdma.rkey = to->end.mr->rkey;
	}
	if (receives)
		MUST(!ibv_post_recv(to->end.qp, &recv, &bad_recv));
	SAY_RET(ibv_post_send(from->end.qp, &wr, &bad), "%s", what);
	MUST(rig_poll(from->end.cq, 1, &wc) == 1);
	say_wc(what, &wc, to->end.qp->qp_num);
	if (receives) {
		MUST(rig_poll(to->end.cq, 1, &wc) == 1);
		say_wc("its receiver", &wc, from->end.qp->qp_num);
	}
	if (atomic) {
		memcpy(&count, there, sizeof(count));
		say_check(count == 42, "%s: the sum", what);
		memcpy(&count, here, sizeof(count));
		say_check(count == 40, "%s: what was there", what);
	} else {
		say_check(!memcmp(here, there, BYTES), "%s: the bytes", what);
	}
}

static void requests_exchange(struct side *from, struct side *to)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		const char *name;
	} requests[] = {
		{ IBV_WR_SEND_WITH_IMM, "send" },
		{ IBV_WR_RDMA_WRITE, "write" },
		{ IBV_WR_RDMA_READ, "read" },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, "atomic" },
	};
	char what[64];

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		snprintf(what, sizeof(what), "%s to %s: %s",
			 ibv_get_device_name(from->rig.ctx->device),
			 ibv_get_device_name(to->rig.ctx->device), requests[i].name);
		side_send(from, to, requests[i].opcode, what);
	}
}

static void kinds_exchange(void)
{
	const struct rig_conf conf = rig_conf_default();
	struct ibv_device **list;
	struct side sides[SIDES];
	int n;

	MUST(list = ibv_get_device_list(&n));
	say("%d devices", n);
	MUST(n == SIDES);
	for (int i = 0; i < SIDES; i++)
		side_open(&sides[i], list[i], &conf);
	ibv_free_device_list(list);
	for (int i = 0; i < SIDES; i++)
		rig_qp_to(&sides[!i].rig, &conf, sides[i].end.qp, sides[!i].end.qp->qp_num,
			  IBV_QPS_RTS);
	requests_exchange(&sides[0], &sides[1]);
	requests_exchange(&sides[1], &sides[0]);
	for (int i = 0; i < SIDES; i++)
		side_close(&sides[i]);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "kinds", kinds_exchange } };

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
