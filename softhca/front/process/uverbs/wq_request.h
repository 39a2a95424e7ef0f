/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq_request.h - a program's request to create a WQ.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_WQ_REQUEST_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_WQ_REQUEST_H

#include <stdint.h>

#include <rdma/mlx5-abi.h>

struct wq_request {
	uint64_t user_handle;
	uint32_t type, flags, max_wr, max_sge;
	struct mlx5_ib_create_wq driver;
	uint32_t log_range; /* mlx4: log2 of the range that begins with this WQ's number */
	uint32_t skip;      /* mlx4: bytes of its buffer before the ring */
};

#endif
