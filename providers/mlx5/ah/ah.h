/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.h - an address handle: the address vector that the WQE of a datagram carries, ready to be
 * copied.
 */
#ifndef PROVIDERS_MLX5_AH_AH_H
#define PROVIDERS_MLX5_AH_AH_H

#include <assert.h>
#include <stddef.h>

#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "providers/mlx5/devx_cmd.h"
#include "util/bits.h"

struct mlx5_ah {
	struct ibv_ah ah;
	/* the address vector, except destination QPN and Q_Key, which each request sets */
	struct mlx5_wqe_av av;
	/* The 8 bytes of av at AV_AT_NUMBER, in host order: the data path adds the QPN by one
	 * OR. */
	uint64_t number;
	bool has_kernel_object; /* RoCE: the kernel resolved the address and keeps a handle */
	bool is_mapped;
	struct devx_object mapping;
};

static inline struct mlx5_ah *to_mah(struct ibv_ah *ah)
{
	return container_of(ah, struct mlx5_ah, ah);
}

/* Parts of an address vector: 8 bytes of Q_Key, 8 bytes with the QPN (AV_AT_NUMBER), and the path
 * (AV_AT_PATH). */
enum {
	AV_AT_NUMBER = offsetof(struct mlx5_wqe_av, dqp_dct),
	AV_AT_PATH = AV_AT_NUMBER + sizeof(uint64_t)
};
static_assert(AV_AT_NUMBER == sizeof(uint64_t) && AV_AT_PATH + 32 == sizeof(struct mlx5_wqe_av),
	      "PRM: Address Vector");

/* These functions of ah/av.c write the address vector of ATTR into a zeroed handle. For RoCE, DMAC
 * is the next hop (6 bytes), and the caller has already set the UDP source port. */
void mlx5_ah_fill_infiniband(const struct ibv_ah_attr *attr, struct mlx5_ah *mah);
void mlx5_ah_fill_roce(const struct ibv_ah_attr *attr, const uint8_t *dmac, struct mlx5_ah *mah);

int mlx5_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah);
int mlx5_ah_destroy(struct ibv_ah *ah);

#endif
