/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.c - computes signatures of WQEs: the exclusive or of all bytes, signature included, is
 * 0xff.
 *
 * The signature of a send is in its control segment. A receive has a signature segment before its
 * scatter list. That signature covers the list, and also the queue's number and the WQE's index, so
 * that the adapter detects a WQE in the wrong place.
 *
 * PRM: Control Segment, signature
 */
#include "providers/mlx5/data/signature.h"

#include <string.h>

#include "prm/mlx5/wqe.h"
#include "providers/common/seg.h"

static uint8_t bytes_xor(const void *from, size_t len)
{
	const uint8_t *bytes = from;
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum ^= bytes[i];
	return sum;
}

void mlx5_sign_send(const struct mlx5_sq *sq, uint8_t *start)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)start;
	size_t len = (be32toh(ctrl->qpn_ds) & FLD_MASK(CTRL_DS)) * WQE_SEG;
	size_t straight = (size_t)(sq->end - start);

	if (len < straight)
		straight = len;
	ctrl->signature =
		(uint8_t) ~(bytes_xor(start, straight) ^ bytes_xor(sq->buf, len - straight));
}

void mlx5_sign_sends(const struct mlx5_sq *sq, uint32_t pi, uint32_t end)
{
	while (pi != end) {
		uint8_t *start = sq->buf + ((size_t)(pi & sq->wq.mask) << WQE_BB_LOG);
		const struct mlx5_wqe_ctrl_seg *ctrl = (const struct mlx5_wqe_ctrl_seg *)start;
		uint32_t ds = be32toh(ctrl->qpn_ds) & FLD_MASK(CTRL_DS);

		mlx5_sign_send(sq, start);
		pi += (ds + WQE_BB / WQE_SEG - 1) / (WQE_BB / WQE_SEG);
	}
}

static size_t list_bytes(const struct mlx5_rq *rq, const struct data_seg *list)
{
	uint32_t count = 0;

	while (count < rq->max_sge && be32toh(list[count].lkey) != DATA_SEG_LKEY_END)
		count++;
	return count * sizeof(*list);
}

void mlx5_sign_recv(const struct mlx5_rq *rq, uint32_t head)
{
	uint8_t *list = rq->buf + ((size_t)(head & rq->wq.mask) << rq->stride_log);
	uint8_t *segment = list - RECV_SIGNATURE_SIZE;
	uint16_t index = (uint16_t)head;
	uint8_t sum = bytes_xor(list, list_bytes(rq, (const struct data_seg *)list)) ^
		      bytes_xor(&rq->number, sizeof(rq->number)) ^ bytes_xor(&index, sizeof(index));

	memset(segment, 0, RECV_SIGNATURE_SIZE);
	segment[RECV_SIGNATURE_AT] = (uint8_t)~sum;
}
