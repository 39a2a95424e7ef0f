/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.c - packet pacing objects: which of them share an entry of the adapter's table, and which
 * are refused.
 *
 * Covers: providers/mlx5/dv/pp.c, softhca/front/process/uverbs/pp.c
 */
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pacing.h"
#include "prm/mlx5/wq.h"
#include "tests/verbs/dv/dv.h"

#define MANY 200 /* more than the adapter has */

static struct mlx5dv_pp *rate_alloc(struct ibv_context *ctx, uint32_t rate, size_t size,
				    uint32_t flags, const char *what)
{
	uint8_t context[PRM_PP_CONTEXT_SIZE + 16] = { 0 };

	fld_set(context, PP_CONTEXT_RATE_LIMIT, rate);
	return SAY_PTR(mlx5dv_pp_alloc(ctx, size, context, flags), "%s", what);
}

static void rate_free(struct mlx5dv_pp *pp)
{
	if (pp)
		mlx5dv_pp_free(pp);
}

/* Asked first, as the tests of others may take a refusal for a device without. */
static void rates_are_there(const struct rig *rig)
{
	const uint8_t rate[4] = { 0, 0, 0, 100 };
	struct mlx5dv_pp *pp = mlx5dv_pp_alloc(rig->ctx, sizeof(rate), rate, 0);
	bool ethernet = rig->port.link_layer == IBV_LINK_LAYER_ETHERNET;

	say_check(!pp == !ethernet, "Ethernet has rates");
	if (pp)
		mlx5dv_pp_free(pp);
}

static void rates_share(struct ibv_context *ctx)
{
	const uint32_t own = MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX;
	struct mlx5dv_pp *first = rate_alloc(ctx, 100, 4, 0, "a rate");
	struct mlx5dv_pp *same = rate_alloc(ctx, 100, PRM_PP_CONTEXT_SIZE, 0, "the same, longer");
	struct mlx5dv_pp *other = rate_alloc(ctx, 101, 4, 0, "another");
	struct mlx5dv_pp *dedicated = rate_alloc(ctx, 100, 4, own, "the first, dedicated");
	struct mlx5dv_pp *again = rate_alloc(ctx, 100, 4, own, "once more");

	if (first && same && other && dedicated && again) {
		say_check(first->index == same->index, "equal rates share an entry");
		say_check(first->index != other->index, "other rates do not");
		say_check(dedicated->index != first->index, "nor does a dedicated one");
		say_check(again->index != dedicated->index, "nor two of these");
	}
	rate_free(first);
	rate_free(same);
	rate_free(other);
	rate_free(dedicated);
	rate_free(again);
}

static void rates_refuse(struct ibv_context *ctx)
{
	rate_free(rate_alloc(ctx, 0, 4, 0, "no rate"));
	rate_free(rate_alloc(ctx, UINT32_MAX, 4, 0, "more than the adapter has"));
	rate_free(rate_alloc(ctx, 100, 0, 0, "no bytes"));
	rate_free(rate_alloc(ctx, 100, PRM_PP_CONTEXT_SIZE + 1, 0, "too many bytes"));
	rate_free(rate_alloc(ctx, 100, 4, 2, "an unknown flag"));
}

/* A queue without a CQ, so that the device refuses it for that when it has found nothing else, and
 * no queue is left. */
static void rate_try(struct ibv_context *ctx, uint32_t index, const char *what)
{
	uint8_t in[32 + PRM_SQC_SIZE + 64] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *sqc = fld_at(in, CREATE_SQ_IN_CTX), *wqc = fld_at(sqc, SQC_WQ);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_SQ);
	fld_set(sqc, SQC_PACKET_PACING_RATE_LIMIT_INDEX, index);
	fld_set(wqc, WQ_WQ_TYPE, PRM_WQ_TYPE_CYCLIC);
	fld_set(wqc, WQ_LOG_WQ_STRIDE, 6);
	SAY_PTR(mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)), "%s", what);
	say("status %#x", (unsigned int)fld_get(out, CMD_OUT_STATUS));
}

/* A dedicated entry is for queues of the context that has allocated it. */
static void rates_belong(struct ibv_context *ctx)
{
	struct mlx5dv_pp *dedicated =
		rate_alloc(ctx, 100, 4, MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX, "dedicated");
	struct mlx5dv_pp *shared = rate_alloc(ctx, 100, 4, 0, "for all");
	struct ibv_context *other = ibv_open_device(ctx->device);

	MUST(other);
	if (dedicated && shared) {
		rate_try(ctx, dedicated->index, "one's own");
		rate_try(other, dedicated->index, "another's");
		rate_try(other, shared->index, "one for all");
		rate_try(ctx, 99, "none");
	}
	rate_free(dedicated);
	rate_free(shared);
	MUST(!ibv_close_device(other));
}

/* Fills the table; freeing one entry makes room for one. */
static void rates_fill(struct ibv_context *ctx)
{
	const uint32_t own = MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX;
	uint8_t context[4] = { 0, 0, 0, 100 };
	struct mlx5dv_pp *pp[MANY];
	int n = 0;

	while (n < MANY && (pp[n] = mlx5dv_pp_alloc(ctx, sizeof(context), context, own)))
		n++;
	say("%d entries, then %s", n, say_errno(errno));
	if (n) {
		mlx5dv_pp_free(pp[--n]);
		pp[n] = rate_alloc(ctx, 100, 4, own, "after one was freed");
		n += !!pp[n];
		rate_free(rate_alloc(ctx, 100, 4, own, "and another"));
	}
	while (n)
		mlx5dv_pp_free(pp[--n]);
}

void dv_rates(struct rig *rig)
{
	rates_are_there(rig);
	rates_share(rig->ctx);
	rates_belong(rig->ctx);
	rates_refuse(rig->ctx);
	rates_fill(rig->ctx);
}
