/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn.c - QP numbers that no QP of the device gets. See reserved_qpn.h.
 */
#include "providers/mlx5/reserved_qpn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "util/alloc.h"

struct qpn_range {
	struct qpn_range *next;
	struct devx_object object; /* its id is the first number */
	uint32_t size, given, cursor;
	bool is_given[];
};

void mlx5_qpn_pool_init(struct qpn_pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
}

void mlx5_qpn_pool_destroy(struct mlx5_context *ctx)
{
	struct qpn_range *range;

	while ((range = ctx->qpns.ranges)) {
		ctx->qpns.ranges = range->next;
		mlx5_devx_object_destroy(ctx, &range->object);
		free(range);
	}
	pthread_mutex_destroy(&ctx->qpns.lock);
}

static int range_add(struct mlx5_context *ctx)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_RESERVED_QPN_SIZE] = { 0 };
	const struct mlx5_hca_caps *caps;
	struct qpn_range *range;
	int ret = mlx5_hca_caps_get_with(ctx, PRM_CAP_GENERAL_2, &caps);

	if (ret && ret != EOPNOTSUPP)
		return ret;
	if (ret || !caps->reserves_qpns) {
		verbs_warn("mlx5dv_reserved_qpn_alloc: %s reserves no QP numbers, or the context "
			   "is without DevX",
			   ctx->vctx.context.device->name);
		return EOPNOTSUPP;
	}
	range = calloc_for("mlx5dv_reserved_qpn_alloc", 1,
			   sizeof(*range) + ((size_t)1 << caps->log_reserved_qpns));
	if (!range)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_RESERVED_QPN);
	fld_set(in, GENERAL_OBJ_IN_LOG_OBJ_RANGE, caps->log_reserved_qpns);
	ret = mlx5_devx_object_create(ctx, in, sizeof(in), &range->object);
	if (ret) {
		free(range);
		return ret;
	}
	range->size = 1u << caps->log_reserved_qpns;
	range->next = ctx->qpns.ranges;
	ctx->qpns.ranges = range;
	return 0;
}

static uint32_t range_take(struct qpn_range *range)
{
	while (range->is_given[range->cursor])
		range->cursor = (range->cursor + 1) % range->size;
	range->is_given[range->cursor] = true;
	range->given++;
	return range->object.id + range->cursor;
}

static int qpn_reserve_locked(struct mlx5_context *ctx, uint32_t *qpn)
{
	struct qpn_range *range = ctx->qpns.ranges;
	int ret = !range || range->given == range->size ? range_add(ctx) : 0;

	if (ret)
		return ret;
	range = ctx->qpns.ranges;
	*qpn = range_take(range);
	range->cursor = (range->cursor + 1) % range->size;
	return 0;
}

int mlx5_qpn_reserve(struct mlx5_context *ctx, uint32_t *qpn)
{
	int ret;

	pthread_mutex_lock(&ctx->qpns.lock);
	ret = qpn_reserve_locked(ctx, qpn);
	pthread_mutex_unlock(&ctx->qpns.lock);
	return ret;
}

/* The first range stays, for the numbers that come next. */
static void range_emptied(struct mlx5_context *ctx, struct qpn_range **link)
{
	struct qpn_range *range = *link;

	if (range == ctx->qpns.ranges)
		return;
	*link = range->next;
	mlx5_devx_object_destroy(ctx, &range->object);
	free(range);
}

static int qpn_release_locked(struct mlx5_context *ctx, uint32_t qpn)
{
	for (struct qpn_range **link = &ctx->qpns.ranges; *link; link = &(*link)->next) {
		struct qpn_range *range = *link;
		uint32_t n = qpn - range->object.id;

		if (n >= range->size || !range->is_given[n])
			continue;
		range->is_given[n] = false;
		if (!--range->given)
			range_emptied(ctx, link);
		return 0;
	}
	verbs_warn("mlx5dv_reserved_qpn_dealloc: qpn 0x%x is not given out by this context", qpn);
	return EINVAL;
}

int mlx5_qpn_release(struct mlx5_context *ctx, uint32_t qpn)
{
	int ret;

	pthread_mutex_lock(&ctx->qpns.lock);
	ret = qpn_release_locked(ctx, qpn);
	pthread_mutex_unlock(&ctx->qpns.lock);
	return ret;
}
