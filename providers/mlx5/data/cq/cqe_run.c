/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_run.c - expands compressed runs: see cqe_run.h. Software owns all entries of a run from its
 * title on, so the expanded CQEs are written there.
 * PRM: CQE compression
 */
#include <string.h>

#include "prm/mlx5/mini_cqe.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/cq/cqe_run.h"

#include <rdma/mlx5-abi.h>

uint32_t mlx5_cqe_run_length(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	uint32_t count = be32toh(title->byte_cnt);

	return count > cq->mask + 1 ? 0 : count;
}

static uint32_t cqe_place(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	return (uint32_t)((size_t)((const uint8_t *)cqe - cq->ring) >> cq->entry_log);
}

/* Returns the array that begins with mini CQE I. It lies in the entry I places after the title; the
 * first array lies directly after the title. */
static const uint8_t *run_array(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title,
				uint32_t i)
{
	return (const uint8_t *)cqe_at(cq, cqe_place(cq, title) + (i ? i : 1));
}

enum counts { COUNTS_IN_TITLE, COUNTS_REQUESTS, COUNTS_STRIDES };

static enum counts run_counts(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	if (opcode_is_request(cqe_opcode(title)))
		return COUNTS_REQUESTS;
	return cq->mini_cqe_format == MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX ? COUNTS_STRIDES
									 : COUNTS_IN_TITLE;
}

static inline uint16_t mini_counter(enum counts counts, const struct mlx5_cqe64 *title,
				    const uint8_t *mini, uint32_t i)
{
	if (counts == COUNTS_REQUESTS)
		return (uint16_t)fld_get(mini, MINI_CQE_WQE_COUNTER);
	if (counts == COUNTS_STRIDES)
		return (uint16_t)fld_get(mini, MINI_CQE_STRIDE);
	/* Messages without a counter of their own are consecutive, as a receive queue hands out its
	 * WQEs in order. */
	return (uint16_t)(be16toh(title->wqe_counter) + i);
}

uint32_t mlx5_cqe_run_counter(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, uint32_t i)
{
	const uint8_t *array = run_array(cq, title, i - i % PRM_MINI_CQES);

	return mini_counter(run_counts(cq, title), title,
			    array + i % PRM_MINI_CQES * PRM_MINI_CQE_SIZE, i);
}

struct run {
	struct mlx5_cqe64 cqe;
	uint32_t place;
	enum counts counts;
};

/* Writes CQE I of the run: the common fields, and those of its mini CQE. The ring thus has only
 * ordinary CQEs, and polling needs no second decoder. */
static inline void run_put(const struct mlx5_cq *cq, const struct run *run, const uint8_t *mini,
			   uint32_t i)
{
	uint32_t place = run->place + i, opcode;
	uint8_t lap = place > cq->mask ? MLX5_CQE_OWNER_MASK : 0;
	struct mlx5_cqe64 *cqe = cqe_at(cq, place);

	memcpy(cqe, &run->cqe, offsetof(struct mlx5_cqe64, op_own));
	cqe->byte_cnt = htobe32(fld_get(mini, MINI_CQE_BYTE_COUNT));
	cqe->wqe_counter = htobe16(mini_counter(run->counts, &run->cqe, mini, i));
	/* a single store, because other threads peek without the lock */
	__atomic_store_n(&cqe->op_own, run->cqe.op_own ^ lap, __ATOMIC_RELAXED);
	if (run->counts != COUNTS_REQUESTS)
		return;
	opcode = fld_get(mini, MINI_CQE_SEND_OPCODE);
	cqe->sop_drop_qpn = htobe32(opcode << FLD_SHIFT(CQE_SEND_OPCODE) | cqe_qpn(&run->cqe));
}

/* Expands one array. The expanded CQEs overwrite the entry with the array, so the array is copied
 * first. */
static void run_put_array(const struct mlx5_cq *cq, const struct run *run, const uint8_t *from,
			  uint32_t first, uint32_t end)
{
	uint8_t array[PRM_MINI_CQES * PRM_MINI_CQE_SIZE];

	memcpy(array, from, sizeof(array));
	while (end-- > first)
		run_put(cq, run, array + (end - first) * PRM_MINI_CQE_SIZE, end);
}

int mlx5_cqe_run_take(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	struct run run = { .cqe = *title,
			   .place = cqe_place(cq, title),
			   .counts = run_counts(cq, title) };
	uint32_t end = mlx5_cqe_run_length(cq, title);

	if (!end) {
		verbs_warn("poll_cq: cq 0x%x: a run of %u compressed CQEs, must be 1 to %u",
			   cq->cqn, be32toh(title->byte_cnt), cq->mask + 1);
		return IBV_WC_GENERAL_ERR;
	}
	run.cqe.op_own &= (uint8_t)~FLD_BITS(CQE_FORMAT);
	while (end) {
		uint32_t first = (end - 1) / PRM_MINI_CQES * PRM_MINI_CQES;

		run_put_array(cq, &run, run_array(cq, title, first), first, end);
		end = first;
	}
	return IBV_WC_SUCCESS;
}
