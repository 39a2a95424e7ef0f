/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.h - who uses which doorbell register.
 *
 * Pages of them are allocated when the first queue needs one, and freed with the context. A send
 * register (bfreg) takes 8-byte doorbells, and whole WQEs that are pushed through it (BlueFlame).
 * It serves one QP until the budget of the environment is used up, or the QPs of a thread domain;
 * further QPs share registers. bfreg_use says what that takes.
 */
#ifndef PROVIDERS_MLX5_UAR_H
#define PROVIDERS_MLX5_UAR_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/mlx5/uar_page.h"

/* All CQs ring the same page. */
int mlx5_uar_get_cq(struct mlx5_context *ctx, struct mlx5_uar **uar);
/* Give a plain page to one user, and take it back. */
int mlx5_uar_get_plain(struct mlx5_context *ctx, struct mlx5_uar **uar);
void mlx5_uar_put_plain(struct mlx5_context *ctx, struct mlx5_uar *uar);
/* Gives the register of a new QP that is in no thread domain. */
int mlx5_uar_get_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Gives a register to a thread domain: nobody else gets it while it is in use, unless it is one
 * that is only rung. */
int mlx5_uar_get_domain_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Gives a program a register for pushes, whatever the environment says of QPs; the result is the
 * kernel's errno when there is none. */
int mlx5_uar_get_blueflame(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Finds the register of a QP that named none, as the plain page is no object: *REG becomes the one
 * of which the kernel said the NUMBER. It returns EPROTO when there is no such register. */
int mlx5_uar_find_reg(const struct mlx5_context *ctx, uint32_t number, uint8_t **reg);
/* Counts one more user of BFREG. */
void mlx5_uar_share_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);
void mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);
void mlx5_uar_free_all(struct mlx5_context *ctx);

#endif
