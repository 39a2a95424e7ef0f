/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.h - posting on a QP: the functions for context->ops and for the QP's tables. qp.c chooses
 * them when it creates the QP, through the table in datapath.h.
 *
 * Two terms of the data path: an entry point is a call by which a program posts; ibv_post_send()
 * and ibv_wr_*() are the two entry points to the builders of send WQEs (send_wqe.h). A gate is a
 * limit that an entry point checks anyway, and that becomes 0 to forbid posting, at no cost for the
 * fast path: sge_limit while the QP's state forbids posting, sq.opcodes then and after a UMR
 * (umr.h).
 */
#ifndef PROVIDERS_MLX5_DATA_POST_H
#define PROVIDERS_MLX5_DATA_POST_H

#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/data/variant.h"

int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

typedef int post_send_fn(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/* Returns the instance of ibv_post_send() for QPs of KIND. The instance takes the QP's lock if
 * SHARED. USE describes the QP's register; BFREG_SHARED occurs only with the lock, BFREG_DOMAIN
 * only without. */
post_send_fn *mlx5_post_send_routine(enum send_kind kind, bool shared, enum bfreg_use use);

post_send_fn mlx5_post_send_signed;

int mlx5_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

typedef int bind_mw_fn(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

bind_mw_fn *mlx5_bind_mw_routine(enum send_kind kind, bool shared, enum bfreg_use use);

bind_mw_fn mlx5_bind_mw_any;

int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

void mlx5_send_wr_fill(struct mlx5_qp *qp);
/* Chooses doorbell routines for a QP whose requests usually have several WQEBBs: the usual routines
 * assume one. */
void mlx5_send_wr_fill_long(struct mlx5_qp *qp);
void mlx5_send_wr_fill_raw_wqe(struct mlx5_qp *qp);
void mlx5_send_wr_fill_mkeys(struct mlx5_qp *qp, uint64_t ops);
void mlx5_send_wr_fill_copy(struct mlx5_qp *qp);

#endif
