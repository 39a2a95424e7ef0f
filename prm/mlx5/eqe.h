/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eqe.h - event queue entries: types of events, and the fields of each.
 */
#ifndef PRM_MLX5_EQE_H
#define PRM_MLX5_EQE_H

#include "util/fields.h"

enum {
	PRM_EQE_SIZE = 64,
};

/* Values of EQE_TYPE, and the fields that an entry of each type has */
enum prm_event {
	PRM_EVENT_COMP = 0x00,     /* EQE_COMP_CQN */
	PRM_EVENT_PATH_MIG = 0x01, /* all events of a QP: EQE_QPN */
	PRM_EVENT_COMM_EST = 0x02,
	PRM_EVENT_SQ_DRAINED = 0x03,
	PRM_EVENT_CQ_ERROR = 0x04, /* EQE_CQ_ERROR_CQN and EQE_CQ_ERROR_SYNDROME */
	PRM_EVENT_WQ_CATAS_ERROR = 0x05,
	PRM_EVENT_PATH_MIG_FAILED = 0x07,
	PRM_EVENT_INTERNAL_ERROR = 0x08,
	PRM_EVENT_PORT_CHANGE = 0x09, /* EQE_PORT; EQE_SUB_TYPE is one of PRM_PORT_CHANGE_* */
	PRM_EVENT_COMMAND = 0x0a,
	PRM_EVENT_PAGE_REQUEST = 0x0b,
	PRM_EVENT_WQ_INVAL_REQ_ERROR = 0x10,
	PRM_EVENT_WQ_ACCESS_ERROR = 0x11,
	PRM_EVENT_SRQ_CATAS_ERROR = 0x12,
	PRM_EVENT_SRQ_LAST_WQE = 0x13,
	PRM_EVENT_SRQ_RQ_LIMIT = 0x14,
	PRM_EVENT_XRQ_ERROR = 0x18,
	PRM_EVENT_DCT_DRAINED = 0x1c, /* events of a DCT: EQE_DCTN */
	PRM_EVENT_DCT_KEY_VIOLATION = 0x1d,
};

enum {
	PRM_CQ_ERROR_OVERRUN = 0x1,
	PRM_CQ_ERROR_ACCESS = 0x2,
};

enum {
	PRM_PORT_CHANGE_DOWN = 1, /* EQE_SUB_TYPE */
	PRM_PORT_CHANGE_ACTIVE = 4,
	PRM_PORT_CHANGE_LID = 6,
	PRM_PORT_CHANGE_PKEY = 7,
	PRM_PORT_CHANGE_GUID = 8,
	PRM_PORT_CHANGE_CLIENT_REREG = 9,
};

#define EQE_TYPE                   FLD(0x0, 23, 16)
#define EQE_SUB_TYPE               FLD(0x0, 7, 0)
#define EQE_COMP_CQN               FLD(0x38, 23, 0)
#define EQE_QP_TYPE                FLD(0x34, 31, 24)
#define EQE_QPN                    FLD(0x38, 23, 0)
#define EQE_DCTN                   FLD(0x38, 23, 0)
#define EQE_CQ_ERROR_CQN           FLD(0x20, 23, 0)
#define EQE_CQ_ERROR_SYNDROME      FLD(0x28, 7, 0)
#define EQE_PORT                   FLD(0x28, 31, 28)
#define EQE_OWNER                  FLD(0x3c, 0, 0)

#define EQE_PAGE_REQUEST_FUNC_ID   FLD(0x20, 15, 0)
#define EQE_PAGE_REQUEST_NUM_PAGES FLD(0x24, 31, 0) /* signed: pages given back are negative */
#define EQE_COMMAND_VECTOR         FLD(0x20, 31, 0)

#endif
