/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attr.c - attributes of a QP for each transition, which the library gets from here, as Linux'
 * connection manager computes them.
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"

enum { /* values of enum ibv_qp_state, ibv_qp_attr_mask, ibv_access_flags */
       QPS_INIT = 1,
       QPS_RTR = 2,
       QPS_RTS = 3,
       MASK_STATE = 1 << 0,
       MASK_ACCESS = 1 << 3,
       MASK_PKEY_INDEX = 1 << 4,
       MASK_PORT = 1 << 5,
       MASK_QKEY = 1 << 6,
       MASK_AV = 1 << 7,
       MASK_PATH_MTU = 1 << 8,
       MASK_TIMEOUT = 1 << 9,
       MASK_RETRY_CNT = 1 << 10,
       MASK_RNR_RETRY = 1 << 11,
       MASK_RQ_PSN = 1 << 12,
       MASK_MAX_RD_ATOMIC = 1 << 13,
       MASK_MIN_RNR_TIMER = 1 << 15,
       MASK_SQ_PSN = 1 << 16,
       MASK_MAX_DEST_RD_ATOMIC = 1 << 17,
       MASK_DEST_QPN = 1 << 20,
       REMOTE_WRITE = 1 << 1,
       REMOTE_READ = 1 << 2,
       REMOTE_ATOMIC = 1 << 3,
};

/* Sets the attributes for INIT. Before a connection they allow no remote access; with a connection,
 * the peer may write, and may read if READs were agreed on. */
static int attr_init(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->port_num = id->src.port;
	attr->qp_attr_mask = MASK_STATE | MASK_PKEY_INDEX | MASK_PORT;
	if (id->datagram) {
		attr->qkey = UCMA_QKEY;
		attr->qp_attr_mask |= MASK_QKEY;
		return 0;
	}
	attr->qp_attr_mask |= MASK_ACCESS;
	if (id->state < UCMA_CONNECTS)
		return 0;
	if (id->conn.state < CM_REQ_SENT || id->conn.state > CM_ESTABLISHED)
		return EINVAL;
	attr->qp_access_flags = REMOTE_WRITE;
	if (id->conn.responder_resources)
		attr->qp_access_flags |= REMOTE_READ | REMOTE_ATOMIC;
	return 0;
}

static bool knows_peer(const struct cm_conn *conn)
{
	return conn->state >= CM_REQ_RECEIVED && conn->state <= CM_ESTABLISHED;
}

static int attr_rtr(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	const struct cm_conn *conn = &id->conn;

	if (id->datagram || !knows_peer(conn))
		return EINVAL;
	ucma_conn_put_ah(&conn->path, conn->path.gid_index, &attr->ah_attr);
	attr->path_mtu = conn->path.mtu;
	attr->dest_qp_num = conn->remote_qpn;
	attr->rq_psn = conn->psn;
	attr->qp_attr_mask = MASK_STATE | MASK_AV | MASK_PATH_MTU | MASK_DEST_QPN | MASK_RQ_PSN;
	if (id->qp_type != IB_UVERBS_QPT_RC && id->qp_type != IB_UVERBS_QPT_XRC_TGT)
		return 0;
	attr->max_dest_rd_atomic = conn->responder_resources;
	attr->qp_attr_mask |= MASK_MAX_DEST_RD_ATOMIC | MASK_MIN_RNR_TIMER;
	return 0;
}

static int attr_rts(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	const struct cm_conn *conn = &id->conn;

	if (id->datagram || !knows_peer(conn))
		return EINVAL;
	attr->sq_psn = conn->remote_psn;
	attr->qp_attr_mask = MASK_STATE | MASK_SQ_PSN;
	if (id->qp_type == IB_UVERBS_QPT_RC || id->qp_type == IB_UVERBS_QPT_XRC_INI) {
		attr->retry_cnt = conn->retry_count;
		attr->rnr_retry = conn->rnr_retry_count;
		attr->max_rd_atomic = conn->initiator_depth;
		attr->qp_attr_mask |= MASK_RETRY_CNT | MASK_RNR_RETRY | MASK_MAX_RD_ATOMIC;
	}
	if (id->qp_type != IB_UVERBS_QPT_UC) {
		attr->timeout = id->has_ack_timeout ? id->ack_timeout : conn->ack_timeout;
		attr->qp_attr_mask |= MASK_TIMEOUT;
	}
	return 0;
}

int ucma_conn_init_qp_attr(struct ucma_call *uc)
{
	struct ib_uverbs_qp_attr attr = { 0 };
	struct ucma_id *id;
	int ret;

	if (uc->hdr.out < sizeof(attr))
		return ENOSPC;
	ret = ucma_id_find(uc, uc->init_qp_attr.id, &id);
	if (ret)
		return ret;
	if (!ucma_id_adapter(id))
		return EINVAL;
	attr.qp_state = uc->init_qp_attr.qp_state;
	switch (attr.qp_state) {
	case QPS_INIT:
		ret = attr_init(id, &attr);
		break;
	case QPS_RTR:
		ret = attr_rtr(id, &attr);
		break;
	case QPS_RTS:
		ret = attr_rts(id, &attr);
		break;
	default:
		ret = EINVAL;
	}
	return ret ? ret : ucma_respond(uc, uc->init_qp_attr.response, &attr, sizeof(attr));
}
