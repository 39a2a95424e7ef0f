/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_run.c - see cqe_run.h. The entries of a run are software's from the title on, so the CQEs
 * that it stands for are written there.
 */
#include <string.h>

#include "prm/mlx5/mini_cqe.h"
#include "providers/mlx5/data/cqe.h"
#include "providers/mlx5/data/cqe_run.h"

enum { RUN_MAX = 64 };

/* Of mini CQEs, those that the ring has are copied before CQEs are written over them. */
struct cqe_run {
	uint32_t title; /* its place in the ring */
	uint32_t count;
	uint8_t mini[RUN_MAX][PRM_MINI_CQE_SIZE];
};

uint32_t mlx5_cqe_run_length(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	uint32_t count = be32toh(title->byte_cnt);

	return count > RUN_MAX || count > cq->mask + 1 ? 0 : count;
}

/* A message without a counter is the next one. */
uint32_t mlx5_cqe_run_counter(const struct mlx5_cqe64 *title, uint32_t i)
{
	return (uint16_t)(be16toh(title->wqe_counter) + i);
}

static bool run_read(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title, struct cqe_run *run)
{
	size_t at = (size_t)((const uint8_t *)title - cq->ring);

	run->title = (uint32_t)(at >> cq->entry_log);
	run->count = mlx5_cqe_run_length(cq, title);
	if (!run->count) {
		verbs_warn("poll_cq: cq 0x%x: a run of %u compressed CQEs, must be 1 to %u",
			   cq->cqn, be32toh(title->byte_cnt),
			   min_of((uint32_t)RUN_MAX, cq->mask + 1));
		return false;
	}
	for (uint32_t i = 0; i < run->count; i += PRM_MINI_CQES)
		memcpy(run->mini[i], cqe_at(cq, run->title + (i ? i : 1)),
		       sizeof(run->mini[i]) * PRM_MINI_CQES);
	return true;
}

/* What the mini CQE has is its own. */
static void run_put(const struct mlx5_cq *cq, const struct cqe_run *run, uint32_t i)
{
	const struct mlx5_cqe64 *title = cqe_at(cq, run->title);
	struct mlx5_cqe64 *cqe = cqe_at(cq, run->title + i);
	const uint8_t *mini = run->mini[i];
	uint8_t lap = run->title + i > cq->mask ? MLX5_CQE_OWNER_MASK : 0;
	uint32_t counter = mlx5_cqe_run_counter(title, i), opcode;

	memmove(cqe, title, offsetof(struct mlx5_cqe64, op_own));
	cqe->byte_cnt = htobe32(fld_get(mini, MINI_CQE_BYTE_COUNT));
	if (opcode_is_request(cqe_opcode(title))) {
		counter = fld_get(mini, MINI_CQE_WQE_COUNTER);
		opcode = fld_get(mini, MINI_CQE_SEND_OPCODE);
		cqe->sop_drop_qpn = htobe32(opcode << FLD_SHIFT(CQE_SEND_OPCODE) | cqe_qpn(cqe));
	}
	cqe->wqe_counter = htobe16((uint16_t)counter);
	__atomic_store_n(&cqe->op_own, (title->op_own & ~FLD_BITS(CQE_FORMAT)) ^ lap,
			 __ATOMIC_RELAXED);
}

int mlx5_cqe_run_take(const struct mlx5_cq *cq, const struct mlx5_cqe64 *title)
{
	struct cqe_run run;

	if (!run_read(cq, title, &run))
		return IBV_WC_GENERAL_ERR;
	while (run.count--)
		run_put(cq, &run, run.count);
	return IBV_WC_SUCCESS;
}
