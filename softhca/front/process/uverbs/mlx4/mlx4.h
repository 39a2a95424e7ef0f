/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4.h - mlx4_ib's part of calls, translated to mlx5_ib's, which the objects use. Only for mlx4
 * adapters.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_MLX4_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_MLX4_H

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "softhca/front/process/uverbs/objects.h"

struct eth_ring;
struct qp_request;
struct raw_request;

/* Opens the context's only doorbell page, in the file before the BlueFlame page. Returns 0 or a
 * positive errno. */
int mlx4_open_context(struct uverbs_call *uc);
void mlx4_close_context(struct uverbs_file *file);

/* Returns the page of ADDR, where the ring then begins, as the driver tells the adapter pages and
 * not the ring's offset in the first one. */
uint64_t mlx4_ring_in(uint64_t addr);
int mlx4_check_cq(uint32_t cqe, uint32_t flags);
int mlx4_read_cq(struct uverbs_call *uc, struct mlx5_ib_create_cq *driver, uint32_t *uar);
int mlx4_read_resize(struct uverbs_call *uc, struct mlx5_ib_resize_cq *driver);
int mlx4_read_srq(struct uverbs_call *uc, struct mlx5_ib_create_srq *driver);
int mlx4_read_qp(struct uverbs_call *uc, struct qp_request *req);
/* Makes a raw packet QP as REQUEST says, with rings whose place in the buffer is not set yet. */
int mlx4_make_raw_qp(struct adapter *adapter, struct raw_request *request, struct eth_ring *send,
		     struct eth_ring *receive, struct raw_qp **raw);
void mlx4_grant_qp(struct qp_request *req);
void mlx4_limit_ethernet(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp);
int mlx4_answer_device(struct uverbs_call *uc);
void mlx4_limit_device(struct ib_uverbs_query_device_resp *resp);

#endif
