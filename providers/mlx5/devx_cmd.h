/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_cmd.h - runs commands in the device's own format (DevX). The library uses them where the
 * kernel has no command.
 *
 * All functions return 0, an errno of the kernel, or the errno that mlx5_devx_status_errno() makes
 * of the device's status. Mailboxes are complete: the first two dwords of OUT are the status and
 * the syndrome.
 */
#ifndef PROVIDERS_MLX5_DEVX_CMD_H
#define PROVIDERS_MLX5_DEVX_CMD_H

#include <stddef.h>
#include <stdint.h>

struct ibv_qp;
struct mlx5_context;

/* Converts the status of a command that the library ran to an errno, as Linux' mlx5_core converts
 * the status of its own commands. */
int mlx5_devx_status_errno(uint32_t status);

int mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
		  size_t out_len);

struct devx_object {
	uint32_t handle, id;
};

int mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
			    struct devx_object *object);
/* Creates an object and returns the device's whole answer in OUT, for commands whose answer has
 * more than the id, or has the id at another offset. */
int mlx5_devx_object_create_out(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
				size_t out_len, struct devx_object *object);
int mlx5_devx_object_modify(struct mlx5_context *ctx, const struct devx_object *object,
			    const void *in, size_t in_len);
int mlx5_devx_object_query(struct mlx5_context *ctx, const struct devx_object *object,
			   const void *in, size_t in_len, void *out, size_t out_len);
int mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object);

int mlx5_devx_qp_query(struct ibv_qp *qp, const void *in, size_t in_len, void *out, size_t out_len);
int mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len);

#endif
