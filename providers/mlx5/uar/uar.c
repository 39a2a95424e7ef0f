/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.c - distributes the registers of doorbell pages.
 *
 * ctx->uar_lock guards all of it. Nothing is freed before the context: a register whose QP was
 * destroyed is given to a later QP.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "prm/mlx5/uar.h"
#include "util/alloc.h"
#include "util/mutex.h"

#include <rdma/mlx5_user_ioctl_verbs.h>

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

/* Returns the plain page that all CQs share: arming is a single 8-byte store, so no lock is
 * needed. */
int mlx5_uar_get_cq(struct mlx5_context *ctx, struct mlx5_uar **uar)
{
	int ret;
	bool locked;

	locked = mutex_enter(&ctx->uar_lock);
	ret = cq_uar_locked(ctx, uar);
	mutex_leave(&ctx->uar_lock, locked);
	return ret;
}

int mlx5_uar_get_plain(struct mlx5_context *ctx, struct mlx5_uar **uar)
{
	int ret;
	bool locked;

	locked = mutex_enter(&ctx->uar_lock);
	ret = uar_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, uar);
	mutex_leave(&ctx->uar_lock, locked);
	return ret;
}

void mlx5_uar_put_plain(struct mlx5_context *ctx, struct mlx5_uar *uar)
{
	struct mlx5_uar **link;
	bool locked;

	locked = mutex_enter(&ctx->uar_lock);
	for (link = &ctx->uars; *link != uar; link = &(*link)->next)
		;
	*link = uar->next;
	mutex_leave(&ctx->uar_lock, locked);
	mlx5_uar_page_free(ctx, uar);
}

static bool bfreg_is_own(const struct mlx5_bfreg *bfreg)
{
	return bfreg->pushes && bfreg->use == BFREG_OWN;
}

static bool bfreg_is_shared(const struct mlx5_bfreg *bfreg)
{
	return bfreg->use == BFREG_SHARED;
}

static bool bfreg_is_plain(const struct mlx5_bfreg *bfreg)
{
	return !bfreg->pushes;
}

static struct mlx5_bfreg *bfreg_find(struct mlx5_context *ctx,
				     bool (*is_one)(const struct mlx5_bfreg *), unsigned int *count)
{
	struct mlx5_bfreg *best = NULL;

	*count = 0;
	for (struct mlx5_bfreg *bfreg = ctx->bfregs; bfreg; bfreg = bfreg->next) {
		if (!is_one(bfreg))
			continue;
		++*count;
		if (!best || bfreg->users < best->users)
			best = bfreg;
	}
	return best;
}

static uint8_t *register_at(const struct mlx5_context *ctx, const struct mlx5_uar *uar,
			    unsigned int i, unsigned int n)
{
	return uar->page + (size_t)i * PRM_UAR_SIZE + PRM_UAR_SQ + n * ctx->caps.bf_reg_size;
}

/* Initialises BFREG from KIND as register N of a page, where N counts the registers of all UARs of
 * the page. */
static void bfreg_add(struct mlx5_context *ctx, struct mlx5_uar *uar, unsigned int n,
		      const struct mlx5_bfreg *kind, struct mlx5_bfreg *bfreg)
{
	unsigned int i = n / PRM_UAR_SQS;

	*bfreg = *kind;
	qlock_init(&bfreg->lock, true);
	bfreg->uar = uar;
	bfreg->half = register_at(ctx, uar, i, n % PRM_UAR_SQS);
	bfreg->reg = bfreg_is_shared(kind) ? register_at(ctx, uar, i, 0) : bfreg->half;
	bfreg->index = uar->bfreg_index + i * PRM_UAR_SQS;
	bfreg->next = ctx->bfregs;
	ctx->bfregs = bfreg;
	ctx->unused_bfregs += bfreg_is_own(bfreg);
}

static void bfreg_use(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	if (bfreg->users++ || !bfreg_is_own(bfreg))
		return;
	ctx->unused_bfregs--;
	ctx->used_bfregs++;
}

static void bfreg_leave(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	if (--bfreg->users || bfreg->use == BFREG_SHARED)
		return;
	if (bfreg->use == BFREG_DOMAIN)
		bfreg->use = BFREG_OWN;
	else
		ctx->used_bfregs -= bfreg->pushes;
	ctx->unused_bfregs += bfreg->pushes;
}

static int bfregs_add(struct mlx5_context *ctx, struct mlx5_uar *uar, unsigned int count,
		      unsigned int first, unsigned int step, const struct mlx5_bfreg *kind)
{
	if (count <= ARRAY_SIZE(uar->of_one_uar)) {
		uar->bfregs = uar->of_one_uar;
	} else if (posix_memalign((void **)&uar->bfregs, 64, count * sizeof(*uar->bfregs))) {
		uar->bfregs = NULL;
		verbs_warn("create_qp: no memory for %zu bytes", count * sizeof(*uar->bfregs));
		return ENOMEM;
	}
	for (unsigned int i = 0; i < count; i++)
		bfreg_add(ctx, uar, first + i * step, kind, &uar->bfregs[i]);
	return 0;
}

/* Returns whether the refusal is permanent: the platform cannot map pages as write-combining. */
static bool blueflame_is_refused(int ret)
{
	return ret == ENODEV || ret == EOPNOTSUPP || ret == EPERM;
}

/* Allocates a BlueFlame page, unless the platform has refused one for good. A shortage is not
 * remembered: a later call may succeed. */
static int blueflame_uar(struct mlx5_context *ctx, struct mlx5_uar **uar)
{
	int ret = ctx->no_blueflame;

	if (!ret)
		ret = uar_alloc(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF, uar);
	if (blueflame_is_refused(ret))
		ctx->no_blueflame = ret;
	return ret;
}

static int own_bfregs_grow(struct mlx5_context *ctx)
{
	static const struct mlx5_bfreg own = { .use = BFREG_OWN, .pushes = true };
	struct mlx5_uar *uar;
	int ret = blueflame_uar(ctx, &uar);

	return ret ? ret : bfregs_add(ctx, uar, uar->count * PRM_UAR_SQS, 0, 1, &own);
}

/* Adds a page of shared registers. Its first register is only rung, never pushed through, so it
 * needs no lock (as NUM_NON_BLUE_FLAME_BFREGS in Linux' driver). */
static int shared_bfreg_grow(struct mlx5_context *ctx)
{
	static const struct mlx5_bfreg shared = { .use = BFREG_SHARED, .pushes = true };
	struct mlx5_uar *uar;
	int ret = blueflame_uar(ctx, &uar);

	return ret ? ret : bfregs_add(ctx, uar, uar->count, 1, PRM_UAR_SQS, &shared);
}

/* Returns a register without BlueFlame. It is on the page of the CQs, because queues that only ring
 * need no page of their own. */
static int plain_bfreg_get(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	static const struct mlx5_bfreg plain = { .use = BFREG_OWN };
	unsigned int count;
	struct mlx5_uar *uar;
	int ret = 0;

	if (!bfreg_find(ctx, bfreg_is_plain, &count)) {
		ret = cq_uar_locked(ctx, &uar);
		if (!ret)
			ret = bfregs_add(ctx, uar, 1, 0, 1, &plain);
	}
	if (!ret)
		*bfreg = bfreg_find(ctx, bfreg_is_plain, &count);
	return ret;
}

/* Returns the newest unused BlueFlame register, or NULL. */
static struct mlx5_bfreg *unused_bfreg_find(const struct mlx5_context *ctx)
{
	struct mlx5_bfreg *bfreg = ctx->unused_bfregs ? ctx->bfregs : NULL;

	while (bfreg && (bfreg->users || !bfreg_is_own(bfreg)))
		bfreg = bfreg->next;
	return bfreg;
}

static int own_bfreg_get(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	int ret = 0;

	*bfreg = unused_bfreg_find(ctx);
	if (*bfreg)
		return 0;
	ret = own_bfregs_grow(ctx);
	*bfreg = ret ? NULL : unused_bfreg_find(ctx);
	return ret;
}

/* Returns a shared register, or NULL. The budget allows one page for each two registers, and at
 * least one page. */
static struct mlx5_bfreg *shared_bfreg_get(struct mlx5_context *ctx)
{
	unsigned int limit = (ctx->env.total_bfregs - ctx->env.low_latency_bfregs) / PRM_UAR_SQS;
	unsigned int count;
	struct mlx5_bfreg *bfreg = bfreg_find(ctx, bfreg_is_shared, &count);

	if (bfreg && (!bfreg->users || count >= limit))
		return bfreg;
	return shared_bfreg_grow(ctx) ? bfreg : bfreg_find(ctx, bfreg_is_shared, &count);
}

static struct mlx5_bfreg *pushing_bfreg_get(struct mlx5_context *ctx)
{
	struct mlx5_bfreg *bfreg = NULL;

	if (ctx->used_bfregs < ctx->env.low_latency_bfregs)
		own_bfreg_get(ctx, &bfreg);
	return bfreg ? bfreg : shared_bfreg_get(ctx);
}

static int bfreg_get_locked(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	*bfreg = ctx->env.blueflame ? pushing_bfreg_get(ctx) : NULL;
	return *bfreg ? 0 : plain_bfreg_get(ctx, bfreg);
}

int mlx5_uar_get_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **out)
{
	struct mlx5_bfreg *bfreg;
	int ret;
	bool locked;

	locked = mutex_enter(&ctx->uar_lock);
	ret = bfreg_get_locked(ctx, &bfreg);
	if (!ret) {
		bfreg_use(ctx, bfreg);
		*out = bfreg;
	}
	mutex_leave(&ctx->uar_lock, locked);
	if (ret)
		verbs_warn("create_qp: no doorbell register: errno %d", ret);
	return ret;
}

static int blueflame_bfreg_locked(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	int ret = own_bfreg_get(ctx, bfreg);

	if (!ret) {
		(*bfreg)->users = 1;
		(*bfreg)->use = BFREG_DOMAIN;
		ctx->unused_bfregs--;
	}
	return ret;
}

int mlx5_uar_get_blueflame(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	int ret;
	bool locked;

	locked = mutex_enter(&ctx->uar_lock);
	ret = blueflame_bfreg_locked(ctx, bfreg);
	mutex_leave(&ctx->uar_lock, locked);
	return ret;
}

/* Gives a register to a thread domain. No budget applies, because the program asked for it
 * explicitly. */
int mlx5_uar_get_domain_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg)
{
	int ret = ENODEV;
	bool locked;

	locked = mutex_enter(&ctx->uar_lock);
	if (ctx->env.blueflame)
		ret = blueflame_bfreg_locked(ctx, bfreg);
	if (ret) {
		ret = plain_bfreg_get(ctx, bfreg);
		if (!ret)
			bfreg_use(ctx, *bfreg);
	}
	mutex_leave(&ctx->uar_lock, locked);
	if (ret)
		verbs_warn("alloc_td: no doorbell register: errno %d", ret);
	return ret;
}

int mlx5_uar_find_reg(const struct mlx5_context *ctx, uint32_t number, uint8_t **reg)
{
	/* The kernel numbers four registers per UAR. Programs have the first two; the others are
	 * the kernel's fast path (MLX5_BFREGS_PER_UAR of Linux' driver). */
	enum { NUMBERS_OF_UAR = 4 };
	uint32_t i = number / NUMBERS_OF_UAR, n = number % NUMBERS_OF_UAR;

	if (i >= ctx->cq_uar->count || n >= PRM_UAR_SQS) {
		verbs_warn("create_qp: the kernel says doorbell register %u, which is not on the "
			   "page of %u UARs",
			   number, ctx->cq_uar->count);
		return EPROTO;
	}
	*reg = register_at(ctx, ctx->cq_uar, i, n);
	return 0;
}

void mlx5_uar_share_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	bool locked = mutex_enter(&ctx->uar_lock);

	bfreg_use(ctx, bfreg);
	mutex_leave(&ctx->uar_lock, locked);
}

void mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg)
{
	bool locked = mutex_enter(&ctx->uar_lock);

	bfreg_leave(ctx, bfreg);
	mutex_leave(&ctx->uar_lock, locked);
}

void mlx5_uar_free_all(struct mlx5_context *ctx)
{
	struct mlx5_uar *uar;

	ctx->bfregs = NULL;
	ctx->unused_bfregs = ctx->used_bfregs = 0;
	while ((uar = ctx->uars)) {
		ctx->uars = uar->next;
		mlx5_uar_page_free(ctx, uar);
	}
	ctx->cq_uar = NULL;
	free(ctx->plain_for_programs);
	ctx->plain_for_programs = NULL;
}
