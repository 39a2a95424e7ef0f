/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.h - commands in the device's own format (DevX): the objects that programs create with them,
 * and helpers to run them.
 */
#ifndef PROVIDERS_MLX5_DV_DEVX_H
#define PROVIDERS_MLX5_DV_DEVX_H

#include "providers/mlx5/dv/dv.h"

struct mlx5dv_devx_obj {
	struct ibv_context *context;
	uint32_t handle;
	/* exported to other processes: see export.h */
	uint32_t type, id;
	uint64_t icm;
	uint8_t log_range;
};

struct devx_umem {
	struct mlx5dv_devx_umem umem; /* first */
	struct ibv_context *context;
	uint32_t handle;
	/* range of size bytes excluded from fork, as the device writes there; NULL: a dma-buf */
	void *addr;
	size_t size;
};

int mlx5_devx_refuse(const char *call, struct ibv_context *context, size_t inlen, size_t outlen)
	__attribute__((cold));

/* Checks that CONTEXT belongs to this provider, and that the lengths of the mailboxes fit an
 * attribute. Returns 0, EOPNOTSUPP or EINVAL. It does not check for DevX: in a context without
 * DevX, Linux permits some calls and refuses the others itself. */
static inline int mlx5_devx_check(const char *call, struct ibv_context *context, size_t inlen,
				  size_t outlen)
{
	const bool fits = inlen <= UINT16_MAX && outlen <= UINT16_MAX;

	return likely(fits && context_is_mlx5(context))
		       ? 0
		       : mlx5_devx_refuse(call, context, inlen, outlen);
}

/* Logs a command that failed with ERR. With EREMOTEIO, the device refused it, and OUT has the
 * syndrome. */
void mlx5_devx_log_refusal(const char *call, struct ibv_context *context, const void *in,
			   size_t inlen, const void *out, size_t outlen, int err);
const char *mlx5_devx_hint(struct ibv_context *context);

#endif
