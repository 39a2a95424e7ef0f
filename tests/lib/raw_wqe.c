/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_wqe.c - see raw_wqe.h. PRM: Send WQE format.
 */
#include "tests/lib/raw_wqe.h"

#include <endian.h>
#include <string.h>

#include "tests/lib/say.h"

enum { UNIT = sizeof(struct mlx5_wqe_data_seg), SIZE_MASK = 0x3f };

void raw_wqe_begin(struct raw_wqe *wqe, uint8_t opcode, uint32_t qpn)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)wqe->unit;

	memset(wqe, 0, sizeof(*wqe));
	ctrl->opmod_idx_opcode = htobe32(opcode);
	ctrl->qpn_ds = htobe32(qpn << 8);
	ctrl->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	ctrl->imm = htobe32(0x1234);
	wqe->units = 1;
}

void *raw_wqe_take(struct raw_wqe *wqe, unsigned int units)
{
	void *first = &wqe->unit[wqe->units];

	wqe->units += units;
	return first;
}

void raw_wqe_data(struct raw_wqe *wqe, const void *from, uint32_t len, uint32_t lkey)
{
	mlx5dv_set_data_seg(raw_wqe_take(wqe, 1), len, lkey, (uintptr_t)from);
}

void raw_wqe_inline(struct raw_wqe *wqe, const void *from, uint32_t len)
{
	__be32 *seg = raw_wqe_take(wqe, (uint32_t)(sizeof(*seg) + len + UNIT - 1) / UNIT);

	seg[0] = htobe32(MLX5_INLINE_SEG | len);
	memcpy(seg + 1, from, len);
}

void raw_wqe_remote(struct raw_wqe *wqe, const void *to, uint32_t rkey)
{
	struct mlx5_wqe_raddr_seg *seg = raw_wqe_take(wqe, 1);

	seg->raddr = htobe64((uintptr_t)to);
	seg->rkey = htobe32(rkey);
}

void raw_wqe_atomic(struct raw_wqe *wqe, uint64_t swap_add, uint64_t compare)
{
	struct mlx5_wqe_atomic_seg *seg = raw_wqe_take(wqe, 1);

	seg->swap_add = htobe64(swap_add);
	seg->compare = htobe64(compare);
}

struct mlx5_wqe_av *raw_wqe_address(struct raw_wqe *wqe, struct ibv_ah *ah, uint32_t number)
{
	struct mlx5_wqe_av *seg = raw_wqe_take(wqe, sizeof(*seg) / UNIT);
	struct mlx5dv_ah address = { 0 };
	struct mlx5dv_obj object = { .ah = { .in = ah, .out = &address } };

	MUST(!mlx5dv_init_obj(&object, MLX5DV_OBJ_AH));
	*seg = *address.av;
	seg->dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | number);
	return seg;
}

void raw_wqe_make_compact(struct raw_wqe *wqe, struct mlx5_wqe_av *av)
{
	av->dqp_dct &= ~htobe32(MLX5_EXTENDED_UD_AV);
	memset((uint8_t *)av + UNIT, 0, sizeof(*av) - UNIT);
	wqe->units -= (sizeof(*av) - UNIT) / UNIT;
}

void raw_wqe_srq(struct raw_wqe *wqe, uint32_t srqn)
{
	__be32 *seg = raw_wqe_take(wqe, 1);

	seg[0] = htobe32(srqn);
}

void raw_wqe_put(struct raw_wqe *wqe, struct ibv_qp_ex *qpx)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)wqe->unit;

	ctrl->qpn_ds = (ctrl->qpn_ds & ~htobe32(SIZE_MASK)) | htobe32(wqe->units);
	mlx5dv_wr_raw_wqe(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), wqe->unit);
}

int raw_wqe_post(struct raw_wqe *wqe, struct ibv_qp_ex *qpx, uint64_t wr_id, int times)
{
	ibv_wr_start(qpx);
	qpx->wr_id = wr_id;
	qpx->wr_flags = 0;
	while (times--)
		raw_wqe_put(wqe, qpx);
	return ibv_wr_complete(qpx);
}

struct ibv_qp *raw_wqe_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr,
			  struct mlx5dv_qp_init_attr *mlx5)
{
	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	mlx5->comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
	mlx5->send_ops_flags |= MLX5DV_QP_EX_WITH_RAW_WQE;
	return mlx5dv_create_qp(ctx, attr, mlx5);
}
