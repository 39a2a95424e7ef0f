/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - connection establishment options (ECE), in the answers of commands that create or modify a
 * QP.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_QP_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_QP_H

#include <stdint.h>

#include "prm/mlx5/qpc.h"

/* Options that the adapter supports. Only those that both peers support are in force. None of them
 * changes anything here; they exist so that peers can negotiate. */
enum { ECE_OPTIONS_HERE = 0x7 };

/* Returns whether the QP may have options. Datagram QPs have no connection, so they have none. */
static inline bool qp_may_have_ece(const struct qp *qp)
{
	return qp->service != FABRIC_UD;
}

/* Returns the options in force if software asks for OPTIONS: those of version 1 that the adapter
 * supports, or none of an unknown version. */
static inline uint32_t qp_answer_ece(uint32_t options)
{
	if (options >> FLD_SHIFT(ECE_VERSION) != PRM_ECE_VERSION_1)
		return 0;
	return (uint32_t)PRM_ECE_VERSION_1 << FLD_SHIFT(ECE_VERSION) | (options & ECE_OPTIONS_HERE);
}

/* Returns the options in force after creation. If software asks for none, or only for the version,
 * all that the QP's type may have. */
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
