/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - memory regions: of host memory, of dma-bufs, imported ones, and the null region.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/mr.h"
#include "providers/common/mw.h"
#include "util/alloc.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

static int mr_finish(int ret, struct verbs_mr *mr, struct verbs_mr **vmr)
{
	if (ret)
		free(mr);
	else
		*vmr = mr;
	return ret;
}

int mlx5_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct verbs_mr **vmr)
{
	struct verbs_mr *mr;

	if (access & IBV_ACCESS_ON_DEMAND && length == SIZE_MAX && addr) {
		verbs_warn(
			"reg_mr: length SIZE_MAX on demand means all memory, and needs addr NULL");
		return EINVAL;
	}
	/* uninitialised, because the command fills in every field */
	mr = malloc_for("reg_mr", sizeof(*mr));
	if (!mr)
		return ENOMEM;
	return mr_finish(verbs_cmd_reg_mr(pd, addr, length, iova, access, mr, NULL), mr, vmr);
}

/* Registers a dma-buf with FLAGS, which need Linux 6.12: older kernels refuse the attribute. */
int mlx5_mr_reg_dmabuf_with(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			    int fd, unsigned int access, uint32_t flags, struct verbs_mr **vmr)
{
	const struct verbs_attr attr =
		verbs_attr_u32(MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, (uint32_t)flags);
	const struct verbs_udata udata = { .attrs = &attr, .nattrs = 1 };
	struct verbs_mr *mr = calloc_for("reg_dmabuf_mr", 1, sizeof(*mr));

	if (!mr)
		return ENOMEM;
	return mr_finish(verbs_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr,
						 flags ? &udata : NULL),
			 mr, vmr);
}

int mlx5_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
		       unsigned int access, struct verbs_mr **vmr)
{
	return mlx5_mr_reg_dmabuf_with(pd, offset, length, iova, fd, access, 0, vmr);
}

int mlx5_mr_reg_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr, struct verbs_mr **vmr)
{
	struct verbs_mr *mr = calloc_for("reg_mr_ex", 1, sizeof(*mr));

	if (!mr)
		return ENOMEM;
	return mr_finish(verbs_cmd_reg_mr_ex(pd, attr, mr, NULL), mr, vmr);
}

int mlx5_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  unsigned int access)
{
	return verbs_cmd_rereg_mr(vmr, flags, pd, addr, length, (uintptr_t)addr, access, NULL);
}

int mlx5_mr_dereg(struct verbs_mr *vmr)
{
	int ret = vmr->kind == VERBS_MR_NULL ? 0 : verbs_cmd_dereg_mr(vmr);

	if (!ret)
		free(vmr);
	return ret;
}

int mlx5_mr_import(struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr)
{
	struct verbs_mr *mr = calloc_for("import_mr", 1, sizeof(*mr));

	if (!mr)
		return ENOMEM;
	return mr_finish(verbs_cmd_query_mr(pd, handle, mr), mr, vmr);
}

void mlx5_mr_unimport(struct verbs_mr *vmr)
{
	free(vmr);
}

/* Returns the null region: reads through its key return nothing, and writes are discarded. The key
 * is known since the context was opened, so no command is needed. */
struct ibv_mr *mlx5_mr_alloc_null(struct ibv_pd *pd)
{
	struct mlx5_context *ctx = to_mctx(pd->context);
	struct verbs_mr *mr;

	if (context_null_lkey(ctx) == DATA_SEG_LKEY_END) {
		verbs_warn("alloc_null_mr: the device has no null key");
		errno = ENOTSUP;
		return NULL;
	}
	mr = calloc_for("alloc_null_mr", 1, sizeof(*mr));
	if (!mr) {
		errno = ENOMEM;
		return NULL;
	}
	mr->kind = VERBS_MR_NULL;
	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	mr->mr.lkey = context_null_lkey(ctx);
	return &mr->mr;
}

/* Allocates a window. The driver's request is empty: the kernel reads none of its fields for plain
 * windows. */
struct ibv_mw *mlx5_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	const struct mlx5_ib_alloc_mw req = { 0 };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };

	return provider_mw_alloc(pd, &to_mctx(pd->context)->common.cells, type, &udata);
}

int mlx5_mw_dealloc(struct ibv_mw *mw)
{
	return provider_mw_dealloc(&to_mctx(mw->context)->common.cells, mw);
}
