/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto.c - encryption of direct verbs: the calls exist, because programs are linked with all of
 * their symbols resolved at start, and say that what is behind them does not.
 */
#include "providers/mlx5/dv/dv.h"

DV_EXPORT struct mlx5dv_dek *mlx5dv_dek_create(struct ibv_context *context,
					       struct mlx5dv_dek_init_attr *attr)
{
	(void)context;
	(void)attr;
	return dv_fail(dv_unsupported("mlx5dv_dek_create"));
}

DV_EXPORT int mlx5dv_dek_destroy(struct mlx5dv_dek *dek)
{
	(void)dek;
	return dv_unsupported("mlx5dv_dek_destroy");
}

DV_EXPORT int mlx5dv_crypto_login(struct ibv_context *context,
				  struct mlx5dv_crypto_login_attr *attr)
{
	(void)context;
	(void)attr;
	return dv_unsupported("mlx5dv_crypto_login");
}
