/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll.h - polling a CQ: the functions for context->ops (poll_cq.c), and those for a CQ (cq_ex.c),
 * which it takes through the table of datapath.h.
 * PRM: CQE ownership
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_POLL_H
#define PROVIDERS_MLX5_DATA_CQ_POLL_H

#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/variant.h"

int mlx5_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

cq_poll_fn mlx5_cq_poll_any;

/* Sets CQ's polling routines: mlx5_cq_poll_any() for ibv_poll_cq(); start_poll, next_poll,
 * end_poll, and the readers that WC_FLAGS (IBV_WC_EX_WITH_*) request. */
void mlx5_cq_ex_fill(struct mlx5_cq *cq, uint64_t wc_flags);

/* Switches the readers of opcode and flags to those that know tag matching, because an SRQ with
 * tags completes in CQ. */
void mlx5_cq_ex_read_tags(struct mlx5_cq *cq);

#endif
