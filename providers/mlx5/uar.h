/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.h - who uses which doorbell register.
 *
 * Pages of them are allocated when the first queue needs one, and freed with the context. A send
 * register (bfreg) serves one QP, which may then also push whole WQEs through it (BlueFlame), until
 * the budget of the environment is used up; further QPs share registers and only ring 8-byte
 * doorbells, which needs no lock.
 */
#ifndef PROVIDERS_MLX5_UAR_H
#define PROVIDERS_MLX5_UAR_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/mlx5/uar_page.h"

struct mlx5_bfreg {
	struct mlx5_bfreg *next;
	struct mlx5_uar *uar;
	uint8_t *reg;
	unsigned int users;
	bool shared; /* by choice at creation: 8-byte doorbells only */
	bool own;    /* of a thread domain: dealt to nobody else */
};

/* All CQs ring the same page. */
int mlx5_uar_get_cq(struct mlx5_context *ctx, struct mlx5_uar **uar);
/* They give a plain page to one user, and take it back. */
int mlx5_uar_get_plain(struct mlx5_context *ctx, struct mlx5_uar **uar);
void mlx5_uar_put_plain(struct mlx5_context *ctx, struct mlx5_uar *uar);
int mlx5_uar_get_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Nobody else gets this register while it is in use. When none is free, there is a new page. */
int mlx5_uar_get_own_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg **bfreg);
/* Counts one more user of BFREG. */
void mlx5_uar_share_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);
void mlx5_uar_put_bfreg(struct mlx5_context *ctx, struct mlx5_bfreg *bfreg);
void mlx5_uar_free_all(struct mlx5_context *ctx);

#endif
