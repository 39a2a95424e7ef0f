/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_run.c - see cqe_run.h. The entries of a run are software's from the title on, so the CQEs
 * that it stands for are written there.
 */
#include <string.h>

#include "prm/mlx5/mini_cqe.h"
#include "providers/mlx5/data/cqe.h"
#include "providers/mlx5/data/cqe_run.h"

#include <rdma/mlx5-abi.h>

uint32_t mlx5_cqe_run_length(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	uint32_t count = be32toh(title->byte_cnt);

	return count > cq->mask + 1 ? 0 : count;
}

/* The function returns the place of a CQE in the ring. */
static uint32_t cqe_place(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	return (uint32_t)((size_t)((const uint8_t *)cqe - cq->ring) >> cq->entry_log);
}

/* The function returns the array of the mini CQEs from I on, of which each array has the first. */
static const uint8_t *run_array(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title,
				uint32_t i)
{
	return (const uint8_t *)cqe_at(cq, cqe_place(cq, title) + (i ? i : 1));
}

static uint32_t mini_counter(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title,
			     const uint8_t *mini, uint32_t i)
{
	if (opcode_is_request(cqe_opcode(title)))
		return (uint32_t)fld_get(mini, MINI_CQE_WQE_COUNTER);
	if (cq->mini_cqe_format == MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX)
		return (uint32_t)fld_get(mini, MINI_CQE_STRIDE);
	/* A message without a counter is the next one. */
	return (uint16_t)(be16toh(title->wqe_counter) + i);
}

uint32_t mlx5_cqe_run_counter(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, uint32_t i)
{
	const uint8_t *array = run_array(cq, title, i - i % PRM_MINI_CQES);

	return mini_counter(cq, title, array + i % PRM_MINI_CQES * PRM_MINI_CQE_SIZE, i);
}

/* What the mini CQE has is its own. */
static void run_put(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, const uint8_t *mini,
		    uint32_t i)
{
	uint32_t place = cqe_place(cq, title) + i, opcode;
	uint32_t counter = mini_counter(cq, title, mini, i);
	uint8_t lap = place > cq->mask ? MLX5_CQE_OWNER_MASK : 0;
	struct mlx5_cqe64 *cqe = cqe_at(cq, place);

	memmove(cqe, title, offsetof(struct mlx5_cqe64, op_own));
	cqe->byte_cnt = htobe32(fld_get(mini, MINI_CQE_BYTE_COUNT));
	if (opcode_is_request(cqe_opcode(title))) {
		opcode = fld_get(mini, MINI_CQE_SEND_OPCODE);
		cqe->sop_drop_qpn = htobe32(opcode << FLD_SHIFT(CQE_SEND_OPCODE) | cqe_qpn(cqe));
	}
	cqe->wqe_counter = htobe16((uint16_t)counter);
	__atomic_store_n(&cqe->op_own, (title->op_own & ~FLD_BITS(CQE_FORMAT)) ^ lap,
			 __ATOMIC_RELAXED);
}

/* An array is in an entry of its own completions, over which their CQEs are written: it is copied
 * before. The title, from which all are made, comes last. */
static void run_put_array(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, uint32_t first,
			  uint32_t end)
{
	uint8_t array[PRM_MINI_CQES * PRM_MINI_CQE_SIZE];

	memcpy(array, run_array(cq, title, first), sizeof(array));
	while (end-- > first)
		run_put(cq, title, array + (end - first) * PRM_MINI_CQE_SIZE, end);
}

int mlx5_cqe_run_take(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	uint32_t end = mlx5_cqe_run_length(cq, title);

	if (!end) {
		verbs_warn("poll_cq: cq 0x%x: a run of %u compressed CQEs, must be 1 to %u",
			   cq->cqn, be32toh(title->byte_cnt), cq->mask + 1);
		return IBV_WC_GENERAL_ERR;
	}
	while (end) {
		uint32_t first = (end - 1) / PRM_MINI_CQES * PRM_MINI_CQES;

		run_put_array(cq, title, first, end);
		end = first;
	}
	return IBV_WC_SUCCESS;
}
