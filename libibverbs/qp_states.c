/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_states.c - which attributes a QP transition takes (IBTA vol 1, 11.2.5.2: Modify Queue Pair), to explain a refusal.
 *
 * The kernel decides, and its errno stands. When it has refused, this table finds what was missing or out of place, so that
 * the log can name it; when the mask is right, the values are looked at.
 */
#include "private.h"
#include "qp_states.h"

#include "util/bits.h"

#include <stdio.h>
#include <string.h>

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

/* Rows of one transition add up: each says what it requires of, and allows to, the classes it names. */
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

bool qp_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
		   int *required, int *allowed)
{
	bool found = to == IBV_QPS_RESET || to == IBV_QPS_ERR;

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

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return state < ARRAY_SIZE(names) ? names[state] : "an unknown state";
}

static const char *const attr_names[] = {
	"STATE",
	"CUR_STATE",
	"EN_SQD_ASYNC_NOTIFY",
	"ACCESS_FLAGS",
	"PKEY_INDEX",
	"PORT",
	"QKEY",
	"AV",
	"PATH_MTU",
	"TIMEOUT",
	"RETRY_CNT",
	"RNR_RETRY",
	"RQ_PSN",
	"MAX_QP_RD_ATOMIC",
	"ALT_PATH",
	"MIN_RNR_TIMER",
	"SQ_PSN",
	"MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE",
	"CAP",
	"DEST_QPN",
};
_Static_assert(IBV_QP_DEST_QPN == 1 << 20, "attr_names is indexed by bit number");

/* "PORT|QKEY" */
static void name_attrs(int mask, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int bit = 0; bit < 32 && len < size; bit++) {
		if (!((unsigned int)mask & 1u << bit))
			continue;
		if (bit < ARRAY_SIZE(attr_names))
			len += snprintf(text + len, size - len, "%s%s", len ? "|" : "",
					attr_names[bit]);
		else if (1 << bit == IBV_QP_RATE_LIMIT)
			len += snprintf(text + len, size - len, "%sRATE_LIMIT", len ? "|" : "");
		else
			len += snprintf(text + len, size - len, "%sbit %u", len ? "|" : "", bit);
	}
}

static bool value_is_wrong(const struct ibv_qp_attr *attr, int mask, char *text, size_t size)
{
#define CHECK(bit, bad, ...)                               \
	do {                                               \
		if ((mask & (bit)) && (bad)) {             \
			snprintf(text, size, __VA_ARGS__); \
			return true;                       \
		}                                          \
	} while (0)
	CHECK(IBV_QP_PORT, attr->port_num == 0, "port_num 0: ports count from 1");
	CHECK(IBV_QP_PATH_MTU, attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096,
	      "path_mtu %d is no enum ibv_mtu (1 to 5)", attr->path_mtu);
	CHECK(IBV_QP_TIMEOUT, attr->timeout > 31, "timeout %u is above 31 (5 bits)", attr->timeout);
	CHECK(IBV_QP_RETRY_CNT, attr->retry_cnt > 7, "retry_cnt %u is above 7 (3 bits)",
	      attr->retry_cnt);
	CHECK(IBV_QP_RNR_RETRY, attr->rnr_retry > 7, "rnr_retry %u is above 7 (3 bits)",
	      attr->rnr_retry);
	CHECK(IBV_QP_MIN_RNR_TIMER, attr->min_rnr_timer > 31,
	      "min_rnr_timer %u is above 31 (5 bits)", attr->min_rnr_timer);
	CHECK(IBV_QP_AV, attr->ah_attr.port_num == 0, "ah_attr.port_num 0: ports count from 1");
#undef CHECK
	return false;
}

static void explain_value(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
			  const char *move, int err)
{
	char text[128];

	if (value_is_wrong(attr, mask, text, sizeof(text)))
		verbs_warn("ibv_modify_qp: QP 0x%x %s: %s: %s", qp->qp_num, move, strerror(err),
			   text);
	else if (mask & IBV_QP_AV)
		verbs_warn(
			"ibv_modify_qp: QP 0x%x %s: %s: the mask is right; look at the values: path_mtu %d dest_qp_num "
			"0x%x dlid %u is_global %u sgid_index %u port_num %u max_dest_rd_atomic %u",
			qp->qp_num, move, strerror(err), attr->path_mtu, attr->dest_qp_num,
			attr->ah_attr.dlid, attr->ah_attr.is_global, attr->ah_attr.grh.sgid_index,
			attr->ah_attr.port_num, attr->max_dest_rd_atomic);
	else
		verbs_warn(
			"ibv_modify_qp: QP 0x%x %s: %s: the mask is right; look at the values and the device's limits",
			qp->qp_num, move, strerror(err));
}

void qp_explain_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, int err)
{
	enum ibv_qp_state from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	int required, allowed;
	char move[64], names[256];

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	snprintf(move, sizeof(move), "%s to %s", state_name(from), state_name(to));
	if (!class_of(qp->qp_type)) {
		verbs_warn("ibv_modify_qp: QP 0x%x %s: %s", qp->qp_num, move, strerror(err));
	} else if (!qp_transition(qp->qp_type, from, to, &required, &allowed)) {
		verbs_warn("ibv_modify_qp: QP 0x%x %s: %s: there is no such transition", qp->qp_num,
			   move, strerror(err));
	} else if (required & ~mask) {
		name_attrs(required & ~mask, names, sizeof(names));
		verbs_warn("ibv_modify_qp: QP 0x%x %s: %s: attr_mask 0x%x lacks %s", qp->qp_num,
			   move, strerror(err), mask, names);
	} else if (mask & ~allowed) {
		name_attrs(mask & ~allowed, names, sizeof(names));
		verbs_warn(
			"ibv_modify_qp: QP 0x%x %s: %s: attr_mask 0x%x has %s, which this transition does not take",
			qp->qp_num, move, strerror(err), mask, names);
	} else {
		explain_value(qp, attr, mask, move, err);
	}
}
