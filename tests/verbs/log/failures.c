/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failures.c - posted requests that fail, for verbs-log: the first failure of a queue logs one line
 * with the request and the reason; requests flushed behind it log none.
 *
 * Covers: providers/common/report.c, providers/common/syndrome.c,
 * providers/mlx5/data/cq/cqe_error.c, providers/mlx4/data/cq/cqe_error.c
 */
#include "log.h"

#define WR_ID 0x7a7b

static void post_twice(struct rig_end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	for (wr->wr_id = WR_ID; wr->wr_id < WR_ID + 2; wr->wr_id++)
		MUST(!ibv_post_send(end->qp, wr, &bad));
}

/* The first completion fails as it should, and so does all behind it; the pair is as new
 * afterwards. */
static bool fails_with(struct log_rig *l, struct rig_end *end, enum ibv_wc_status status, int n)
{
	struct ibv_wc wc[2];
	bool good = rig_poll(end->cq, n, wc) == n && wc[0].status == status;

	if (n == 2)
		good = good && wc[1].status == IBV_WC_WR_FLUSH_ERR;
	rig_pair_reconnect(&l->pair);
	return good;
}

static bool write_with_rkey(struct log_rig *l, long rkey)
{
	struct rig_end *end = &l->pair.end[0];
	struct ibv_sge sge = { (uintptr_t)end->buf, 48, end->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE };

	wr.wr.rdma.remote_addr = 0x123456;
	wr.wr.rdma.rkey = (uint32_t)rkey;
	post_twice(end, &wr);
	return fails_with(l, end, IBV_WC_REM_ACCESS_ERR, 2);
}

static bool atomic_without_key(struct log_rig *l, long lkey)
{
	struct rig_end *end = &l->pair.end[0], *to = &l->pair.end[1];
	struct ibv_sge sge = { (uintptr_t)end->buf, 8, (uint32_t)lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };

	wr.wr.atomic.remote_addr = (uintptr_t)to->buf;
	wr.wr.atomic.rkey = to->mr->rkey;
	post_twice(end, &wr);
	return fails_with(l, end, IBV_WC_LOC_PROT_ERR, 2);
}

static bool receive_too_short(struct log_rig *l, long bytes)
{
	struct rig_end *from = &l->pair.end[0], *to = &l->pair.end[1];
	struct ibv_sge sges[] = { { (uintptr_t)from->buf, 64, from->mr->lkey },
				  { (uintptr_t)to->buf, (uint32_t)bytes, to->mr->lkey } };
	struct ibv_send_wr wr = { .sg_list = &sges[0], .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .wr_id = WR_ID, .sg_list = &sges[1], .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(to->qp, &recv, &bad));
	post_twice(from, &wr);
	return fails_with(l, to, IBV_WC_LOC_LEN_ERR, 1);
}

const struct log_case failure_cases[] = {
	{ "RDMA write with a wrong rkey",
	  write_with_rkey,
	  0xabcdef,
	  { "0x7a7b", "RDMA_WRITE", "48 bytes", "0x123456", "0xabcdef", "remote access" } },
	{ "atomic with a wrong lkey",
	  atomic_without_key,
	  0xabcdee,
	  { "0x7a7b", "ATOMIC_FETCH_AND_ADD", "8 bytes", "0xabcdee", "local protection" } },
	{ "receive of 8 bytes",
	  receive_too_short,
	  8,
	  { "0x7a7b", "receive", "RECV", "8 bytes", "local length" } },
	{},
};
