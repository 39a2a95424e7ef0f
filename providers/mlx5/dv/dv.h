/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.h - helpers shared by the files of direct verbs: export of functions, checks, and failure.
 */
#ifndef PROVIDERS_MLX5_DV_DV_H
#define PROVIDERS_MLX5_DV_DV_H

#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "providers/mlx5/context.h"

#define DV_EXPORT __attribute__((visibility("default")))

/* Checks the device: a program may call direct verbs with a context of another provider, whose
 * private fields this library would misread. */
static inline int dv_check_context(const char *call, struct ibv_context *context)
{
	if (context_is_mlx5(context))
		return 0;
	verbs_warn("%s: %s is not an mlx5 device", call, context->device->name);
	return EOPNOTSUPP;
}

static inline int dv_check_import(const char *call, struct ibv_context *context, const void *attrs)
{
	if (context && attrs)
		return dv_check_context(call, context);
	verbs_warn("%s: %s is NULL", call, context ? "attrs" : "context");
	return EINVAL;
}

/* dv_take() allocates memory for a pointer's target, uninitialised; dv_give() returns it. */
#define dv_take(call, context, object) \
	provider_cells_take(&to_mctx(context)->common.cells, call, sizeof(*(object)))
#define dv_give(context, object) \
	provider_cells_give(&to_mctx(context)->common.cells, object, sizeof(*(object)))

static inline void *dv_fail(int err)
{
	errno = err;
	return NULL;
}

#endif
