/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify.c - modifies QPs.
 *
 * A transition that the state machine of driver/qp_state.c allows becomes one device command.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/kind.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/uverbs/mlx4/wq.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/uverbs/qp/dct.h"
#include "softhca/log.h"
#include "util/bits.h"

static const char *const state_names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

static int modify_refuse(struct uverbs_call *uc, const struct uverbs_qp *qp, const char *why,
			 int error)
{
	log_note("%s: modify_qp %#x in state %s: %s", uc->adapter->name, qp->real->qpn,
		 state_names[qp->real->state], why);
	return error;
}

/* Removes attributes that concern only the other side of an XRC connection, as Linux ignores
 * them. */
static uint32_t relevant_mask(const struct uverbs_qp *qp, uint32_t mask)
{
	if (qp->type == IB_UVERBS_QPT_XRC_INI)
		return mask & ~(QP_ATTR_MAX_DEST_READS | QP_ATTR_RNR_TIMER);
	if (qp->type == IB_UVERBS_QPT_XRC_TGT)
		return mask & ~(QP_ATTR_MAX_READS | QP_ATTR_RETRY | QP_ATTR_RNR_RETRY);
	return mask;
}

/* Checks an underlay QP. Linux accepts only the state, as all other attributes are the other
 * QP's. */
static const char *underlay_change(unsigned int from, unsigned int to, uint32_t mask,
				   struct qp_transition *transition)
{
	uint32_t port = from == QP_RESET && to == QP_INIT ? QP_ATTR_PORT : 0;

	if (mask & ~(uint32_t)(QP_ATTR_STATE | QP_ATTR_CUR_STATE))
		return "a QP that sends from another one's number has nothing but a state";
	return qp_state_change(IB_UVERBS_QPT_RAW_PACKET, from, to, mask | port, transition);
}

static int check_transition(struct uverbs_call *uc, const struct uverbs_qp *qp,
			    const struct ib_uverbs_modify_qp *cmd, unsigned int *to,
			    struct qp_transition *transition)
{
	uint32_t mask = cmd->attr_mask;
	unsigned int from = mask & QP_ATTR_CUR_STATE ? cmd->cur_qp_state : qp->real->state;
	const char *why;

	*to = mask & QP_ATTR_STATE ? cmd->qp_state : from;
	if (qp->is_underlay)
		why = underlay_change(from, *to, mask, transition);
	else if (adapter_is_mlx4(uc->adapter))
		why = qp_state_change_mlx4(qp->type, from, *to, mask, transition);
	else
		why = qp_state_change(qp->type, from, *to, mask, transition);
	return why ? modify_refuse(uc, qp, why, EINVAL) : 0;
}

static bool is_port(const struct uverbs_call *uc, unsigned int port)
{
	return port >= 1 && port <= uc->adapter->num_ports;
}

static bool is_to_rtr(const struct ib_uverbs_modify_qp *cmd)
{
	return cmd->attr_mask & QP_ATTR_STATE && cmd->qp_state == QP_RTR;
}

/* Checks the port of a path: one given in state SQD may be another port, which becomes the QP's. */
static bool is_own_port(const struct uverbs_qp *qp, const struct ib_uverbs_modify_qp *cmd)
{
	return is_to_rtr(cmd)
		       ? cmd->dest.port_num == qp->real->port
		       : !(cmd->attr_mask & QP_ATTR_PORT) || cmd->dest.port_num == cmd->port_num;
}

/* Adds the port to the attributes, as Linux does without checking that the transition allows it. */
static void add_port_of_path(struct ib_uverbs_modify_qp *cmd)
{
	if (!(cmd->attr_mask & QP_ATTR_AV) || cmd->attr_mask & QP_ATTR_PORT || is_to_rtr(cmd))
		return;
	cmd->attr_mask |= QP_ATTR_PORT;
	cmd->port_num = cmd->dest.port_num;
}

static int check_path(struct uverbs_call *uc, const struct uverbs_qp *qp,
		      const struct ib_uverbs_modify_qp *cmd)
{
	const struct ib_uverbs_qp_dest *dest = &cmd->dest;
	struct gid_entry gid;
	int ret;

	if (!is_port(uc, dest->port_num) || !is_own_port(qp, cmd))
		return modify_refuse(uc, qp, "path of another port", EINVAL);
	if (!dest->is_global)
		return adapter_is_roce(uc->adapter)
			       ? modify_refuse(uc, qp, "RoCE needs a global path", EINVAL)
			       : 0;
	ret = adapter_query_gid(uc->adapter, dest->port_num, dest->sgid_index, &gid);
	return ret ? modify_refuse(uc, qp, "no such source GID", ret) : 0;
}

/* Checks ports and addresses before the transition, as the kernel does. */
static int check_address(struct uverbs_call *uc, const struct uverbs_qp *qp,
			 const struct ib_uverbs_modify_qp *cmd)
{
	uint32_t mask = cmd->attr_mask;

	if (mask & QP_ATTR_PORT && !is_port(uc, cmd->port_num))
		return modify_refuse(uc, qp, "no such port", EINVAL);
	if ((mask & QP_ATTR_CUR_STATE && cmd->cur_qp_state >= QP_STATES) ||
	    (mask & QP_ATTR_STATE && cmd->qp_state >= QP_STATES))
		return modify_refuse(uc, qp, "no such state", EINVAL);
	return mask & QP_ATTR_AV ? check_path(uc, qp, cmd) : 0;
}

#define PRIVILEGED_QKEY (1u << 31)

/* Checks the Q_Key: those with the top bit are reserved for privileged users. Source: modify_qp(),
 * IBTA 10.2.5 */
static int check_qkey(struct uverbs_call *uc, const struct uverbs_qp *qp,
		      const struct ib_uverbs_modify_qp *cmd)
{
	if (!(cmd->attr_mask & QP_ATTR_QKEY) || !(cmd->qkey & PRIVILEGED_QKEY) ||
	    client_may(uc->tid, CLIENT_CAP_NET_RAW))
		return 0;
	return modify_refuse(uc, qp, "a privileged Q_Key takes CAP_NET_RAW", EPERM);
}

static int check_values(struct uverbs_call *uc, const struct uverbs_qp *qp,
			const struct ib_uverbs_modify_qp *cmd)
{
	uint32_t mask = cmd->attr_mask;
	uint16_t pkey;
	int ret = 0;

	if (mask & QP_ATTR_PKEY)
		ret = adapter_query_pkey(uc->adapter,
					 mask & QP_ATTR_PORT ? cmd->port_num : qp->real->port,
					 cmd->pkey_index, &pkey);
	if (ret)
		return modify_refuse(uc, qp, "P_Key index out of range", ret);
	if (mask & QP_ATTR_MAX_READS &&
	    cmd->max_rd_atomic > 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RA_REQ_QP))
		return modify_refuse(uc, qp, "max_rd_atomic beyond the limit", EINVAL);
	if (mask & QP_ATTR_MAX_DEST_READS &&
	    cmd->max_dest_rd_atomic > 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RA_RES_QP))
		return modify_refuse(uc, qp, "max_dest_rd_atomic beyond the limit", EINVAL);
	if (mask & QP_ATTR_MTU && (cmd->path_mtu < 1 || cmd->path_mtu > 5))
		return modify_refuse(uc, qp, "no such path MTU", EINVAL);
	if (mask & QP_ATTR_ALT_PATH)
		return modify_refuse(uc, qp, "alternate paths are not supported", EINVAL);
	return 0;
}

static void fill_path(const struct uverbs_call *uc, const struct ib_uverbs_qp_dest *dest,
		      uint8_t *ads)
{
	fld_set(ads, ADS_STAT_RATE, dest->static_rate ? dest->static_rate + 5 : 0);
	if (dest->is_global) {
		fld_set(ads, ADS_GRH, 1);
		fld_set(ads, ADS_SRC_ADDR_INDEX, dest->sgid_index);
		fld_set(ads, ADS_HOP_LIMIT, dest->hop_limit);
		fld_set(ads, ADS_TCLASS, dest->traffic_class);
		fld_set(ads, ADS_FLOW_LABEL, dest->flow_label);
		memcpy(fld_at(ads, ADS_RGID_RIP), dest->dgid, sizeof(dest->dgid));
	}
	if (adapter_is_roce(uc->adapter)) {
		uint8_t mac[6];

		roce_resolve(dest->dgid, mac);
		fld_set(ads, ADS_UDP_SPORT, roce_udp_source(dest->flow_label));
		fld_set(ads, ADS_DSCP, dest->traffic_class >> 2);
		fld_set(ads, ADS_ETH_PRIO, dest->sl & 7);
		fld_set(ads, ADS_RMAC_47_32, mac[0] << 8 | mac[1]);
		fld_set(ads, ADS_RMAC_31_0,
			(uint32_t)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5]);
	} else {
		fld_set(ads, ADS_RLID, dest->dlid);
		fld_set(ads, ADS_MLID, dest->src_path_bits & 0x7f);
		fld_set(ads, ADS_SL, dest->sl);
	}
}

/* Sets access flags. A responder with max_dest_rd_atomic 0 refuses READs and atomics, whatever the
 * flags say, since it has no resources for them. */
static void fill_access(const struct uverbs_call *uc, struct uverbs_qp *qp, uint8_t *qpc)
{
	bool reads = qp->real->max_dest_reads;

	fld_set(qpc, QPC_RWE, !!(qp->real->access & IB_UVERBS_ACCESS_REMOTE_WRITE));
	fld_set(qpc, QPC_RRE, reads && qp->real->access & IB_UVERBS_ACCESS_REMOTE_READ);
	fld_set(qpc, QPC_RAE, reads && qp->real->access & IB_UVERBS_ACCESS_REMOTE_ATOMIC);
	if (reads && qp->real->access & IB_UVERBS_ACCESS_REMOTE_ATOMIC)
		fld_set(qpc, QPC_ATOMIC_MODE, adapter_atomic_mode(uc->adapter));
}

enum { UD_MTU = 5, UD_LOG_MSG_MAX = 12 }; /* one packet of 4096 bytes, whatever the path's MTU */

static void fill_mtu(const struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		     const struct uverbs_qp *qp, uint8_t *qpc)
{
	if (qp->type == IB_UVERBS_QPT_UD) {
		fld_set(qpc, QPC_MTU, UD_MTU);
		fld_set(qpc, QPC_LOG_MSG_MAX, UD_LOG_MSG_MAX);
	} else if (cmd->attr_mask & QP_ATTR_MTU) {
		fld_set(qpc, QPC_MTU, cmd->path_mtu);
		fld_set(qpc, QPC_LOG_MSG_MAX, adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_MSG));
	}
}

static void fill_limits(const struct ib_uverbs_modify_qp *cmd, uint8_t *qpc)
{
	uint32_t mask = cmd->attr_mask;

	if (mask & QP_ATTR_RETRY)
		fld_set(qpc, QPC_RETRY_COUNT, cmd->retry_cnt);
	if (mask & QP_ATTR_RNR_RETRY)
		fld_set(qpc, QPC_RNR_RETRY, cmd->rnr_retry);
	if (mask & QP_ATTR_RNR_TIMER)
		fld_set(qpc, QPC_MIN_RNR_NAK, cmd->min_rnr_timer);
	if (mask & QP_ATTR_MAX_READS && cmd->max_rd_atomic)
		fld_set(qpc, QPC_LOG_SRA_MAX, log2_ceil(cmd->max_rd_atomic));
	if (mask & QP_ATTR_MAX_DEST_READS && cmd->max_dest_rd_atomic)
		fld_set(qpc, QPC_LOG_RRA_MAX, log2_ceil(cmd->max_dest_rd_atomic));
}

enum { MIG_MIGRATED, MIG_REARM, MIG_ARMED, MIG_STATES };

static const uint8_t migration[MIG_STATES] = {
	[MIG_MIGRATED] = PRM_QP_PM_STATE_MIGRATED,
	[MIG_REARM] = 1,
	[MIG_ARMED] = 0,
};

static void fill_qpc(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		     struct uverbs_qp *qp, uint8_t *qpc)
{
	uint8_t *path = fld_at(qpc, QPC_PRIMARY_PATH);
	uint32_t mask = cmd->attr_mask;

	fld_set(qpc, QPC_ST, qp_service_type(qp->type));
	fld_set(qpc, QPC_PM_STATE,
		mask & QP_ATTR_MIG_STATE && cmd->path_mig_state < MIG_STATES
			? migration[cmd->path_mig_state]
			: PRM_QP_PM_STATE_MIGRATED);
	if (mask & QP_ATTR_AV)
		fill_path(uc, &cmd->dest, path);
	if (mask & QP_ATTR_PKEY)
		fld_set(path, ADS_PKEY_INDEX, cmd->pkey_index);
	if (mask & (QP_ATTR_PORT | QP_ATTR_AV))
		fld_set(path, ADS_VHCA_PORT_NUM, qp->real->port);
	if (mask & QP_ATTR_PORT && is_port(uc, cmd->port_num))
		fld_set(qpc, QPC_COUNTER_SET_ID, uc->adapter->counter_set[cmd->port_num - 1]);
	if (mask & QP_ATTR_TIMEOUT)
		fld_set(path, ADS_ACK_TIMEOUT, cmd->timeout);
	if (mask & QP_ATTR_QKEY)
		fld_set(qpc, QPC_Q_KEY, cmd->qkey);
	if (mask & QP_ATTR_DEST_QPN)
		fld_set(qpc, QPC_REMOTE_QPN, cmd->dest_qp_num);
	if (mask & QP_ATTR_RQ_PSN)
		fld_set(qpc, QPC_NEXT_RCV_PSN, cmd->rq_psn);
	fld_set(qpc, QPC_DP_ORDERING_1, qp->real->out_of_order);
	fld_set(qpc, QPC_DP_ORDERING_FORCE, qp->real->out_of_order);
	if (mask & QP_ATTR_SQ_PSN)
		fld_set(qpc, QPC_NEXT_SEND_PSN, cmd->sq_psn);
	fill_mtu(uc, cmd, qp, qpc);
	fill_limits(cmd, qpc);
	fill_access(uc, qp, qpc);
}

static const struct {
	uint32_t attrs, optional;
} optional_table[] = {
	{ QP_ATTR_ACCESS | QP_ATTR_MAX_DEST_READS,
	  PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE },
	{ QP_ATTR_PKEY, PRM_OPTPAR_PKEY_INDEX },
	{ QP_ATTR_PORT, PRM_OPTPAR_PRI_PORT | PRM_OPTPAR_COUNTER_SET_ID },
	{ QP_ATTR_QKEY, PRM_OPTPAR_Q_KEY },
	{ QP_ATTR_MIG_STATE, PRM_OPTPAR_PM_STATE },
	{ QP_ATTR_RNR_TIMER, PRM_OPTPAR_RNR_TIMEOUT },
	{ QP_ATTR_AV, PRM_OPTPAR_PRIMARY_ADDR_PATH },
	{ QP_ATTR_TIMEOUT, PRM_OPTPAR_ACK_TIMEOUT },
	{ QP_ATTR_RETRY, PRM_OPTPAR_RETRY_COUNT },
	{ QP_ATTR_RNR_RETRY, PRM_OPTPAR_RNR_RETRY },
	{ QP_ATTR_MAX_READS, PRM_OPTPAR_SRA_MAX },
	{ QP_ATTR_MAX_DEST_READS, PRM_OPTPAR_RRA_MAX },
};

static uint32_t optional_params(uint32_t mask, const struct qp_transition *transition)
{
	uint32_t optional = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(optional_table); i++)
		if (mask & optional_table[i].attrs)
			optional |= optional_table[i].optional;
	return optional & transition->optional;
}

/* Reads a rate limit, for raw packet QPs. A burst needs a rate, and an adapter that supports
 * bursts. */
static int read_limit(struct uverbs_call *uc, uint32_t rate, struct rate_limit *limit)
{
	const uint8_t *qos = uc->adapter->qos_caps;
	struct mlx5_ib_modify_qp driver;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)))
		return EFAULT;
	*limit = (struct rate_limit){ rate, driver.burst_info.max_burst_sz,
				      driver.burst_info.typical_pkt_sz };
	if (limit->burst && (!rate || !fld_get(qos, QOS_CAP_PACKET_PACING_BURST_BOUND)))
		return EINVAL;
	if (limit->packet && (!rate || !fld_get(qos, QOS_CAP_PACKET_PACING_TYPICAL_SIZE)))
		return EINVAL;
	return 0;
}

static int change_raw(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd, uint32_t rate,
		      uint32_t opcode, struct raw_qp *raw)
{
	bool has_rate = cmd->attr_mask & QP_ATTR_RATE_LIMIT;
	struct rate_limit limit;
	int ret = has_rate ? read_limit(uc, rate, &limit) : 0;

	return ret ? ret : raw_qp_change(uc->adapter, raw, opcode, has_rate ? &limit : NULL);
}

static uint32_t driver_ece(struct uverbs_call *uc)
{
	struct mlx5_ib_modify_qp driver;

	if (!uc_len(uc, UVERBS_ATTR_UHW_IN) ||
	    uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)))
		return 0;
	return driver.ece_options;
}

static int qp_change(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd, uint32_t rate,
		     const struct qp_transition *transition, struct uverbs_qp *qp)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	if (!transition->opcode)
		return 0;
	if (qp->real->raw)
		return change_raw(uc, cmd, rate, transition->opcode, qp->real->raw);
	fld_set(in, CMD_IN_OPCODE, transition->opcode);
	fld_set(in, MODIFY_QP_IN_QPN, qp->real->qpn);
	fld_set(in, M4_AS_RTS2SQD_TELL,
		transition->opcode == M4_AS_RTS2SQD_QP && cmd->attr_mask & QP_ATTR_SQD_NOTIFY &&
			cmd->en_sqd_async_notify);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, optional_params(cmd->attr_mask, transition));
	fill_qpc(uc, cmd, qp, fld_at(in, MODIFY_QP_IN_QPC));
	if (adapter_cap(uc->adapter, HCA_CAP_ECE_SUPPORT))
		fld_set(in, MODIFY_QP_IN_ECE, driver_ece(uc));
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	qp->ece = ret ? 0 : fld_get(out, MODIFY_QP_OUT_ECE);
	return ret;
}

static void remember_order(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
			   struct uverbs_qp *qp)
{
	struct mlx5_ib_modify_qp driver;

	if (cmd->attr_mask & QP_ATTR_STATE && cmd->qp_state == QP_RESET)
		qp->real->out_of_order = false;
	else if (uc_len(uc, UVERBS_ATTR_UHW_IN) &&
		 !uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)) &&
		 driver.comp_mask & MLX5_IB_MODIFY_QP_OOO_DP)
		qp->real->out_of_order = true;
}

static void attr_remember(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
			  struct uverbs_qp *qp)
{
	remember_order(uc, cmd, qp);
	if (cmd->attr_mask & QP_ATTR_ACCESS)
		qp->real->access = cmd->qp_access_flags;
	if (cmd->attr_mask & QP_ATTR_MAX_DEST_READS)
		qp->real->max_dest_reads = cmd->max_dest_rd_atomic;
	if (cmd->attr_mask & QP_ATTR_PORT)
		qp->real->port = cmd->port_num;
}

/* Returns whether QPs of this type may take requests out of order. */
static bool may_reorder(const struct uverbs_call *uc, uint32_t type)
{
	static const struct {
		uint32_t type, cap;
	} table[] = {
		{ IB_UVERBS_QPT_RC, HCA_CAP_DP_ORDERING_OOO_ALL_RC },
		{ IB_UVERBS_QPT_UC, HCA_CAP_DP_ORDERING_OOO_ALL_UC },
		{ IB_UVERBS_QPT_UD, HCA_CAP_DP_ORDERING_OOO_ALL_UD },
		{ IB_UVERBS_QPT_XRC_INI, HCA_CAP_DP_ORDERING_OOO_ALL_XRC },
		{ IB_UVERBS_QPT_XRC_TGT, HCA_CAP_DP_ORDERING_OOO_ALL_XRC },
		{ QP_TYPE_DCI, HCA_CAP_DP_ORDERING_OOO_ALL_DC },
		{ QP_TYPE_DCT, HCA_CAP_DP_ORDERING_OOO_ALL_DC },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].type == type)
			return adapter_cap(uc->adapter, table[i].cap);
	return false;
}

/* Checks the driver's part, in which a program may ask for extra features that the adapter has.
 * They stay on from then on. */
static int check_driver_part(struct uverbs_call *uc, const struct uverbs_qp *qp)
{
	struct mlx5_ib_modify_qp driver;
	size_t len = uc_len(uc, UVERBS_ATTR_UHW_IN);

	if (!len)
		return 0;
	if (len < offsetof(struct mlx5_ib_modify_qp, ece_options) + sizeof(driver.ece_options))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)))
		return EFAULT;
	if (driver.comp_mask & ~(uint32_t)MLX5_IB_MODIFY_QP_OOO_DP || driver.burst_info.reserved)
		return EOPNOTSUPP;
	if (!(driver.comp_mask & MLX5_IB_MODIFY_QP_OOO_DP))
		return 0;
	return may_reorder(uc, qp->type) ? 0 : EOPNOTSUPP;
}

static int modify_check(struct uverbs_call *uc, const struct uverbs_qp *qp,
			struct ib_uverbs_modify_qp *cmd, unsigned int *to,
			struct qp_transition *transition)
{
	int ret = check_address(uc, qp, cmd);

	if (!ret)
		ret = check_qkey(uc, qp, cmd);
	add_port_of_path(cmd);
	cmd->attr_mask = relevant_mask(qp, cmd->attr_mask);
	if (!ret)
		ret = check_driver_part(uc, qp);
	if (!ret)
		ret = check_transition(uc, qp, cmd, to, transition);
	return ret ? ret : check_values(uc, qp, cmd);
}

static int dct_change(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		      struct uverbs_qp *qp)
{
	int ret = check_address(uc, qp, cmd);

	if (!ret)
		ret = check_driver_part(uc, qp);
	return ret ? ret : qp_dct_modify(uc, cmd, qp);
}

/* Tells the holder's table whether the QP is in reset. Only QPs with CQs are there. */
static void qp_redescribe(const struct uverbs_qp *qp)
{
	const struct uverbs_cq *send = qp->send_cq, *recv = qp->recv_cq ? qp->recv_cq : send;

	if (qp->real->state == QP_RESET)
		epitaph_reset_qp(&qp->epitaph);
	else if (send)
		epitaph_start_qp(&qp->epitaph, send->base.maker, recv->base.maker);
}

static int qp_modify_as(struct uverbs_call *uc, struct ib_uverbs_modify_qp *cmd, uint32_t rate)
{
	struct qp_transition transition;
	struct real_qp before;
	struct uverbs_qp *qp;
	unsigned int to;
	int ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd->qp_handle, &qp);

	if (!ret && qp->table && !adapter_is_mlx4(uc->adapter))
		return ENOSYS;
	if (!ret && qp->real->target)
		return dct_change(uc, cmd, qp);
	if (!ret)
		ret = modify_check(uc, qp, cmd, &to, &transition);
	if (!ret && qp->table)
		ret = mlx4_check_spread_change(qp->real->state, to);
	if (ret)
		return ret;
	before = *qp->real;
	attr_remember(uc, cmd, qp);
	ret = qp_change(uc, cmd, rate, &transition, qp);
	if (ret) {
		*qp->real = before;
		return ret;
	}
	qp->real->state = to;
	qp_redescribe(qp);
	return 0;
}

static int qp_modify(struct uverbs_call *uc)
{
	struct ib_uverbs_modify_qp cmd;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.attr_mask & ~QP_ATTR_STANDARD)
		return EOPNOTSUPP;
	return qp_modify_as(uc, &cmd, 0);
}

static int respond_ece(struct uverbs_call *uc, uint32_t handle)
{
	struct mlx5_ib_modify_qp_resp driver = { 0 };
	struct uverbs_qp *qp;
	int ret = object_find(uc->file, UVERBS_OBJECT_QP, handle, &qp);

	if (ret)
		return ret;
	driver.response_length = uc_response_length(uc, UVERBS_ATTR_UHW_OUT, sizeof(driver));
	driver.ece_options = qp->ece;
	if (qp->real->target)
		driver.dctn = qp->real->qpn;
	return uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver));
}

static int qp_modify_ex(struct uverbs_call *uc)
{
	struct ib_uverbs_ex_modify_qp cmd;
	struct ib_uverbs_ex_modify_qp_resp resp = { 0 };
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.base.attr_mask & ~(QP_ATTR_STANDARD | QP_ATTR_RATE_LIMIT))
		return EOPNOTSUPP;
	ret = qp_modify_as(uc, &cmd.base, cmd.rate_limit);
	if (!ret)
		ret = respond_ece(uc, cmd.base.qp_handle);
	resp.response_length = uc_response_length(uc, UVERBS_ATTR_CORE_OUT, sizeof(resp));
	return ret ? ret : uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct uverbs_write write_table[] = {
	{ "MODIFY_QP", IB_USER_VERBS_CMD_MODIFY_QP, sizeof(struct ib_uverbs_modify_qp), 0,
	  qp_modify },
	{ "MODIFY_QP_EX", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
	  sizeof(struct ib_uverbs_ex_modify_qp), sizeof(struct ib_uverbs_ex_modify_qp_resp),
	  qp_modify_ex },
};

const struct uverbs_writes qp_modify_writes = METHODS(write_table);
