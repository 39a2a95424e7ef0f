/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.c - deals out the registers of doorbell pages.
 *
 * ctx->uar_lock guards all of it. Nothing is freed before the context: a register that lost its QP
 * waits for the next one.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "prm/mlx5/uar.h"
#include "util/alloc.h"

#include <rdma/mlx5_user_ioctl_verbs.h>

/* Makes a page, and puts it on the context's list. */
static int uar_alloc(struct mlx5_context *ctx, uint32_t type, struct mlx5_uar **out)
{
	struct mlx5_uar *uar;
	int ret = mlx5_uar_page_alloc(ctx, type, &uar);

	if (ret)
		return ret;
	uar->next = ctx->uars;
	ctx->uars = uar;
	*out = uar;
	return 0;
}

static int cq_uar_locked(struct mlx5_context *ctx, struct mlx5_uar **uar)
{
	int ret = 0;

	if (!ctx->cq_uar)
		ret = uar_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, &ctx->cq_uar);
	if (!ret)
		*uar = ctx->cq_uar;
	return ret;
}

/* One plain page serves all CQs: arming is one store of 8 bytes. */
int mlx5_uar_get_cq(struct mlx5_context *ctx, struct mlx5_uar **uar)
{
	int ret;

	pthread_mutex_lock(&ctx->uar_lock);
	ret = cq_uar_locked(ctx, uar);
	pthread_mutex_unlock(&ctx->uar_lock);
	return ret;
}

int mlx5_uar_get_plain(struct mlx5_context *ctx, struct mlx5_uar **uar)
{
	int ret;

	pthread_mutex_lock(&ctx->uar_lock);
	ret = uar_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, uar);
	pthread_mutex_unlock(&ctx->uar_lock);
	return ret;
}

void mlx5_uar_put_plain(struct mlx5_context *ctx, struct mlx5_uar *uar)
{
	struct mlx5_uar **link;

	pthread_mutex_lock(&ctx->uar_lock);
	for (link = &ctx->uars; *link != uar; link = &(*link)->next)
		;
	*link = uar->next;
	pthread_mutex_unlock(&ctx->uar_lock);
	mlx5_uar_page_free(ctx, uar);
}

static int bfreg_add(struct mlx5_context *ctx, struct mlx5_uar *uar, unsigned int n, bool blueflame,
		     bool own)
{
	struct mlx5_bfreg *bfreg = calloc_for("doorbell register", 1, sizeof(*bfreg));
	unsigned int count = 0;

	if (!bfreg)
		return ENOMEM;
	for (struct mlx5_bfreg *other = ctx->bfregs; other; other = other->next)
		count++;
	bfreg->uar = uar;
	bfreg->reg = uar->page + PRM_UAR_SQ + n * ctx->caps.bf_reg_size;
	bfreg->shared = !blueflame || (!own && count >= ctx->env.low_latency_bfregs);
	bfreg->next = ctx->bfregs;
	ctx->bfregs = bfreg;
	return 0;
}

/* Adds both registers of a new page, each for one user if OWN says so or the budget allows it.
 * Without BlueFlame pages (by choice, or because the platform cannot map memory so) the CQs' page
 * serves, and all share its registers. */
static int bfregs_grow(struct mlx5_context *ctx, bool own)
{
	struct mlx5_uar *uar;
	int ret = ENODEV;
	bool blueflame = false;

	if (ctx->env.blueflame)
		ret = uar_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, &uar);
	blueflame = !ret;
	if (ret)
		ret = cq_uar_locked(ctx, &uar);
	for (unsigned int n = 0; !ret && n < PRM_UAR_SQS; n++)
		ret = bfreg_add(ctx, uar, n, blueflame, own);
	return ret;
}

/* Returns a free register, which the caller may have to himself (*OWN), or else the least used of
 * the shared ones. *COUNT is how many registers there are. */
static struct mlx5_bfreg *bfreg_pick(struct mlx5_context *ctx, unsigned int *count, bool *own)
{
	struct mlx5_bfreg *best = NULL;

	*count = 0;
	*own = false;
	for (struct mlx5_bfreg *reg = ctx->bfregs; reg; reg = reg->next) {
		++*count;
		if (reg->own)
			continue;
		if (!reg->shared && !reg->users) {
			best = reg;
			*own = true;
		} else if (reg->shared && !*own && (!best || reg->users < best->users)) {
			best = reg;
		}
	}
	return best;
}

int mlx5_uar_get_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	struct mlx5_bfreg *pick;
	unsigned int count;
	int ret = 0;
	bool own;

	pthread_mutex_lock(&ctx->uar_lock);
	pick = bfreg_pick(ctx, &count, &own);
	if (!pick || (!own && pick->users && count < ctx->env.total_bfregs)) {
		ret = bfregs_grow(ctx, false);
		if (!ret || pick) {
			ret = 0;
			pick = bfreg_pick(ctx, &count, &own);
		}
	}
	if (!ret) {
		pick->users++;
		*bfreg = pick;
	}
	pthread_mutex_unlock(&ctx->uar_lock);
	if (ret)
		verbs_warn("create_qp: no doorbell register: errno %d", ret);
	return ret;
}

/* A register of a thread domain counts against no budget: the program asked for it by name. */
int mlx5_uar_get_own_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	struct mlx5_bfreg *pick;
	unsigned int count;
	int ret = 0;
	bool own;

	pthread_mutex_lock(&ctx->uar_lock);
	pick = bfreg_pick(ctx, &count, &own);
	if (!own) {
		ret = bfregs_grow(ctx, true);
		pick = ret ? NULL : bfreg_pick(ctx, &count, &own);
	}
	if (pick) {
		pick->users++;
		pick->own = own;
		*bfreg = pick;
	}
	pthread_mutex_unlock(&ctx->uar_lock);
	if (ret)
		verbs_warn("alloc_td: no doorbell register: errno %d", ret);
	return ret;
}

void mlx5_uar_share_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	pthread_mutex_lock(&ctx->uar_lock);
	bfreg->users++;
	pthread_mutex_unlock(&ctx->uar_lock);
}

void mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	pthread_mutex_lock(&ctx->uar_lock);
	bfreg->users--;
	if (!bfreg->users)
		bfreg->own = false;
	pthread_mutex_unlock(&ctx->uar_lock);
}

void mlx5_uar_free_all(struct mlx5_context *ctx)
{
	struct mlx5_bfreg *bfreg;
	struct mlx5_uar *uar;

	while ((bfreg = ctx->bfregs)) {
		ctx->bfregs = bfreg->next;
		free(bfreg);
	}
	while ((uar = ctx->uars)) {
		ctx->uars = uar->next;
		mlx5_uar_page_free(ctx, uar);
	}
	ctx->cq_uar = NULL;
}
