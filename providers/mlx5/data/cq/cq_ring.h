/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.h - the ring of a CQ as a whole: initialised, cleaned of a queue's completions, and
 * exposed to programs that read it by themselves.
 * PRM: CQE ownership
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_CQ_RING_H
#define PROVIDERS_MLX5_DATA_CQ_CQ_RING_H

#include "providers/mlx5/cq.h"

void mlx5_cq_ring_init(struct mlx5_cq *cq);

/* Removes all completions of RQ, before its owner is destroyed or reset. If a program reads the
 * ring by itself, removes none. */
void mlx5_cq_clean(struct mlx5_cq *cq, const struct mlx5_rq *rq);

/* Notes that a program has learned the address of the ring. Takes no lock: the program may hold it,
 * as it may be polling. */
void mlx5_cq_show(struct mlx5_cq *cq);
/* Removes the user index from the CQEs of destroyed queues that were noted, once the library reads
 * the ring. Returns whether any were noted. The caller holds the lock. */
bool mlx5_cq_disown(struct mlx5_cq *cq);
bool mlx5_cq_is_taken(struct mlx5_cq *cq);

#endif
