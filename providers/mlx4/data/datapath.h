/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.h - a table of the data path's functions: the calls of a context, and the routines that
 * a queue chooses when it is created. Each variant (variant.h) has one table.
 */
#ifndef PROVIDERS_MLX4_DATA_DATAPATH_H
#define PROVIDERS_MLX4_DATA_DATAPATH_H

#include "libibverbs/driver.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/variant.h"
#include "providers/mlx4/qp.h"
#include "providers/mlx4/srq.h"

struct datapath {
	struct verbs_ops ops; /* polling and posting, for context->ops */
	/* Each member points to this variant's function mlx4_NAME, where NAME is the member's
	 * name. */
	qp_post_send_fn *(*post_send_routine)(const struct mlx4_qp *qp);
	qp_bind_mw_fn *(*bind_mw_routine)(const struct mlx4_qp *qp);
	post_recv_fn *(*post_recv_routine)(uint32_t stride_log, bool shared);
	post_srq_fn *(*post_srq_routine)(uint32_t stride_log, bool shared);
	void (*send_wr_fill)(struct mlx4_qp *qp);
	cq_poll_fn *cq_poll_any;
	void (*cq_ex_fill)(struct mlx4_cq *cq, uint64_t wc_flags);
};

const struct datapath *mlx4_datapath(void);

extern const struct datapath mlx4_datapath_plain;
#if defined(MLX4_HAS_DATA_V3) || defined(MLX4_DATA_V3)
extern const struct datapath mlx4_datapath_v3;
#endif

int mlx4_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int mlx4_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int mlx4_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int mlx4_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int mlx4_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);

qp_post_send_fn *mlx4_post_send_routine(const struct mlx4_qp *qp);
qp_bind_mw_fn *mlx4_bind_mw_routine(const struct mlx4_qp *qp);
/* WQEs have 1 << STRIDE_LOG bytes. SHARED: the routine takes the queue's lock. */
post_recv_fn *mlx4_post_recv_routine(uint32_t stride_log, bool shared);
post_srq_fn *mlx4_post_srq_routine(uint32_t stride_log, bool shared);
void mlx4_send_wr_fill(struct mlx4_qp *qp);
void mlx4_cq_ex_fill(struct mlx4_cq *cq, uint64_t wc_flags);
cq_poll_fn mlx4_cq_poll_any;

/* ---- rings outside posting and polling ---- */

/* Initialises a send ring so that no slot looks like a WQE: the adapter prefetches slots that were
 * never posted. */
void mlx4_sq_ring_init(struct mlx4_sq *sq);
void mlx4_cq_ring_init(struct mlx4_cq *cq);
/* Removes the completions of QP. Its adapter object must be gone, because a new CQE could otherwise
 * arrive behind the loop. */
void mlx4_cq_clean(struct mlx4_cq *cq, const struct mlx4_qp *qp);
void mlx4_cq_clean_srq(struct mlx4_cq *cq, uint32_t srqn);

#endif
