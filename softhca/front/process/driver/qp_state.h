/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_state.h - the attributes that each transition of a QP needs and allows, by the QP's type.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_QP_STATE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_QP_STATE_H

#include <stdint.h>

/* QP types of DC initiators and targets. Programs create both with the driver's type, and only the
 * driver's part of the call tells them apart. */
enum { QP_TYPE_DCI = 30, QP_TYPE_DCT = 31 };

enum { /* attr_mask of verbs */
       QP_ATTR_STATE = 1 << 0,
       QP_ATTR_CUR_STATE = 1 << 1,
       QP_ATTR_SQD_NOTIFY = 1 << 2,
       QP_ATTR_ACCESS = 1 << 3,
       QP_ATTR_PKEY = 1 << 4,
       QP_ATTR_PORT = 1 << 5,
       QP_ATTR_QKEY = 1 << 6,
       QP_ATTR_AV = 1 << 7,
       QP_ATTR_MTU = 1 << 8,
       QP_ATTR_TIMEOUT = 1 << 9,
       QP_ATTR_RETRY = 1 << 10,
       QP_ATTR_RNR_RETRY = 1 << 11,
       QP_ATTR_RQ_PSN = 1 << 12,
       QP_ATTR_MAX_READS = 1 << 13,
       QP_ATTR_ALT_PATH = 1 << 14,
       QP_ATTR_RNR_TIMER = 1 << 15,
       QP_ATTR_SQ_PSN = 1 << 16,
       QP_ATTR_MAX_DEST_READS = 1 << 17,
       QP_ATTR_MIG_STATE = 1 << 18,
       QP_ATTR_DEST_QPN = 1 << 20,
       QP_ATTR_STANDARD = (1 << 21) - 1,
       QP_ATTR_RATE_LIMIT = 1 << 25,
};

/* Values of enum ibv_qp_state. */
enum qp_state { QP_RESET, QP_INIT, QP_RTR, QP_RTS, QP_SQD, QP_SQE, QP_ERR, QP_STATES };

struct qp_transition {
	uint16_t opcode;   /* command of the device; 0: no command needed */
	uint32_t optional; /* attributes that the command takes only with opt_param_mask */
};

/* Finds the transition of a QP of TYPE (IB_UVERBS_QPT_*, QP_TYPE_*) from state FROM to TO with
 * attributes MASK. Returns NULL and sets *TRANSITION if it is allowed; else the reason why not. */
const char *qp_state_change(unsigned int type, unsigned int from, unsigned int to, uint32_t mask,
			    struct qp_transition *transition);
/* Does the same as qp_state_change() for an mlx4 adapter, which also has transitions to and within
 * SQD. */
const char *qp_state_change_mlx4(unsigned int type, unsigned int from, unsigned int to,
				 uint32_t mask, struct qp_transition *transition);

#endif
