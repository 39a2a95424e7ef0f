/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio.h - a context that drives its adapter by VFIO, and what direct verbs do on one.
 */
#ifndef PROVIDERS_MLX5_VFIO_VFIO_H
#define PROVIDERS_MLX5_VFIO_VFIO_H

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/vfio/events.h"
#include "providers/mlx5/vfio/files.h"
#include "providers/mlx5/vfio/vectors.h"

struct vfio_context {
	struct vfio_files files;
	struct vfio_space space;
	struct vfio_cmdq cmdq;
	struct vfio_pages pages;
	struct vfio_vectors vectors;
	struct vfio_events events;
	int fatal_fd; /* write end of the pipe whose other end is async_fd */
	struct verbs_context vctx;
};

extern const struct verbs_driver mlx5_vfio_driver;
extern const struct verbs_ops mlx5_vfio_ops;

static inline struct vfio_context *to_vfio(struct ibv_context *context)
{
	return container_of(to_vctx(context), struct vfio_context, vctx);
}

static inline bool context_is_vfio(const struct ibv_context *context)
{
	return verbs_driver_of(context->device) == &mlx5_vfio_driver;
}

int mlx5_vfio_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void mlx5_vfio_context_free(struct verbs_context *vctx);

/* Direct verbs of such a context, which dv/ calls. They set errno as the public calls do. */
int mlx5_vfio_command(const char *call, struct ibv_context *context, const void *in, size_t inlen,
		      void *out, size_t outlen);
int mlx5_vfio_query_eqn(struct ibv_context *context, uint32_t vector, uint32_t *eqn);
struct mlx5dv_devx_obj *mlx5_vfio_obj_create(struct ibv_context *context, const void *in,
					     size_t inlen, void *out, size_t outlen);
int mlx5_vfio_obj_destroy(struct mlx5dv_devx_obj *obj);
struct mlx5dv_devx_umem *mlx5_vfio_umem_reg(const char *call, struct ibv_context *context,
					    const struct mlx5dv_devx_umem_in *req);
int mlx5_vfio_umem_dereg(struct devx_umem *umem);
struct mlx5dv_devx_uar *mlx5_vfio_uar_alloc(struct ibv_context *context, uint32_t flags);
void mlx5_vfio_uar_free(struct mlx5dv_devx_uar *uar);

#endif
