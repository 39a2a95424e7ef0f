/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.h - shared by the public calls of direct verbs.
 */
#ifndef PROVIDERS_MLX4_DV_DV_H
#define PROVIDERS_MLX4_DV_DV_H

#include <errno.h>

#include "providers/mlx4/context.h"
#include "providers/mlx4/mlx4dv.h"

#define DV_EXPORT __attribute__((visibility("default")))

/* Returns 0, or EOPNOTSUPP if CONTEXT belongs to another provider. */
static inline int dv_check_context(struct ibv_context *context, const char *call)
{
	if (context_is_mlx4(context))
		return 0;
	verbs_warn("%s: %s is not an mlx4 device", call, context->device->name);
	return EOPNOTSUPP;
}

#endif
