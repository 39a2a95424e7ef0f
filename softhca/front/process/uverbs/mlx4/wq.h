/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - WQs, indirection tables and RSS QPs as mlx4_ib has them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_WQ_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_MLX4_WQ_H

#include "softhca/front/process/uverbs/objects.h"

struct raw_qp;
struct wq_request;

/* A range of consecutive WQ numbers of a context. */
struct wqn_range;

/* Return 0 or a positive errno. */
int mlx4_read_wq(struct uverbs_call *uc, struct wq_request *req);
/* Takes a number for a WQ; mlx4_wqn_put() frees it. */
int mlx4_wqn_take(struct uverbs_call *uc, const struct wq_request *req, struct wqn_range **range,
		  uint32_t *number);
void mlx4_wqn_put(struct uverbs_file *file, struct wqn_range *range);
int mlx4_check_wq_change(struct uverbs_call *uc, bool has_flags, uint32_t from, uint32_t to);
int mlx4_check_table(const uint32_t *wqn, unsigned int count);
/* Checks a transition of an RSS QP: only RESET (enum qp_state) to INIT to RTR. */
int mlx4_check_spread_change(unsigned int from, unsigned int to);
int mlx4_spread(struct uverbs_call *uc, const struct uverbs_rwq_table *table, struct raw_qp **raw);

#endif
