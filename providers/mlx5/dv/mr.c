/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - direct verbs on memory regions of dma-bufs, and on the PCI function by which a device
 * accesses such memory directly (data-direct).
 */
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/mr.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

DV_EXPORT struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					      uint64_t iova, int fd, int access, int mlx5_access)
{
	int ret = dv_check_context("mlx5dv_reg_dmabuf_mr", pd->context);
	struct verbs_mr *vmr;

	if (!ret && mlx5_access & ~(int)MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT) {
		verbs_warn("mlx5dv_reg_dmabuf_mr: mlx5_access is %#x, known are %#x",
			   (unsigned int)mlx5_access, MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT);
		ret = EINVAL;
	}
	if (!ret)
		ret = mlx5_mr_reg_dmabuf_with(pd, offset, length, iova, fd, (unsigned int)access,
					      (uint32_t)mlx5_access, &vmr);
	return ret ? dv_fail(ret) : &vmr->mr;
}

DV_EXPORT int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *context, char *buf,
						size_t buf_len)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_out(MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH, buf,
			       min_of(buf_len, (size_t)UINT16_MAX)),
	};
	int ret = dv_check_context("mlx5dv_get_data_direct_sysfs_path", context);

	if (ret)
		return verbs_result(ret);
	ret = verbs_cmd_run(context, UVERBS_OBJECT_DEVICE,
			    MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH, attrs, ARRAY_SIZE(attrs));
	if (ret)
		verbs_warn(
			"mlx5dv_get_data_direct_sysfs_path: the kernel returns no path for %s in "
			"%zu bytes: errno %d",
			context->device->name, buf_len, ret);
	return verbs_result(ret);
}
