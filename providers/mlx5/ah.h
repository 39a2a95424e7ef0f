/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.h - an address handle: the address vector that a datagram's WQE carries, ready to be copied.
 */
#ifndef PROVIDERS_MLX5_AH_H
#define PROVIDERS_MLX5_AH_H

#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "providers/mlx5/devx_cmd.h"
#include "util/bits.h"

struct mlx5_ah {
	struct ibv_ah ah;
	struct mlx5_wqe_av av;  /* without destination QPN and key, which belong to the request */
	bool has_kernel_object; /* RoCE: the kernel resolved the address and keeps a handle */
	bool is_mapped;         /* mapping is there: mlx5dv_map_ah_to_qp() */
	struct devx_object mapping;
};

static inline struct mlx5_ah *to_mah(struct ibv_ah *ah)
{
	return container_of(ah, struct mlx5_ah, ah);
}

/* The functions of ah_av.c put the address vector of ATTR into a zeroed AV. That of RoCE names the
 * next hop by DMAC, 6 bytes; its UDP source port is the caller's to set. */
void mlx5_ah_fill_infiniband(const struct ibv_ah_attr *attr, struct mlx5_wqe_av *av);
void mlx5_ah_fill_roce(const struct ibv_ah_attr *attr, const uint8_t *dmac, struct mlx5_wqe_av *av);

int mlx5_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah);
int mlx5_ah_destroy(struct ibv_ah *ah);

#endif
