/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_state.h - which attributes a QP's change of state needs and allows, by its type.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_QP_STATE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_QP_STATE_H

#include <stdint.h>

/* Programs give initiators and targets of DC one type, and say in the driver's part which of them
 * they mean. Here they are types like the others. */
enum { QP_TYPE_DCI = 30, QP_TYPE_DCT = 31 };

enum { /* attr_mask, as programs give it */
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

/* Programs number states so. */
enum qp_state { QP_RESET, QP_INIT, QP_RTR, QP_RTS, QP_SQD, QP_SQE, QP_ERR, QP_STATES };

struct qp_transition {
	uint16_t opcode;   /* of the device's command; 0: the device has none, and none is needed */
	uint32_t optional; /* what the command takes only when its opt_param_mask says so */
};

/* Finds the way of a QP of TYPE (IB_UVERBS_QPT_*, QP_TYPE_*) from state FROM to TO with the
 * attributes in MASK. It returns NULL and sets *TRANSITION when it may go that way; else why it may
 * not. */
const char *qp_state_change(unsigned int type, unsigned int from, unsigned int to, uint32_t mask,
			    struct qp_transition *transition);
/* The same on an adapter of mlx4, which also has the ways to state SQD and within it. */
const char *qp_state_change_mlx4(unsigned int type, unsigned int from, unsigned int to,
				 uint32_t mask, struct qp_transition *transition);

#endif
