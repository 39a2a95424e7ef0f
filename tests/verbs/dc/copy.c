/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * copy.c - copies of memory by an initiator, which need no target; and memory keys, which an
 * initiator cannot configure.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include "dc.h"

static struct ibv_qp *try_initiator(const struct dc *dc, uint64_t dv_ops, uint64_t ops)
{
	struct mlx5dv_qp_init_attr mlx5 = dc_initiator_attr();
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);

	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
	mlx5.send_ops_flags = dv_ops;
	attr.cap = (struct ibv_qp_cap){ .max_send_wr = 16, .max_send_sge = 1 };
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = ops;
	return SAY_PTR(mlx5dv_create_qp(dc->rig->ctx, &attr, &mlx5), "dv ops %#llx, ops %#llx",
		       (unsigned long long)dv_ops, (unsigned long long)ops);
}

static void put_copy(const struct dc *dc, struct ibv_qp *qp, size_t length)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	qpx->wr_flags = IBV_SEND_SIGNALED;
	mlx5dv_wr_memcpy(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), dc->mr->lkey, (uintptr_t)dc_buf(dc, 1),
			 dc->mr->lkey, (uintptr_t)dc_buf(dc, 0), length);
}

static void put_write(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_sge sge = dc_sge(dc, 1, 100);

	ibv_wr_rdma_write(qpx, dc->mr->rkey, (uintptr_t)dc_buf(dc, 2));
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, sge.lkey, sge.addr, sge.length);
}

/* Copies memory, and writes the copy to a target, while the queue wraps several times. */
static void say_copies(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	unsigned int right = 0;
	struct ibv_wc wc[2];

	for (unsigned int i = 0; i < 50; i++) {
		memset(dc_buf(dc, 0), '0' + (int)i, 100);
		ibv_wr_start(qpx);
		put_copy(dc, qp, 100);
		qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
		put_write(dc, qp, to);
		MUST(!ibv_wr_complete(qpx));
		MUST(rig_poll(dc->cq, 2, wc) == 2);
		if (!i)
			say("status %s, opcode %d, then %s, %d", ibv_wc_status_str(wc[0].status),
			    (int)wc[0].opcode, ibv_wc_status_str(wc[1].status), (int)wc[1].opcode);
		right += !memcmp(dc_buf(dc, 0), dc_buf(dc, 2), 100);
	}
	say("%u of 50 are right", right);
}

static void say_wrong_copies(struct ibv_qp *qp, const struct dc *dc)
{
	static const size_t lengths[] = { 0, (size_t)1 << 31 | 1 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		ibv_wr_start(ibv_qp_to_qp_ex(qp));
		put_copy(dc, qp, lengths[i]);
		SAY_RET(ibv_wr_complete(ibv_qp_to_qp_ex(qp)), "%zu bytes", lengths[i]);
	}
}

void dc_copies(struct rig *rig)
{
	static const uint64_t others[] = { MLX5DV_QP_EX_WITH_MR_LIST,
					   MLX5DV_QP_EX_WITH_MR_INTERLEAVED,
					   MLX5DV_QP_EX_WITH_MKEY_CONFIGURE };
	struct dc_pair pair;
	struct ibv_qp *qp;

	dc_pair_open(rig, &pair);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		qp = try_initiator(&pair.dc, others[i], IBV_QP_EX_WITH_RDMA_WRITE);
		MUST(!qp || !ibv_destroy_qp(qp));
	}
	qp = try_initiator(&pair.dc, MLX5DV_QP_EX_WITH_MEMCPY, IBV_QP_EX_WITH_RDMA_WRITE);
	if (qp) {
		MUST(!dc_initiator_to(&pair.dc, qp, IBV_QPS_INIT));
		MUST(!dc_initiator_to(&pair.dc, qp, IBV_QPS_RTR));
		MUST(!dc_initiator_to(&pair.dc, qp, IBV_QPS_RTS));
		say_wrong_copies(qp, &pair.dc);
		say_copies(&pair.dc, qp, &pair.to);
		MUST(!ibv_destroy_qp(qp));
	}
	dc_pair_close(&pair);
}
