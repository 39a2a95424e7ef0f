/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strings.c - texts of enumerators. Programs print them and scripts compare them, so the wording is
 * part of the interface.
 */
#include "libibverbs/private.h"

#include "util/bits.h"

#define TEXT(value, text) [IBV_##value] = (text)

/* Returns the text of VALUE, or "unknown" if there is none. A negative value, converted to
 * unsigned, has none. */
static const char *text_of(const char *const *texts, size_t count, unsigned int value)
{
	return value < count && texts[value] ? texts[value] : "unknown";
}

VERBS_EXPORT const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const texts[] = {
		TEXT(WC_SUCCESS, "success"),
		TEXT(WC_LOC_LEN_ERR, "local length error"),
		TEXT(WC_LOC_QP_OP_ERR, "local QP operation error"),
		TEXT(WC_LOC_EEC_OP_ERR, "local EE context operation error"),
		TEXT(WC_LOC_PROT_ERR, "local protection error"),
		TEXT(WC_WR_FLUSH_ERR, "Work Request Flushed Error"),
		TEXT(WC_MW_BIND_ERR, "memory management operation error"),
		TEXT(WC_BAD_RESP_ERR, "bad response error"),
		TEXT(WC_LOC_ACCESS_ERR, "local access error"),
		TEXT(WC_REM_INV_REQ_ERR, "remote invalid request error"),
		TEXT(WC_REM_ACCESS_ERR, "remote access error"),
		TEXT(WC_REM_OP_ERR, "remote operation error"),
		TEXT(WC_RETRY_EXC_ERR, "transport retry counter exceeded"),
		TEXT(WC_RNR_RETRY_EXC_ERR, "RNR retry counter exceeded"),
		TEXT(WC_LOC_RDD_VIOL_ERR, "local RDD violation error"),
		TEXT(WC_REM_INV_RD_REQ_ERR, "remote invalid RD request"),
		TEXT(WC_REM_ABORT_ERR, "aborted error"),
		TEXT(WC_INV_EECN_ERR, "invalid EE context number"),
		TEXT(WC_INV_EEC_STATE_ERR, "invalid EE context state"),
		TEXT(WC_FATAL_ERR, "fatal error"),
		TEXT(WC_RESP_TIMEOUT_ERR, "response timeout error"),
		TEXT(WC_GENERAL_ERR, "general error"),
		TEXT(WC_TM_ERR, "TM error"),
		TEXT(WC_TM_RNDV_INCOMPLETE, "TM software rendezvous"),
	};

	return text_of(texts, ARRAY_SIZE(texts), status);
}

VERBS_EXPORT const char *ibv_event_type_str(enum ibv_event_type event)
{
	static const char *const texts[] = {
		TEXT(EVENT_CQ_ERR, "CQ error"),
		TEXT(EVENT_QP_FATAL, "local work queue catastrophic error"),
		TEXT(EVENT_QP_REQ_ERR, "invalid request local work queue error"),
		TEXT(EVENT_QP_ACCESS_ERR, "local access violation work queue error"),
		TEXT(EVENT_COMM_EST, "communication established"),
		TEXT(EVENT_SQ_DRAINED, "send queue drained"),
		TEXT(EVENT_PATH_MIG, "path migrated"),
		TEXT(EVENT_PATH_MIG_ERR, "path migration request error"),
		TEXT(EVENT_DEVICE_FATAL, "local catastrophic error"),
		TEXT(EVENT_PORT_ACTIVE, "port active"),
		TEXT(EVENT_PORT_ERR, "port error"),
		TEXT(EVENT_LID_CHANGE, "LID change"),
		TEXT(EVENT_PKEY_CHANGE, "P_Key change"),
		TEXT(EVENT_SM_CHANGE, "SM change"),
		TEXT(EVENT_SRQ_ERR, "SRQ catastrophic error"),
		TEXT(EVENT_SRQ_LIMIT_REACHED, "SRQ limit reached"),
		TEXT(EVENT_QP_LAST_WQE_REACHED, "last WQE reached"),
		TEXT(EVENT_CLIENT_REREGISTER, "client reregistration"),
		TEXT(EVENT_GID_CHANGE, "GID table change"),
		TEXT(EVENT_WQ_FATAL, "WQ fatal"),
		TEXT(EVENT_DEVICE_SPEED_CHANGE, "Device link speed change"),
	};

	return text_of(texts, ARRAY_SIZE(texts), event);
}

VERBS_EXPORT const char *ibv_node_type_str(enum ibv_node_type node_type)
{
	static const char *const texts[] = {
		TEXT(NODE_CA, "InfiniBand channel adapter"),
		TEXT(NODE_SWITCH, "InfiniBand switch"),
		TEXT(NODE_ROUTER, "InfiniBand router"),
		TEXT(NODE_RNIC, "iWARP NIC"),
		TEXT(NODE_USNIC, "usNIC"),
		TEXT(NODE_USNIC_UDP, "usNIC UDP"),
		TEXT(NODE_UNSPECIFIED, "unspecified"),
	};

	return text_of(texts, ARRAY_SIZE(texts), (unsigned int)node_type);
}

VERBS_EXPORT const char *ibv_port_state_str(enum ibv_port_state port_state)
{
	static const char *const texts[] = {
		TEXT(PORT_NOP, "no state change (NOP)"),
		TEXT(PORT_DOWN, "down"),
		TEXT(PORT_INIT, "init"),
		TEXT(PORT_ARMED, "armed"),
		TEXT(PORT_ACTIVE, "active"),
		TEXT(PORT_ACTIVE_DEFER, "active defer"),
	};

	return text_of(texts, ARRAY_SIZE(texts), port_state);
}
