/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.h - the only place that orders WQE, doorbell record and doorbell, for all that post and
 * poll; but an SRQ's record is written by post_srq.c.
 *
 * The adapter may look at a doorbell record at any time, and believes it: everything that the
 * record covers must be in memory before it. The register only says that something is new, and must
 * not arrive before the record.
 */
#ifndef PROVIDERS_MLX5_DATA_DOORBELL_H
#define PROVIDERS_MLX5_DATA_DOORBELL_H

#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/qp.h"
#include "util/barrier.h"
#include "util/mmio.h"

#define DOORBELL_INLINE __attribute__((always_inline)) static inline

/* Returns the first eight bytes of the newest WQE, which is what the register wants to hear. */
static inline __be64 doorbell_value(const void *ctrl)
{
	__be64 value;

	memcpy(&value, ctrl, sizeof(value));
	return value;
}

/* Does what bf_push() does where the ring does not end between the WQEBBs. Words of them were
 * written by narrower stores just before; it takes fewer cycles all the same. */
DOORBELL_INLINE void bf_push_wide(uint8_t *reg, const uint8_t *ctrl, uint32_t blocks)
{
	const uint8_t *const end = ctrl + (size_t)blocks * WQE_BB;

	do {
		mmio_copy_wc_64_wide(reg, ctrl);
		reg += WQE_BB;
		ctrl += WQE_BB;
	} while (ctrl != end);
}

/* Copies BLOCKS WQEBBs, one at least, from CTRL on into the register: a WQE starts on a WQEBB, and
 * may go on at the start of the ring. The first half of a WQE is what was written last, and mostly
 * 8 bytes at a time: see seg.h. WIDE is a constant, and true for queues whose requests mostly have
 * several WQEBBs. */
DOORBELL_INLINE void bf_push(const struct mlx5_sq *sq, uint8_t *reg, const uint8_t *ctrl,
			     uint32_t blocks, bool wide)
{
	if (wide && likely(ctrl + (size_t)blocks * WQE_BB <= sq->end)) {
		bf_push_wide(reg, ctrl, blocks);
		return;
	}
	mmio_copy_wc_64_fresh(reg, ctrl);
	while (unlikely(--blocks)) {
		reg += WQE_BB;
		ctrl += WQE_BB;
		if (unlikely(ctrl == sq->end))
			ctrl = sq->buf;
		mmio_copy_wc_64(reg, ctrl);
	}
}

/* Returns how many WQEBBs of a single request of BLOCKS, which is KIND (PUSH_*), go through
 * BlueFlame: all or none. A request of none, as of a batch without a setter, is rung. */
DOORBELL_INLINE uint32_t bf_push_length(const struct mlx5_sq *sq, uint32_t blocks,
					unsigned int kind)
{
	return blocks - 1 < sq->db.push[kind] ? blocks : 0;
}

/* Sees to it that what has been written to *HALF of a register leaves the write-combining buffer
 * now, and before anybody rings this register again. *HALF becomes the other one. */
DOORBELL_INLINE void half_flush(const struct mlx5_sq *sq, uint8_t **half)
{
	wc_flush_barrier();
	*half = (uint8_t *)((uintptr_t)*half ^ sq->db.toggle);
}

DOORBELL_INLINE void half_ring(const struct mlx5_sq *sq, uint8_t **half, const uint8_t *ctrl,
			       uint32_t push, bool wide)
{
	if (push)
		bf_push(sq, *half, ctrl, push, wide);
	else
		mmio_store_be64(*half, doorbell_value(ctrl));
	half_flush(sq, half);
}

/* Pushes through a register of many queues if it is free, or else rings its neighbour.
 */
DOORBELL_INLINE void shared_ring(const struct mlx5_sq *sq, const uint8_t *ctrl, uint32_t push,
				 bool wide)
{
	struct mlx5_bfreg *bfreg = sq->db.bfreg;

	if (push && likely(qlock_try(&bfreg->lock))) {
		half_ring(sq, &bfreg->half, ctrl, push, wide);
		qlock_drop(&bfreg->lock);
	} else {
		mmio_store_be64(sq->db.reg, doorbell_value(ctrl));
		wc_flush_barrier();
	}
}

/* WQEs up to PI (exclusive) are complete, which the record says now. The register may be told. */
DOORBELL_INLINE void send_record(struct mlx5_sq *sq, uint32_t pi)
{
	order_publish(&sq->wq);
	/* The WQE comes before the record that makes it valid. */
	dma_store_barrier();
	sq->db.dbrec[MLX5_SND_DBR] = htobe32(pi & FLD_MASK(CTRL_INDEX));
	/* The record comes before the register, which is mapped write-combining. */
	wc_start_barrier();
}

/* WQEs up to PI (exclusive) are complete, the newest starts at CTRL. PUSH WQEBBs of it go through
 * BlueFlame, which is for a single WQE: a longer list is fetched by the adapter anyway. When PUSH
 * is 0, the register is only told that there is something. USE is that of the queue's register. */
DOORBELL_INLINE void doorbell_send_as(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl,
				      uint32_t push, enum bfreg_use use, bool wide)
{
	send_record(sq, pi);
	if (use == BFREG_OWN)
		half_ring(sq, &sq->db.reg, ctrl, push, wide);
	else if (use == BFREG_DOMAIN)
		half_ring(sq, &sq->db.bfreg->half, ctrl, push, wide);
	else
		shared_ring(sq, ctrl, push, wide);
}

DOORBELL_INLINE void doorbell_send(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl,
				   uint32_t push, enum bfreg_use use)
{
	doorbell_send_as(sq, pi, ctrl, push, use, false);
}

/* Does what doorbell_send() does for a single request of BLOCKS WQEBBs, two or three, which end
 * before the ring does: it asks for nothing else, and its stores are the widest. The register is
 * the queue's own. */
DOORBELL_INLINE void doorbell_send_blocks(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl,
					  uint32_t blocks)
{
	uint8_t *const reg = sq->db.reg;

	send_record(sq, pi);
	if (likely(bf_push_length(sq, blocks, PUSH_PLAIN))) {
		mmio_copy_wc_64_wide(reg, ctrl);
		mmio_copy_wc_64_wide(reg + WQE_BB, ctrl + WQE_BB);
		if (blocks == 3)
			mmio_copy_wc_64_wide(reg + (size_t)2 * WQE_BB, ctrl + (size_t)2 * WQE_BB);
	} else {
		mmio_store_be64(reg, doorbell_value(ctrl));
	}
	half_flush(sq, &sq->db.reg);
}

/* Does what doorbell_send() does, for a register that is not the queue's own. */
void mlx5_doorbell_send_other(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl, uint32_t push);

/* Does what doorbell_send() does, for routines that are not chosen by the register, as those that
 * post a list. */
DOORBELL_INLINE void doorbell_send_any(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl,
				       uint32_t push)
{
	if (likely(sq->db.use == BFREG_OWN))
		doorbell_send(sq, pi, ctrl, push, BFREG_OWN);
	else
		mlx5_doorbell_send_other(sq, pi, ctrl, push);
}

/* Notes that receives up to HEAD (exclusive) are complete. They have a record and no register: the
 * adapter looks when a message arrives. */
static inline void doorbell_recv(struct wq *wq, __be32 *dbrec, uint32_t head)
{
	wq->head = head;
	order_publish(wq);
	dma_store_barrier();
	dbrec[MLX5_RCV_DBR] = htobe32(head & FLD_MASK(CTRL_INDEX));
}

/* Notes that CQEs before CI have been read. The adapter may overwrite them from here on, so the
 * reads come first. */
static inline void doorbell_cq_consumed(__be32 *dbrec, uint32_t ci)
{
	dma_load_barrier(); /* it orders loads before later stores, too */
	dbrec[FLD_DWORD(CQ_DBREC_CI)] = htobe32(ci & FLD_MASK(CQ_ARM_CI));
}

/* Asks for an event for CQEs from CI on. SN tells this request from the one that the last event
 * answered. Several threads may ask at once, so each store is whole. */
static inline void doorbell_cq_arm(__be32 *dbrec, void *uar_page, uint32_t cqn, uint32_t ci,
				   uint32_t sn, bool solicited)
{
	uint32_t request = (sn & FLD_MASK(CQ_ARM_SN)) << FLD_SHIFT(CQ_ARM_SN) |
			   (ci & FLD_MASK(CQ_ARM_CI)) |
			   (solicited ? MLX5_CQ_DB_REQ_NOT_SOL : MLX5_CQ_DB_REQ_NOT);
	__be32 words[2] = { htobe32(request), htobe32(cqn) };
	__be64 value;

	__atomic_store_n(&dbrec[FLD_DWORD(CQ_DBREC_ARM)], words[0], __ATOMIC_RELAXED);
	/* The adapter reads the record when the register arrives. */
	wc_start_barrier();
	memcpy(&value, words, sizeof(value));
	mmio_store_be64((uint8_t *)uar_page + MLX5_CQ_DOORBELL, value);
	wc_flush_barrier();
}

#endif
