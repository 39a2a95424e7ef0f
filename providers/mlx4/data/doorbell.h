/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.h - the only place that orders WQE, doorbell record and register.
 *
 * The ownership bit in the first word of a send WQE posts it: the rest of the WQE, and the stamps
 * in front of it, must be in memory before. The register only signals that something is new. A
 * receive is posted by the doorbell record. Decision: docs/adr/0012.
 */
#ifndef PROVIDERS_MLX4_DATA_DOORBELL_H
#define PROVIDERS_MLX4_DATA_DOORBELL_H

#include <endian.h>

#include "prm/mlx4/uar.h"
#include "providers/common/branch.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/qp.h"
#include "util/barrier.h"
#include "util/mmio.h"
#include "util/order.h"

#define DOORBELL_INLINE __attribute__((always_inline)) static inline

/* Rings the doorbell for posted WQEs. The barrier makes them visible before the register's write,
 * after which the adapter reads them. */
DOORBELL_INLINE void doorbell_send(const struct mlx4_sq *sq)
{
	wc_start_barrier();
	mmio_store_be32(sq->doorbell, sq->qpn_be);
}

/* Copies a WQE of SIZE bytes to the register, whose two buffers are used in turns. Register sizes
 * are powers of two, so a buffer starts at a multiple of its size. Pieces after the first are
 * inline data. */
DOORBELL_INLINE void blueflame_copy(struct mlx4_blueflame *bf, const uint8_t *ctrl, uint32_t size)
{
	uint8_t *reg = bf->next;

	wc_start_barrier();
	mmio_copy_wc_64_fresh(reg, ctrl);
	for (uint32_t at = M4_PIECE; unlikely(at < size); at += M4_PIECE)
		mmio_copy_wc_64_wide(reg + at, ctrl + at);
	wc_flush_barrier();
	bf->next = (uint8_t *)((uintptr_t)reg ^ bf->half);
}

/* Does what blueflame_copy() does, under bf->lock, for processes with several threads. */
void mlx4_blueflame_copy_locked(struct mlx4_blueflame *bf, const uint8_t *ctrl, uint32_t size);

/* Posts the WQE of SIZE bytes at CTRL by pushing it through the BlueFlame register. The copy must
 * name the QP and the index, as the adapter need not read the ring. bf->lock guards the register,
 * which all queues of the context share. */
DOORBELL_INLINE void doorbell_push(struct mlx4_sq *sq, uint8_t *ctrl, uint32_t size,
				   uint32_t owner_opcode, uint32_t index)
{
	struct mlx4_blueflame *bf = sq->bf;
	__be32 *words = (__be32 *)ctrl;

	words[1] |= sq->qpn_be;
	dma_store_barrier();
	words[0] = htobe32(owner_opcode | (index & 0xffff) << FLD_SHIFT(M4_CTRL_INDEX));
	if (qlock_is_idle(&bf->lock))
		blueflame_copy(bf, ctrl, size);
	else
		mlx4_blueflame_copy_locked(bf, ctrl, size);
}

/* Returns the address of the count of posted receives: the lower 16 bits of the record. The upper
 * half stays 0, so one 2-byte store updates the count. */
DOORBELL_INLINE __be16 *record_count(__be32 *dbrec)
{
	return (__be16 *)dbrec + 1;
}

/* Publishes that HEAD receives have been posted. The adapter may use a WQE as soon as it sees the
 * count, so the barrier comes first. */
DOORBELL_INLINE void doorbell_recv(__be32 *dbrec, uint32_t head)
{
	dma_store_barrier();
	*record_count(dbrec) = htobe16((uint16_t)head);
}

DOORBELL_INLINE void doorbell_recv_more(__be32 *dbrec, uint32_t n)
{
	doorbell_recv(dbrec, be16toh(*record_count(dbrec)) + n);
}

DOORBELL_INLINE void doorbell_cq_consumed(__be32 *dbrec, uint32_t ci)
{
	dma_load_barrier();
	dbrec[FLD_DWORD(M4_CQ_RECORD_CI)] = htobe32(ci & FLD_MASK(M4_ARM_CI));
}

DOORBELL_INLINE void doorbell_cq_arm(__be32 *dbrec, uint8_t *reg, uint32_t cqn, uint32_t ci,
				     uint32_t sn, bool solicited_only)
{
	uint32_t command = (sn & FLD_MASK(M4_ARM_SN)) << FLD_SHIFT(M4_ARM_SN) |
			   (uint32_t)(solicited_only ? M4_ARM_SOLICITED : M4_ARM_ANY)
				   << FLD_SHIFT(M4_ARM_COMMAND);

	ci &= FLD_MASK(M4_ARM_CI);
	dbrec[FLD_DWORD(M4_CQ_RECORD_ARM)] = htobe32(command | ci);
	wc_start_barrier();
	mmio_store_be64(reg, htobe64((uint64_t)(command | cqn) << 32 | ci));
}

#endif
