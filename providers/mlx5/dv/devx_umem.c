/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_umem.c - memory of the program, or a dma-buf, as an object of the device, for queues and
 * keys that the program creates by DevX commands.
 */
#include <errno.h>
#include <string.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/export.h"
#include "providers/mlx5/vfio/vfio.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

enum { ADAPTER_PAGE = 4096 };

/* Registers the memory. Without a requested page size, PAGE_SIZES is optional, so that kernels
 * which do not know the attribute ignore it. */
static int umem_register(const struct mlx5dv_devx_umem_in *req, const struct verbs_attr *page_sizes,
			 struct devx_umem *umem)
{
	bool dmabuf = req->comp_mask & MLX5DV_UMEM_MASK_DMABUF;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	cmd.attrs[1] = verbs_short_u64(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)req->addr);
	cmd.attrs[2] = verbs_short_u64(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, req->size);
	cmd.attrs[3] = verbs_short_u32(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, req->access);
	cmd.attrs[4] = verbs_short_out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->umem.umem_id,
				       sizeof(umem->umem.umem_id));
	cmd.attrs[5] = *page_sizes;
	if (dmabuf)
		cmd.attrs[6] = verbs_short_fd(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, req->dmabuf_fd);
	ret = verbs_cmd_run_short(umem->context, MLX5_IB_OBJECT_DEVX_UMEM,
				  MLX5_IB_METHOD_DEVX_UMEM_REG, &cmd, 6 + dmabuf);
	umem->handle = (uint32_t)cmd.attrs[0].value;
	return ret;
}

/* Registers the memory, excluded from fork: the device keeps using the pages, and copy-on-write
 * must not give the parent other pages. */
static int umem_make(const char *call, const struct mlx5dv_devx_umem_in *req,
		     const struct verbs_attr *page_sizes, struct devx_umem *umem)
{
	bool dmabuf = req->comp_mask & MLX5DV_UMEM_MASK_DMABUF;
	int ret = dmabuf ? 0 : ibv_dontfork_range(req->addr, req->size);

	if (ret) {
		ret = errno;
		verbs_warn("%s: addr is %p, size %zu: not memory of this process", call, req->addr,
			   req->size);
		return ret;
	}
	ret = umem_register(req, page_sizes, umem);
	if (ret)
		verbs_warn("%s: addr is %p, size %zu, access %#x, pgsz_bitmap %#llx: %s%s", call,
			   req->addr, req->size, req->access, (unsigned long long)page_sizes->value,
			   strerror(ret), mlx5_devx_hint(umem->context));
	if (ret && !dmabuf)
		ibv_dofork_range(req->addr, req->size);
	if (!ret && !dmabuf) {
		umem->addr = req->addr;
		umem->size = req->size;
	}
	return ret;
}

static struct mlx5dv_devx_umem *umem_new(const char *call, struct ibv_context *context,
					 const struct mlx5dv_devx_umem_in *req,
					 const struct verbs_attr *page_sizes)
{
	int ret = mlx5_devx_check(call, context, 0, 0);
	struct devx_umem *umem;

	if (ret)
		return context_is_vfio(context) ? mlx5_vfio_umem_reg(call, context, req)
						: dv_fail(ret);
	umem = dv_take(call, context, umem);
	if (!umem)
		return dv_fail(ENOMEM);
	*umem = (struct devx_umem){ .context = context };
	ret = umem_make(call, req, page_sizes, umem);
	if (!ret)
		return &umem->umem;
	dv_give(context, umem);
	return dv_fail(ret);
}

DV_EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg(struct ibv_context *context, void *addr,
							size_t size, uint32_t access)
{
	const struct mlx5dv_devx_umem_in req = { .addr = addr,
						 .size = size,
						 .access = access,
						 .pgsz_bitmap = ~(uint64_t)(ADAPTER_PAGE - 1) };
	const struct verbs_attr page_sizes = verbs_attr_optional(verbs_short_u64(
		MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, ~(uint64_t)(ADAPTER_PAGE - 1)));

	return umem_new("mlx5dv_devx_umem_reg", context, &req, &page_sizes);
}

DV_EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg_ex(struct ibv_context *context,
							   struct mlx5dv_devx_umem_in *umem_in)
{
	const int ret = mlx5_devx_check("mlx5dv_devx_umem_reg_ex", context, 0, 0);
	struct verbs_attr page_sizes;

	if (ret)
		return context_is_vfio(context)
			       ? mlx5_vfio_umem_reg("mlx5dv_devx_umem_reg_ex", context, umem_in)
			       : dv_fail(ret);
	page_sizes = verbs_short_u64(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, umem_in->pgsz_bitmap);
	if (umem_in->comp_mask & ~(uint64_t)MLX5DV_UMEM_MASK_DMABUF) {
		verbs_warn("mlx5dv_devx_umem_reg_ex: comp_mask is %#llx, known is %#x",
			   (unsigned long long)umem_in->comp_mask, MLX5DV_UMEM_MASK_DMABUF);
		return dv_fail(EOPNOTSUPP);
	}
	if (umem_in->comp_mask & MLX5DV_UMEM_MASK_DMABUF && umem_in->dmabuf_fd == -1) {
		verbs_warn("mlx5dv_devx_umem_reg_ex: dmabuf_fd is -1, must be a descriptor");
		return dv_fail(EBADF);
	}
	return umem_new("mlx5dv_devx_umem_reg_ex", context, umem_in, &page_sizes);
}

DV_EXPORT int mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *dv_umem)
{
	struct devx_umem *umem = (struct devx_umem *)dv_umem;
	int ret;

	if (unlikely(!context_is_mlx5(umem->context)))
		return mlx5_vfio_umem_dereg(umem);
	ret = verbs_cmd_run_destroy(umem->context, MLX5_IB_OBJECT_DEVX_UMEM,
				    MLX5_IB_METHOD_DEVX_UMEM_DEREG,
				    MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, umem->handle);
	if (ret) {
		verbs_warn("mlx5dv_devx_umem_dereg: umem %#x stays, is anything in it? %s",
			   umem->umem.umem_id, strerror(ret));
		return verbs_result(ret);
	}
	if (umem->addr)
		ibv_dofork_range(umem->addr, umem->size);
	dv_give(umem->context, umem);
	return 0;
}

DV_EXPORT int mlx5dv_devx_umem_export(struct mlx5dv_devx_umem *dv_umem, void *attrs)
{
	const struct devx_umem *umem = (const struct devx_umem *)dv_umem;
	const struct dv_export_umem export = { umem->handle, umem->umem.umem_id };

	memcpy(attrs, &export, sizeof(export));
	return 0;
}

DV_EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_import(struct ibv_context *context, void *attrs)
{
	int ret = dv_check_import("mlx5dv_devx_umem_import", context, attrs);
	struct dv_export_umem export;
	struct devx_umem *umem;

	if (ret)
		return dv_fail(ret);
	memcpy(&export, attrs, sizeof(export));
	umem = dv_take("mlx5dv_devx_umem_import", context, umem);
	if (!umem)
		return dv_fail(ENOMEM);
	*umem = (struct devx_umem){ .context = context };
	umem->handle = export.handle;
	umem->umem.umem_id = export.umem_id;
	return &umem->umem;
}

DV_EXPORT void mlx5dv_devx_umem_unimport(struct mlx5dv_devx_umem *dv_umem)
{
	struct devx_umem *umem = (struct devx_umem *)dv_umem;

	if (umem)
		dv_give(umem->context, umem);
}
