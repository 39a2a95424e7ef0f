/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * huge.c - buffers of 2 GiB and more, whose length exceeds the adapter's field of 31 bits.
 *
 * Covers: providers/mlx5/data/send_wqe.h, softhca/device/memory/mkey.c
 */
#include "diff.h"

static const uint32_t lengths[] = { 0x7fffffff, 0x80000000, 0xffffffff };

static void pair_reset(struct rig_pair *pair)
{
	rig_pair_reconnect(pair);
	rig_drain(pair->end[0].cq);
	rig_drain(pair->end[1].cq);
}

static void send_one(struct rig_pair *pair, uint32_t length, int num_sge)
{
	struct rig_end *end = &pair->end[0];
	struct ibv_sge sges[] = { { (uintptr_t)end->buf, num_sge == 1 ? length : 64,
				    end->mr->lkey },
				  { (uintptr_t)end->buf, length, end->mr->lkey } };
	struct ibv_send_wr wr = { .wr_id = 1,
				  .sg_list = sges,
				  .num_sge = num_sge,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad = NULL;
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)pair->end[1].buf;
	wr.wr.rdma.rkey = pair->end[1].mr->rkey;
	if (!SAY_RET(ibv_post_send(end->qp, &wr, &bad), "post_send of %#x, SGE %d", length,
		     num_sge) &&
	    rig_poll(end->cq, 1, &wc) == 1)
		say_wc("A", &wc, pair->end[1].qp->qp_num);
	pair_reset(pair);
}

static void receive_one(struct rig_pair *pair, uint32_t length)
{
	struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge sges[] = { { (uintptr_t)from->buf, 64, from->mr->lkey },
				  { (uintptr_t)to->buf, length, to->mr->lkey } };
	struct ibv_send_wr wr = { .sg_list = sges,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_recv_wr recv = { .wr_id = 2, .sg_list = &sges[1], .num_sge = 1 }, *bad_recv;
	struct ibv_wc wc;

	if (!SAY_RET(ibv_post_recv(to->qp, &recv, &bad_recv), "post_recv of %#x", length)) {
		MUST(!ibv_post_send(from->qp, &wr, &bad));
		if (rig_poll(to->cq, 1, &wc) == 1)
			say_wc("B", &wc, from->qp->qp_num);
	}
	pair_reset(pair);
}

static void build_one(struct rig_pair *pair, uint32_t length, bool list)
{
	struct rig_end *end = &pair->end[0], *to = &pair->end[1];
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(end->qp);
	struct ibv_sge sge = { (uintptr_t)end->buf, length, end->mr->lkey };
	struct ibv_wc wc;

	ibv_wr_start(qpx);
	qpx->wr_id = 3;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, to->mr->rkey, (uintptr_t)to->buf);
	if (list)
		ibv_wr_set_sge_list(qpx, 1, &sge);
	else
		ibv_wr_set_sge(qpx, sge.lkey, sge.addr, length);
	if (!SAY_RET(ibv_wr_complete(qpx), "wr_set_sge%s of %#x", list ? "_list" : "", length) &&
	    rig_poll(end->cq, 1, &wc) == 1)
		say_wc("A", &wc, to->qp->qp_num);
	pair_reset(pair);
}

void diff_huge(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND;
	rig_pair_open(rig, &conf, &pair);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		send_one(&pair, lengths[i], 1);
		send_one(&pair, lengths[i], 2);
		receive_one(&pair, lengths[i]);
		build_one(&pair, lengths[i], false);
		build_one(&pair, lengths[i], true);
	}
	rig_pair_close(&pair);
}
