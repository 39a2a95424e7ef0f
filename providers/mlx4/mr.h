/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.h - memory regions and windows: plain kernel commands.
 */
#ifndef PROVIDERS_MLX4_MR_H
#define PROVIDERS_MLX4_MR_H

#include "libibverbs/driver.h"

int mlx4_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct verbs_mr **vmr);
int mlx4_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  unsigned int access);
int mlx4_mr_dereg(struct verbs_mr *vmr);

struct ibv_mw *mlx4_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int mlx4_mw_dealloc(struct ibv_mw *mw);

#endif
