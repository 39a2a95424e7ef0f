/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.c - signatures of WQEs, for queues whose context has wq_signature set.
 *
 * All bytes of a signed WQE, with its signature, XOR to 0xff. A receive WQE begins with a signature
 * segment; its signature also covers the queue's number, the WQE's index, and the scatter list up
 * to its end mark. This follows Debian's libmlx5 for receives (except lists with empty buffers,
 * where it also counts the end mark) and Linux' drivers/infiniband/hw/mlx5/wr.c for sends. PRM:
 * qpc, wq_signature; Control Segment, signature.
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
