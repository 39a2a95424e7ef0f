/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mad.c - see mad.h.
 */
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "ib/packet.h"
#include "softhca/front/process/cm/mad.h"

static uint8_t *put_header(uint8_t *mad, unsigned int attribute, uint64_t transaction)
{
	memset(mad, 0, MAD_SIZE);
	fld_set(mad, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(mad, MAD_CLASS, MAD_CLASS_CM);
	fld_set(mad, MAD_CLASS_VERSION, CM_CLASS_VERSION);
	fld_set(mad, MAD_METHOD, MAD_SEND);
	fld_set(mad, MAD_ATTRIBUTE, attribute);
	fld_set(mad, MAD_TRANSACTION, transaction);
	return mad + CM_DATA;
}

static void put_private(uint8_t *to, const void *data, size_t len)
{
	if (len)
		memcpy(to, data, len);
}

/* Sets the service type. RC and XRC have the same type, reliable connected, so the extended type
 * distinguishes them. */
static void put_service_type(uint8_t *data, uint8_t qp_type)
{
	if (qp_type == IB_UVERBS_QPT_UC) {
		fld_set(data, REQ_SERVICE_TYPE, SERVICE_UC);
	} else if (qp_type == IB_UVERBS_QPT_XRC_INI) {
		fld_set(data, REQ_SERVICE_TYPE, SERVICE_EXTENDED);
		fld_set(data, REQ_EXTENDED_TYPE, EXTENDED_XRC);
	}
}

uint8_t cm_take_qp_type(const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);

	switch (fld_get(data, REQ_SERVICE_TYPE)) {
	case SERVICE_RC:
		return IB_UVERBS_QPT_RC;
	case SERVICE_UC:
		return IB_UVERBS_QPT_UC;
	case SERVICE_EXTENDED:
		return fld_get(data, REQ_EXTENDED_TYPE) == EXTENDED_XRC ? IB_UVERBS_QPT_XRC_TGT : 0;
	default:
		return 0;
	}
}

static void put_path(uint8_t *data, const struct cm_conn *conn)
{
	const struct cm_path *path = &conn->path;

	fld_set(data, REQ_LOCAL_LID, path->slid ? path->slid : LID_PERMISSIVE);
	fld_set(data, REQ_REMOTE_LID, path->dlid ? path->dlid : LID_PERMISSIVE);
	memcpy(fld_at(data, REQ_LOCAL_GID), path->sgid, 16);
	memcpy(fld_at(data, REQ_REMOTE_GID), path->dgid, 16);
	fld_set(data, REQ_FLOW_LABEL, path->flow_label);
	fld_set(data, REQ_RATE, path->rate);
	fld_set(data, REQ_TCLASS, path->traffic_class);
	fld_set(data, REQ_HOP_LIMIT, path->hop_limit);
	fld_set(data, REQ_SL, path->sl);
	fld_set(data, REQ_SUBNET_LOCAL, path->hop_limit <= 1);
	fld_set(data, REQ_ACK_TIMEOUT, conn->ack_timeout);
}

/* Reads the path from a REQ: the sender's local addresses are our remote ones, and vice versa. */
void cm_take_path(const uint8_t *mad, struct cm_path *path)
{
	const uint8_t *data = cm_data(mad);

	memcpy(path->sgid, fld_at(data, REQ_REMOTE_GID), 16);
	memcpy(path->dgid, fld_at(data, REQ_LOCAL_GID), 16);
	path->flow_label = fld_get(data, REQ_FLOW_LABEL);
	path->traffic_class = fld_get(data, REQ_TCLASS);
	path->hop_limit = fld_get(data, REQ_HOP_LIMIT);
	path->sl = fld_get(data, REQ_SL);
	path->mtu = fld_get(data, REQ_MTU);
	path->rate = fld_get(data, REQ_RATE);
	path->lifetime = fld_get(data, REQ_ACK_TIMEOUT);
	path->lifetime -= path->lifetime > 0;
}

void cm_put_req(uint8_t *mad, const struct cm_conn *conn, const struct cm_param *param,
		uint64_t guid)
{
	uint8_t *data = put_header(mad, CM_REQ, conn->transaction);

	fld_set(mad, MAD_MODIFIER, param->vendor_options);
	fld_set(data, REQ_VENDOR_ID, param->vendor_id);
	fld_set(data, CM_LOCAL_ID, conn->local_id);
	fld_set(data, REQ_SERVICE_ID, conn->service);
	fld_set(data, REQ_CA_GUID, guid);
	fld_set(data, REQ_QPN, param->qpn);
	fld_set(data, REQ_INITIATOR_DEPTH, param->initiator_depth);
	fld_set(data, REQ_REMOTE_TIMEOUT, CM_RESPONSE_TIMEOUT);
	put_service_type(data, conn->qp_type);
	fld_set(data, REQ_FLOW_CONTROL, param->flow_control);
	fld_set(data, REQ_PSN, conn->psn);
	fld_set(data, REQ_LOCAL_TIMEOUT, CM_RESPONSE_TIMEOUT);
	fld_set(data, REQ_PKEY, PKEY_DEFAULT);
	fld_set(data, REQ_MTU, conn->path.mtu);
	fld_set(data, REQ_MAX_CM_RETRIES, CM_MAX_RETRIES);
	if (conn->qp_type != IB_UVERBS_QPT_XRC_INI) {
		fld_set(data, REQ_RESPONDER_RESOURCES, param->responder_resources);
		fld_set(data, REQ_RETRY_COUNT, param->retry_count);
		fld_set(data, REQ_RNR_RETRY_COUNT, param->rnr_retry_count);
		fld_set(data, REQ_SRQ, param->srq);
	}
	put_path(data, conn);
	put_private(data + REQ_PRIVATE_AT, param->private_data, param->private_len);
}

void cm_put_ids(uint8_t *mad, const struct cm_conn *conn, unsigned int attribute)
{
	uint8_t *data = put_header(mad, attribute, conn->transaction);

	fld_set(data, CM_LOCAL_ID, conn->local_id);
	fld_set(data, CM_REMOTE_ID, conn->remote_id);
	if (attribute == CM_DREQ)
		fld_set(data, DREQ_QPN, conn->remote_qpn);
}

void cm_put_rep(uint8_t *mad, const struct cm_conn *conn, const struct cm_param *param,
		uint64_t guid)
{
	uint8_t *data = mad + CM_DATA;

	cm_put_ids(mad, conn, CM_REP);
	fld_set(mad, MAD_MODIFIER, param->vendor_options);
	fld_set(data, REP_VENDOR_ID_H, param->vendor_id >> 16);
	fld_set(data, REP_VENDOR_ID_M, param->vendor_id >> 8);
	fld_set(data, REP_VENDOR_ID_L, param->vendor_id);
	fld_set(data, REP_PSN, conn->psn);
	fld_set(data, REP_RESPONDER_RESOURCES, param->responder_resources);
	fld_set(data, REP_ACK_DELAY, CM_OWN_ACK_DELAY);
	fld_set(data, REP_CA_GUID, guid);
	if (conn->qp_type == IB_UVERBS_QPT_XRC_TGT) {
		fld_set(data, REP_SRQ, 1);
		fld_set(data, REP_EECN, param->qpn);
	} else {
		fld_set(data, REP_QPN, param->qpn);
		fld_set(data, REP_INITIATOR_DEPTH, param->initiator_depth);
		fld_set(data, REP_FLOW_CONTROL, param->flow_control);
		fld_set(data, REP_RNR_RETRY_COUNT, param->rnr_retry_count);
		fld_set(data, REP_SRQ, param->srq);
	}
	put_private(data + REP_PRIVATE_AT, param->private_data, param->private_len);
}

static unsigned int rejected_message(enum cm_state state)
{
	switch (state) {
	case CM_REQ_RECEIVED:
		return CM_OF_REQ;
	case CM_REP_RECEIVED:
		return CM_OF_REP;
	default:
		return CM_OF_OTHER;
	}
}

void cm_put_rej(uint8_t *mad, const struct cm_conn *conn, enum cm_reason reason, const void *data,
		uint8_t len)
{
	uint8_t *rej = mad + CM_DATA;

	cm_put_ids(mad, conn, CM_REJ);
	fld_set(rej, REJ_MESSAGE, rejected_message(conn->state));
	fld_set(rej, REJ_REASON, reason);
	put_private(rej + REJ_PRIVATE_AT, data, len);
}

void cm_put_sidr_req(uint8_t *mad, const struct cm_conn *conn, const void *private_data,
		     uint8_t len)
{
	uint8_t *data = put_header(mad, CM_SIDR_REQ, conn->transaction);

	fld_set(data, SIDR_REQUEST_ID, conn->local_id);
	fld_set(data, SIDR_REQ_PKEY, PKEY_DEFAULT);
	fld_set(data, SIDR_REQ_SERVICE_ID, conn->service);
	put_private(data + SIDR_REQ_PRIVATE_AT, private_data, len);
}

void cm_put_sidr_rep(uint8_t *mad, const struct cm_conn *conn, uint8_t status, uint32_t qpn,
		     uint32_t qkey, const void *private_data, uint8_t len)
{
	uint8_t *data = put_header(mad, CM_SIDR_REP, conn->transaction);

	fld_set(data, SIDR_REQUEST_ID, conn->remote_id);
	fld_set(data, SIDR_REP_STATUS, status);
	fld_set(data, SIDR_REP_QPN, qpn);
	fld_set(data, SIDR_REP_SERVICE_ID, conn->service);
	fld_set(data, SIDR_REP_QKEY, qkey);
	put_private(data + SIDR_REP_PRIVATE_AT, private_data, len);
}

void cm_put_answer(uint8_t *answer, const uint8_t *mad, unsigned int attribute)
{
	uint8_t *data = put_header(answer, attribute, fld_get(mad, MAD_TRANSACTION));

	fld_set(data, CM_LOCAL_ID, fld_get(cm_data(mad), CM_REMOTE_ID));
	fld_set(data, CM_REMOTE_ID, fld_get(cm_data(mad), CM_LOCAL_ID));
}
