/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_qp.h - connection establishment options (ECE), which commands that create a QP and commands
 * that change it answer.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_QP_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_QP_H

#include <stdint.h>

#include "prm/mlx5/qpc.h"

/* Connection establishment options that both sides name are in force. Nothing depends on those that
 * this adapter has; they are there to be agreed upon. */
enum { ECE_OPTIONS_HERE = 0x7 };

/* The function returns what the adapter answers to OPTIONS of software's: 0 without a version that
 * it knows. */
static inline uint32_t qp_answer_ece(uint32_t options, uint32_t offered)
{
	uint32_t answer = 0;

	if (options >> FLD_SHIFT(ECE_VERSION) != PRM_ECE_VERSION_1)
		return 0;
	answer |= (uint32_t)PRM_ECE_VERSION_1 << FLD_SHIFT(ECE_VERSION);
	return answer | (offered & ECE_OPTIONS_HERE);
}

static inline void qp_put_atomic_mode(struct qp *qp, uint32_t mode)
{
	qp->masked_8 = mode >= PRM_ATOMIC_MODE_ONLY_8B;
	qp->masked_4 = mode >= PRM_ATOMIC_MODE_UP_TO_8B;
}

#endif
