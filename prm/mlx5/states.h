/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * states.h - the states of queues: the numbers that contexts and commands have for them.
 */
#ifndef PRM_MLX5_STATES_H
#define PRM_MLX5_STATES_H

/* QPC_STATE has these values. */
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

/* RQC_STATE and SQC_STATE have these values. */
enum prm_wq_state {
	PRM_WQ_STATE_RST = 0,
	PRM_WQ_STATE_RDY = 1,
	PRM_WQ_STATE_ERR = 3,
};

/* CQC_ST and CQC_STATUS have these values; EQC_ST has those of CQC_ST. */
enum {
	PRM_CQC_ST_SOLICITED_ARMED = 0x6,
	PRM_CQC_ST_ARMED = 0x9,
	PRM_CQC_ST_FIRED = 0xa,
	PRM_CQC_STATUS_OK = 0x0,
	PRM_CQC_STATUS_OVERFLOW = 0x9,
	PRM_CQC_STATUS_WRITE_FAIL = 0xa,
};

/* These bits of a consumer index, of a CQ or an EQ, are said to the adapter. */
enum {
	PRM_CI_MASK = 0xffffff,
};

#endif
