/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - direct verbs on completion queues.
 */
#include "providers/mlx5/cq.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"

#define ATTR_MASK_KNOWN                                                             \
	(MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE | MLX5DV_CQ_INIT_ATTR_MASK_FLAGS | \
	 MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE)

static int cq_check_mask(const struct mlx5dv_cq_init_attr *attr)
{
	if (attr->comp_mask & ~(uint64_t)ATTR_MASK_KNOWN) {
		verbs_warn("mlx5dv_create_cq: comp_mask is %#llx, known are %#x",
			   (unsigned long long)attr->comp_mask, ATTR_MASK_KNOWN);
		return EINVAL;
	}
	return 0;
}

/* Reads the compression format. If the kernel reports no formats, the device has none, and the
 * attributes are wrong. The kernel refuses a mask of several formats. */
static int cq_read_compression(struct mlx5_context *ctx, const struct mlx5dv_cq_init_attr *attr,
			       struct cq_options *options)
{
	const struct mlx5_ib_query_device_resp *device;
	int ret = mlx5_device_resp_get(ctx, &device);

	if (ret)
		return ret;
	if (!device->cqe_comp_caps.max_num ||
	    !(attr->cqe_comp_res_format & device->cqe_comp_caps.supported_format)) {
		verbs_warn("mlx5dv_create_cq: cqe_comp_res_format is %#x, the device has %#x",
			   attr->cqe_comp_res_format, device->cqe_comp_caps.supported_format);
		return EINVAL;
	}
	options->compressed = true;
	options->mini_cqe_format = attr->cqe_comp_res_format;
	return 0;
}

static int cq_read_options(struct mlx5_context *ctx, const struct mlx5dv_cq_init_attr *attr,
			   struct cq_options *options)
{
	int ret = cq_check_mask(attr);

	if (!ret && attr->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE)
		ret = cq_read_compression(ctx, attr, options);
	if (ret)
		return ret;
	if (attr->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE)
		options->cqe_size = attr->cqe_size;
	if (!(attr->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_FLAGS) || !attr->flags)
		return 0;
	if (attr->flags != MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD || options->cqe_size != 128) {
		verbs_warn("mlx5dv_create_cq: flags is %#x, may be %#x, with CQEs of 128 bytes",
			   attr->flags, MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD);
		return EINVAL;
	}
	options->kernel_flags = MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	return 0;
}

DV_EXPORT struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context,
					     struct ibv_cq_init_attr_ex *attr,
					     struct mlx5dv_cq_init_attr *dv_attr)
{
	struct cq_options options = { 0 };
	struct verbs_cq *vcq;
	int ret = dv_check_context("mlx5dv_create_cq", context);

	if (ret)
		return dv_fail(ret);
	options.cqe_size = to_mctx(context)->env.cqe_size;
	if (dv_attr)
		ret = cq_read_options(to_mctx(context), dv_attr, &options);
	if (!ret)
		ret = mlx5_cq_create_with(context, attr, &options, &vcq);
	return ret ? dv_fail(ret) : &vcq->cq_ex;
}
