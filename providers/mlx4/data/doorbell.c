/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell.c - BlueFlame writes for threads that share the register.
 */
#include "providers/mlx4/data/doorbell.h"

void mlx4_blueflame_copy_locked(struct mlx4_blueflame *bf, const uint8_t *ctrl, uint32_t size)
{
	qlock_take(&bf->lock);
	blueflame_copy(bf, ctrl, size);
	qlock_drop(&bf->lock);
}
