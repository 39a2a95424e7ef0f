/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.c - allocates doorbell pages: kernel objects, or by number before Linux 5.8.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/mlx5/context.h"
#include "prm/mlx5/uar.h"
#include "util/map.h"

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

static int object_create(struct mlx5_context *ctx, uint32_t type, struct mlx5_uar *uar)
{
	uint64_t offset = 0;
	uint32_t length = 0, page_id = 0;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	cmd.attrs[1] = verbs_short_u64(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type);
	cmd.attrs[2] =
		verbs_short_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	cmd.attrs[3] =
		verbs_short_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	cmd.attrs[4] =
		verbs_short_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page_id, sizeof(page_id));
	ret = verbs_cmd_run_short(&ctx->vctx.context, MLX5_IB_OBJECT_UAR,
				  MLX5_IB_METHOD_UAR_OBJ_ALLOC, &cmd, 5);
	if (ret) {
		/* Only a message for information, because the caller falls back to a plain page. */
		verbs_log(type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF ? VERBS_LOG_INFO : VERBS_LOG_WARN,
			  "%s: the kernel gives no %s doorbell page: errno %d",
			  ctx->vctx.context.device->name,
			  type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF ? "BlueFlame" : "plain", ret);
		return ret;
	}
	uar->handle = (uint32_t)cmd.attrs[0].value;
	uar->mmap_offset = offset;
	uar->length = length;
	uar->page_id = page_id;
	uar->is_object = true;
	uar->count = 1;
	uar->qp_flag = MLX5_QP_FLAG_UAR_PAGE_INDEX;
	uar->bfreg_index = page_id;
	uar->cq_flag = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
	return 0;
}

static void object_destroy(struct mlx5_context *ctx, const struct mlx5_uar *uar)
{
	verbs_cmd_run_destroy(&ctx->vctx.context, MLX5_IB_OBJECT_UAR,
			      MLX5_IB_METHOD_UAR_OBJ_DESTROY, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE,
			      uar->handle);
}

/* Returns the offset for mmap(), counted in pages: bits 0-7 and 16-23 are the number, and bits 8-15
 * the command. The number is split because the first kernels had only 8 bits for it. */
static uint64_t numbered_offset(uint32_t command, uint32_t number, long page_size)
{
	uint64_t page = (number & 0xff) | command << 8 | (uint64_t)(number >> 8) << 16;

	return page * (uint64_t)page_size;
}

/* Maps the plain page that the kernel has allocated with the context. CQs ring its first UAR; QPs
 * without BlueFlame ring a UAR of it that the kernel chooses. Commands do not name the page. */
static int plain_page(struct mlx5_context *ctx, long page_size, struct mlx5_uar *uar)
{
	if (ctx->cq_uar) {
		verbs_warn("%s: this kernel has no second plain doorbell page (Linux 5.8 has)",
			   ctx->vctx.context.device->name);
		return EOPNOTSUPP;
	}
	uar->mmap_offset = numbered_offset(MLX5_IB_MMAP_NC_PAGE, 0, page_size);
	return 0;
}

/* Allocates a page by mapping the next number. Its registers continue the numbering of the previous
 * page, two for each UAR. */
static int next_page(struct mlx5_context *ctx, long page_size, struct mlx5_uar *uar)
{
	uint32_t registers = uar->count * PRM_UAR_SQS;

	uar->bfreg_index = ctx->numbered_uars * registers;
	if (uar->bfreg_index + registers > ctx->caps.num_dyn_bfregs) {
		verbs_info("%s: the kernel gives no more than %u doorbell registers",
			   ctx->vctx.context.device->name, ctx->caps.num_dyn_bfregs);
		return ENOMEM;
	}
	uar->qp_flag = MLX5_QP_FLAG_BFREG_INDEX;
	uar->mmap_offset = numbered_offset(MLX5_IB_MMAP_ALLOC_WC, ctx->numbered_uars, page_size);
	return 0;
}

static int number_choose(struct mlx5_context *ctx, uint32_t type, struct mlx5_uar *uar)
{
	long page_size = sysconf(_SC_PAGESIZE);

	uar->length = (uint32_t)page_size;
	/* A UAR has 4 KiB. A larger page has several UARs, or one UAR that fills it. */
	uar->count = min_of(max_of(ctx->caps.num_uars_per_page, 1u),
			    (uint32_t)(page_size / PRM_UAR_SIZE));
	return type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF ? next_page(ctx, page_size, uar)
						      : plain_page(ctx, page_size, uar);
}

int mlx5_uar_page_ask_id(struct mlx5_context *ctx, uint32_t number, uint32_t *page_id)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_in(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, &number, sizeof(number)),
		verbs_attr_out(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, page_id, sizeof(*page_id)),
	};
	int ret = verbs_cmd_run(&ctx->vctx.context, MLX5_IB_OBJECT_DEVX,
				MLX5_IB_METHOD_DEVX_QUERY_UAR, attrs, ARRAY_SIZE(attrs));

	if (ret)
		verbs_warn("%s: the kernel does not say which page has doorbell register %u: "
			   "errno %d",
			   ctx->vctx.context.device->name, number, ret);
	return ret;
}

static int page_map(struct mlx5_context *ctx, struct mlx5_uar *uar)
{
	void *page =
		map_shared(uar->length, PROT_WRITE, ctx->vctx.context.cmd_fd, uar->mmap_offset);

	if (page == MAP_FAILED) {
		int ret = errno;

		/* EPERM: the platform cannot map BlueFlame, and the caller falls back to a plain
		 * page. */
		if (uar->qp_flag == MLX5_QP_FLAG_BFREG_INDEX)
			verbs_info("%s: the kernel maps no BlueFlame doorbell page: errno %d",
				   ctx->vctx.context.device->name, ret);
		else
			verbs_warn("%s: mapping a doorbell page of %zu bytes failed: errno %d",
				   ctx->vctx.context.device->name, (size_t)uar->length, ret);
		return ret;
	}
	uar->page = page;
	if (uar->qp_flag == MLX5_QP_FLAG_BFREG_INDEX)
		ctx->numbered_uars++;
	return 0;
}

int mlx5_uar_page_alloc(struct mlx5_context *ctx, uint32_t type, struct mlx5_uar **out)
{
	struct mlx5_uar *uar =
		provider_cells_take(&ctx->common.cells, "doorbell page", sizeof(*uar));
	int ret;

	if (!uar)
		return ENOMEM;
	memset(uar, 0, offsetof(struct mlx5_uar, of_one_uar));
	ret = context_has_uar_objects(ctx) ? object_create(ctx, type, uar)
					   : number_choose(ctx, type, uar);
	if (ret)
		goto free_uar;
	ret = page_map(ctx, uar);
	if (ret)
		goto destroy_uar;
	*out = uar;
	return 0;
destroy_uar:
	if (uar->is_object)
		object_destroy(ctx, uar);
free_uar:
	provider_cells_give(&ctx->common.cells, uar, sizeof(*uar));
	return ret;
}

void mlx5_uar_page_free(struct mlx5_context *ctx, struct mlx5_uar *uar)
{
	munmap(uar->page, uar->length);
	if (uar->is_object)
		object_destroy(ctx, uar);
	if (uar->bfregs != uar->of_one_uar)
		free(uar->bfregs);
	provider_cells_give(&ctx->common.cells, uar, sizeof(*uar));
}
