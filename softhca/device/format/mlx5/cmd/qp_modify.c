/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_modify.c - the QP state machine: which command is valid in which state, which fields of the
 * context it always takes, and which it takes only if opt_param_mask names them.
 *
 * Fields come in groups. Groups that opt_param_mask can name use its bits; the others use bits
 * above these.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/qp.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/drain.h"
#include "softhca/device/transport/qp.h"
#include "util/bits.h"

enum {
	GROUP_PORT = 1 << 26, /* and other fields that only RST2INIT sets */
	GROUP_DEST_QPN = 1 << 27,
	GROUP_RECV_PSN = 1 << 28,
	GROUP_SEND_PSN = 1 << 29,
	GROUP_MTU = 1 << 30,
};

#define PATH(field) FLD_IN(QPC_PRIMARY_PATH, field)

static const struct {
	uint32_t groups, field;
} fields[] = {
	{ PRM_OPTPAR_RRE, QPC_RRE },
	{ PRM_OPTPAR_RAE, QPC_RAE },
	{ PRM_OPTPAR_RAE, QPC_ATOMIC_MODE },
	{ PRM_OPTPAR_RWE, QPC_RWE },
	{ PRM_OPTPAR_PKEY_INDEX, PATH(ADS_PKEY_INDEX) },
	{ PRM_OPTPAR_RNR_TIMEOUT, QPC_MIN_RNR_NAK },
	{ PRM_OPTPAR_SRA_MAX, QPC_LOG_SRA_MAX },
	{ PRM_OPTPAR_RRA_MAX, QPC_LOG_RRA_MAX },
	{ PRM_OPTPAR_PM_STATE, QPC_PM_STATE },
	{ PRM_OPTPAR_DRAIN_SIGERR, QPC_DRAIN_SIGERR },
	{ PRM_OPTPAR_RETRY_COUNT, QPC_RETRY_COUNT },
	{ PRM_OPTPAR_RNR_RETRY, QPC_RNR_RETRY },
	{ PRM_OPTPAR_ACK_TIMEOUT, PATH(ADS_ACK_TIMEOUT) },
	{ PRM_OPTPAR_PRI_PORT | GROUP_PORT, PATH(ADS_VHCA_PORT_NUM) },
	{ PRM_OPTPAR_LAG_TX_AFF, QPC_LAG_TX_PORT_AFFINITY },
	{ PRM_OPTPAR_COUNTER_SET_ID | GROUP_PORT, QPC_COUNTER_SET_ID },
	{ PRM_OPTPAR_Q_KEY, QPC_Q_KEY },
	{ GROUP_PORT, QPC_DETH_SQPN },
	{ GROUP_DEST_QPN, QPC_REMOTE_QPN },
	{ GROUP_RECV_PSN, QPC_NEXT_RCV_PSN },
	{ GROUP_RECV_PSN, QPC_DP_ORDERING_1 },
	{ GROUP_SEND_PSN, QPC_NEXT_SEND_PSN },
	{ GROUP_MTU, QPC_MTU },
	{ GROUP_MTU, QPC_LOG_MSG_MAX },
	{ GROUP_SEND_PSN, QPC_LOG_ACK_REQ_FREQ },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_FL) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_GRH) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_MLID) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_RLID) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_SRC_ADDR_INDEX) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_STAT_RATE) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_HOP_LIMIT) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_TCLASS) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_FLOW_LABEL) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_DSCP) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_UDP_SPORT) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_ETH_PRIO) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_SL) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_RMAC_47_32) },
	{ PRM_OPTPAR_PRIMARY_ADDR_PATH, PATH(ADS_RMAC_31_0) },
};

enum {
	ACCESS = PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE,
	TO_INIT = GROUP_PORT | PRM_OPTPAR_PKEY_INDEX | PRM_OPTPAR_Q_KEY | PRM_OPTPAR_PM_STATE |
		  ACCESS,
	TO_RTR = PRM_OPTPAR_PRIMARY_ADDR_PATH | GROUP_MTU | GROUP_DEST_QPN | GROUP_RECV_PSN |
		 PRM_OPTPAR_RRA_MAX | PRM_OPTPAR_RNR_TIMEOUT,
	TO_RTS = GROUP_SEND_PSN | PRM_OPTPAR_SRA_MAX | PRM_OPTPAR_RETRY_COUNT |
		 PRM_OPTPAR_RNR_RETRY | PRM_OPTPAR_ACK_TIMEOUT,
	IN_SQD = PRM_OPTPAR_PRIMARY_ADDR_PATH | PRM_OPTPAR_PRI_PORT | PRM_OPTPAR_ACK_TIMEOUT |
		 PRM_OPTPAR_RETRY_COUNT | PRM_OPTPAR_RNR_RETRY | PRM_OPTPAR_SRA_MAX |
		 PRM_OPTPAR_RRA_MAX | PRM_OPTPAR_RNR_TIMEOUT,
	HARMLESS = PRM_OPTPAR_LAG_TX_AFF | PRM_OPTPAR_COUNTER_SET_ID | PRM_OPTPAR_PM_STATE,
};

#define FROM(state) (1u << PRM_QP_STATE_##state)

/* Groups of QP context fields that a command copies: TAKES always, OPTIONAL if opt_param_mask names
 * them. */
static const struct transition {
	uint32_t opcode;
	uint32_t from; /* mask of allowed states */
	enum prm_qp_state to;
	uint32_t takes, optional;
} transitions[] = {
	{ PRM_OP_RST2INIT_QP, FROM(RST), PRM_QP_STATE_INIT, TO_INIT,
	  ACCESS | HARMLESS | PRM_OPTPAR_PRI_PORT },
	{ PRM_OP_INIT2INIT_QP, FROM(INIT), PRM_QP_STATE_INIT, 0,
	  ACCESS | HARMLESS | PRM_OPTPAR_PKEY_INDEX | PRM_OPTPAR_Q_KEY | PRM_OPTPAR_PRI_PORT |
		  PRM_OPTPAR_DRAIN_SIGERR },
	{ PRM_OP_INIT2RTR_QP, FROM(INIT), PRM_QP_STATE_RTR, TO_RTR,
	  ACCESS | HARMLESS | PRM_OPTPAR_PKEY_INDEX | PRM_OPTPAR_Q_KEY },
	{ PRM_OP_RTR2RTS_QP, FROM(RTR), PRM_QP_STATE_RTS, TO_RTS,
	  ACCESS | HARMLESS | PRM_OPTPAR_RNR_TIMEOUT | PRM_OPTPAR_Q_KEY },
	{ PRM_OP_RTS2RTS_QP, FROM(RTS), PRM_QP_STATE_RTS, 0,
	  ACCESS | HARMLESS | PRM_OPTPAR_RNR_TIMEOUT | PRM_OPTPAR_Q_KEY },
	{ PRM_OP_SQERR2RTS_QP, FROM(SQER), PRM_QP_STATE_RTS, 0,
	  ACCESS | HARMLESS | PRM_OPTPAR_RNR_TIMEOUT | PRM_OPTPAR_Q_KEY },
	{ M4_AS_RTS2SQD_QP, FROM(RTS), PRM_QP_STATE_SQ_DRAINING, 0, 0 },
	{ M4_AS_SQD2SQD_QP, FROM(SQD), PRM_QP_STATE_SQD, 0,
	  ACCESS | HARMLESS | IN_SQD | PRM_OPTPAR_PKEY_INDEX | PRM_OPTPAR_Q_KEY },
	{ PRM_OP_SQD_RTS_QP, FROM(SQD), PRM_QP_STATE_RTS, 0,
	  ACCESS | HARMLESS | PRM_OPTPAR_RNR_TIMEOUT | PRM_OPTPAR_Q_KEY },
	{ PRM_OP_2ERR_QP, ~0u, PRM_QP_STATE_ERR, 0, 0 },
	{ PRM_OP_2RST_QP, ~0u, PRM_QP_STATE_RST, 0, 0 },
};

enum {
	EXTENSIONS = PRM_OPTPAR_32_DCI_STREAM_CHANNEL_ID | PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID |
		     PRM_OPTPAR_32_UDP_SPORT | PRM_OPTPAR_32_MMO,
	ROCE_MIN_UDP_SPORT = 0xc000, /* as reported by the capabilities */
};

/* A second mask that only RTS2RTS and INIT2INIT have, with the values for some of its bits. */
struct extension {
	uint32_t mask;
	struct sched_element *requests, *responses;
	bool copies;
};

static const char *read_groups(const struct hca *hca, const struct cmd *cmd, struct extension *ext)
{
	const uint8_t *data = fld_at(cmd->in, MODIFY_QP_IN_QPC_DATA_EXT);
	const char *why;

	if (!fld_get(cmd->in, MODIFY_QP_IN_QPC_EXT) || cmd->in_len < PRM_MODIFY_QP_EXT_IN_SIZE)
		return "qp: no extension with the groups of queues";
	why = sched_find_group(hca, fld_get(data, QPC_EXT_QOS_GROUP_REQUESTER), &ext->requests);
	if (!why)
		why = sched_find_group(hca, fld_get(data, QPC_EXT_QOS_GROUP_RESPONDER),
				       &ext->responses);
	return why;
}

static const char *read_mmo(const struct qp *qp, const struct cmd *cmd, uint32_t opcode,
			    struct extension *ext)
{
	if (opcode != PRM_OP_INIT2INIT_QP || !qp_is_reliable(qp))
		return "qp: only reliable QPs in state INIT can be set to copy memory";
	if (!fld_get(cmd->in, MODIFY_QP_IN_QPC_EXT))
		return "qp: no extension that says whether memory is copied";
	ext->copies = fld_get(fld_at(cmd->in, MODIFY_QP_IN_QPC_DATA_EXT), QPC_EXT_MMO);
	return NULL;
}

static const char *check_udp_port(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
				  uint32_t opcode)
{
	uint64_t port = fld_get(qpc, PATH(ADS_UDP_SPORT));

	if (opcode != PRM_OP_RTS2RTS_QP || hca->config.link_layer != HCA_LINK_ETHERNET ||
	    (qp->service != FABRIC_RC && qp->service != FABRIC_UC))
		return "qp: only connected QPs on RoCE change the UDP source port, in state RTS";
	return port < ROCE_MIN_UDP_SPORT ? "qp: UDP source port out of range" : NULL;
}

static const char *read_extension(const struct hca *hca, const struct qp *qp, const struct cmd *cmd,
				  uint32_t opcode, struct extension *ext)
{
	const char *why = NULL;

	*ext = (struct extension){ 0 };
	if (opcode != PRM_OP_RTS2RTS_QP && opcode != PRM_OP_INIT2INIT_QP)
		return NULL;
	ext->mask = fld_get(cmd->in, MODIFY_QP_IN_OPT_PARAM_MASK_32);
	if (ext->mask & ~(uint32_t)EXTENSIONS)
		return "qp: attribute not valid here";
	if (ext->mask & PRM_OPTPAR_32_UDP_SPORT)
		why = check_udp_port(hca, qp, fld_at(cmd->in, MODIFY_QP_IN_QPC), opcode);
	if (!why && ext->mask & PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID)
		why = read_groups(hca, cmd, ext);
	if (!why && ext->mask & PRM_OPTPAR_32_MMO)
		why = read_mmo(qp, cmd, opcode, ext);
	return why;
}

static void take_extension(struct hca *hca, struct qp *qp, const uint8_t *qpc,
			   const struct extension *ext)
{
	if (ext->mask & PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID)
		qp_schedule(hca, qp, ext->requests, ext->responses);
	if (ext->mask & PRM_OPTPAR_32_MMO)
		qp->may_copy = ext->copies;
	if (ext->mask & PRM_OPTPAR_32_UDP_SPORT)
		fld_set(qp->context, PATH(ADS_UDP_SPORT), fld_get(qpc, PATH(ADS_UDP_SPORT)));
}

static const struct transition *find_transition(uint32_t opcode)
{
	const struct transition *t = transitions;

	while (t->opcode != opcode)
		t++; /* cmd.c dispatches only these opcodes */
	return t;
}

static uint32_t mtu_bytes(uint64_t mtu)
{
	return 128u << mtu;
}

static const char *check_port(const struct hca *hca, const struct qp *qp, const uint8_t *qpc)
{
	uint64_t port = fld_get(qpc, PATH(ADS_VHCA_PORT_NUM));

	if (port < 1 || port > hca->config.num_ports)
		return "qp: no such port";
	if (qp->special < 0)
		return NULL;
	if (qp->state != PRM_QP_STATE_RST)
		return port == qp->path.addr.port ? NULL : "qp: a management QP keeps its port";
	return hca->port[port - 1].special[qp->special]
		       ? "qp: the port has such a management QP already"
		       : NULL;
}

static const char *check_path(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
			      uint32_t groups)
{
	if (groups & PRM_OPTPAR_PKEY_INDEX && !port_pkey(fld_get(qpc, PATH(ADS_PKEY_INDEX))))
		return "qp: P_Key index of no valid P_Key";
	return groups & (GROUP_PORT | PRM_OPTPAR_PRI_PORT) ? check_port(hca, qp, qpc) : NULL;
}

/* Checks the peer's address against a port: the path's if the command may change it (only in state
 * SQD), else the QP's. */
static const char *check_peer(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
			      uint32_t groups)
{
	unsigned int gid_index = fld_get(qpc, PATH(ADS_SRC_ADDR_INDEX));
	unsigned int port = groups & PRM_OPTPAR_PRI_PORT ? fld_get(qpc, PATH(ADS_VHCA_PORT_NUM))
							 : qp->path.addr.port;
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;

	if ((roce || fld_get(qpc, PATH(ADS_GRH))) && !port_gid(hca, port, gid_index))
		return "qp: no such source GID";
	if (!roce && !fld_get(qpc, PATH(ADS_RLID)) && !fld_get(qpc, PATH(ADS_FL)))
		return "qp: destination LID is 0";
	return NULL;
}

static const char *check_rtr(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
			     uint32_t groups)
{
	uint64_t mtu = fld_get(qpc, QPC_MTU);

	if (mtu < 1 || mtu > 5)
		return "qp: path MTU is not 256 to 4096";
	if (1ull << fld_get(qpc, QPC_LOG_MSG_MAX) > hca->config.limits.max_msg_size)
		return "qp: log_msg_max is above the limit";
	/* these have no fixed peer, so no address is checked */
	if (qp->service == FABRIC_UD || qp->service == FABRIC_DC)
		return NULL;
	if (1u << fld_get(qpc, QPC_LOG_RRA_MAX) > hca->config.limits.max_rd_atomic)
		return "qp: log_rra_max is above the limit";
	return check_peer(hca, qp, qpc, groups);
}

static const char *check_attributes(const struct hca *hca, const struct qp *qp, const uint8_t *qpc,
				    const struct transition *t, uint32_t groups)
{
	if (t->opcode == PRM_OP_INIT2RTR_QP && qp->service != FABRIC_NONE)
		return check_rtr(hca, qp, qpc, groups);
	if (groups & PRM_OPTPAR_SRA_MAX &&
	    1u << fld_get(qpc, QPC_LOG_SRA_MAX) > hca->config.limits.max_rd_atomic)
		return "qp: log_sra_max is above the limit";
	if (t->opcode == M4_AS_SQD2SQD_QP && groups & PRM_OPTPAR_PRIMARY_ADDR_PATH)
		return check_peer(hca, qp, qpc, groups);
	return NULL;
}

static void take_fields(struct qp *qp, const uint8_t *qpc, uint32_t groups)
{
	uint8_t *own = qp->context;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].groups & groups)
			fld_set(own, fields[i].field, fld_get(qpc, fields[i].field));
	if (groups & PRM_OPTPAR_PRIMARY_ADDR_PATH)
		memcpy(fld_at(own, PATH(ADS_RGID_RIP)), fld_at(qpc, PATH(ADS_RGID_RIP)), 16);
}

/* Fills the destination of a forced-loopback path, which names none: the port's own address. PRM:
 * Address Path */
static void path_come_back(const struct hca *hca, struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;
	const struct gid_entry *own;

	if (addr->port < 1 || addr->port > hca->config.num_ports)
		return;
	addr->dlid = hca->port[addr->port - 1].lid;
	own = port_gid_entry(hca, addr->port, path->gid_index);
	if (!addr->grh || !own)
		return;
	memcpy(addr->dgid, own->gid, sizeof(addr->dgid));
	memcpy(addr->dmac, own->mac, sizeof(addr->dmac));
}

static void decode_context(const struct hca *hca, struct qp *qp)
{
	const uint8_t *qpc = qp->context;

	mlx5_decode_path(fld_at(qpc, QPC_PRIMARY_PATH), station_is_ethernet(hca), &qp->path);
	if (fld_get(qpc, PATH(ADS_FL)))
		path_come_back(hca, &qp->path);
	qp->mtu = mtu_bytes(fld_get(qpc, QPC_MTU));
	qp->remote_qpn = fld_get(qpc, QPC_REMOTE_QPN);
	qp->qkey = fld_get(qpc, QPC_Q_KEY);
	qp->drains = fld_get(qpc, QPC_DRAIN_SIGERR);
	qp->counter_set = fld_get(qpc, QPC_COUNTER_SET_ID);
	if (qp->special < 0)
		qp->wire = fld_get(qpc, QPC_DETH_SQPN) ? QP_GSI : qp->n;
	qp->remote_read = fld_get(qpc, QPC_RRE);
	qp->remote_write = fld_get(qpc, QPC_RWE);
	qp->remote_atomic = fld_get(qpc, QPC_RAE);
	qp_put_atomic_mode(qp, fld_get(qpc, QPC_ATOMIC_MODE));
	qp->out_of_order = fld_get(qpc, QPC_DP_ORDERING_1);
	qp->retry_count = fld_get(qpc, QPC_RETRY_COUNT);
	qp->rnr_retry = fld_get(qpc, QPC_RNR_RETRY);
	qp->min_rnr_timer = fld_get(qpc, QPC_MIN_RNR_NAK);
	qp->ack_timeout = fld_get(qpc, PATH(ADS_ACK_TIMEOUT));
	qp->max_reads = 1u << fld_get(qpc, QPC_LOG_SRA_MAX);
	qp->max_reads_in = 1u << fld_get(qpc, QPC_LOG_RRA_MAX);
}

static void state_enter(struct hca *hca, struct qp *qp, const struct transition *t, bool tell)
{
	if (t->opcode == M4_AS_RTS2SQD_QP) {
		drain_begin(hca, qp, tell);
		return;
	}
	if (t->to == PRM_QP_STATE_ERR) {
		dci_leave(hca, qp);
		qp_fail(hca, qp, -1);
		return;
	}
	if (t->to == PRM_QP_STATE_RST) {
		qp_set_timer(hca, qp, HCA_IDLE);
		dci_reset(hca, qp);
		qp_reset_queues(qp);
		qp_schedule(hca, qp, NULL, NULL);
		qp->may_copy = qp->drains = qp->draining = false;
		fld_set(qp->context, QPC_DRAIN_SIGERR, 0);
		qp_leave_port(hca, qp);
	}
	if (t->opcode == PRM_OP_RST2INIT_QP && qp->special >= 0)
		hca->port[qp->path.addr.port - 1].special[qp->special] = qp;
	if (t->opcode == PRM_OP_INIT2RTR_QP)
		qp->resp.expected_psn = fld_get(qp->context, QPC_NEXT_RCV_PSN);
	if (t->opcode == PRM_OP_RTR2RTS_QP) {
		qp->req.next_psn = fld_get(qp->context, QPC_NEXT_SEND_PSN);
		qp->req.sent_psn = qp->req.unacked = qp->req.next_psn;
		req_count_tries(qp);
	}
	if (t->opcode == PRM_OP_SQD_RTS_QP) {
		req_count_tries(qp);
		sq_read_again(hca, qp);
	}
	if (t->opcode == PRM_OP_SQERR2RTS_QP) {
		qp->sq.next = qp->sq.ci;
		qp->req.offset = 0;
		qp->req.decoded = false;
	}
	qp->state = t->to;
	qp_wake(hca, qp);
}

/* Returns the options that the command asks for; 0 keeps those in force. Only commands up to RTS
 * have the field. */
static uint32_t asked_ece(const struct cmd *cmd, uint32_t opcode)
{
	if (opcode == PRM_OP_2ERR_QP || opcode == PRM_OP_2RST_QP || opcode == PRM_OP_SQERR2RTS_QP)
		return 0;
	return fld_get(cmd->in, MODIFY_QP_IN_ECE);
}

static void take_ece(struct cmd *cmd, struct qp *qp, uint32_t options)
{
	if (!options)
		return;
	qp->ece = qp_answer_ece(options);
	fld_set(cmd->out, MODIFY_QP_OUT_ECE, qp->ece);
}

static bool has_extension(const struct cmd *cmd, const struct transition *t)
{
	return (t->opcode == PRM_OP_RTS2RTS_QP || t->opcode == PRM_OP_INIT2INIT_QP) &&
	       fld_get(cmd->in, MODIFY_QP_IN_QPC_EXT);
}

static const char *reset_stream(const struct cmd *cmd, struct qp *qp)
{
	const uint8_t *ext = fld_at(cmd->in, MODIFY_QP_IN_QPC_DATA_EXT);

	if (!fld_get(cmd->in, MODIFY_QP_IN_QPC_EXT))
		return "qp: no extension with the stream";
	if (!qp->dci || !qp->dci->has_streams)
		return "qp: a QP without streams";
	if (!dci_reset_stream(qp, fld_get(ext, QPC_EXT_DCI_STREAM_CHANNEL_ID)))
		return "qp: the stream is not in error";
	return NULL;
}

enum prm_status qp_modify(struct hca *hca, struct cmd *cmd)
{
	const struct transition *t = find_transition(fld_get(cmd->in, CMD_IN_OPCODE));
	struct qp *qp = res_find(&hca->qps, fld_get(cmd->in, MODIFY_QP_IN_QPN));
	bool context = t->takes || t->optional;
	const uint8_t *qpc = fld_at(cmd->in, MODIFY_QP_IN_QPC);
	uint32_t mask = context ? fld_get(cmd->in, MODIFY_QP_IN_OPT_PARAM_MASK) : 0;
	struct extension ext;
	const char *why;

	if (!qp)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "qp: no such QP");
	if (!(t->from & 1u << qp->state))
		return cmd_fail(cmd, PRM_STAT_BAD_QP_STATE_ERR, "qp: command not valid in state");
	if (mask & ~(t->takes | t->optional))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "qp: attribute not valid here");
	if (has_extension(cmd, t) && cmd->in_len < PRM_MODIFY_QP_EXT_IN_SIZE)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR, "qp: no room for the extension");
	why = context ? check_path(hca, qp, qpc, t->takes | mask) : NULL;
	if (!why)
		why = check_attributes(hca, qp, qpc, t, t->takes | mask);
	if (!why && asked_ece(cmd, t->opcode) && !qp_may_have_ece(qp))
		why = "qp: connection options of a QP without connections";
	if (!why && mask & PRM_OPTPAR_LAG_TX_AFF)
		why = lag_check_port(hca, fld_get(qpc, QPC_LAG_TX_PORT_AFFINITY));
	if (!why)
		why = read_extension(hca, qp, cmd, t->opcode, &ext);
	if (!why && ext.mask & PRM_OPTPAR_32_DCI_STREAM_CHANNEL_ID)
		why = reset_stream(cmd, qp);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (context) {
		take_fields(qp, qpc, t->takes | mask);
		take_extension(hca, qp, qpc, &ext);
		decode_context(hca, qp);
	}
	take_ece(cmd, qp, asked_ece(cmd, t->opcode));
	state_enter(hca, qp, t, fld_get(cmd->in, M4_AS_RTS2SQD_TELL));
	return PRM_STAT_OK;
}
