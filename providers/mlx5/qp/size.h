/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * size.h - computes a QP's rings, and the capacities to grant, from the requested capacities.
 */
#ifndef PROVIDERS_MLX5_QP_SIZE_H
#define PROVIDERS_MLX5_QP_SIZE_H

#include <stdint.h>
#include <rdma/mlx5-abi.h>
#include "libibverbs/driver.h"

struct qp_size {
	uint32_t sq_wqebbs;
	uint32_t sq_max_post;
	uint32_t sq_max_sge;
	uint32_t sq_max_inline;
	uint32_t rq_wqes;
	uint32_t rq_stride_log;
	uint32_t rq_max_sge;
	uint32_t sq_wqe_bytes;
};

/* Bytes of a WQE that are not payload, and extra room. */
struct wqe_heads {
	uint32_t longest; /* before the payload of any send WQE; the ring has room for it */
	uint32_t data;    /* before the payload of send WQEs with data */
	uint32_t room;
	uint32_t recv; /* before the scatter list of a receive WQE */
};

/* Returns EINVAL when CAP exceeds the limits of CAPS. */
int mlx5_qp_size_queues(const struct mlx5_ib_alloc_ucontext_resp *caps,
			const struct ibv_qp_cap *cap, const struct wqe_heads *heads,
			struct qp_size *size);

#endif
