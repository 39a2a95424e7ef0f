/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.c - rings a register that several queues share, for routines that were not specialised
 * for one kind of register: see doorbell.h.
 * PRM: UAR Page Format
 */
#include "providers/mlx5/data/doorbell.h"

void mlx5_doorbell_send_other(struct mlx5_sq *sq, uint32_t pi, const uint8_t *ctrl, uint32_t push)
{
	if (sq->db.use == BFREG_DOMAIN)
		doorbell_send(sq, pi, ctrl, push, BFREG_DOMAIN);
	else
		doorbell_send(sq, pi, ctrl, push, BFREG_SHARED);
}
