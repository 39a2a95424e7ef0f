/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.h - a table of the data path's functions, from which contexts and queues take theirs
 * when they are created. Each variant of the data path (variant.h) has one table; mlx5_datapath()
 * returns the CPU's.
 */
#ifndef PROVIDERS_MLX5_DATA_DATAPATH_H
#define PROVIDERS_MLX5_DATA_DATAPATH_H

#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/srq.h"

struct datapath {
	struct verbs_ops ops;
	/* Each member points to this variant's function mlx5_NAME, where NAME is the member's name.
	 * There is one table for each CPU level, so that one choice selects all routines. */
	post_send_fn *(*post_send_routine)(enum send_kind kind, bool shared, enum bfreg_use use);
	bind_mw_fn *(*bind_mw_routine)(enum send_kind kind, bool shared, enum bfreg_use use);
	post_recv_fn *(*post_recv_routine)(uint32_t max_sge, uint32_t stride_log, bool shared);
	post_send_fn *post_send_signed;
	bind_mw_fn *bind_mw_any;
	post_recv_fn *post_recv_signed;
	post_srq_fn *(*post_srq_routine)(uint32_t max_sge, bool shared);
	void (*send_wr_fill)(struct mlx5_qp *qp);
	void (*send_wr_fill_mkeys)(struct mlx5_qp *qp, uint64_t ops);
	void (*cq_ex_fill)(struct mlx5_cq *cq, uint64_t wc_flags);
	void (*cq_ex_read_tags)(struct mlx5_cq *cq);
};

const struct datapath *mlx5_datapath(void);

extern const struct datapath mlx5_datapath_plain;
#if defined(MLX5_HAS_DATA_V3) || defined(MLX5_DATA_V3)
extern const struct datapath mlx5_datapath_v3;
#endif

#endif
