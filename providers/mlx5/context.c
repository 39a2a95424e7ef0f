/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - opens and closes a device: one ioctl, and nothing allocated that may not be needed.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/clock.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/datapath.h"
#include "prm/mlx5/queue.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/srq.h"
#include "util/alloc.h"
#include "providers/mlx5/tm.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

static const struct verbs_ops context_ops = {
	.req_notify_cq = mlx5_cq_arm,
	.post_srq_ops = mlx5_tm_post,
	.cq_event = mlx5_cq_event,
	.query_device_ex = mlx5_device_query_ex,
	.query_port = mlx5_device_query_port,
	.alloc_pd = mlx5_pd_alloc,
	.dealloc_pd = mlx5_pd_dealloc,
	.import_pd = mlx5_pd_import,
	.unimport_pd = mlx5_pd_unimport,
	.alloc_td = mlx5_td_alloc,
	.dealloc_td = mlx5_td_dealloc,
	.alloc_parent_domain = mlx5_parent_domain_alloc,
	.reg_mr = mlx5_mr_reg,
	.reg_dmabuf_mr = mlx5_mr_reg_dmabuf,
	.reg_mr_ex = mlx5_mr_reg_ex,
	.rereg_mr = mlx5_mr_rereg,
	.dereg_mr = mlx5_mr_dereg,
	.import_mr = mlx5_mr_import,
	.unimport_mr = mlx5_mr_unimport,
	.alloc_null_mr = mlx5_mr_alloc_null,
	.alloc_dm = mlx5_dm_alloc,
	.free_dm = mlx5_dm_free,
	.import_dm = mlx5_dm_import,
	.unimport_dm = mlx5_dm_unimport,
	.reg_dm_mr = mlx5_dm_reg_mr,
	.dm_export_dmabuf_fd = mlx5_dm_export_dmabuf,
	.create_ah = mlx5_ah_create,
	.destroy_ah = mlx5_ah_destroy,
	.alloc_mw = mlx5_mw_alloc,
	.dealloc_mw = mlx5_mw_dealloc,
	.bind_mw = mlx5_mw_bind,
	.create_cq = mlx5_cq_create,
	.resize_cq = mlx5_cq_resize,
	.destroy_cq = mlx5_cq_destroy,
	.create_qp = mlx5_qp_create,
	.modify_qp = mlx5_qp_modify,
	.query_qp = mlx5_qp_query,
	.destroy_qp = mlx5_qp_destroy,
	.open_qp = mlx5_qp_open,
	.set_ece = mlx5_qp_set_ece,
	.query_ece = mlx5_qp_query_ece,
	.modify_qp_rate_limit = mlx5_qp_modify_rate_limit,
	.create_wq = mlx5_wq_create,
	.modify_wq = mlx5_wq_modify,
	.destroy_wq = mlx5_wq_destroy,
	.create_rwq_ind_table = mlx5_rwq_table_create,
	.destroy_rwq_ind_table = mlx5_rwq_table_destroy,
	.ibv_create_flow = mlx5_flow_create,
	.ibv_destroy_flow = mlx5_flow_destroy,
	.create_flow_action_esp = mlx5_flow_action_create_esp,
	.modify_flow_action_esp = mlx5_flow_action_modify_esp,
	.destroy_flow_action = mlx5_flow_action_destroy,
	.create_counters = mlx5_counters_create,
	.destroy_counters = mlx5_counters_destroy,
	.attach_counters_point_flow = mlx5_counters_attach,
	.read_counters = mlx5_counters_read,
	.query_rt_values = mlx5_clock_query_rt_values,
	.create_srq = mlx5_srq_create,
	.destroy_srq = mlx5_srq_destroy,
	.open_xrcd = mlx5_xrcd_open,
	.close_xrcd = mlx5_xrcd_close,
};

/* MLX5_STALL_CQ_POLL */
static const struct verbs_ops stall_ops = { .poll_cq = mlx5_stall_poll_cq };

static __thread uint32_t open_flags;

void mlx5_context_set_open_flags(uint32_t flags)
{
	open_flags = flags;
}

/* The register counts matter only to kernels that do not know UARs as objects: one page, and none of its registers for one QP
 * alone. The others are made when needed. */
static int get_ucontext(struct mlx5_context *ctx)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = PRM_UAR_BF_PER_PAGE,
		.flags = open_flags,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	const struct verbs_udata udata = {
		.req = &req,
		.req_len = sizeof(req),
		.resp = &ctx->caps,
		.resp_len = sizeof(ctx->caps),
	};

	return verbs_cmd_get_context(&ctx->vctx, &udata);
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

	return verbs_cmd_query_context(&ctx->vctx, &udata);
}

static int context_make(struct verbs_device *vdev, int cmd_fd,
			int (*learn)(struct mlx5_context *ctx), struct verbs_context **vctx)
{
	struct mlx5_context *ctx = calloc_for("open_device", 1, sizeof(*ctx));
	int ret;

	if (!ctx)
		return ENOMEM;
	ret = verbs_context_init(&ctx->vctx, vdev, cmd_fd);
	if (ret)
		goto free_ctx;
	mlx5_env_read(&ctx->env);
	ret = learn(ctx);
	if (!ret)
		ret = check_ucontext(ctx);
	if (ret)
		goto cleanup_vctx;
	provider_id_lookup_init(&ctx->ids);
	provider_dbrec_pool_init(&ctx->dbrecs);
	provider_buf_pool_init(&ctx->queue_bufs);
	pthread_mutex_init(&ctx->uar_lock, NULL);
	pthread_mutex_init(&ctx->device_lock, NULL);
	verbs_set_ops(&ctx->vctx, &context_ops);
	verbs_set_ops(&ctx->vctx, &mlx5_datapath()->ops);
	if (ctx->env.stall.on)
		verbs_set_ops(&ctx->vctx, &stall_ops);
	*vctx = &ctx->vctx;
	return 0;
cleanup_vctx:
	verbs_context_cleanup(&ctx->vctx);
free_ctx:
	free(ctx);
	return ret;
}

int mlx5_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	return context_make(vdev, cmd_fd, get_ucontext, vctx);
}

int mlx5_context_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	return context_make(vdev, cmd_fd, query_ucontext, vctx);
}

void mlx5_context_free(struct verbs_context *vctx)
{
	struct mlx5_context *ctx = container_of(vctx, struct mlx5_context, vctx);

	mlx5_clock_free(ctx);
	mlx5_uar_free_all(ctx);
	pthread_mutex_destroy(&ctx->device_lock);
	pthread_mutex_destroy(&ctx->uar_lock);
	provider_buf_pool_destroy(&ctx->queue_bufs);
	provider_dbrec_pool_destroy(&ctx->dbrecs);
	provider_id_lookup_destroy(&ctx->ids);
	verbs_context_cleanup(vctx);
	free(ctx);
}
