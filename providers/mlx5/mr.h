/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.h - memory regions and memory windows.
 */
#ifndef PROVIDERS_MLX5_MR_H
#define PROVIDERS_MLX5_MR_H

#include "libibverbs/driver.h"

int mlx5_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct verbs_mr **vmr);
int mlx5_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
		       unsigned int access, struct verbs_mr **vmr);
int mlx5_mr_reg_dmabuf_with(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			    int fd, unsigned int access, uint32_t flags, struct verbs_mr **vmr);
int mlx5_mr_reg_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr, struct verbs_mr **vmr);
int mlx5_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  unsigned int access);
int mlx5_mr_dereg(struct verbs_mr *vmr);
int mlx5_mr_import(struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr);
void mlx5_mr_unimport(struct verbs_mr *vmr);
struct ibv_mr *mlx5_mr_alloc_null(struct ibv_pd *pd);

struct ibv_mw *mlx5_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int mlx5_mw_dealloc(struct ibv_mw *mw);

#endif
