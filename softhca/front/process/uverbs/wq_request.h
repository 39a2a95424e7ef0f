/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq_request.h - what a program asks for when it creates a WQ.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_WQ_REQUEST_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_WQ_REQUEST_H

#include <stdint.h>

#include <rdma/mlx5-abi.h>

struct wq_request {
	uint64_t user_handle;
	uint32_t type, flags, max_wr, max_sge;
	struct mlx5_ib_create_wq driver;
	uint32_t log_range; /* mlx4: of the numbers that begin with this WQ's; */
	uint32_t skip;      /* and bytes of its buffer in front of the ring */
};

#endif
