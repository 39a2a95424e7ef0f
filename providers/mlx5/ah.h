/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.h - an address handle: the address vector that a datagram's WQE carries, ready to be copied.
 */
#ifndef PROVIDERS_MLX5_AH_H
#define PROVIDERS_MLX5_AH_H

#include <assert.h>
#include <stddef.h>

#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "providers/mlx5/devx_cmd.h"
#include "util/bits.h"

struct mlx5_ah {
	struct ibv_ah ah;
	struct mlx5_wqe_av av; /* without destination QPN and key, which belong to the request */
	uint64_t number; /* what AV has at AV_AT_NUMBER, in host order, to be put with a QPN */
	bool has_kernel_object; /* RoCE: the kernel resolved the address and keeps a handle */
	bool is_mapped;         /* mapping is there: mlx5dv_map_ah_to_qp() */
	struct devx_object mapping;
};

static inline struct mlx5_ah *to_mah(struct ibv_ah *ah)
{
	return container_of(ah, struct mlx5_ah, ah);
}

/* An address vector is the key, 8 bytes with the QPN, and the rest of the path. */
enum {
	AV_AT_NUMBER = offsetof(struct mlx5_wqe_av, dqp_dct),
	AV_AT_PATH = AV_AT_NUMBER + sizeof(uint64_t)
};
static_assert(AV_AT_NUMBER == sizeof(uint64_t) && AV_AT_PATH + 32 == sizeof(struct mlx5_wqe_av),
	      "PRM: Address Vector");

/* ah_av.c: these put the address vector of ATTR into a zeroed handle. That of RoCE names
 * the next hop by DMAC, 6 bytes; its UDP source port is the caller's to set before. */
void mlx5_ah_fill_infiniband(const struct ibv_ah_attr *attr, struct mlx5_ah *mah);
void mlx5_ah_fill_roce(const struct ibv_ah_attr *attr, const uint8_t *dmac, struct mlx5_ah *mah);

int mlx5_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah);
int mlx5_ah_destroy(struct ibv_ah *ah);

#endif
