/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_run.h - a run of compressed completions: the title, which is found as other CQEs are, and
 * arrays of mini CQEs behind it. See prm/mlx5/mini_cqe.h.
 */
#ifndef PROVIDERS_MLX5_DATA_CQE_RUN_H
#define PROVIDERS_MLX5_DATA_CQE_RUN_H

#include "providers/mlx5/data/cqe.h"

/* Returns whether the CQE, which is software's, announces several completions. */
static inline bool cqe_is_title(const struct mlx5_cqe64 *cqe)
{
	return (cqe->op_own & FLD_BITS(CQE_FORMAT)) == FLD_BITS(CQE_FORMAT) &&
	       cqe_opcode(cqe) <= MLX5_CQE_RESP_SEND_INV;
}

/* Returns how many completions the run has, or 0 when the title says what cannot be. */
uint32_t mlx5_cqe_run_length(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title);
/* Returns the WQE counter of message I of the run. */
uint32_t mlx5_cqe_run_counter(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, uint32_t i);

/* The run becomes the CQEs that it stands for, of which TITLE is the first, and those behind it are
 * found as others are. Returns IBV_WC_SUCCESS, or IBV_WC_GENERAL_ERR when the title says what
 * cannot be. */
int mlx5_cqe_run_take(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title);

#endif
