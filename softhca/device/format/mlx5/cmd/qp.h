/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - connection establishment options (ECE), which commands that create a QP and commands
 * that change it answer.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_QP_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_QP_H

#include <stdint.h>

#include "prm/mlx5/qpc.h"

/* Connection establishment options that both sides name are in force. Nothing depends on those that
 * this adapter has; they are there to be agreed upon. */
enum { ECE_OPTIONS_HERE = 0x7 };

/* Datagrams have no connection, and so no options of one. */
static inline bool qp_may_have_ece(const struct qp *qp)
{
	return qp->service != FABRIC_UD;
}

/* Returns the options in force after software asks for OPTIONS: those of version 1 that the adapter
 * has, or none when it does not know the version. */
static inline uint32_t qp_answer_ece(uint32_t options)
{
	if (options >> FLD_SHIFT(ECE_VERSION) != PRM_ECE_VERSION_1)
		return 0;
	return (uint32_t)PRM_ECE_VERSION_1 << FLD_SHIFT(ECE_VERSION) | (options & ECE_OPTIONS_HERE);
}

/* Returns the options in force after the creation of QP: when software asks for none, or for the
 * version alone, all that its type may have. */
static inline uint32_t qp_first_ece(const struct qp *qp, uint32_t options)
{
	const uint32_t version = (uint32_t)PRM_ECE_VERSION_1 << FLD_SHIFT(ECE_VERSION);

	if (!qp_may_have_ece(qp))
		return 0;
	return qp_answer_ece(options && options != version ? options : version | ECE_OPTIONS_HERE);
}

static inline void qp_put_atomic_mode(struct qp *qp, uint32_t mode)
{
	qp->masked_8 = mode >= PRM_ATOMIC_MODE_ONLY_8B;
	qp->masked_4 = mode >= PRM_ATOMIC_MODE_UP_TO_8B;
}

#endif
