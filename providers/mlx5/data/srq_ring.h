/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_ring.h - the free WQEs of an SRQ: initialised with a new ring, returned by completions, and
 * linked for programs that post by themselves.
 *
 * PRM: Shared Receive Queue
 */
#ifndef PROVIDERS_MLX5_DATA_SRQ_RING_H
#define PROVIDERS_MLX5_DATA_SRQ_RING_H

#include "providers/mlx5/srq.h"

uint64_t mlx5_srq_complete(struct mlx5_srq *srq, uint32_t index);

/* Marks max_wr + 1 WQEs of a new ring as free; the ring itself is not written. Returns 0, or ENOMEM
 * without memory for the list. */
int mlx5_srq_ring_init(struct mlx5_srq *srq);
void mlx5_srq_ring_free(struct mlx5_srq *srq);

/* Ends the linked list of free WQEs, if there is one, because the library posts. The caller holds
 * the lock. */
void mlx5_srq_list_end(struct mlx5_srq *srq);

struct srq_ends {
	uint32_t head, tail;
};

/* Links the free WQEs. If a program already posts by itself, keeps the links of the program. The
 * caller holds the lock. */
struct srq_ends mlx5_srq_list_show(struct mlx5_srq *srq);

/* ---- who posts
 *
 * A program that posts by itself moves the doorbell record away from the library's count. The
 * record has only 16 bits, so both may become equal again by chance. If the library has never
 * posted, it is certain that the program does.
 */

static inline bool srq_record_is_others(const struct mlx5_srq *srq)
{
	return srq->shown &&
	       be32toh(srq->dbrec[MLX5_RCV_DBR]) != (srq->posted & FLD_MASK(CTRL_INDEX));
}

/* Returns the ends of the list of free WQEs for a program that may post by itself. Links all free
 * WQEs, because such a program follows the links and knows no other list. */
static inline struct srq_ends srq_show(struct mlx5_srq *srq)
{
	struct srq_ends ends;

	qlock_enter(&srq->lock);
	srq->taken |= srq_record_is_others(srq);
	if (likely(srq->listed))
		ends = (struct srq_ends){ srq->list_head, srq->list_tail };
	else
		ends = mlx5_srq_list_show(srq);
	qlock_leave(&srq->lock);
	return ends;
}

/* Returns whether a program posts by itself, as mlx5dv_init_obj() enables it to, and also links
 * completed WQEs. Called for each message. */
bool mlx5_srq_is_taken(struct mlx5_srq *srq);

#endif
