/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_addr.c - ibv_wr_*() of QPs whose requests name their destination: datagrams, XRC and DC.
 * batch.h has the helpers shared with send_wr.c.
 * PRM: Send WQE format
 */
#include "providers/mlx5/data/batch.h"

static void ud_send(struct ibv_qp_ex *qpx)
{
	batch_begin(to_mqp_ex(qpx), IBV_WR_SEND, MLX5_OPCODE_SEND, 0, SEND_DATAGRAM);
}

static void ud_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	batch_begin(to_mqp_ex(qpx), IBV_WR_SEND_WITH_IMM, MLX5_OPCODE_SEND_IMM, imm, SEND_DATAGRAM);
}

/* Sets the address. Its place in the WQE is fixed, so it may come before or after the payload. */
static void ud_set_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah, uint32_t remote_qpn,
			uint32_t remote_qkey)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (batch_has_wqe(qp))
		wqe_set_av(qp->batch.ctrl, to_mah(ah), remote_qpn, remote_qkey);
}

/* Sets an SGE. The address vector fills the first WQEBB, so the builder has already wrapped to the
 * second. */
static void ud_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	batch_set_only_sge(qpx, lkey, addr, length, 2);
}

/* Installs the datagram builders and setters. Must run after the common setters are in the table,
 * because it replaces one of them. */
void mlx5_batch_fill_datagram(struct ibv_qp_ex *qpx)
{
	qpx->wr_send = ud_send;
	qpx->wr_send_imm = ud_send_imm;
	qpx->wr_set_ud_addr = ud_set_addr;
	qpx->wr_set_sge = ud_set_sge;
}

#define BUILDERS_KIND SEND_XRC
#define BUILDER(name) xrc_##name
#include "providers/mlx5/data/builders.h"

static void xrc_set_srqn(struct ibv_qp_ex *qpx, uint32_t remote_srqn)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (batch_has_wqe(qp))
		wqe_set_xrc(qp->batch.ctrl, remote_srqn);
}

void mlx5_batch_fill_xrc(struct ibv_qp_ex *qpx)
{
	xrc_fill(qpx);
	qpx->wr_set_xrc_srqn = xrc_set_srqn;
}

#define BUILDERS_KIND SEND_DC
#define BUILDER(name) dc_##name
#include "providers/mlx5/data/builders.h"

static struct mlx5_qp *to_mqp_dv(struct mlx5dv_qp_ex *dv)
{
	return container_of(dv, struct mlx5_qp, dv_qp);
}

static void dc_set_addr(struct mlx5dv_qp_ex *dv, struct ibv_ah *ah, uint32_t dctn, uint64_t key)
{
	struct mlx5_qp *qp = to_mqp_dv(dv);

	if (batch_has_wqe(qp))
		wqe_set_dc_av(qp->batch.ctrl, to_mah(ah), dctn, key);
}

static void dc_set_addr_stream(struct mlx5dv_qp_ex *dv, struct ibv_ah *ah, uint32_t dctn,
			       uint64_t key, uint16_t stream)
{
	struct mlx5_qp *qp = to_mqp_dv(dv);

	uint8_t *const ctrl = qp->batch.ctrl;

	if (!batch_has_wqe(qp))
		return;
	wqe_set_dc_av(ctrl, to_mah(ah), dctn, key);
	wqe_set_stream(ctrl, stream);
}

/* Installs the DC setters. SGE setters are those of datagrams: the address vector fills the first
 * WQEBB, and the builder has already wrapped to the second. */
void mlx5_batch_fill_dc(struct mlx5_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	qpx->wr_set_sge = ud_set_sge;
	dc_fill(qpx);
	qp->dv_qp.wr_set_dc_addr = dc_set_addr;
	qp->dv_qp.wr_set_dc_addr_stream = dc_set_addr_stream;
}
