/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.h - what the files of direct verbs share: exported functions, and how they fail.
 */
#ifndef PROVIDERS_MLX5_DV_DV_H
#define PROVIDERS_MLX5_DV_DV_H

#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "providers/mlx5/context.h"

#define DV_EXPORT __attribute__((visibility("default")))

/* Direct verbs may be called with any context. */
static inline int dv_check_context(const char *call, struct ibv_context *context)
{
	if (context_is_mlx5(context))
		return 0;
	verbs_warn("%s: %s is not an mlx5 device", call, context->device->name);
	return EOPNOTSUPP;
}

/* An import needs both. */
static inline int dv_check_import(const char *call, struct ibv_context *context, const void *attrs)
{
	if (context && attrs)
		return dv_check_context(call, context);
	verbs_warn("%s: %s is NULL", call, context ? "attrs" : "context");
	return EINVAL;
}

/* OBJECT is a pointer to what is to be: it gets memory of its size, of which nothing is set. */
#define dv_take(call, context, object) \
	provider_cells_take(&to_mctx(context)->cells, call, sizeof(*(object)))
#define dv_give(context, object) \
	provider_cells_give(&to_mctx(context)->cells, object, sizeof(*(object)))

/* Calls that return an object fail by it. */
static inline void *dv_fail(int err)
{
	errno = err;
	return NULL;
}

#endif
