/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * atomic.c - results of atomics; see atomic.h. IBTA vol 1, 9.4.5 (atomics); masks: prm/mlx5/wqe.h.
 * Decision: docs/adr/0035.
 */
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/transport/atomic.h"

bool atomic_is_masked(uint8_t opcode)
{
	return opcode == WQE_MASKED_CS || opcode == WQE_MASKED_FA;
}

bool atomic_is(uint8_t opcode)
{
	return opcode == WQE_ATOMIC_CS || opcode == WQE_ATOMIC_FA || atomic_is_masked(opcode);
}

static bool has_masks(const struct fabric_msg *msg)
{
	return msg->op == FABRIC_MASKED_CS || msg->op == FABRIC_MASKED_FA;
}

uint32_t atomic_length(const struct fabric_msg *msg)
{
	if (!has_masks(msg))
		return 8;
	return msg->length == 4 || msg->length == 8 ? (uint32_t)msg->length : 0;
}

bool atomic_is_allowed(const struct qp *qp, const struct fabric_msg *msg)
{
	uint32_t len = atomic_length(msg);

	if (!qp->remote_atomic || !len || msg->raddr % len)
		return false;
	return !has_masks(msg) || (len == 4 ? qp->masked_4 : qp->masked_8);
}

/* Adds without carries between fields: HIGHEST has the top bit of each field, which is added by
 * XOR. */
static uint64_t add_fields(uint64_t a, uint64_t b, uint64_t highest)
{
	return ((a & ~highest) + (b & ~highest)) ^ ((a ^ b) & highest);
}

uint64_t atomic_result(const struct fabric_msg *msg, uint64_t old)
{
	switch (msg->op) {
	case FABRIC_ATOMIC_CS:
		return old == msg->compare ? msg->swap_add : old;
	case FABRIC_MASKED_CS:
		if ((old ^ msg->compare) & msg->compare_mask)
			return old;
		return (old & ~msg->swap_mask) | (msg->swap_add & msg->swap_mask);
	case FABRIC_MASKED_FA:
		return add_fields(old, msg->swap_add, msg->compare);
	default:
		return old + msg->swap_add;
	}
}
