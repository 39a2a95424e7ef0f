/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll.h - polling a CQ: what context->ops has of it (poll_cq.c), and what a CQ takes of it when it
 * is created (cq_ex.c), through the table in datapath.h.
 */
#ifndef PROVIDERS_MLX5_DATA_POLL_H
#define PROVIDERS_MLX5_DATA_POLL_H

#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/variant.h"

/* This is context->ops.poll_cq. */
int mlx5_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/* Polling starts in this function when nothing is known of the completion before. */
cq_poll_fn mlx5_cq_poll_any;

/* Sets CQ's polling routines: mlx5_cq_poll_any() for ibv_poll_cq(); start_poll, next_poll, end_poll
 * and the readers that WC_FLAGS (IBV_WC_EX_WITH_*) ask for. */
void mlx5_cq_ex_fill(struct mlx5_cq *cq, uint64_t wc_flags);

/* Makes the readers of opcode and flags know those of tag matching: an SRQ with tags completes
 * in CQ. */
void mlx5_cq_ex_read_tags(struct mlx5_cq *cq);

#endif
