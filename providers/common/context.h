/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.h - the part of an open device that both providers have: the pools and tables that its
 * objects share.
 *
 *   struct mlx5_context, struct mlx4_context
 *     +-- common   struct provider_context
 *     |     +-- ids          number in a CQE -> receive queue (mlx5) or queue (mlx4)
 *     |     +-- cells        small objects: PDs, address handles, memory windows
 *     |     +-- allocators   the program's, or NULL
 *     |     +-- dbrecs       doorbell records ---- pages from allocators or mmap()
 *     |     +-- queue_bufs   rings
 *     |     +-- device       capabilities, cached
 *     |     +-- clock        page with the adapter's clock
 *     +-- vctx     struct verbs_context
 *
 * A provider's context embeds it, so the data path finds a field at a constant offset.
 */
#ifndef PROVIDERS_COMMON_CONTEXT_H
#define PROVIDERS_COMMON_CONTEXT_H

#include "providers/common/clock.h"
#include "providers/common/device.h"
#include "providers/common/id_lookup.h"
#include "providers/common/memory/allocators.h"
#include "providers/common/memory/buf_pool.h"
#include "providers/common/memory/cells.h"
#include "providers/common/memory/dbrec.h"

struct provider_context {
	struct id_lookup ids;
	struct dbrec_pool dbrecs;
	struct buf_pool queue_bufs;
	struct cells cells;
	/* set by the program through direct verbs; NULL: queues get their memory from the
	 * provider */
	struct queue_allocators *allocators;
	struct device_facts device;
	struct clock_page clock;
};

/* Initialises CTX, which is zeroed, for the open device CONTEXT. RESP stores KIND's part of the
 * device's capabilities. Inline, as each provider calls it once. */
static inline void provider_context_init(struct provider_context *ctx, struct ibv_context *context,
					 const struct device_kind *kind, void *resp)
{
	provider_id_lookup_init(&ctx->ids);
	provider_dbrec_pool_init(&ctx->dbrecs);
	provider_buf_pool_init(&ctx->queue_bufs);
	provider_device_init(&ctx->device, context, kind, resp);
	provider_clock_page_init(&ctx->clock);
}

/* Frees the pools. The caller has destroyed all objects of the context. The allocators are freed
 * last, because the pool of doorbell records returns its pages to them. */
static inline void provider_context_destroy(struct provider_context *ctx)
{
	provider_clock_page_destroy(&ctx->clock);
	provider_buf_pool_destroy(&ctx->queue_bufs);
	provider_dbrec_pool_destroy(&ctx->dbrecs);
	provider_cells_destroy(&ctx->cells);
	provider_id_lookup_destroy(&ctx->ids);
	provider_allocators_free(&ctx->allocators);
}

#endif
