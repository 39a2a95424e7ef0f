/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.h - memory keys that a program makes, and whose contents work requests configure: what they
 * stand for (data/send_wr_mkey.c).
 */
#ifndef PROVIDERS_MLX5_MKEY_H
#define PROVIDERS_MLX5_MKEY_H

#include <infiniband/mlx5dv.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"

struct mlx5_mkey {
	struct mlx5dv_mkey dv;
	struct mlx5_context *ctx;
	struct devx_object object;
	uint16_t max_entries; /* of its list of translations */
	uint64_t length;      /* of what the last request laid out */
};

static inline struct mlx5_mkey *to_mkey(struct mlx5dv_mkey *dv)
{
	return container_of(dv, struct mlx5_mkey, dv);
}

#endif
