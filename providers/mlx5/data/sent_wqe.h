/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sent_wqe.h - reads a posted WQE, for completions that need its segments: the result of a READ or
 * atomic inside the CQE (cqe.c), and log messages about failed requests (cqe_error.c).
 *
 * A WQE starts on a WQEBB and may wrap after any of its 16-byte units, even within its head: the
 * head of a DC request has up to 96 bytes. Only sent_wqe_unit() handles the wrap. The caller holds
 * the CQ's lock, and the WQE is not yet complete, so no thread writes to it.
 * PRM: Send WQE format
 */
#ifndef PROVIDERS_MLX5_DATA_SENT_WQE_H
#define PROVIDERS_MLX5_DATA_SENT_WQE_H

#include <endian.h>

#include "prm/mlx5/wqe.h"
#include "providers/mlx5/qp/qp.h"

struct sent_wqe {
	const struct mlx5_sq *sq;
	const uint8_t *ctrl;
	uint32_t units;
};

static inline struct sent_wqe sent_wqe_at(const struct mlx5_sq *sq, uint32_t index)
{
	const uint8_t *ctrl = sq->buf + ((size_t)(index & sq->wq.mask) << WQE_BB_LOG);
	uint32_t qpn_ds = be32toh(((const struct mlx5_wqe_ctrl_seg *)ctrl)->qpn_ds);

	return (struct sent_wqe){ sq, ctrl, qpn_ds & FLD_MASK(CTRL_DS) };
}

static inline const void *sent_wqe_unit(const struct sent_wqe *wqe, uint32_t n)
{
	const uint8_t *unit = wqe->ctrl + n * WQE_SEG;

	return unit < wqe->sq->end ? unit : wqe->sq->buf + (unit - wqe->sq->end);
}

#endif
