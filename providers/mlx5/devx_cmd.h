/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_cmd.h - commands in the device's own format that this library gives by itself (DevX), for
 * what the kernel has no other words for.
 *
 * All return 0, an errno of the kernel's, or what mlx5_devx_status_errno() makes of the device's
 * status. Mailboxes are whole: the first two dwords of OUT are the status and the syndrome.
 */
#ifndef PROVIDERS_MLX5_DEVX_CMD_H
#define PROVIDERS_MLX5_DEVX_CMD_H

#include <stddef.h>
#include <stdint.h>

struct ibv_qp;
struct mlx5_context;

/* What a program hears of a command that it has not written itself: as Linux' driver says of its
 * own (mlx5_core). */
int mlx5_devx_status_errno(uint32_t status);

int mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
		  size_t out_len);

/* A general object has a handle of the kernel's, and the id that the device gave it. */
struct devx_object {
	uint32_t handle, id;
};

int mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
			    struct devx_object *object);
/* Does so where the answer says more, or the id elsewhere. */
int mlx5_devx_object_create_out(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
				size_t out_len, struct devx_object *object);
int mlx5_devx_object_modify(struct mlx5_context *ctx, const struct devx_object *object,
			    const void *in, size_t in_len);
int mlx5_devx_object_query(struct mlx5_context *ctx, const struct devx_object *object,
			   const void *in, size_t in_len, void *out, size_t out_len);
int mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object);

/* These are for what a QP of verbs is in the device. */
int mlx5_devx_qp_query(struct ibv_qp *qp, const void *in, size_t in_len, void *out, size_t out_len);
int mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len);

#endif
