/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query.c - queries QPs: converts the device's QP context to the answer of query_qp.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/uverbs/qp/dct.h"

static unsigned int state_of(uint8_t device_state)
{
	static const uint8_t states[] = {
		[PRM_QP_STATE_RST] = QP_RESET, [PRM_QP_STATE_INIT] = QP_INIT,
		[PRM_QP_STATE_RTR] = QP_RTR,   [PRM_QP_STATE_RTS] = QP_RTS,
		[PRM_QP_STATE_SQER] = QP_SQE,  [PRM_QP_STATE_SQD] = QP_SQD,
		[PRM_QP_STATE_ERR] = QP_ERR,   [PRM_QP_STATE_SQ_DRAINING] = QP_SQD,
	};

	return device_state < sizeof(states) ? states[device_state] : QP_ERR;
}

static void read_path(const struct uverbs_call *uc, const uint8_t *ads,
		      struct ib_uverbs_qp_dest *dest)
{
	bool roce = adapter_is_roce(uc->adapter);
	uint32_t rate = fld_get(ads, ADS_STAT_RATE);

	dest->sl = fld_get(ads, roce ? ADS_ETH_PRIO : ADS_SL);
	dest->static_rate = rate ? rate - 5 : 0;
	dest->port_num = fld_get(ads, ADS_VHCA_PORT_NUM);
	dest->dlid = roce ? 0 : fld_get(ads, ADS_RLID);
	dest->src_path_bits = roce ? 0 : fld_get(ads, ADS_MLID);
	dest->is_global = roce || fld_get(ads, ADS_GRH);
	if (!dest->is_global)
		return;
	dest->sgid_index = fld_get(ads, ADS_SRC_ADDR_INDEX);
	dest->hop_limit = fld_get(ads, ADS_HOP_LIMIT);
	dest->traffic_class = fld_get(ads, ADS_TCLASS);
	dest->flow_label = fld_get(ads, ADS_FLOW_LABEL);
	memcpy(dest->dgid, fld_at(ads, ADS_RGID_RIP), sizeof(dest->dgid));
}

static uint32_t read_access(const uint8_t *qpc)
{
	return (fld_get(qpc, QPC_RRE) ? IB_UVERBS_ACCESS_REMOTE_READ : 0) |
	       (fld_get(qpc, QPC_RWE) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0) |
	       (fld_get(qpc, QPC_RAE) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0);
}

/* Converts the migration state to enum ibv_mig_state: migrated, rearm, armed. */
static unsigned int migration_of(uint8_t device_state)
{
	return device_state == PRM_QP_PM_STATE_MIGRATED ? 0 : device_state == 1 ? 1 : 2;
}

static void read_qpc(const struct uverbs_call *uc, const struct uverbs_qp *qp, const uint8_t *qpc,
		     struct ib_uverbs_query_qp_resp *resp)
{
	const uint8_t *path = fld_at(qpc, QPC_PRIMARY_PATH);

	if (qp->type != IB_UVERBS_QPT_UD)
		read_path(uc, path, &resp->dest);
	resp->qp_state = resp->cur_qp_state = state_of(fld_get(qpc, QPC_STATE));
	resp->sq_draining = fld_get(qpc, QPC_STATE) == PRM_QP_STATE_SQ_DRAINING;
	resp->path_mtu = fld_get(qpc, QPC_MTU);
	resp->path_mig_state = migration_of(fld_get(qpc, QPC_PM_STATE));
	resp->qkey = fld_get(qpc, QPC_Q_KEY);
	resp->rq_psn = fld_get(qpc, QPC_NEXT_RCV_PSN);
	resp->sq_psn = fld_get(qpc, QPC_NEXT_SEND_PSN);
	resp->dest_qp_num = fld_get(qpc, QPC_REMOTE_QPN);
	resp->qp_access_flags = read_access(qpc);
	resp->pkey_index = fld_get(path, ADS_PKEY_INDEX);
	resp->port_num = fld_get(path, ADS_VHCA_PORT_NUM);
	resp->timeout = fld_get(path, ADS_ACK_TIMEOUT);
	resp->max_rd_atomic = 1u << fld_get(qpc, QPC_LOG_SRA_MAX);
	resp->max_dest_rd_atomic = 1u << fld_get(qpc, QPC_LOG_RRA_MAX);
	resp->min_rnr_timer = fld_get(qpc, QPC_MIN_RNR_NAK);
	resp->retry_cnt = fld_get(qpc, QPC_RETRY_COUNT);
	resp->rnr_retry = fld_get(qpc, QPC_RNR_RETRY);
	/* The library reports the send queue's capacities itself, as with Linux' driver. */
	resp->max_recv_wr = qp->rq_wqe_count;
	resp->max_recv_sge = qp->rq_sges;
	resp->sq_sig_all = qp->sq_sig_all;
}

static int query_raw(struct uverbs_call *uc, const struct uverbs_qp *qp,
		     struct ib_uverbs_query_qp_resp *resp)
{
	unsigned int state;
	int ret = raw_qp_state(uc->adapter, qp->real->raw, qp->real->state, &state);

	if (ret)
		return ret;
	resp->qp_state = resp->cur_qp_state = state;
	resp->port_num = 1;
	resp->max_recv_wr = qp->rq_wqe_count;
	resp->max_recv_sge = qp->rq_sges;
	resp->sq_sig_all = qp->sq_sig_all;
	return 0;
}

enum { QUERY_OUT_SIZE = PRM_QUERY_QP_OUT_SIZE };

static int ask_device(struct adapter *adapter, const struct real_qp *real,
		      uint8_t out[QUERY_OUT_SIZE])
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_QP_IN_QPN, real->qpn);
	return adapter_command(adapter, in, sizeof(in), out, QUERY_OUT_SIZE);
}

static int query_transport(struct uverbs_call *uc, const struct uverbs_qp *qp,
			   struct ib_uverbs_query_qp_resp *resp)
{
	uint8_t out[QUERY_OUT_SIZE];
	int ret = ask_device(uc->adapter, qp->real, out);

	if (!ret)
		read_qpc(uc, qp, fld_at(out, QUERY_QP_OUT_QPC), resp);
	return ret;
}

void qp_look(struct adapter *adapter, const struct real_qp *real, unsigned int *state,
	     uint32_t *psn)
{
	uint8_t out[QUERY_OUT_SIZE];

	*state = real->state;
	*psn = 0;
	if (real->raw || real->target || ask_device(adapter, real, out))
		return;
	*state = state_of(fld_get(fld_at(out, QUERY_QP_OUT_QPC), QPC_STATE));
	*psn = fld_get(fld_at(out, QUERY_QP_OUT_QPC), QPC_NEXT_SEND_PSN);
}

static int qp_query(struct uverbs_call *uc)
{
	struct ib_uverbs_query_qp_resp resp = { 0 };
	struct ib_uverbs_query_qp cmd;
	struct uverbs_qp *qp;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd.qp_handle, &qp);
	if (ret)
		return ret;
	if (qp->table)
		return ENOSYS;
	if (qp->real->target)
		ret = qp_dct_query(uc, cmd.attr_mask, qp, &resp);
	else
		ret = qp->real->raw ? query_raw(uc, qp, &resp) : query_transport(uc, qp, &resp);
	if (ret)
		return ret;
	if (!qp->real->target)
		qp->real->state = resp.qp_state;
	return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct uverbs_write write_table[] = {
	{ "QUERY_QP", IB_USER_VERBS_CMD_QUERY_QP, sizeof(struct ib_uverbs_query_qp),
	  sizeof(struct ib_uverbs_query_qp_resp), qp_query },
};

const struct uverbs_writes qp_query_writes = METHODS(write_table);
