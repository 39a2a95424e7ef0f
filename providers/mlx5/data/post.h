/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.h - posting on a QP: what context->ops and the QP's tables have of it. qp.c chooses when the
 * QP is created, through the table in datapath.h.
 *
 * Two words of the whole data path: an entry point is a call by which a program reaches it. There
 * are two to the builders of send WQEs (send_wqe.h): ibv_post_send() and ibv_wr_*(). A gate is a
 * limit that an entry point checks anyway, and that is shut by making it 0: sge_limit of a queue
 * while its state forbids to post, sq.opcodes then and after a UMR (umr.h).
 */
#ifndef PROVIDERS_MLX5_DATA_POST_H
#define PROVIDERS_MLX5_DATA_POST_H

#include "providers/mlx5/qp.h"
#include "providers/mlx5/qp_rules.h"
#include "providers/mlx5/data/variant.h"

int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

typedef int post_send_fn(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/* Returns the instance of ibv_post_send() for QPs of this kind, with the lock when SHARED is true;
 * USE is that of its register. A QP without the lock is never told BFREG_SHARED, one with it never
 * BFREG_DOMAIN. */
post_send_fn *mlx5_post_send_routine(enum send_kind kind, bool shared, enum bfreg_use use);

/* This is the routine of QPs whose WQEs have signatures, of any kind. */
post_send_fn mlx5_post_send_signed;

int mlx5_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

typedef int bind_mw_fn(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* Returns the instance of ibv_bind_mw() for QPs that have the routine of those arguments of
 * ibv_post_send(). */
bind_mw_fn *mlx5_bind_mw_routine(enum send_kind kind, bool shared, enum bfreg_use use);

/* This is the routine of QPs of any kind: it leaves all to ibv_post_send(). */
bind_mw_fn mlx5_bind_mw_any;

int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* Fills the wr_* table, as rules and lock of the QP say. */
void mlx5_send_wr_fill(struct mlx5_qp *qp);
/* Notes that requests of the QP mostly are long. */
void mlx5_send_wr_fill_long(struct mlx5_qp *qp);
/* Adds mlx5dv_wr_raw_wqe() (send_wr_dv.c), for QPs that have it. */
void mlx5_send_wr_fill_raw_wqe(struct mlx5_qp *qp);
/* Add the builders of memory keys, those that OPS name, and of copies of memory. */
void mlx5_send_wr_fill_mkeys(struct mlx5_qp *qp, uint64_t ops);
void mlx5_send_wr_fill_copy(struct mlx5_qp *qp);

#endif
