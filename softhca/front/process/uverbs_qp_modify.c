/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_qp_modify.c - queue pairs: change and query them.
 *
 * Which attributes a change of state needs and allows is a table (IBTA vol. 1, 11.2.5.2); what is right by it becomes one
 * device command.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "softhca/front/process/uverbs_objects.h"
#include "softhca/log.h"

enum { /* attr_mask */
       STATE = 1 << 0,
       CUR_STATE = 1 << 1,
       SQD_NOTIFY = 1 << 2,
       ACCESS = 1 << 3,
       PKEY = 1 << 4,
       PORT = 1 << 5,
       QKEY = 1 << 6,
       AV = 1 << 7,
       MTU = 1 << 8,
       TIMEOUT = 1 << 9,
       RETRY = 1 << 10,
       RNR_RETRY = 1 << 11,
       RQ_PSN = 1 << 12,
       MAX_READS = 1 << 13,
       ALT_PATH = 1 << 14,
       RNR_TIMER = 1 << 15,
       SQ_PSN = 1 << 16,
       MAX_DEST_READS = 1 << 17,
       MIG_STATE = 1 << 18,
       CAP = 1 << 19,
       DEST_QPN = 1 << 20,
       ALL_ATTRS = (1 << 21) - 1,
};

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR, NUM_STATES };

static const char *const state_names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

struct transition {
	uint8_t from, to;
	uint16_t opcode;
	uint32_t needs, allows;
	uint32_t optional; /* what the device takes only when opt_param_mask says so */
};

enum {
	OPT_ACCESS = PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE,
	CHANGEABLE = CUR_STATE | ACCESS | RNR_TIMER | ALT_PATH | MIG_STATE,
};

/* For RC. */
static const struct transition transitions[] = {
	{ RESET, INIT, PRM_OP_RST2INIT_QP, PKEY | PORT | ACCESS, 0, 0 },
	{ INIT, INIT, PRM_OP_INIT2INIT_QP, 0, PKEY | PORT | ACCESS,
	  OPT_ACCESS | PRM_OPTPAR_PKEY_INDEX | PRM_OPTPAR_PRI_PORT },
	{ INIT, RTR, PRM_OP_INIT2RTR_QP, AV | MTU | DEST_QPN | RQ_PSN | MAX_DEST_READS | RNR_TIMER,
	  ALT_PATH | ACCESS | PKEY, OPT_ACCESS | PRM_OPTPAR_PKEY_INDEX },
	{ RTR, RTS, PRM_OP_RTR2RTS_QP, TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | MAX_READS, CHANGEABLE,
	  OPT_ACCESS | PRM_OPTPAR_RNR_TIMEOUT },
	{ RTS, RTS, PRM_OP_RTS2RTS_QP, 0, CHANGEABLE, OPT_ACCESS | PRM_OPTPAR_RNR_TIMEOUT },
	{ SQD, RTS, PRM_OP_SQD_RTS_QP, 0, CHANGEABLE, OPT_ACCESS | PRM_OPTPAR_RNR_TIMEOUT },
	{ SQE, RTS, PRM_OP_SQERR2RTS_QP, 0, CUR_STATE, 0 },
};

/* From any state but as noted. */
static const struct transition to_reset = { 0, RESET, PRM_OP_2RST_QP, 0, 0, 0 };
static const struct transition to_error = { 0, ERR, PRM_OP_2ERR_QP, 0, 0, 0 };

static const struct transition *find_transition(unsigned int from, unsigned int to)
{
	if (to == RESET)
		return &to_reset;
	if (to == ERR)
		return from == RESET ? NULL : &to_error;
	for (unsigned int i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (transitions[i].from == from && transitions[i].to == to)
			return &transitions[i];
	return NULL;
}

/* ---- checks ---- */

static int refuse(struct uverbs_call *uc, const struct uverbs_qp *qp, const char *why, int error)
{
	log_note("%s: modify_qp %#x in state %s: %s", uc->adapter->name, qp->qpn,
		 state_names[qp->state], why);
	return error;
}

static int check_transition(struct uverbs_call *uc, const struct uverbs_qp *qp,
			    const struct ib_uverbs_modify_qp *cmd,
			    const struct transition **transition)
{
	uint32_t mask = cmd->attr_mask;
	unsigned int from = mask & CUR_STATE ? cmd->cur_qp_state : qp->state;
	unsigned int to = mask & STATE ? cmd->qp_state : from;
	const struct transition *found;

	if (from >= NUM_STATES || to >= NUM_STATES)
		return refuse(uc, qp, "no such state", EINVAL);
	if (mask & CUR_STATE && from != RTR && from != RTS && from != SQD && from != SQE)
		return refuse(uc, qp, "current state given where it is not ambiguous", EINVAL);
	found = find_transition(from, to);
	if (!found)
		return refuse(uc, qp, "no way to that state", EINVAL);
	if ((mask & found->needs) != found->needs)
		return refuse(uc, qp, "a required attribute is missing", EINVAL);
	if (mask & ~(found->needs | found->allows | STATE))
		return refuse(uc, qp, "an attribute is not allowed here", EINVAL);
	*transition = found;
	return 0;
}

static int check_path(struct uverbs_call *uc, const struct uverbs_qp *qp,
		      const struct ib_uverbs_qp_dest *dest)
{
	struct gid_entry gid;
	int ret;

	if (dest->port_num != qp->port)
		return refuse(uc, qp, "path of another port", EINVAL);
	if (!dest->is_global)
		return uc->adapter->link_layer == HCA_LINK_ETHERNET
			       ? refuse(uc, qp, "RoCE needs a global path", EINVAL)
			       : 0;
	ret = adapter_query_gid(uc->adapter, dest->port_num, dest->sgid_index, &gid);
	return ret ? refuse(uc, qp, "no such source GID", ENODATA) : 0;
}

static int check_values(struct uverbs_call *uc, const struct uverbs_qp *qp,
			const struct ib_uverbs_modify_qp *cmd)
{
	uint32_t mask = cmd->attr_mask;
	uint16_t pkey;

	if (mask & PORT && (cmd->port_num < 1 || cmd->port_num > uc->adapter->num_ports))
		return refuse(uc, qp, "no such port", EINVAL);
	if (mask & PKEY && adapter_query_pkey(uc->adapter, mask & PORT ? cmd->port_num : qp->port,
					      cmd->pkey_index, &pkey))
		return refuse(uc, qp, "P_Key index out of range", EINVAL);
	if (mask & MAX_READS &&
	    cmd->max_rd_atomic > 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RA_REQ_QP))
		return refuse(uc, qp, "max_rd_atomic beyond the limit", EINVAL);
	if (mask & MAX_DEST_READS &&
	    cmd->max_dest_rd_atomic > 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RA_RES_QP))
		return refuse(uc, qp, "max_dest_rd_atomic beyond the limit", EINVAL);
	if (mask & MTU && (cmd->path_mtu < 1 || cmd->path_mtu > 5))
		return refuse(uc, qp, "no such path MTU", EINVAL);
	if (mask & (ALT_PATH | MIG_STATE))
		return refuse(uc, qp, "path migration is not supported", EOPNOTSUPP);
	return mask & AV ? check_path(uc, qp, &cmd->dest) : 0;
}

/* ---- the command ---- */

static void fill_path(const struct uverbs_call *uc, const struct ib_uverbs_qp_dest *dest,
		      uint8_t *ads)
{
	prm_set(ads, ADS_STAT_RATE, dest->static_rate ? dest->static_rate + 5 : 0);
	if (dest->is_global) {
		prm_set(ads, ADS_GRH, 1);
		prm_set(ads, ADS_SRC_ADDR_INDEX, dest->sgid_index);
		prm_set(ads, ADS_HOP_LIMIT, dest->hop_limit);
		prm_set(ads, ADS_TCLASS, dest->traffic_class);
		prm_set(ads, ADS_FLOW_LABEL, dest->flow_label);
		memcpy(prm_at(ads, ADS_RGID_RIP), dest->dgid, sizeof(dest->dgid));
	}
	if (uc->adapter->link_layer == HCA_LINK_ETHERNET) {
		prm_set(ads, ADS_UDP_SPORT, 0xc000 | (dest->flow_label & 0x3fff));
		prm_set(ads, ADS_DSCP, dest->traffic_class >> 2);
		prm_set(ads, ADS_ETH_PRIO, dest->sl & 7);
		prm_set(ads, ADS_RMAC_47_32, 0x0200);
		prm_set(ads, ADS_RMAC_31_0,
			dest->dgid[13] << 16 | dest->dgid[14] << 8 | dest->dgid[15]);
	} else {
		prm_set(ads, ADS_RLID, dest->dlid);
		prm_set(ads, ADS_MLID, dest->src_path_bits & 0x7f);
		prm_set(ads, ADS_SL, dest->sl);
	}
}

static unsigned int log2_roundup(unsigned int value)
{
	unsigned int log = 0;

	while (1u << log < value)
		log++;
	return log;
}

/* A responder without room for READs and atomics has them off, whatever the access flags say. */
static void fill_access(struct uverbs_qp *qp, uint8_t *qpc)
{
	bool reads = qp->max_dest_reads;

	prm_set(qpc, QPC_RWE, !!(qp->access & IB_UVERBS_ACCESS_REMOTE_WRITE));
	prm_set(qpc, QPC_RRE, reads && qp->access & IB_UVERBS_ACCESS_REMOTE_READ);
	prm_set(qpc, QPC_RAE, reads && qp->access & IB_UVERBS_ACCESS_REMOTE_ATOMIC);
	if (reads && qp->access & IB_UVERBS_ACCESS_REMOTE_ATOMIC)
		prm_set(qpc, QPC_ATOMIC_MODE, 1); /* 8 bytes, IB semantics */
}

static void fill_qpc(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		     struct uverbs_qp *qp, uint8_t *qpc)
{
	uint8_t *path = prm_at(qpc, QPC_PRIMARY_PATH);
	uint32_t mask = cmd->attr_mask;

	prm_set(qpc, QPC_ST, PRM_QP_ST_RC);
	prm_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	if (mask & AV)
		fill_path(uc, &cmd->dest, path);
	if (mask & PKEY)
		prm_set(path, ADS_PKEY_INDEX, cmd->pkey_index);
	if (mask & PORT)
		prm_set(path, ADS_VHCA_PORT_NUM, cmd->port_num);
	if (mask & TIMEOUT)
		prm_set(path, ADS_ACK_TIMEOUT, cmd->timeout);
	if (mask & MTU) {
		prm_set(qpc, QPC_MTU, cmd->path_mtu);
		prm_set(qpc, QPC_LOG_MSG_MAX, adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_MSG));
	}
	if (mask & DEST_QPN)
		prm_set(qpc, QPC_REMOTE_QPN, cmd->dest_qp_num);
	if (mask & RQ_PSN)
		prm_set(qpc, QPC_NEXT_RCV_PSN, cmd->rq_psn);
	if (mask & SQ_PSN)
		prm_set(qpc, QPC_NEXT_SEND_PSN, cmd->sq_psn);
	if (mask & RETRY)
		prm_set(qpc, QPC_RETRY_COUNT, cmd->retry_cnt);
	if (mask & RNR_RETRY)
		prm_set(qpc, QPC_RNR_RETRY, cmd->rnr_retry);
	if (mask & RNR_TIMER)
		prm_set(qpc, QPC_MIN_RNR_NAK, cmd->min_rnr_timer);
	if (mask & MAX_READS && cmd->max_rd_atomic)
		prm_set(qpc, QPC_LOG_SRA_MAX, log2_roundup(cmd->max_rd_atomic));
	if (mask & MAX_DEST_READS && cmd->max_dest_rd_atomic)
		prm_set(qpc, QPC_LOG_RRA_MAX, log2_roundup(cmd->max_dest_rd_atomic));
	fill_access(qp, qpc);
}

static const struct {
	uint32_t attrs, optional;
} optional_table[] = {
	{ ACCESS | MAX_DEST_READS, OPT_ACCESS },
	{ PKEY, PRM_OPTPAR_PKEY_INDEX },
	{ PORT, PRM_OPTPAR_PRI_PORT },
	{ RNR_TIMER, PRM_OPTPAR_RNR_TIMEOUT },
};

static uint32_t optional_params(uint32_t mask, const struct transition *transition)
{
	uint32_t optional = 0;

	for (unsigned int i = 0; i < sizeof(optional_table) / sizeof(optional_table[0]); i++)
		if (mask & optional_table[i].attrs)
			optional |= optional_table[i].optional;
	return optional & transition->optional;
}

static int change(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		  const struct transition *transition, struct uverbs_qp *qp)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	prm_set(in, CMD_IN_OPCODE, transition->opcode);
	prm_set(in, MODIFY_QP_IN_QPN, qp->qpn);
	prm_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, optional_params(cmd->attr_mask, transition));
	fill_qpc(uc, cmd, qp, prm_at(in, MODIFY_QP_IN_QPC));
	return adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
}

static void remember(const struct ib_uverbs_modify_qp *cmd, struct uverbs_qp *qp)
{
	if (cmd->attr_mask & ACCESS)
		qp->access = cmd->qp_access_flags;
	if (cmd->attr_mask & MAX_DEST_READS)
		qp->max_dest_reads = cmd->max_dest_rd_atomic;
	if (cmd->attr_mask & PORT)
		qp->port = cmd->port_num;
}

static int modify(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd)
{
	const struct transition *transition;
	struct uverbs_qp *qp, before;
	int ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd->qp_handle, &qp);

	if (!ret)
		ret = check_values(uc, qp, cmd);
	if (!ret)
		ret = check_transition(uc, qp, cmd, &transition);
	if (ret)
		return ret;
	before = *qp;
	remember(cmd, qp);
	ret = change(uc, cmd, transition, qp);
	if (ret) {
		qp->access = before.access;
		qp->max_dest_reads = before.max_dest_reads;
		qp->port = before.port;
		return ret;
	}
	qp->state = transition->to;
	epitaph_start_qp(&qp->epitaph, qp->state != RESET);
	return 0;
}

static int qp_modify(struct uverbs_call *uc)
{
	struct ib_uverbs_modify_qp cmd;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.attr_mask & ~ALL_ATTRS)
		return EOPNOTSUPP;
	return modify(uc, &cmd);
}

static int qp_modify_ex(struct uverbs_call *uc)
{
	struct ib_uverbs_ex_modify_qp cmd;
	struct ib_uverbs_ex_modify_qp_resp resp = { 0 };
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.base.attr_mask & ~ALL_ATTRS)
		return EOPNOTSUPP; /* the rate limit too: it is for raw packets */
	ret = modify(uc, &cmd.base);
	resp.response_length = uc_response_length(uc, UVERBS_ATTR_CORE_OUT, sizeof(resp));
	return ret ? ret : uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

/* ---- query ---- */

static unsigned int state_of(uint8_t device_state)
{
	static const uint8_t states[] = {
		[PRM_QP_STATE_RST] = RESET, [PRM_QP_STATE_INIT] = INIT,
		[PRM_QP_STATE_RTR] = RTR,   [PRM_QP_STATE_RTS] = RTS,
		[PRM_QP_STATE_SQER] = SQE,  [PRM_QP_STATE_SQD] = SQD,
		[PRM_QP_STATE_ERR] = ERR,   [PRM_QP_STATE_SQ_DRAINING] = SQD,
	};

	return device_state < sizeof(states) ? states[device_state] : ERR;
}

static void read_path(const struct uverbs_call *uc, const uint8_t *ads,
		      struct ib_uverbs_qp_dest *dest)
{
	bool roce = uc->adapter->link_layer == HCA_LINK_ETHERNET;
	uint32_t rate = prm_get(ads, ADS_STAT_RATE);

	dest->sl = prm_get(ads, roce ? ADS_ETH_PRIO : ADS_SL);
	dest->static_rate = rate ? rate - 5 : 0;
	dest->port_num = prm_get(ads, ADS_VHCA_PORT_NUM);
	dest->dlid = roce ? 0 : prm_get(ads, ADS_RLID);
	dest->src_path_bits = roce ? 0 : prm_get(ads, ADS_MLID);
	dest->is_global = roce || prm_get(ads, ADS_GRH);
	if (!dest->is_global)
		return;
	dest->sgid_index = prm_get(ads, ADS_SRC_ADDR_INDEX);
	dest->hop_limit = prm_get(ads, ADS_HOP_LIMIT);
	dest->traffic_class = prm_get(ads, ADS_TCLASS);
	dest->flow_label = prm_get(ads, ADS_FLOW_LABEL);
	memcpy(dest->dgid, prm_at(ads, ADS_RGID_RIP), sizeof(dest->dgid));
}

static uint32_t read_access(const uint8_t *qpc)
{
	return (prm_get(qpc, QPC_RRE) ? IB_UVERBS_ACCESS_REMOTE_READ : 0) |
	       (prm_get(qpc, QPC_RWE) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0) |
	       (prm_get(qpc, QPC_RAE) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0);
}

static void read_qpc(const struct uverbs_call *uc, const struct uverbs_qp *qp, const uint8_t *qpc,
		     struct ib_uverbs_query_qp_resp *resp)
{
	const uint8_t *path = prm_at(qpc, QPC_PRIMARY_PATH);

	read_path(uc, path, &resp->dest);
	resp->qp_state = resp->cur_qp_state = state_of(prm_get(qpc, QPC_STATE));
	resp->sq_draining = prm_get(qpc, QPC_STATE) == PRM_QP_STATE_SQ_DRAINING;
	resp->path_mtu = prm_get(qpc, QPC_MTU);
	resp->qkey = prm_get(qpc, QPC_Q_KEY);
	resp->rq_psn = prm_get(qpc, QPC_NEXT_RCV_PSN);
	resp->sq_psn = prm_get(qpc, QPC_NEXT_SEND_PSN);
	resp->dest_qp_num = prm_get(qpc, QPC_REMOTE_QPN);
	resp->qp_access_flags = read_access(qpc);
	resp->pkey_index = prm_get(path, ADS_PKEY_INDEX);
	resp->port_num = prm_get(path, ADS_VHCA_PORT_NUM);
	resp->timeout = prm_get(path, ADS_ACK_TIMEOUT);
	resp->max_rd_atomic = 1u << prm_get(qpc, QPC_LOG_SRA_MAX);
	resp->max_dest_rd_atomic = 1u << prm_get(qpc, QPC_LOG_RRA_MAX);
	resp->min_rnr_timer = prm_get(qpc, QPC_MIN_RNR_NAK);
	resp->retry_cnt = prm_get(qpc, QPC_RETRY_COUNT);
	resp->rnr_retry = prm_get(qpc, QPC_RNR_RETRY);
	/* The library knows its send queue and reports that itself, as with the kernel's driver. */
	resp->max_recv_wr = qp->rq_wqe_count;
	resp->max_recv_sge = qp->rq_sges;
	resp->sq_sig_all = qp->sq_sig_all;
}

static int qp_query(struct uverbs_call *uc)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_BYTE(QUERY_QP_OUT_QPC) + PRM_QPC_SIZE];
	struct ib_uverbs_query_qp_resp resp = { 0 };
	struct ib_uverbs_query_qp cmd;
	struct uverbs_qp *qp;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd.qp_handle, &qp);
	if (ret)
		return ret;
	prm_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	prm_set(in, QUERY_QP_IN_QPN, qp->qpn);
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	read_qpc(uc, qp, prm_at(out, QUERY_QP_OUT_QPC), &resp);
	qp->state = resp.qp_state;
	return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct uverbs_write write_table[] = {
	{ "QUERY_QP", IB_USER_VERBS_CMD_QUERY_QP, sizeof(struct ib_uverbs_query_qp),
	  sizeof(struct ib_uverbs_query_qp_resp), qp_query },
	{ "MODIFY_QP", IB_USER_VERBS_CMD_MODIFY_QP, sizeof(struct ib_uverbs_modify_qp), 0,
	  qp_modify },
	{ "MODIFY_QP_EX", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
	  sizeof(struct ib_uverbs_ex_modify_qp), sizeof(struct ib_uverbs_ex_modify_qp_resp),
	  qp_modify_ex },
};

const struct uverbs_writes qp_writes = METHODS(write_table);
