/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - opens and closes a device. Opening runs one ioctl and allocates nothing that the
 * program may not need.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/uar.h"
#include "providers/mlx5/clock.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/data/cq/stall.h"
#include "providers/mlx5/device.h"
#include "util/mutex.h"
#include "util/threads.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

static const struct verbs_ops stall_ops = { .poll_cq = mlx5_stall_poll_cq };

/* Runs GET_CONTEXT. Only kernels without UAR objects use total_num_bfregs. Its value asks for one
 * page, with no register reserved for a single QP. Further pages are mapped when they are
 * needed. */
static int run_get_ucontext(struct mlx5_context *ctx, uint32_t flags)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = PRM_UAR_SQS,
		.flags = flags,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	const struct verbs_udata udata = {
		.req = &req,
		.req_len = sizeof(req),
		.resp = &ctx->caps,
		.resp_len = sizeof(ctx->caps),
	};

	ctx->has_devx = flags & MLX5_IB_ALLOC_UCTX_DEVX;
	return verbs_cmd_get_context_with(&ctx->vctx, &udata, ctx->fds);
}

/* Opens the kernel context with DevX, which direct verbs need, and without DevX if that fails. No
 * errno identifies a refusal of DevX: the kernel or the adapter (command CREATE_UCTX) may refuse
 * it, and a status of the adapter maps to any errno. */
static int get_ucontext(struct mlx5_context *ctx)
{
	int ret = run_get_ucontext(ctx, MLX5_IB_ALLOC_UCTX_DEVX);

	if (ctx->fds && ret == EPROTONOSUPPORT) {
		verbs_warn("mlx5dv_open_device: %s: fds has %u descriptors: this kernel takes none "
			   "(Linux 6.15 does), trying without",
			   ctx->vctx.context.device->name, ctx->fds->count);
		ctx->fds = NULL;
		ret = run_get_ucontext(ctx, MLX5_IB_ALLOC_UCTX_DEVX);
	}
	if (!ret)
		return 0;
	verbs_info("open_device: %s: no context with DevX (errno %d), trying one without",
		   ctx->vctx.context.device->name, ret);
	ctx->devx_refusal = ret;
	ret = run_get_ucontext(ctx, 0);
	if (ret && ctx->fds)
		verbs_warn("mlx5dv_open_device: %s: with %u descriptors in fds: errno %d",
			   ctx->vctx.context.device->name, ctx->fds->count, ret);
	return ret;
}

static int check_ucontext(const struct mlx5_context *ctx)
{
	const struct mlx5_ib_alloc_ucontext_resp *caps = &ctx->caps;

	if (caps->cqe_version > 1) {
		verbs_warn("open_device: the kernel chose CQE version %u, limit 1",
			   caps->cqe_version);
		return ENOTSUP;
	}
	return 0;
}

static int query_ucontext(struct mlx5_context *ctx)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_out(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &ctx->caps, sizeof(ctx->caps)),
	};
	const struct verbs_udata udata = { .attrs = attrs, .nattrs = ARRAY_SIZE(attrs) };

	ctx->is_imported = true;
	ctx->has_devx = true; /* assumed: the kernel does not report it for imported contexts */
	return verbs_cmd_query_context(&ctx->vctx, &udata);
}

static int context_make(struct verbs_device *vdev, int cmd_fd, const struct ibv_fd_arr *fds,
			int (*learn)(struct mlx5_context *ctx), struct verbs_context **vctx)
{
	struct verbs_context *new;
	struct mlx5_context *ctx;
	int ret;

	ret = verbs_context_alloc(vdev, cmd_fd, sizeof(*ctx), offsetof(struct mlx5_context, vctx),
				  &new);
	if (ret)
		return ret;
	ctx = container_of(new, struct mlx5_context, vctx);
	/* libmlx5 has its own copy of this state, because the flag is per library */
	verbs_threads_look();
	mlx5_env_read(&ctx->env);
	ctx->fds = fds;
	ret = learn(ctx);
	ctx->fds = NULL;
	if (!ret)
		ret = check_ucontext(ctx);
	if (ret)
		goto free_ctx;
	provider_context_init(&ctx->common, &ctx->vctx.context, &mlx5_device_kind,
			      &ctx->device_resp);
	mutex_init(&ctx->uar_lock);
	provider_clock_page_init(&ctx->clock_info);
	mutex_init(&ctx->login_lock);
	mlx5_hca_caps_init(&ctx->hca_caps);
	mlx5_qpn_pool_init(&ctx->qpns);
	verbs_set_ops(&ctx->vctx, &mlx5_context_ops);
	verbs_set_ops(&ctx->vctx, &mlx5_datapath()->ops);
	if (ctx->env.stall.on)
		verbs_set_ops(&ctx->vctx, &stall_ops);
	*vctx = new;
	return 0;
free_ctx:
	verbs_context_free(new, offsetof(struct mlx5_context, vctx));
	return ret;
}

int mlx5_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	return context_make(vdev, cmd_fd, NULL, get_ucontext, vctx);
}

int mlx5_context_alloc_with(struct verbs_device *vdev, int cmd_fd, const void *fds,
			    struct verbs_context **vctx)
{
	return context_make(vdev, cmd_fd, fds, get_ucontext, vctx);
}

int mlx5_context_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	return context_make(vdev, cmd_fd, NULL, query_ucontext, vctx);
}

void mlx5_context_free(struct verbs_context *vctx)
{
	struct mlx5_context *ctx = container_of(vctx, struct mlx5_context, vctx);

	provider_clock_page_destroy(&ctx->clock_info);
	mlx5_qpn_pool_destroy(ctx);
	mlx5_uar_free_all(ctx);
	mlx5_hca_caps_destroy(&ctx->hca_caps);
	if (ctx->sig_keys)
		provider_id_lookup_destroy(ctx->sig_keys);
	free(ctx->sig_keys);
	free(ctx->login); /* The kernel destroys the object together with the context. */
	provider_context_destroy(&ctx->common);
	verbs_context_free(vctx, offsetof(struct mlx5_context, vctx));
}
