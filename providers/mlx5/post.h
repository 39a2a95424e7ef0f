/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.h - the doors of the data path on the QP: operations for context->ops, and the instances
 * among which a QP chooses when it is created.
 */
#ifndef PROVIDERS_MLX5_POST_H
#define PROVIDERS_MLX5_POST_H

#include "providers/mlx5/qp.h"

int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int post_send_locked(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int post_send_unlocked(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int post_recv_locked(struct mlx5_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int post_recv_unlocked(struct mlx5_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* OPS of a QP that was not created for certain operations. */
#define SEND_OPS_ANY UINT64_MAX

/* The opcodes that an RC QP created for OPS (IBV_QP_EX_WITH_*) may post: those, and any other whose
 * head fits into HEAD_ROOM bytes. EOPNOTSUPP when there is none for one of OPS. */
int send_opcodes_rc(uint64_t ops, bool atomics, uint32_t head_room, uint16_t *opcodes);

/* Fill the wr_* table of an RC QP. */
void send_wr_fill_rc(struct mlx5_qp *qp);

#endif
