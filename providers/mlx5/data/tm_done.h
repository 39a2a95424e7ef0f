/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_done.h - completions of an SRQ with tag matching: of messages, and of operations on its
 * matching list.
 *
 * PRM: CQE
 */
#ifndef PROVIDERS_MLX5_DATA_TM_DONE_H
#define PROVIDERS_MLX5_DATA_TM_DONE_H

#include "providers/mlx5/data/cq/cqe.h"

struct special_completion mlx5_tm_complete(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe,
					   int status);
/* Returns the status of an operation, or a negative number if the program did not ask for its
 * completion. */
int mlx5_tm_take_operation(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe);
int mlx5_tm_copy_inline(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe, const uint8_t *payload);

#endif
