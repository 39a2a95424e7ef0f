/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.h - what the direct-verbs files (dv_*.c) share: exported functions, and the way to say "not
 * here".
 */
#ifndef PROVIDERS_MLX5_DV_DV_H
#define PROVIDERS_MLX5_DV_DV_H

#include <errno.h>

#include "providers/mlx5/context.h"
#include "prm/mlx5/queue.h"

#define DV_EXPORT __attribute__((visibility("default")))

/* DV_FLAGS are MLX5DV_QP_CREATE_*. */
int mlx5_qp_create_with_flags(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			      uint32_t dv_flags, struct verbs_qp **vqp);

/* What mlx5dv_init_obj() says of device memory (dm.c). */
void mlx5_dm_describe(struct ibv_dm *dm, struct mlx5dv_dm *out);

/* Direct verbs may be called with any context. */
static inline int dv_check_context(const char *call, struct ibv_context *context)
{
	if (context_is_mlx5(context))
		return 0;
	verbs_warn("%s: %s is not an mlx5 device", call, context->device->name);
	return EOPNOTSUPP;
}

/* For calls that return an object. */
static inline void *dv_fail(int err)
{
	errno = err;
	return NULL;
}

static inline int dv_unsupported(const char *call)
{
	verbs_warn("%s: not supported yet", call);
	return EOPNOTSUPP;
}

#endif
