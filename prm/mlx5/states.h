/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * states.h - states of queues, as contexts and commands encode them.
 */
#ifndef PRM_MLX5_STATES_H
#define PRM_MLX5_STATES_H

/* Values of QPC_STATE */
enum prm_qp_state {
	PRM_QP_STATE_RST = 0,
	PRM_QP_STATE_INIT = 1,
	PRM_QP_STATE_RTR = 2,
	PRM_QP_STATE_RTS = 3,
	PRM_QP_STATE_SQER = 4,
	PRM_QP_STATE_SQD = 5,
	PRM_QP_STATE_ERR = 6,
	PRM_QP_STATE_SQ_DRAINING = 7,
};

/* Values of RQC_STATE and SQC_STATE */
enum prm_wq_state {
	PRM_WQ_STATE_RST = 0,
	PRM_WQ_STATE_RDY = 1,
	PRM_WQ_STATE_ERR = 3,
};

/* Values of CQC_ST and CQC_STATUS; EQC_ST has the values of CQC_ST. */
enum {
	PRM_CQC_ST_SOLICITED_ARMED = 0x6,
	PRM_CQC_ST_ARMED = 0x9,
	PRM_CQC_ST_FIRED = 0xa,
	PRM_CQC_STATUS_OK = 0x0,
	PRM_CQC_STATUS_OVERFLOW = 0x9,
	PRM_CQC_STATUS_WRITE_FAIL = 0xa,
};

/* Bits of a CQ's or EQ's consumer index that software reports to the adapter */
enum {
	PRM_CI_MASK = 0xffffff,
};

#endif
