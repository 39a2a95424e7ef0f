/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_states.c - attributes of QP transitions (IBTA vol 1, 11.2.5.2: Modify Queue Pair). The kernel
 * enforces them; qp.c uses this table to explain a refusal.
 */
#include "libibverbs/explain/qp_states.h"

#include "util/bits.h"

enum qp_class {
	CLASS_RC = 1 << 0,
	CLASS_UC = 1 << 1,
	CLASS_UD = 1 << 2,
	CLASS_RAW = 1 << 3,
	CLASS_XRC_INI = 1 << 4,
	CLASS_XRC_TGT = 1 << 5,
	CLASS_CONNECTED = CLASS_RC | CLASS_UC | CLASS_XRC_INI | CLASS_XRC_TGT,
	CLASS_RESPONDER = CLASS_RC | CLASS_XRC_TGT,
	CLASS_REQUESTER = CLASS_RC | CLASS_XRC_INI,
	CLASS_RELIABLE = CLASS_RESPONDER | CLASS_REQUESTER,
	CLASS_ANY = CLASS_CONNECTED | CLASS_UD | CLASS_RAW,
};

/* Rows of state transitions. All rows that match a transition add up: each has the attributes that
 * its classes require, and those that the classes additionally allow. */
struct row {
	enum ibv_qp_state from, to;
	unsigned int classes;
	int required, allowed;
};

#define RESET IBV_QPS_RESET
#define INIT  IBV_QPS_INIT
#define RTR   IBV_QPS_RTR
#define RTS   IBV_QPS_RTS
#define SQD   IBV_QPS_SQD
#define SQE   IBV_QPS_SQE

static const struct row rows[] = {
	{ RESET, INIT, CLASS_ANY, IBV_QP_PORT, 0 },
	{ RESET, INIT, CLASS_CONNECTED | CLASS_UD, IBV_QP_PKEY_INDEX, 0 },
	{ RESET, INIT, CLASS_CONNECTED, IBV_QP_ACCESS_FLAGS, 0 },
	{ RESET, INIT, CLASS_UD, IBV_QP_QKEY, 0 },

	{ INIT, INIT, CLASS_ANY, 0, IBV_QP_PORT },
	{ INIT, INIT, CLASS_CONNECTED | CLASS_UD, 0, IBV_QP_PKEY_INDEX },
	{ INIT, INIT, CLASS_CONNECTED, 0, IBV_QP_ACCESS_FLAGS },
	{ INIT, INIT, CLASS_UD, 0, IBV_QP_QKEY },

	{ INIT, RTR, CLASS_ANY, 0, 0 },
	{ INIT, RTR, CLASS_CONNECTED, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	  IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS },
	{ INIT, RTR, CLASS_CONNECTED | CLASS_UD, 0, IBV_QP_PKEY_INDEX },
	{ INIT, RTR, CLASS_RESPONDER, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, 0 },
	{ INIT, RTR, CLASS_UD, 0, IBV_QP_QKEY },

	{ RTR, RTS, CLASS_CONNECTED | CLASS_UD, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE },
	{ RTR, RTS, CLASS_RELIABLE, IBV_QP_TIMEOUT, 0 },
	{ RTR, RTS, CLASS_REQUESTER, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	  0 },
	{ RTR, RTS, CLASS_RESPONDER, 0, IBV_QP_MIN_RNR_TIMER },
	{ RTR, RTS, CLASS_CONNECTED, 0,
	  IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE },
	{ RTR, RTS, CLASS_UD, 0, IBV_QP_QKEY },
	{ RTR, RTS, CLASS_RAW, 0, IBV_QP_RATE_LIMIT },

	{ RTS, RTS, CLASS_CONNECTED | CLASS_UD, 0, IBV_QP_CUR_STATE },
	{ RTS, RTS, CLASS_CONNECTED, 0,
	  IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE },
	{ RTS, RTS, CLASS_RESPONDER, 0, IBV_QP_MIN_RNR_TIMER },
	{ RTS, RTS, CLASS_UD, 0, IBV_QP_QKEY },
	{ RTS, RTS, CLASS_RAW, 0, IBV_QP_RATE_LIMIT },

	{ RTS, SQD, CLASS_CONNECTED | CLASS_UD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },

	{ SQD, RTS, CLASS_CONNECTED | CLASS_UD, 0, IBV_QP_CUR_STATE },
	{ SQD, RTS, CLASS_CONNECTED, 0,
	  IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE },
	{ SQD, RTS, CLASS_RESPONDER, 0, IBV_QP_MIN_RNR_TIMER },
	{ SQD, RTS, CLASS_UD, 0, IBV_QP_QKEY },

	{ SQD, SQD, CLASS_CONNECTED | CLASS_UD, 0, IBV_QP_PKEY_INDEX },
	{ SQD, SQD, CLASS_CONNECTED, 0,
	  IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE },
	{ SQD, SQD, CLASS_RELIABLE, 0, IBV_QP_PORT | IBV_QP_TIMEOUT },
	{ SQD, SQD, CLASS_REQUESTER, 0,
	  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC },
	{ SQD, SQD, CLASS_RESPONDER, 0, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER },
	{ SQD, SQD, CLASS_UD, 0, IBV_QP_QKEY },

	{ SQE, RTS, CLASS_UC | CLASS_UD, 0, IBV_QP_CUR_STATE },
	{ SQE, RTS, CLASS_UC, 0, IBV_QP_ACCESS_FLAGS },
	{ SQE, RTS, CLASS_UD, 0, IBV_QP_QKEY },
};

static unsigned int class_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return CLASS_RC;
	case IBV_QPT_UC:
		return CLASS_UC;
	case IBV_QPT_UD:
		return CLASS_UD;
	case IBV_QPT_RAW_PACKET:
		return CLASS_RAW;
	case IBV_QPT_XRC_SEND:
		return CLASS_XRC_INI;
	case IBV_QPT_XRC_RECV:
		return CLASS_XRC_TGT;
	default:
		return 0;
	}
}

bool verbs_qp_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			 int *required, int *allowed)
{
	bool found = to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET);

	*required = 0;
	*allowed = IBV_QP_STATE | IBV_QP_CUR_STATE * found;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (row->from != from || row->to != to || !(row->classes & class_of(type)))
			continue;
		found = true;
		*required |= row->required;
		*allowed |= row->required | row->allowed;
	}
	return found;
}
