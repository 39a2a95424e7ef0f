/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * builders.h - the ibv_wr_*() functions that begin an RDMA request, for one kind of QP.
 *
 * A file includes this once for each kind, and defines BUILDERS_KIND (enum send_kind) and
 * BUILDER(), which makes the functions' names. The kind is a constant in them, so its checks cost
 * nothing at run time.
 * PRM: Send WQE format
 */
#include "providers/mlx5/data/batch.h"

static void BUILDER(send)(struct ibv_qp_ex *qpx)
{
	batch_begin(to_mqp_ex(qpx), IBV_WR_SEND, MLX5_OPCODE_SEND, 0, BUILDERS_KIND);
}

static void BUILDER(send_imm)(struct ibv_qp_ex *qpx, __be32 imm)
{
	batch_begin(to_mqp_ex(qpx), IBV_WR_SEND_WITH_IMM, MLX5_OPCODE_SEND_IMM, imm, BUILDERS_KIND);
}

static void BUILDER(send_inv)(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	batch_begin(to_mqp_ex(qpx), IBV_WR_SEND_WITH_INV, MLX5_OPCODE_SEND_INVAL, htobe32(rkey),
		    BUILDERS_KIND);
}

static void BUILDER(rdma_write)(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr)
{
	begin_rdma(to_mqp_ex(qpx), IBV_WR_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE, rkey, raddr, 0,
		   BUILDERS_KIND);
}

static void BUILDER(rdma_write_imm)(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr,
				    __be32 imm)
{
	begin_rdma(to_mqp_ex(qpx), IBV_WR_RDMA_WRITE_WITH_IMM, MLX5_OPCODE_RDMA_WRITE_IMM, rkey,
		   raddr, imm, BUILDERS_KIND);
}

static void BUILDER(rdma_read)(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr)
{
	begin_rdma(to_mqp_ex(qpx), IBV_WR_RDMA_READ, MLX5_OPCODE_RDMA_READ, rkey, raddr, 0,
		   BUILDERS_KIND);
}

static void BUILDER(atomic_cmp_swp)(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr,
				    uint64_t compare, uint64_t swap)
{
	begin_atomic(to_mqp_ex(qpx), IBV_WR_ATOMIC_CMP_AND_SWP, MLX5_OPCODE_ATOMIC_CS, rkey, raddr,
		     swap, compare, BUILDERS_KIND);
}

static void BUILDER(atomic_fetch_add)(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr,
				      uint64_t add)
{
	begin_atomic(to_mqp_ex(qpx), IBV_WR_ATOMIC_FETCH_AND_ADD, MLX5_OPCODE_ATOMIC_FA, rkey,
		     raddr, add, 0, BUILDERS_KIND);
}

static void BUILDER(fill)(struct ibv_qp_ex *qpx)
{
	qpx->wr_send = BUILDER(send);
	qpx->wr_send_imm = BUILDER(send_imm);
	qpx->wr_send_inv = BUILDER(send_inv);
	qpx->wr_rdma_write = BUILDER(rdma_write);
	qpx->wr_rdma_write_imm = BUILDER(rdma_write_imm);
	qpx->wr_rdma_read = BUILDER(rdma_read);
	qpx->wr_atomic_cmp_swp = BUILDER(atomic_cmp_swp);
	qpx->wr_atomic_fetch_add = BUILDER(atomic_fetch_add);
}

#undef BUILDERS_KIND
#undef BUILDER
