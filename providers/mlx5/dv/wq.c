/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - direct verbs on receive work queues.
 */
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/wq.h"

static int strides_check(struct mlx5_context *ctx, const struct mlx5dv_striding_rq_init_attr *attr)
{
	const struct mlx5_ib_query_device_resp *device;
	const struct mlx5_ib_striding_rq_caps *caps;
	uint32_t bytes = attr->single_stride_log_num_of_bytes;
	uint32_t count = attr->single_wqe_log_num_of_strides;
	int ret = mlx5_device_resp_get(ctx, &device);

	if (ret)
		return ret;
	caps = &device->striding_rq_caps;
	if (bytes >= caps->min_single_stride_log_num_of_bytes &&
	    bytes <= caps->max_single_stride_log_num_of_bytes &&
	    count >= caps->min_single_wqe_log_num_of_strides &&
	    count <= caps->max_single_wqe_log_num_of_strides)
		return 0;
	verbs_warn(
		"mlx5dv_create_wq: striding_rq_attrs is { %u, %u }, limits { %u to %u, %u to %u }",
		bytes, count, caps->min_single_stride_log_num_of_bytes,
		caps->max_single_stride_log_num_of_bytes, caps->min_single_wqe_log_num_of_strides,
		caps->max_single_wqe_log_num_of_strides);
	return EINVAL;
}

static int wq_make(struct ibv_context *context, struct ibv_wq_init_attr *attr,
		   const struct mlx5dv_wq_init_attr *dv_attr, struct ibv_wq **wq)
{
	bool striding = dv_attr && dv_attr->comp_mask & MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ;
	int ret = 0;

	if (dv_attr && dv_attr->comp_mask & ~(uint64_t)MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ) {
		verbs_warn("mlx5dv_create_wq: comp_mask is %#llx, known is %#x",
			   (unsigned long long)dv_attr->comp_mask,
			   MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ);
		return EINVAL;
	}
	if (striding)
		ret = strides_check(to_mctx(context), &dv_attr->striding_rq_attrs);
	return ret ? ret
		   : mlx5_wq_create_with(context, attr,
					 striding ? &dv_attr->striding_rq_attrs : NULL, wq);
}

/* Initialises the fields that ibv_create_wq(), an inline function in the program, would set. */
static struct ibv_wq *wq_complete(struct ibv_wq *wq, const struct ibv_wq_init_attr *attr)
{
	pthread_mutex_init(&wq->mutex, NULL);
	pthread_cond_init(&wq->cond, NULL);
	wq->events_completed = 0;
	wq->wq_context = attr->wq_context;
	return wq;
}

DV_EXPORT struct ibv_wq *mlx5dv_create_wq(struct ibv_context *context,
					  struct ibv_wq_init_attr *attr,
					  struct mlx5dv_wq_init_attr *dv_attr)
{
	int ret = dv_check_context("mlx5dv_create_wq", context);
	struct ibv_wq *wq;

	if (!ret)
		ret = wq_make(context, attr, dv_attr, &wq);
	return ret ? dv_fail(ret) : wq_complete(wq, attr);
}
