/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checks.h - refuses impossible requests on memory keys: logs the reason and fails the batch. The
 * inline checks accept the usual cases; checks.c decides the others.
 *
 * PRM: UMR control segment, Memory Key Context
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_CHECKS_H
#define PROVIDERS_MLX5_DATA_MKEY_CHECKS_H

#include "providers/common/branch.h"
#include "providers/mlx5/data/variant.h"
#include "providers/mlx5/qp/qp.h"

void __attribute__((cold, format(printf, 3, 4)))
mlx5_mkey_fail(struct mlx5_qp *qp, int err, const char *why, ...);

/* Full checks, called after an inline check has failed, because inline checks may refuse too much.
 * Each returns whether the request is possible; if not, logs the reason and fails the batch. */
bool __attribute__((cold)) mlx5_mkey_may_begin(struct mlx5_qp *qp);
bool mlx5_mkey_access_fits(struct mlx5_qp *qp, uint32_t access);
bool mlx5_mkey_layout_fits(struct mlx5_qp *qp, const struct mlx5_mkey *mkey, uint32_t count,
			   uint32_t header);
bool mlx5_mkey_pieces_fit(struct mlx5_qp *qp, uint16_t count, const struct ibv_sge *sge);
bool mlx5_mkey_pattern_fits(struct mlx5_qp *qp, uint16_t count,
			    const struct mlx5dv_mr_interleaved *part);

__attribute__((always_inline)) static inline bool
entries_fit(const struct mlx5_qp *qp, const struct mlx5_mkey *mkey, uint32_t count, uint32_t header)
{
	return likely(count + header <= qp->mkey_entries && count <= mkey->max_entries);
}

#endif
