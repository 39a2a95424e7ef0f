/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_size.c - computes the sizes of a QP's queues from the requested capacities.
 *
 * The kernel computes the receive queue's size from the same capacities; the create command passes
 * the send queue's. The slots that the adapter prefetches ahead of the last WQE must stay free, and
 * one slot more.
 */
#include <errno.h>

#include "providers/mlx4/qp.h"

/* Limits of mlx4_ib. LOG_MAX_SLOTS: log2 of the most slots, whatever their size. MAX_SPARE: number
 * of slots that must stay free if slots are smallest. */
enum { LOG_MAX_SLOTS = 14, MAX_RECV_SGE = 32, MAX_SPARE = M4_READ_AHEAD / M4_PIECE + 1 };

static int size_refuse(const char *field, uint32_t value, uint32_t limit)
{
	verbs_warn("create_qp: cap.%s is %u, limit %u", field, value, limit);
	return EINVAL;
}

/* Returns the room for inline data. Each piece of a WQE has its own inline header, so the room is
 * less than the slot. */
uint32_t mlx4_inline_room(uint32_t head, uint32_t slot)
{
	uint32_t room = 0;

	for (uint32_t at = head, end; at < slot; at = end) {
		end = min_of((at / M4_PIECE + 1) * M4_PIECE, slot);
		room += end - at - M4_INLINE_HEADER;
	}
	return room;
}

static uint32_t slot_log_for(const struct ibv_qp_cap *cap, uint32_t head)
{
	uint64_t sges = max_of(cap->max_send_sge, 1u);
	uint32_t log = max_of(log2_ceil(head + sges * M4_SEG), (unsigned int)M4_MIN_SLOT_LOG);

	while (log < M4_MAX_SLOT_LOG && mlx4_inline_room(head, 1u << log) < cap->max_inline_data)
		log++;
	return log;
}

static int size_sends(const struct ibv_qp_cap *cap, uint32_t head, struct mlx4_qp_size *size)
{
	const uint32_t max_sge = head < M4_MAX_SEND ? (M4_MAX_SEND - head) / M4_SEG : 0;
	uint32_t slot, slots;

	if (head > M4_MAX_SEND) {
		verbs_warn("create_qp: max_tso_header is too long for a WQE of %d bytes",
			   M4_MAX_SEND);
		return EINVAL;
	}
	if (cap->max_send_sge > max_sge)
		return size_refuse("max_send_sge", cap->max_send_sge, max_sge);
	if (cap->max_inline_data > mlx4_inline_room(head, M4_MAX_SEND))
		return size_refuse("max_inline_data", cap->max_inline_data,
				   mlx4_inline_room(head, M4_MAX_SEND));
	size->sq_slot_log = slot_log_for(cap, head);
	slot = 1u << size->sq_slot_log;
	size->sq_spare = M4_READ_AHEAD / slot + 1;
	if (cap->max_send_wr > (1u << LOG_MAX_SLOTS) - size->sq_spare)
		return size_refuse("max_send_wr", cap->max_send_wr,
				   (1u << LOG_MAX_SLOTS) - size->sq_spare);
	slots = max_of(cap->max_send_wr, 1u) + size->sq_spare;
	size->sq_slots = (uint32_t)pow2_ceil(slots);
	slot = min_of(slot, (uint32_t)M4_MAX_SEND);
	size->sq_max_sge = (slot - head) / M4_SEG;
	size->sq_max_inline = mlx4_inline_room(head, slot);
	return 0;
}

static int size_receives(const struct ibv_qp_cap *cap, struct mlx4_qp_size *size)
{
	if (cap->max_recv_wr > (1u << LOG_MAX_SLOTS) - MAX_SPARE)
		return size_refuse("max_recv_wr", cap->max_recv_wr,
				   (1u << LOG_MAX_SLOTS) - MAX_SPARE);
	if (cap->max_recv_sge > MAX_RECV_SGE)
		return size_refuse("max_recv_sge", cap->max_recv_sge, MAX_RECV_SGE);
	size->rq_wqes = (uint32_t)pow2_ceil(cap->max_recv_wr);
	size->rq_stride_log = log2_ceil(pow2_ceil(cap->max_recv_sge) * M4_SEG);
	return 0;
}

/* Places the ring with larger WQEs first, or the send ring if both are equal. The kernel expects
 * this order, as the larger WQEs are then aligned. */
static void place_rings(struct mlx4_qp_size *size)
{
	size_t sends = (size_t)size->sq_slots << size->sq_slot_log;
	size_t receives = (size_t)size->rq_wqes << size->rq_stride_log;

	if (size->rq_stride_log > size->sq_slot_log)
		size->sq_offset = receives;
	else
		size->rq_offset = sends;
	size->bytes = sends + receives;
}

int mlx4_qp_size(const struct ibv_qp_cap *cap, uint32_t head, bool has_rq,
		 struct mlx4_qp_size *size)
{
	int ret;

	*size = (struct mlx4_qp_size){ 0 };
	ret = size_sends(cap, head, size);
	if (!ret && has_rq)
		ret = size_receives(cap, size);
	if (!ret)
		place_rings(size);
	return ret;
}

void mlx4_qp_size_target(struct mlx4_qp_size *size)
{
	*size = (struct mlx4_qp_size){ .sq_slots = 1, .sq_slot_log = M4_MIN_SLOT_LOG };
	place_rings(size);
}
