/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.h - the table of what contexts and queues take from the data path when they are created.
 * There is one for each variant of the data path (variant.h); mlx5_datapath() is that of the CPU.
 */
#ifndef PROVIDERS_MLX5_DATA_DATAPATH_H
#define PROVIDERS_MLX5_DATA_DATAPATH_H

#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/srq.h"

struct datapath {
	struct verbs_ops ops; /* polling and posting, for context->ops */
	/* Each holds the function mlx5_NAME of its own name, in this variant. */
	post_send_fn *(*post_send_routine)(enum send_kind kind, bool shared, enum bfreg_use use);
	bind_mw_fn *(*bind_mw_routine)(enum send_kind kind, bool shared, enum bfreg_use use);
	post_recv_fn *(*post_recv_routine)(uint32_t max_sge, uint32_t stride_log, bool shared);
	/* A QP whose WQEs have signatures has these. */
	post_send_fn *post_send_signed;
	bind_mw_fn *bind_mw_any;
	post_recv_fn *post_recv_signed;
	post_srq_fn *(*post_srq_routine)(uint32_t max_sge, bool shared);
	void (*send_wr_fill)(struct mlx5_qp *qp);
	void (*send_wr_fill_mkeys)(struct mlx5_qp *qp, uint64_t ops);
	void (*cq_ex_fill)(struct mlx5_cq *cq, uint64_t wc_flags);
	void (*cq_ex_read_tags)(struct mlx5_cq *cq);
};

/* Returns the variant that this CPU can run. */
const struct datapath *mlx5_datapath(void);

extern const struct datapath mlx5_datapath_plain;
#if defined(MLX5_HAS_DATA_V3) || defined(MLX5_DATA_V3)
extern const struct datapath mlx5_datapath_v3;
#endif

#endif
