/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4.h - the driver's part of calls as mlx4_ib has it, turned into that of mlx5_ib, which the
 * objects know. Only an adapter of mlx4 has them called.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_MLX4_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_MLX4_H

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "softhca/front/process/uverbs/objects.h"

struct eth_ring;
struct qp_request;
struct raw_request;

/* A context has one page of doorbells, which the file maps with that of BlueFlame behind it.
 * Returns 0 or a positive errno. */
int mlx4_open_context(struct uverbs_call *uc);
void mlx4_close_context(struct uverbs_file *file);

/* The driver tells the adapter of pages, and not where in the first one a ring begins: so one that
 * was said to be at ADDR begins with that page, which the function returns. */
uint64_t mlx4_ring_in(uint64_t addr);
int mlx4_check_cq(uint32_t cqe, uint32_t flags);
int mlx4_read_cq(struct uverbs_call *uc, struct mlx5_ib_create_cq *driver, uint32_t *uar);
int mlx4_read_resize(struct uverbs_call *uc, struct mlx5_ib_resize_cq *driver);
int mlx4_read_srq(struct uverbs_call *uc, struct mlx5_ib_create_srq *driver);
int mlx4_read_qp(struct uverbs_call *uc, struct qp_request *req);
/* Makes a raw packet QP as REQUEST says, of the rings that it has, whose place in the buffer is not
 * said yet. */
int mlx4_make_raw_qp(struct adapter *adapter, struct raw_request *request, struct eth_ring *send,
		     struct eth_ring *receive, struct raw_qp **raw);
/* Says what the QP's answer says of sizes. */
void mlx4_grant_qp(struct qp_request *req);
void mlx4_limit_ethernet(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp);
int mlx4_answer_device(struct uverbs_call *uc);
void mlx4_limit_device(struct ib_uverbs_query_device_resp *resp);

#endif
