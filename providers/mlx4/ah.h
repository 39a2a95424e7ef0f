/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.h - an address handle: the address segment of a datagram's WQE.
 */
#ifndef PROVIDERS_MLX4_AH_H
#define PROVIDERS_MLX4_AH_H

#include "libibverbs/driver.h"
#include "prm/mlx4/wqe.h"
#include "util/bits.h"

struct mlx4_ah {
	/* address segment of a WQE, without QP number and Q_Key, which each request sets */
	uint8_t segment[M4_DATAGRAM_SIZE];
	struct ibv_ah ah;
};

static inline struct mlx4_ah *to_mah(struct ibv_ah *ah)
{
	return container_of(ah, struct mlx4_ah, ah);
}

int mlx4_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah);
int mlx4_ah_destroy(struct ibv_ah *ah);

#endif
