/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_run.h - a run of compressed completions: a title, which looks like an ordinary CQE, followed
 * by arrays of mini CQEs. See prm/mlx5/mini_cqe.h.
 * PRM: CQE compression
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_CQE_RUN_H
#define PROVIDERS_MLX5_DATA_CQ_CQE_RUN_H

#include "providers/mlx5/data/cq/cqe.h"

/* Returns whether the CQE, which software owns, is the title of a run. */
static inline bool cqe_is_title(const struct mlx5_cqe64 *cqe)
{
	return (cqe->op_own & FLD_BITS(CQE_FORMAT)) == FLD_BITS(CQE_FORMAT) &&
	       cqe_opcode(cqe) <= MLX5_CQE_RESP_SEND_INV;
}

/* Returns the number of completions in the run, or 0 if the title is invalid. */
uint32_t mlx5_cqe_run_length(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title);
uint32_t mlx5_cqe_run_counter(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, uint32_t i);

/* Expands the run: makes TITLE its first CQE, and writes the other CQEs to the entries after it,
 * where polling finds them as usual. Returns IBV_WC_SUCCESS, or IBV_WC_GENERAL_ERR if the title is
 * invalid. */
int mlx5_cqe_run_take(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title);

#endif
