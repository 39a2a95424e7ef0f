/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_modify.c - mlx4's QP state machine: which command is valid in which state, which fields of the
 * context it always takes, and which it takes only if the optional parameter mask names them.
 *
 * Fields come in groups. Groups of the mask use its bits; the others use bits above these.
 */
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx4/qpc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/cmd/eth_port.h"
#include "softhca/device/format/mlx4/cmd/eth_qp.h"
#include "softhca/device/format/mlx4/cmd/qp.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/transport/drain.h"
#include "softhca/device/transport/qp.h"
#include "util/bits.h"

enum {
	GROUP_ROCE = 1 << 26, /* only set on the way to RTR */
	GROUP_DEST_QPN = 1 << 27,
	GROUP_RECV_PSN = 1 << 28,
	GROUP_SEND_PSN = 1 << 29,
	GROUP_MTU = 1 << 30,
};

#define PATH(field) FLD_IN(M4_QPC_PATH, field)

static const struct {
	uint32_t groups, field;
} fields[] = {
	{ M4_OPTPAR_RRE, M4_QPC_RRE },
	{ M4_OPTPAR_RAE, M4_QPC_RAE },
	{ M4_OPTPAR_RWE, M4_QPC_RWE },
	{ M4_OPTPAR_PKEY_INDEX, PATH(M4_PATH_PKEY_INDEX) },
	{ M4_OPTPAR_QKEY, M4_QPC_QKEY },
	{ M4_OPTPAR_RNR_TIMEOUT, M4_QPC_MIN_RNR },
	{ M4_OPTPAR_SRA_MAX, M4_QPC_LOG_SRA_MAX },
	{ M4_OPTPAR_RRA_MAX, M4_QPC_LOG_RRA_MAX },
	{ M4_OPTPAR_PM_STATE, M4_QPC_PM_STATE },
	{ M4_OPTPAR_RETRY_COUNT, M4_QPC_RETRY_COUNT },
	{ M4_OPTPAR_RNR_RETRY, M4_QPC_RNR_RETRY },
	{ M4_OPTPAR_ACK_TIMEOUT, PATH(M4_PATH_ACKTO) },
	{ M4_OPTPAR_COUNTER_INDEX, PATH(M4_PATH_COUNTER) },
	{ M4_OPTPAR_SCHED_QUEUE, PATH(M4_PATH_PORT) },
	{ M4_OPTPAR_SCHED_QUEUE, PATH(M4_PATH_SL) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_GRH) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_PATH_BITS) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_RLID) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_GID_INDEX) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_RATE) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_HOP_LIMIT) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_TCLASS) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_FLOW_LABEL) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_VLAN) },
	{ M4_OPTPAR_PRIMARY_PATH, PATH(M4_PATH_VLAN_INDEX) },
	{ GROUP_ROCE, M4_QPC_ROCE_MODE },
	{ GROUP_ROCE, M4_QPC_ROCE_ENTROPY },
	{ GROUP_DEST_QPN, M4_QPC_REMOTE_QPN },
	{ GROUP_RECV_PSN, M4_QPC_NEXT_RECV_PSN },
	{ GROUP_SEND_PSN, M4_QPC_NEXT_SEND_PSN },
	{ GROUP_MTU, M4_QPC_MTU },
	{ GROUP_MTU, M4_QPC_LOG_MSG_MAX },
};

enum {
	ACCESS = M4_OPTPAR_RRE | M4_OPTPAR_RAE | M4_OPTPAR_RWE,
	HARMLESS = M4_OPTPAR_PM_STATE | M4_OPTPAR_COUNTER_INDEX,
	KEYS = M4_OPTPAR_PKEY_INDEX | M4_OPTPAR_QKEY,
	TO_RTR = M4_OPTPAR_PRIMARY_PATH | M4_OPTPAR_SCHED_QUEUE | GROUP_MTU | GROUP_DEST_QPN |
		 GROUP_RECV_PSN | GROUP_ROCE | M4_OPTPAR_RRA_MAX | M4_OPTPAR_RNR_TIMEOUT,
	TO_RTS = GROUP_SEND_PSN | M4_OPTPAR_SRA_MAX | M4_OPTPAR_RETRY_COUNT | M4_OPTPAR_RNR_RETRY |
		 M4_OPTPAR_ACK_TIMEOUT,
	IN_SQD = M4_OPTPAR_PRIMARY_PATH | M4_OPTPAR_SCHED_QUEUE | M4_OPTPAR_RRA_MAX |
		 M4_OPTPAR_RNR_TIMEOUT | M4_OPTPAR_SRA_MAX | M4_OPTPAR_RETRY_COUNT |
		 M4_OPTPAR_RNR_RETRY | M4_OPTPAR_ACK_TIMEOUT,
};

#define FROM(state) (1u << PRM_QP_STATE_##state)

/* TAKES: groups that are always taken. OPTIONAL: groups taken if the mask names them. */
static const struct transition {
	enum m4_opcode_cmd opcode;
	uint32_t from; /* mask of allowed states */
	enum prm_qp_state to;
	uint32_t takes, optional;
} transitions[] = {
	{ M4_CMD_INIT2INIT_QP, FROM(INIT), PRM_QP_STATE_INIT, 0,
	  ACCESS | HARMLESS | KEYS | M4_OPTPAR_SCHED_QUEUE },
	{ M4_CMD_INIT2RTR_QP, FROM(INIT), PRM_QP_STATE_RTR, TO_RTR, ACCESS | HARMLESS | KEYS },
	{ M4_CMD_RTR2RTS_QP, FROM(RTR), PRM_QP_STATE_RTS, TO_RTS,
	  ACCESS | HARMLESS | M4_OPTPAR_RNR_TIMEOUT | M4_OPTPAR_QKEY },
	{ M4_CMD_RTS2RTS_QP, FROM(RTS), PRM_QP_STATE_RTS, 0,
	  ACCESS | HARMLESS | M4_OPTPAR_RNR_TIMEOUT | M4_OPTPAR_QKEY },
	{ M4_CMD_SQERR2RTS_QP, FROM(SQER), PRM_QP_STATE_RTS, 0,
	  ACCESS | HARMLESS | M4_OPTPAR_RNR_TIMEOUT | M4_OPTPAR_QKEY },
	{ M4_CMD_RTS2SQD_QP, FROM(RTS), PRM_QP_STATE_SQ_DRAINING, 0, 0 },
	/* Software waits for the drained event before the next transition. */
	{ M4_CMD_SQD2SQD_QP, FROM(SQD), PRM_QP_STATE_SQD, 0, ACCESS | HARMLESS | KEYS | IN_SQD },
	{ M4_CMD_SQD2RTS_QP, FROM(SQD), PRM_QP_STATE_RTS, 0,
	  ACCESS | HARMLESS | M4_OPTPAR_RNR_TIMEOUT | M4_OPTPAR_QKEY },
	{ M4_CMD_2ERR_QP, ~0u, PRM_QP_STATE_ERR, 0, 0 },
};

static const struct transition *find_transition(uint16_t opcode)
{
	const struct transition *t = transitions;

	while (t->opcode != opcode)
		t++; /* cmd.c dispatches only these opcodes */
	return t;
}

/* Checks a connected QP of RoCE, which has no LID, so it needs a GID and a MAC address. MODE is the
 * RoCE version. */
static const char *check_roce(const struct hca *hca, const uint8_t *qpc, unsigned int port,
			      unsigned int mode)
{
	const struct gid_entry *source =
		port_gid_entry(hca, port, fld_get(qpc, PATH(M4_PATH_GID_INDEX)));
	uint16_t vlan;

	if (!fld_get(qpc, PATH(M4_PATH_GRH)))
		return "qp: RoCE without a GRH";
	if (!source || source->version != mode)
		return "qp: its version of RoCE is not its source GID's";
	if (fld_get(qpc, PATH(M4_PATH_VLAN)) &&
	    !m4_find_vlan(hca, port, fld_get(qpc, PATH(M4_PATH_VLAN_INDEX)), &vlan))
		return "qp: no such VLAN";
	return NULL;
}

static const char *check_destination(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
				     uint32_t groups)
{
	const uint8_t *of_port = groups & M4_OPTPAR_SCHED_QUEUE ? qpc : qp->context;
	const uint8_t *of_mode = groups & GROUP_ROCE ? qpc : qp->context;
	unsigned int port = fld_get(of_port, PATH(M4_PATH_PORT)) + 1;

	if (qp->service == FABRIC_UD)
		return NULL;
	if (fld_get(qpc, PATH(M4_PATH_GRH)) &&
	    !port_gid(hca, port, fld_get(qpc, PATH(M4_PATH_GID_INDEX))))
		return "qp: no such source GID";
	if (hca->config.link_layer == HCA_LINK_ETHERNET)
		return check_roce(hca, qpc, port, fld_get(of_mode, M4_QPC_ROCE_MODE));
	return fld_get(qpc, PATH(M4_PATH_RLID)) ? NULL : "qp: destination LID is 0";
}

static const char *check_message(const uint8_t *qpc)
{
	uint64_t mtu = fld_get(qpc, M4_QPC_MTU);

	if (mtu < 1 || mtu > 5)
		return "qp: path MTU is not 256 to 4096";
	if (fld_get(qpc, M4_QPC_LOG_MSG_MAX) > M4_LOG_MSG_MAX)
		return "qp: longer messages than were announced";
	return NULL;
}

static const char *check_reads(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
			       uint32_t groups)
{
	uint32_t most = hca->config.limits.max_rd_atomic;

	if (groups & M4_OPTPAR_SRA_MAX && 1u << fld_get(qpc, M4_QPC_LOG_SRA_MAX) > most)
		return "qp: more READs of the requester than were announced";
	if (groups & M4_OPTPAR_RRA_MAX && qp->service != FABRIC_UD &&
	    1u << fld_get(qpc, M4_QPC_LOG_RRA_MAX) > most)
		return "qp: more READs at the responder than were announced";
	return NULL;
}

static const char *check_attributes(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
				    uint32_t groups)
{
	unsigned int port = fld_get(qpc, PATH(M4_PATH_PORT)) + 1;
	const char *why;

	if (groups & M4_OPTPAR_PKEY_INDEX && !port_pkey(fld_get(qpc, PATH(M4_PATH_PKEY_INDEX))))
		return "qp: P_Key index of no valid P_Key";
	if (groups & M4_OPTPAR_SCHED_QUEUE && port > hca->config.num_ports)
		return "qp: no such port";
	if (groups & M4_OPTPAR_SCHED_QUEUE && qp->special >= 0 && port != qp->path.addr.port)
		return "qp: a management QP keeps its port";
	why = groups & GROUP_MTU ? check_message(qpc) : NULL;
	if (!why)
		why = check_reads(hca, qp, qpc, groups);
	if (!why && groups & M4_OPTPAR_PRIMARY_PATH)
		why = check_destination(hca, qp, qpc, groups);
	return why;
}

static void take_fields(struct qp *qp, const uint8_t *qpc, uint32_t groups)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].groups & groups)
			fld_set(qp->context, fields[i].field, fld_get(qpc, fields[i].field));
	if (!(groups & M4_OPTPAR_PRIMARY_PATH))
		return;
	memcpy(fld_at(qp->context, PATH(M4_PATH_RGID)), fld_at(qpc, PATH(M4_PATH_RGID)), 16);
	memcpy(fld_at(qp->context, PATH(M4_PATH_DMAC)), fld_at(qpc, PATH(M4_PATH_DMAC)), 6);
}

static void decode_path(const uint8_t *at, bool roce, struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;

	memset(path, 0, sizeof(*path));
	path->gid_index = fld_get(at, M4_PATH_GID_INDEX);
	path->pkey = port_pkey(fld_get(at, M4_PATH_PKEY_INDEX));
	addr->port = fld_get(at, M4_PATH_PORT) + 1;
	addr->dlid = roce ? 0 : fld_get(at, M4_PATH_RLID);
	addr->sl = fld_get(at, roce ? M4_PATH_ETH_PRIO : M4_PATH_SL);
	addr->by_gid = roce;
	addr->grh = roce || fld_get(at, M4_PATH_GRH);
	if (roce)
		memcpy(addr->dmac, fld_at(at, M4_PATH_DMAC), sizeof(addr->dmac));
	if (!addr->grh)
		return;
	addr->traffic_class = fld_get(at, M4_PATH_TCLASS);
	addr->hop_limit = fld_get(at, M4_PATH_HOP_LIMIT);
	addr->flow_label = fld_get(at, M4_PATH_FLOW_LABEL);
	memcpy(addr->dgid, fld_at(at, M4_PATH_RGID), sizeof(addr->dgid));
}

static void decode_roce(const struct hca *hca, const uint8_t *qpc, struct fabric_addr *addr)
{
	addr->udp_sport = fld_get(qpc, M4_QPC_ROCE_ENTROPY);
	addr->tagged =
		fld_get(qpc, PATH(M4_PATH_VLAN)) &&
		m4_find_vlan(hca, addr->port, fld_get(qpc, PATH(M4_PATH_VLAN_INDEX)), &addr->vlan);
}

static void decode_context(const struct hca *hca, struct qp *qp)
{
	const uint8_t *qpc = qp->context;
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;

	decode_path(fld_at(qpc, M4_QPC_PATH), roce, &qp->path);
	if (roce)
		decode_roce(hca, qpc, &qp->path.addr);
	qp->mtu = 128u << fld_get(qpc, M4_QPC_MTU);
	qp->remote_qpn = fld_get(qpc, M4_QPC_REMOTE_QPN);
	qp->qkey = fld_get(qpc, M4_QPC_QKEY);
	qp->remote_read = fld_get(qpc, M4_QPC_RRE);
	qp->remote_write = fld_get(qpc, M4_QPC_RWE);
	qp->remote_atomic = fld_get(qpc, M4_QPC_RAE);
	qp->retry_count = fld_get(qpc, M4_QPC_RETRY_COUNT);
	qp->rnr_retry = fld_get(qpc, M4_QPC_RNR_RETRY);
	qp->min_rnr_timer = fld_get(qpc, M4_QPC_MIN_RNR);
	qp->ack_timeout = fld_get(qpc, PATH(M4_PATH_ACKTO));
	qp->max_reads = 1u << fld_get(qpc, M4_QPC_LOG_SRA_MAX);
	qp->max_reads_in = 1u << fld_get(qpc, M4_QPC_LOG_RRA_MAX);
}

void m4_qp_begin(struct hca *hca, struct qp *qp)
{
	decode_context(hca, qp);
	qp->state = PRM_QP_STATE_INIT;
	if (qp->special >= 0)
		hca->port[qp->path.addr.port - 1].special[qp->special] = qp;
}

uint8_t m4_qp_state(const struct qp *qp)
{
	static const uint8_t states[] = {
		[PRM_QP_STATE_RST] = M4_QP_RST,   [PRM_QP_STATE_INIT] = M4_QP_INIT,
		[PRM_QP_STATE_RTR] = M4_QP_RTR,   [PRM_QP_STATE_RTS] = M4_QP_RTS,
		[PRM_QP_STATE_SQER] = M4_QP_SQER, [PRM_QP_STATE_SQD] = M4_QP_SQD,
		[PRM_QP_STATE_ERR] = M4_QP_ERR,   [PRM_QP_STATE_SQ_DRAINING] = M4_QP_SQ_DRAINING,
	};

	return qp->state < ARRAY_SIZE(states) ? states[qp->state] : M4_QP_ERR;
}

static void state_enter(struct hca *hca, struct qp *qp, const struct transition *t, bool tell)
{
	switch (t->opcode) {
	case M4_CMD_RTS2SQD_QP:
		drain_begin(hca, qp, tell);
		return;
	case M4_CMD_2ERR_QP:
		qp_fail(hca, qp, -1);
		return;
	case M4_CMD_INIT2RTR_QP:
		qp->resp.expected_psn = fld_get(qp->context, M4_QPC_NEXT_RECV_PSN);
		break;
	case M4_CMD_RTR2RTS_QP:
		qp->req.next_psn = fld_get(qp->context, M4_QPC_NEXT_SEND_PSN);
		qp->req.sent_psn = qp->req.unacked = qp->req.next_psn;
		req_count_tries(qp);
		break;
	case M4_CMD_SQD2RTS_QP:
		req_count_tries(qp);
		break;
	case M4_CMD_SQERR2RTS_QP:
		qp->sq.next = qp->sq.ci;
		qp->req.offset = 0;
		qp->req.decoded = false;
		break;
	default:
		break;
	}
	qp->state = t->to;
	qp_wake(hca, qp);
}

enum m4_status m4_qp_modify(struct hca *hca, struct m4_cmd *cmd)
{
	const struct transition *t = find_transition(cmd->order->opcode);
	struct qp *qp = res_get(&hca->qps, m4_number(cmd));
	const uint8_t *qpc = fld_at(cmd->in, M4_MODIFY_QPC);
	uint32_t mask = t->takes | t->optional ? fld_get(cmd->in, M4_MODIFY_OPTPAR) : 0;
	const char *why;

	if (m4_eth_qp(hca, m4_number(cmd)))
		return m4_eth_qp_modify(hca, m4_eth_qp(hca, m4_number(cmd)), cmd);
	if (!qp)
		return m4_fail(cmd, M4_STAT_BAD_QP_STATE, "qp: in state RESET, or no such QP");
	if (!(t->from & 1u << qp->state))
		return m4_fail(cmd, M4_STAT_BAD_QP_STATE, "qp: command not valid in state");
	if (mask & ~(t->takes | t->optional))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "qp: parameter not valid here");
	why = check_attributes(hca, qp, qpc, t->takes | mask);
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	take_fields(qp, qpc, t->takes | mask);
	decode_context(hca, qp);
	state_enter(hca, qp, t, cmd->order->in_modifier & M4_TELL_DRAINED);
	return M4_STAT_OK;
}
