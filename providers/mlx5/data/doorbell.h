/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.h - orders WQE, doorbell record and doorbell register, for all posting and polling. Only
 * the SRQ's record is written elsewhere, in post_srq.c.
 *
 * The adapter may read a doorbell record at any time and trusts it, so everything that the record
 * covers must be in memory before the record. The register only signals that something is new, so
 * it must be written after the record.
 */
#ifndef PROVIDERS_MLX5_DATA_DOORBELL_H
#define PROVIDERS_MLX5_DATA_DOORBELL_H

#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/qp/qp.h"
#include "util/barrier.h"
#include "util/mmio.h"

#define DOORBELL_INLINE __attribute__((always_inline)) static inline

/* Returns the value for the register: the first eight bytes of the newest WQE, from which the
 * adapter learns the SQ's number and index. PRM: UAR page */
static inline __be64 doorbell_value(const void *ctrl)
{
	__be64 value;

	memcpy(&value, ctrl, sizeof(value));
	return value;
}

/* Does what bf_push() does, when the WQE does not wrap. It uses the widest loads, although narrower
 * stores have just written the WQEBBs: that costs a store-forwarding stall, but takes fewer cycles
 * in total. */
DOORBELL_INLINE void bf_push_wide(uint8_t *reg, const uint8_t *ctrl, uint32_t blocks)
{
	const uint8_t *const end = ctrl + (size_t)blocks * WQE_BB;

	do {
		mmio_copy_wc_64_wide(reg, ctrl);
		reg += WQE_BB;
		ctrl += WQE_BB;
	} while (ctrl != end);
}

/* Copies BLOCKS WQEBBs (at least one) from CTRL into the register. The WQE may wrap at the end of
 * the ring. Narrow loads suit the first half of a WQE, which was written last and mostly 8 bytes at
 * a time: see seg.h. WIDE is a constant, true for queues whose requests usually have several
 * WQEBBs. */
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

/* Returns the number of WQEBBs to push through BlueFlame for a single request of kind KIND
 * (PUSH_*): all of its BLOCKS, or 0. A batch without a request has 0 blocks, and is only rung. */
DOORBELL_INLINE uint32_t bf_push_length(const struct mlx5_sq *sq, uint32_t blocks,
					unsigned int kind)
{
	return blocks - 1 < sq->db.push[kind] ? blocks : 0;
}

/* Flushes the write-combining buffer, so that the doorbell in *HALF leaves the CPU now, before
 * anything else is written to this register. Then switches *HALF to the other half. */
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

/* Pushes through a shared register if its lock is free. Otherwise rings the neighbouring register
 * without waiting. The neighbour has no lock, although a program that got it from mlx5dv_init_obj()
 * may push through it. */
DOORBELL_INLINE void shared_ring(const struct mlx5_sq *sq, const uint8_t *ctrl, uint32_t push,
				 bool wide)
{
	struct mlx5_bfreg *bfreg = sq->db.bfreg;

	if (push && likely(qlock_try(&bfreg->lock))) {
		half_ring(sq, &bfreg->half, ctrl, push, wide);
		qlock_drop(&bfreg->lock);
	} else {
		mmio_store_be64(bfreg->reg, doorbell_value(ctrl));
		wc_flush_barrier();
	}
}

/* Publishes the WQEs up to PI (exclusive) in the doorbell record. Only then may the register be
 * written: the adapter reads WQEs only up to the record's value. */
DOORBELL_INLINE void send_record(struct mlx5_sq *sq, uint32_t pi)
{
	order_publish(&sq->wq);
	/* The adapter must see the WQE before the record that makes it valid. */
	dma_store_barrier();
	sq->db.dbrec[MLX5_SND_DBR] = htobe32(pi & FLD_MASK(CTRL_INDEX));
	/* The adapter must see the record before the register, which is mapped write-combining. */
	wc_start_barrier();
}

/* Publishes the WQEs up to PI (exclusive); the newest starts at CTRL. Pushes PUSH WQEBBs through
 * BlueFlame, or only rings if PUSH is 0. A push pays only for a single WQE, as the adapter fetches
 * all others from memory. USE describes the queue's register. */
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

/* Does what doorbell_send() does, for a single request of two or three BLOCKS that does not wrap,
 * through the queue's own register. Checks only whether it may push, and uses the widest stores. */
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

/* Does what doorbell_send() does, for a register that several queues share: takes its lock, as
 * BlueFlame writes of two queues must not mix. */
void mlx5_doorbell_send_other(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl, uint32_t push);

/* Does what doorbell_send() does, for routines that are not specialised for one kind of register,
 * for instance those that post a list. Testing the kind costs little compared with a list. */
DOORBELL_INLINE void doorbell_send_any(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl,
				       uint32_t push)
{
	if (likely(sq->db.use == BFREG_OWN))
		doorbell_send(sq, pi, ctrl, push, BFREG_OWN);
	else
		mlx5_doorbell_send_other(sq, pi, ctrl, push);
}

/* Publishes the receives up to HEAD (exclusive). Receives have only a record: the adapter reads it
 * when a message arrives. */
static inline void doorbell_recv(struct wq *wq, __be32 *dbrec, uint32_t head)
{
	wq->head = head;
	order_publish(wq);
	dma_store_barrier();
	dbrec[MLX5_RCV_DBR] = htobe32(head & FLD_MASK(CTRL_INDEX));
}

/* Publishes that the CQEs before CI have been read. The adapter may then overwrite them, so their
 * loads must come first. */
static inline void doorbell_cq_consumed(__be32 *dbrec, uint32_t ci)
{
	dma_load_barrier(); /* orders loads before later stores, too */
	dbrec[FLD_DWORD(CQ_DBREC_CI)] = htobe32(ci & FLD_MASK(CQ_ARM_CI));
}

/* Requests an event for the CQEs from CI on. SN distinguishes this request from the one that the
 * last event answered. Several threads may arm at once, so each word is stored atomically. */
static inline void doorbell_cq_arm(__be32 *dbrec, void *uar_page, uint32_t cqn, uint32_t ci,
				   uint32_t sn, bool solicited)
{
	uint32_t request = (sn & FLD_MASK(CQ_ARM_SN)) << FLD_SHIFT(CQ_ARM_SN) |
			   (ci & FLD_MASK(CQ_ARM_CI)) |
			   (solicited ? MLX5_CQ_DB_REQ_NOT_SOL : MLX5_CQ_DB_REQ_NOT);
	__be32 words[2] = { htobe32(request), htobe32(cqn) };
	__be64 value;

	__atomic_store_n(&dbrec[FLD_DWORD(CQ_DBREC_ARM)], words[0], __ATOMIC_RELAXED);
	/* The adapter reads the record when the register is written, so the record must be visible
	 * before. */
	wc_start_barrier();
	memcpy(&value, words, sizeof(value));
	mmio_store_be64((uint8_t *)uar_page + MLX5_CQ_DOORBELL, value);
	wc_flush_barrier();
}

#endif
