/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_ring.h - the free WQEs of an SRQ: made when its ring is new, given back by completions, and
 * linked for programs that post by themselves.
 */
#ifndef PROVIDERS_MLX5_DATA_SRQ_RING_H
#define PROVIDERS_MLX5_DATA_SRQ_RING_H

#include "providers/mlx5/srq.h"

/* Gives back WQE INDEX, whose message is complete, and returns its wr_id. */
uint64_t mlx5_srq_complete(struct mlx5_srq *srq, uint32_t index);

/* Makes the WQEs of a fresh ring that may be posted, and one more, free; the ring itself is not
 * touched. It returns 0, or ENOMEM when there is no memory for the list. */
int mlx5_srq_ring_init(struct mlx5_srq *srq);
void mlx5_srq_ring_free(struct mlx5_srq *srq);

/* Called when the library posts: there is no list any more, if there was one. The lock is held. */
void mlx5_srq_list_end(struct mlx5_srq *srq);

/* Tells a program, which may go on by itself, the first and the last free WQE. All of them are
 * linked. */
void mlx5_srq_show(struct mlx5_srq *srq, uint32_t *head, uint32_t *tail);

/* Called when a message has come, and tells whether that was to a request that a program posted by
 * itself, as mlx5dv_init_obj() enables it to, and links as well. */
bool mlx5_srq_is_taken(struct mlx5_srq *srq);

#endif
