/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - opens and closes a device, and maps its two pages: registers and BlueFlame.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx4/cqe.h"
#include "providers/common/memory/allocators.h"
#include "providers/common/memory/queue_mem.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/device.h"
#include "util/mutex.h"
#include "util/threads.h"
#include "util/mmio.h"

/* Page offsets of the device file. mlx4_ib */
enum { REGISTER_PAGE = 0, BLUEFLAME_PAGE = 1 };

/* Gets a context from a kernel with the older ABI, which does not know larger CQEs. */
static int get_context_v3(struct mlx4_context *ctx)
{
	struct mlx4_ib_alloc_ucontext_resp_v3 resp;
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	int ret = verbs_cmd_get_context(&ctx->vctx, &udata);

	ctx->caps = (struct mlx4_ib_alloc_ucontext_resp){
		.qp_tab_size = resp.qp_tab_size,
		.bf_reg_size = resp.bf_reg_size,
		.bf_regs_per_page = resp.bf_regs_per_page,
		.cqe_size = M4_CQE_SIZE,
	};
	return ret;
}

static int get_context(struct mlx4_context *ctx, uint32_t abi)
{
	const struct verbs_udata udata = { .resp = &ctx->caps, .resp_len = sizeof(ctx->caps) };
	uint32_t size;
	int ret;

	if (abi <= MLX4_IB_UVERBS_NO_DEV_CAPS_ABI_VERSION)
		return get_context_v3(ctx);
	ret = verbs_cmd_get_context(&ctx->vctx, &udata);
	size = ctx->caps.cqe_size;
	if (ret || (is_pow2(size) && size >= M4_CQE_SIZE && size <= M4_CQE_STRIDE_MAX))
		return ret;
	verbs_warn("open_device: the kernel says CQEs of %u bytes, must be a power of two from %u "
		   "to %u",
		   size, M4_CQE_SIZE, M4_CQE_STRIDE_MAX);
	return ENOTSUP;
}

static void *map_page(const struct mlx4_context *ctx, unsigned int page)
{
	long size = sysconf(_SC_PAGESIZE);

	return mmap(NULL, (size_t)size, PROT_WRITE, MAP_SHARED, ctx->vctx.context.cmd_fd,
		    (off_t)size * page);
}

/* Maps the register pages. A context without BlueFlame page only rings doorbells. The page stays
 * unmapped if the CPU splits 8-byte stores, because the adapter could then read a torn WQE. */
static int map_pages(struct mlx4_context *ctx)
{
	void *bf;

	ctx->uar = map_page(ctx, REGISTER_PAGE);
	if (ctx->uar == MAP_FAILED) {
		verbs_warn("open_device: mapping the page of doorbells failed: errno %d", errno);
		return errno;
	}
	qlock_init(&ctx->bf.lock, true);
	if (!MMIO_STORES_64 || !ctx->caps.bf_reg_size)
		return 0;
	bf = map_page(ctx, BLUEFLAME_PAGE);
	if (bf == MAP_FAILED) {
		verbs_info("open_device: no BlueFlame page: errno %d", errno);
		return 0;
	}
	ctx->bf.page = ctx->bf.next = bf;
	ctx->bf.half = ctx->caps.bf_reg_size / 2u;
	return 0;
}

static void unmap_pages(struct mlx4_context *ctx)
{
	const size_t size = ctx->common.queue_bufs.page;

	if (ctx->bf.page)
		munmap(ctx->bf.page, size);
	munmap(ctx->uar, size);
}

/* Allocates memory for a ring. Rings start at a page: the adapter's contexts have no offset within
 * the first page, and mlx4_ib would round an address down. */
int mlx4_queue_mem_alloc(struct mlx4_context *ctx, struct ibv_pd *pd,
			 const struct queue_mem_request *request, struct queue_mem *mem)
{
	int ret;

	pd = provider_allocators_domain(ctx->common.allocators, pd);
	ret = provider_queue_mem_alloc(&ctx->common.queue_bufs, pd, request, mem);
	if (ret || !((uintptr_t)mem->addr % request->place.align))
		return ret;
	verbs_warn("the program's allocator gave %p for a ring: it must start with a page",
		   mem->addr);
	provider_queue_mem_free(mem);
	return EINVAL;
}

int mlx4_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	struct verbs_context *new;
	struct mlx4_context *ctx;
	int ret;

	ret = verbs_context_alloc(vdev, cmd_fd, sizeof(*ctx), offsetof(struct mlx4_context, vctx),
				  &new);
	if (ret)
		return ret;
	ctx = container_of(new, struct mlx4_context, vctx);
	/* libmlx4 has its own copy of this state, because the flag is per library */
	verbs_threads_look();
	ret = get_context(ctx, vdev->info.abi_version);
	if (!ret)
		ret = map_pages(ctx);
	if (ret)
		goto free_ctx;
	mutex_init(&ctx->wqs_lock);
	provider_context_init(&ctx->common, &ctx->vctx.context, &mlx4_device_kind,
			      &ctx->device_resp);
	provider_buf_pool_give_pages(&ctx->common.queue_bufs);
	verbs_set_ops(&ctx->vctx, &mlx4_context_ops);
	verbs_set_ops(&ctx->vctx, &mlx4_datapath()->ops);
	*vctx = new;
	return 0;
free_ctx:
	verbs_context_free(new, offsetof(struct mlx4_context, vctx));
	return ret;
}

void mlx4_context_free(struct verbs_context *vctx)
{
	struct mlx4_context *ctx = container_of(vctx, struct mlx4_context, vctx);

	provider_context_destroy(&ctx->common);
	unmap_pages(ctx);
	verbs_context_free(vctx, offsetof(struct mlx4_context, vctx));
}
