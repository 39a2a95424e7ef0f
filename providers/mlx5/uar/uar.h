/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.h - assigns doorbell registers to queues.
 *
 * Pages are allocated when the first queue needs one, and freed with the context. A send register
 * (bfreg) takes 8-byte doorbells, and whole WQEs pushed through it (BlueFlame). A register serves
 * one QP while the budget of the environment lasts, or the QPs of one thread domain; further QPs
 * share registers. enum bfreg_use has the locking of each case.
 */
#ifndef PROVIDERS_MLX5_UAR_UAR_H
#define PROVIDERS_MLX5_UAR_UAR_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/mlx5/uar/page.h"

/* Returns the page that all CQs share: arming is rare, so sharing costs little. */
int mlx5_uar_get_cq(struct mlx5_context *ctx, struct mlx5_uar **uar);
int mlx5_uar_get_plain(struct mlx5_context *ctx, struct mlx5_uar **uar);
void mlx5_uar_put_plain(struct mlx5_context *ctx, struct mlx5_uar *uar);
/* Returns a register for a new QP without a thread domain. */
int mlx5_uar_get_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Returns a register for a thread domain. It is exclusive, unless it has no BlueFlame. */
int mlx5_uar_get_domain_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Returns a BlueFlame register for a program, whatever the environment says about QPs, as the
 * program writes WQEs by itself. On failure, returns the kernel's errno. */
int mlx5_uar_get_blueflame(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Sets *REG to register NUMBER, which a kernel without UAR objects chose for a QP. Returns EPROTO
 * when there is no such register. */
int mlx5_uar_find_reg(const struct mlx5_context *ctx, uint32_t number, uint8_t **reg);
void mlx5_uar_share_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);
void mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);
void mlx5_uar_free_all(struct mlx5_context *ctx);

#endif
