/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.c - signatures of WQEs, which queues have whose context says so (wq_signature).
 *
 * The bytes of a signed WQE, its signature among them, make 0xff when they are taken together by
 * exclusive or. A receive WQE begins with a segment for its signature, which covers the queue's
 * number and the WQE's index as well, and the list up to what ends it: as Debian's libmlx5 writes
 * them (but for lists with buffers of no bytes, where it counts the end as well), and Linux' driver
 * (drivers/infiniband/hw/mlx5/wr.c) those of sends. PRM: qpc, wq_signature; Control Segment,
 * signature.
 */
#include "prm/mlx5/wqe.h"
#include "softhca/device/format/mlx5/mlx5.h"

enum { BYTES_TOGETHER = 0xff };

static uint8_t bytes_xor(const uint8_t *bytes, size_t len)
{
	uint8_t sum = 0;

	while (len--)
		sum ^= *bytes++;
	return sum;
}

bool mlx5_send_is_signed(const uint8_t *raw)
{
	return bytes_xor(raw, mlx5_wqe_size(raw)) == BYTES_TOGETHER;
}

static uint8_t number_xor(uint32_t number)
{
	return (uint8_t)(number ^ number >> 8 ^ number >> 16 ^ number >> 24);
}

bool mlx5_recv_is_signed(const uint8_t *raw, uint32_t stride, uint32_t n, uint16_t index)
{
	uint32_t len = RECV_SIGNATURE_SIZE;

	while (len < stride && fld_get(raw + len, DATA_LKEY) != WQE_TERMINATOR_LKEY)
		len += WQE_SEG;
	return (bytes_xor(raw, len) ^ number_xor(n) ^ number_xor(index)) == BYTES_TOGETHER;
}
