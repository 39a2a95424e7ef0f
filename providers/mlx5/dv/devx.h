/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.h - commands in the device's own format (DevX): the objects that programs make by them, and
 * how one travels.
 */
#ifndef PROVIDERS_MLX5_DV_DEVX_H
#define PROVIDERS_MLX5_DV_DEVX_H

#include "providers/mlx5/dv/dv.h"

struct mlx5dv_devx_obj {
	struct ibv_context *context;
	uint32_t handle;
	uint32_t type, id; /* what another process learns of it: see export.h */
	uint16_t opcode;   /* of the command that made it; 0: imported */
	uint64_t icm;      /* of a TIR: its address in the device's memory; 0: not told */
};

struct devx_umem {
	struct mlx5dv_devx_umem umem; /* first */
	struct ibv_context *context;
	uint32_t handle;
	void *addr; /* of memory that children do not get, of size bytes; NULL: a dma-buf's */
	size_t size;
};

/* Says in the log what is wrong, and returns EINVAL or EOPNOTSUPP. */
int mlx5_devx_refuse(const char *call, struct ibv_context *context, size_t inlen, size_t outlen)
	__attribute__((cold));

/* Looks whether CONTEXT is of this provider, and whether mailboxes are of lengths that an attribute
 * can have. It returns 0, EOPNOTSUPP or EINVAL. In a context without DevX it is the kernel that
 * answers: Linux grants some calls there. */
static inline int mlx5_devx_check(const char *call, struct ibv_context *context, size_t inlen,
				  size_t outlen)
{
	const bool fits = inlen <= UINT16_MAX && outlen <= UINT16_MAX;

	return likely(fits && context_is_mlx5(context))
		       ? 0
		       : mlx5_devx_refuse(call, context, inlen, outlen);
}

/* A command has failed with ERR: the device's own refusal (EREMOTEIO) is in the answer. */
void mlx5_devx_log_refusal(const char *call, struct ibv_context *context, const void *in,
			   size_t inlen, const void *out, size_t outlen, int err);
/* What a line about a refusal ends with. */
const char *mlx5_devx_hint(struct ibv_context *context);

#endif
