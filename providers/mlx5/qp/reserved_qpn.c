/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn.c - reserves QP numbers that the device gives to no QP. See reserved_qpn.h.
 */
#include "providers/mlx5/qp/reserved_qpn.h"

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

static struct qpn_range *range_unlink(struct qpn_range **link)
{
	struct qpn_range *range = *link;

	*link = range->next;
	return range;
}

static void range_put(struct qpn_range **list, struct qpn_range *range)
{
	range->next = *list;
	*list = range;
}

static void range_end(struct mlx5_context *ctx, struct qpn_range **link)
{
	struct qpn_range *range = range_unlink(link);

	mlx5_devx_object_destroy(ctx, &range->object);
	free(range);
}

void mlx5_qpn_pool_destroy(struct mlx5_context *ctx)
{
	while (ctx->qpns.open)
		range_end(ctx, &ctx->qpns.open);
	while (ctx->qpns.full)
		range_end(ctx, &ctx->qpns.full);
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
	range_put(&ctx->qpns.open, range);
	return 0;
}

static uint32_t range_take(struct qpn_range *range)
{
	uint32_t n;

	while (range->is_given[range->cursor])
		range->cursor = (range->cursor + 1) % range->size;
	n = range->cursor;
	range->is_given[n] = true;
	range->given++;
	range->cursor = (n + 1) % range->size;
	return range->object.id + n;
}

static int qpn_reserve_locked(struct mlx5_context *ctx, uint32_t *qpn)
{
	struct qpn_pool *pool = &ctx->qpns;
	int ret = pool->open ? 0 : range_add(ctx);

	if (ret)
		return ret;
	*qpn = range_take(pool->open);
	if (pool->open->given == pool->open->size)
		range_put(&pool->full, range_unlink(&pool->open));
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

/* Returns the link in LIST to the range from which QPN was given out, or NULL. */
static struct qpn_range **range_find(struct qpn_range **list, uint32_t qpn)
{
	for (struct qpn_range **link = list; *link; link = &(*link)->next) {
		uint32_t n = qpn - (*link)->object.id;

		if (n < (*link)->size && (*link)->is_given[n])
			return link;
	}
	return NULL;
}

static void range_give_back(struct qpn_range *range, uint32_t qpn)
{
	range->is_given[qpn - range->object.id] = false;
	range->given--;
}

/* Frees the unused range at LINK. Keeps the range if it is the only one in the list of open ranges,
 * so that the next reservation needs no command. */
static void range_emptied(struct mlx5_context *ctx, struct qpn_range **link)
{
	if (link != &ctx->qpns.open || (*link)->next)
		range_end(ctx, link);
}

static int qpn_release_locked(struct mlx5_context *ctx, uint32_t qpn)
{
	struct qpn_pool *pool = &ctx->qpns;
	struct qpn_range **link = range_find(&pool->full, qpn);

	if (link) {
		range_put(&pool->open, range_unlink(link));
		link = &pool->open;
	} else {
		link = range_find(&pool->open, qpn);
	}
	if (!link) {
		verbs_warn("mlx5dv_reserved_qpn_dealloc: qpn 0x%x is not given out by this context",
			   qpn);
		return EINVAL;
	}
	range_give_back(*link, qpn);
	if (!(*link)->given)
		range_emptied(ctx, link);
	return 0;
}

int mlx5_qpn_release(struct mlx5_context *ctx, uint32_t qpn)
{
	int ret;

	pthread_mutex_lock(&ctx->qpns.lock);
	ret = qpn_release_locked(ctx, qpn);
	pthread_mutex_unlock(&ctx->qpns.lock);
	return ret;
}
