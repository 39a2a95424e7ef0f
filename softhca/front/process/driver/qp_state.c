/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_state.c - the QP state machine that programs see.
 *
 * Attributes follow IBTA vol 1, 11.2.5.2 in Linux' interpretation, with its rules for the two XRC
 * types. mlx5's driver has no transition to SQD; mlx4's has.
 */
#include <stdbool.h>
#include <stddef.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/kind.h"
#include "softhca/front/process/driver/qp_state.h"
#include "util/bits.h"

enum { /* types, as a bit mask */
       RC = 1 << IB_UVERBS_QPT_RC,
       UC = 1 << IB_UVERBS_QPT_UC,
       UD = 1 << IB_UVERBS_QPT_UD,
       RAW = 1 << IB_UVERBS_QPT_RAW_PACKET,
       INI = 1 << IB_UVERBS_QPT_XRC_INI,
       TGT = 1 << IB_UVERBS_QPT_XRC_TGT,
       DCI = 1 << QP_TYPE_DCI,
       CONNECTED = RC | UC | INI | TGT,
};

enum {
	ACCESS = QP_ATTR_ACCESS,
	ALT = QP_ATTR_ALT_PATH,
	AV = QP_ATTR_AV,
	CUR = QP_ATTR_CUR_STATE,
	MIG = QP_ATTR_MIG_STATE,
	PKEY = QP_ATTR_PKEY,
	PORT = QP_ATTR_PORT,
	QKEY = QP_ATTR_QKEY,
	RNR_TIMER = QP_ATTR_RNR_TIMER,
	CONNECT = AV | QP_ATTR_MTU | QP_ATTR_DEST_QPN | QP_ATTR_RQ_PSN,
	RESPOND = QP_ATTR_MAX_DEST_READS | RNR_TIMER,
	REQUEST = QP_ATTR_RETRY | QP_ATTR_RNR_RETRY | QP_ATTR_MAX_READS,
};

static const struct rule {
	uint8_t from, to;
	uint32_t types;
	uint32_t needs, allows;
} rules[] = {
	{ QP_RESET, QP_INIT, CONNECTED, PKEY | PORT | ACCESS, 0 },
	{ QP_RESET, QP_INIT, UD, PKEY | PORT | QKEY, 0 },
	{ QP_RESET, QP_INIT, RAW, PORT, 0 },
	{ QP_RESET, QP_INIT, DCI, PKEY | PORT, 0 },
	{ QP_INIT, QP_INIT, CONNECTED, 0, PKEY | PORT | ACCESS },
	{ QP_INIT, QP_INIT, DCI, 0, PKEY | PORT },
	{ QP_INIT, QP_INIT, UD, 0, PKEY | PORT | QKEY },
	{ QP_INIT, QP_RTR, RC | TGT, CONNECT | RESPOND, ALT | ACCESS | PKEY },
	{ QP_INIT, QP_RTR, UC | INI, CONNECT, ALT | ACCESS | PKEY },
	{ QP_INIT, QP_RTR, UD, 0, PKEY | QKEY },
	{ QP_INIT, QP_RTR, DCI, QP_ATTR_MTU, PKEY | AV },
	{ QP_RTR, QP_RTS, RC, QP_ATTR_TIMEOUT | QP_ATTR_SQ_PSN | REQUEST,
	  CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ QP_RTR, QP_RTS, INI, QP_ATTR_TIMEOUT | QP_ATTR_SQ_PSN | REQUEST,
	  CUR | ALT | ACCESS | MIG },
	{ QP_RTR, QP_RTS, DCI, QP_ATTR_TIMEOUT | QP_ATTR_SQ_PSN | REQUEST, RNR_TIMER },
	{ QP_RTR, QP_RTS, TGT, QP_ATTR_TIMEOUT | QP_ATTR_SQ_PSN,
	  CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ QP_RTR, QP_RTS, UC, QP_ATTR_SQ_PSN, CUR | ALT | ACCESS | MIG },
	{ QP_RTR, QP_RTS, UD, QP_ATTR_SQ_PSN, CUR | QKEY },
	{ QP_RTR, QP_RTS, RAW, 0, QP_ATTR_RATE_LIMIT },
	{ QP_RTS, QP_RTS, RC | TGT, 0, CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ QP_RTS, QP_RTS, UC | INI, 0, CUR | ALT | ACCESS | MIG },
	{ QP_RTS, QP_RTS, UD, 0, CUR | QKEY },
	{ QP_RTS, QP_RTS, DCI, 0, RNR_TIMER },
	{ QP_RTS, QP_RTS, RAW, 0, QP_ATTR_RATE_LIMIT },
	{ QP_RTS, QP_SQD, CONNECTED | UD, 0, QP_ATTR_SQD_NOTIFY },
	{ QP_SQD, QP_SQD, RC, 0,
	  PORT | AV | QP_ATTR_TIMEOUT | REQUEST | QP_ATTR_MAX_DEST_READS | ALT | ACCESS | PKEY |
		  RNR_TIMER | MIG },
	{ QP_SQD, QP_SQD, INI, 0,
	  PORT | AV | QP_ATTR_TIMEOUT | REQUEST | ALT | ACCESS | PKEY | MIG },
	{ QP_SQD, QP_SQD, TGT, 0,
	  PORT | AV | QP_ATTR_TIMEOUT | QP_ATTR_MAX_DEST_READS | ALT | ACCESS | PKEY | RNR_TIMER |
		  MIG },
	{ QP_SQD, QP_SQD, UC, 0, AV | ALT | ACCESS | PKEY | MIG },
	{ QP_SQD, QP_SQD, UD, 0, PKEY | QKEY },
	{ QP_SQD, QP_RTS, RC | TGT, 0, CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ QP_SQD, QP_RTS, UC | INI, 0, CUR | ALT | ACCESS | MIG },
	{ QP_SQD, QP_RTS, UD, 0, CUR | QKEY },
	{ QP_SQE, QP_RTS, UC, 0, CUR | ACCESS },
	{ QP_SQE, QP_RTS, UD, 0, CUR | QKEY },
};

enum { NO_COMMAND = 0xffff };

/* The command for each transition; 0: the transition is not allowed. */
static const uint16_t commands[QP_STATES][QP_STATES] = {
	[QP_RESET] = { [QP_RESET] = NO_COMMAND, [QP_INIT] = PRM_OP_RST2INIT_QP },
	[QP_INIT] = { [QP_RESET] = PRM_OP_2RST_QP,
		      [QP_INIT] = PRM_OP_INIT2INIT_QP,
		      [QP_RTR] = PRM_OP_INIT2RTR_QP,
		      [QP_ERR] = PRM_OP_2ERR_QP },
	[QP_RTR] = { [QP_RESET] = PRM_OP_2RST_QP,
		     [QP_RTS] = PRM_OP_RTR2RTS_QP,
		     [QP_ERR] = PRM_OP_2ERR_QP },
	[QP_RTS] = { [QP_RESET] = PRM_OP_2RST_QP,
		     [QP_RTS] = PRM_OP_RTS2RTS_QP,
		     [QP_ERR] = PRM_OP_2ERR_QP },
	[QP_SQD] = { [QP_RESET] = PRM_OP_2RST_QP,
		     [QP_RTS] = PRM_OP_SQD_RTS_QP,
		     [QP_ERR] = PRM_OP_2ERR_QP },
	[QP_SQE] = { [QP_RESET] = PRM_OP_2RST_QP,
		     [QP_RTS] = PRM_OP_SQERR2RTS_QP,
		     [QP_ERR] = PRM_OP_2ERR_QP },
	[QP_ERR] = { [QP_RESET] = PRM_OP_2RST_QP, [QP_ERR] = PRM_OP_2ERR_QP },
};

static uint16_t draining_command(unsigned int from, unsigned int to)
{
	if (to != QP_SQD)
		return 0;
	if (from == QP_RTS)
		return M4_AS_RTS2SQD_QP;
	return from == QP_SQD ? M4_AS_SQD2SQD_QP : 0;
}

enum {
	OPT_ACCESS = PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE,
	OPT_PLACE = PRM_OPTPAR_PKEY_INDEX | PRM_OPTPAR_PRI_PORT,
	OPT_DRAINED = PRM_OPTPAR_PRIMARY_ADDR_PATH | PRM_OPTPAR_ACK_TIMEOUT |
		      PRM_OPTPAR_RETRY_COUNT | PRM_OPTPAR_RNR_RETRY | PRM_OPTPAR_SRA_MAX |
		      PRM_OPTPAR_RRA_MAX | PRM_OPTPAR_RNR_TIMEOUT | PRM_OPTPAR_PM_STATE,
};

/* Returns the attributes (PRM_OPTPAR_*) that the command OPCODE takes only if opt_param_mask names
 * them. They differ between UD and types with remote access. */
static uint32_t optional_parameters(unsigned int type, uint16_t opcode)
{
	bool is_ud = type == IB_UVERBS_QPT_UD;
	bool is_uc = type == IB_UVERBS_QPT_UC;
	uint32_t access = is_uc ? PRM_OPTPAR_RWE : OPT_ACCESS;
	uint32_t own = is_ud ? PRM_OPTPAR_Q_KEY : access;

	switch (opcode) {
	case PRM_OP_INIT2INIT_QP:
		return own | OPT_PLACE;
	case PRM_OP_INIT2RTR_QP:
		return own | PRM_OPTPAR_PKEY_INDEX;
	case PRM_OP_RTR2RTS_QP:
	case PRM_OP_RTS2RTS_QP:
		if (!is_ud)
			own |= PRM_OPTPAR_PM_STATE;
		return is_ud || is_uc ? own : own | PRM_OPTPAR_RNR_TIMEOUT;
	case M4_AS_SQD2SQD_QP:
		return own | OPT_PLACE | (is_ud ? 0 : OPT_DRAINED);
	case PRM_OP_SQD_RTS_QP:
	case PRM_OP_SQERR2RTS_QP:
		return is_ud || is_uc ? own : own | PRM_OPTPAR_RNR_TIMEOUT;
	default:
		return 0;
	}
}

static const struct rule *find_rule(unsigned int type, unsigned int from, unsigned int to)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].from == from && rules[i].to == to && type < 32 &&
		    rules[i].types & 1u << type)
			return &rules[i];
	return NULL;
}

static const char *check_change(unsigned int type, unsigned int from, unsigned int to,
				uint32_t mask, uint16_t command, struct qp_transition *transition)
{
	static const struct rule nothing = { 0 };
	const struct rule *rule = find_rule(type, from, to);

	if (mask & CUR && from != QP_RTR && from != QP_RTS && from != QP_SQD && from != QP_SQE)
		return "current state given where it is not ambiguous";
	if (!command)
		return "no way to that state";
	if (!rule)
		rule = &nothing;
	if ((mask & rule->needs) != rule->needs)
		return "a required attribute is missing";
	if (mask & ~(rule->needs | rule->allows | QP_ATTR_STATE))
		return "an attribute is not allowed here";
	transition->opcode = command == NO_COMMAND ? 0 : command;
	transition->optional = optional_parameters(type, transition->opcode);
	return NULL;
}

const char *qp_state_change(unsigned int type, unsigned int from, unsigned int to, uint32_t mask,
			    struct qp_transition *transition)
{
	if (from >= QP_STATES || to >= QP_STATES)
		return "no such state";
	return check_change(type, from, to, mask, commands[from][to], transition);
}

const char *qp_state_change_mlx4(unsigned int type, unsigned int from, unsigned int to,
				 uint32_t mask, struct qp_transition *transition)
{
	uint16_t command = draining_command(from, to);

	return command ? check_change(type, from, to, mask, command, transition)
		       : qp_state_change(type, from, to, mask, transition);
}
