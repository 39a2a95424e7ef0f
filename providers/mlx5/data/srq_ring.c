/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_ring.c - the ring of an SRQ outside posting: its initialisation, and its links for a program
 * that posts by itself.
 *
 * PRM: Shared Receive Queue
 */
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"

int mlx5_srq_ring_init(struct mlx5_srq *srq)
{
	srq->head = 0;
	srq->run_end = srq->max_wr + 1;
	return provider_free_map_init(&srq->free_map, srq->wqes, srq->run_end);
}

void mlx5_srq_ring_free(struct mlx5_srq *srq)
{
	provider_free_map_destroy(&srq->free_map);
}

static bool srq_has_free(const struct mlx5_srq *srq, uint32_t index)
{
	return (index >= srq->head && index < srq->run_end) || srq->free_map.is_free[index];
}

bool mlx5_srq_is_taken(struct mlx5_srq *srq)
{
	bool taken;

	qlock_enter(&srq->lock);
	srq->taken |= srq_record_is_others(srq) || (srq->shown && !srq->posted);
	taken = srq->taken && !srq->followed;
	qlock_leave(&srq->lock);
	return taken;
}

/* ---- the list of free WQEs
 *
 * A program that posts by itself follows the links from the head that it got, and expects that each
 * completed WQE was linked to the tail, in the order of completions. The program links these WQEs
 * itself, or it polls through the library, which then must link them. So when the program queries
 * the SRQ, the free WQEs become a linked list, until the library posts again: the library uses WQEs
 * in the order of addresses.
 *
 * While there is a list, there is no run (srq.h): head and run_end have values that no WQE has, so
 * that the fast paths of posting and completing fail and the slow paths use the list. free_map has
 * all free WQEs except list_head.
 */

enum { NO_RUN = UINT16_MAX + 2 };

static void srq_list_begin(struct mlx5_srq *srq)
{
	uint32_t last = srq->head;

	for (uint32_t i = 1; i < srq->wqes; i++) {
		uint32_t index = (srq->head + i) & (srq->wqes - 1);

		if (!srq_has_free(srq, index))
			continue;
		srq_link(srq_wqe(srq, last), index);
		free_map_add(&srq->free_map, index);
		last = index;
	}
	srq->list_head = srq->head;
	srq->list_tail = last;
	srq->listed = true;
	srq->head = NO_RUN - 1;
	srq->run_end = NO_RUN;
}

void mlx5_srq_list_end(struct mlx5_srq *srq)
{
	if (!srq->listed)
		return;
	srq->listed = false;
	srq->head = srq->list_head;
	srq->run_end = srq->head + 1;
}

static void srq_list_add(struct mlx5_srq *srq, uint32_t index)
{
	srq_link(srq_wqe(srq, srq->list_tail), index);
	srq->list_tail = index;
	srq->followed |= srq_record_is_others(srq);
}

uint64_t mlx5_srq_complete(struct mlx5_srq *srq, uint32_t index)
{
	uint64_t wr_id;

	order_observe(srq);
	index &= srq->wqes - 1;
	qlock_enter(&srq->lock);
	wr_id = srq->wr_ids[index];
	srq_add_free(srq, index);
	if (srq->listed)
		srq_list_add(srq, index);
	qlock_leave(&srq->lock);
	return wr_id;
}

struct srq_ends mlx5_srq_list_show(struct mlx5_srq *srq)
{
	if (!srq->taken)
		srq_list_begin(srq);
	srq->shown = true;
	return (struct srq_ends){ srq->listed ? srq->list_head : srq->head, srq->list_tail };
}
