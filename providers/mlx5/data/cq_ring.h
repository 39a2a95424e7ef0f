/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.h - the ring of a CQ as a whole: filled when it is new, searched for what goes away, and
 * shown to programs that read it by themselves.
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_RING_H
#define PROVIDERS_MLX5_DATA_CQ_RING_H

#include "providers/mlx5/cq.h"

/* Makes every entry of a fresh ring the adapter's, and forgets what number was looked up last. */
void mlx5_cq_ring_init(struct mlx5_cq *cq);

/* Forgets all completions of the owner of RQ, which is about to go away or to be reset; unless a
 * program reads the ring by itself. */
void mlx5_cq_clean(struct mlx5_cq *cq, const struct mlx5_rq *rq);

/* Notes that a program was told where the ring is. The program may have the lock, as it is
 * polling. */
void mlx5_cq_show(struct mlx5_cq *cq);
/* Takes the user index from the CQEs of queues that went while it was not known who reads the ring:
 * the library does now. Returns whether there may have been any. The lock is held. */
bool mlx5_cq_disown(struct mlx5_cq *cq);
/* Returns whether a program has moved the consumer index by itself. The lock is held. */
bool mlx5_cq_is_taken(struct mlx5_cq *cq);

#endif
