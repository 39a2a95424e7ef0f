/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.c - see eq.h.
 */
#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "providers/mlx5/vfio/eq.h"
#include "util/alloc.h"
#include "util/barrier.h"
#include "util/bits.h"

enum { PAGE = 1 << VFIO_LOG_PAGE };

static uint8_t *entry_at(const struct vfio_ring *ring, uint32_t index)
{
	return (uint8_t *)ring->dma.memory + (size_t)index * PRM_EQE_SIZE;
}

int mlx5_vfio_ring_alloc(struct vfio_space *space, unsigned int log_size, struct vfio_ring *ring)
{
	const uint64_t bytes = (uint64_t)PRM_EQE_SIZE << log_size;
	int ret = mlx5_vfio_dma_alloc(space, max_of(bytes, (uint64_t)PAGE), &ring->dma);

	if (ret)
		return ret;
	ring->log_size = log_size;
	ring->ci = 0;
	for (uint32_t i = 0; i < 1u << log_size; i++)
		fld_set(entry_at(ring, i), EQE_OWNER, 1);
	return 0;
}

static uint8_t *entry_next(const struct vfio_ring *ring)
{
	return entry_at(ring, ring->ci & ((1u << ring->log_size) - 1));
}

bool mlx5_vfio_ring_has_next(const struct vfio_ring *ring)
{
	/* the owner is the last bit of an entry, because the adapter writes it last */
	const uint8_t owner =
		__atomic_load_n(entry_next(ring) + PRM_EQE_SIZE - 1, __ATOMIC_RELAXED) & 1;

	return owner == (ring->ci >> ring->log_size & 1);
}

const uint8_t *mlx5_vfio_ring_next(struct vfio_ring *ring)
{
	const uint8_t *entry = entry_next(ring);

	if (!mlx5_vfio_ring_has_next(ring))
		return NULL;
	dma_load_barrier(); /* reads the rest after the owner bit, which the adapter writes last */
	ring->ci++;
	return entry;
}

int mlx5_vfio_eq_create(struct vfio_cmdq *cmdq, const struct vfio_ring *ring, const void *in,
			uint32_t inlen, void *out, uint32_t outlen, bool *is_answered)
{
	const uint32_t whole = PRM_CREATE_EQ_IN_SIZE + ring->dma.shape.count * 8;
	uint8_t *command = calloc_for("mlx5dv_devx_create_eq", 1, whole), *eqc;
	int ret;

	if (!command)
		return ENOMEM;
	memcpy(command, in, min_of(inlen, (uint32_t)PRM_CREATE_EQ_IN_SIZE));
	fld_set(command, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	eqc = fld_at(command, CREATE_EQ_IN_EQC);
	fld_set(eqc, EQC_LOG_EQ_SIZE, ring->log_size);
	fld_set(eqc, EQC_PAGE_OFFSET, 0);
	fld_set(eqc, EQC_LOG_PAGE_SIZE, ring->dma.shape.log_page - VFIO_LOG_PAGE);
	mlx5_vfio_dma_put_pages(&ring->dma, fld_at(command, CREATE_EQ_IN_PAS));
	ret = mlx5_vfio_cmdq_run(cmdq, VFIO_LANE_COMMANDS, command, whole, out, outlen,
				 is_answered);
	free(command);
	return ret;
}

int mlx5_vfio_eq_destroy(struct vfio_cmdq *cmdq, uint32_t eqn)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_EQ);
	fld_set(in, DESTROY_EQ_IN_EQ_NUMBER, eqn);
	ret = mlx5_vfio_cmdq_run(cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out, sizeof(out), NULL);
	return vfio_destroy_result(cmdq, ret);
}
