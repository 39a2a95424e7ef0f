/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.c - requests of the user: connect, answer, disconnect. See cm.h; states are those of IBTA vol
 * 1, 12.9.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/cm/conn.h"

const struct cm_ops *cm_user;

void cm_start(const struct cm_ops *ops)
{
	cm_user = ops;
	cm_table_start((uint32_t)ops->now() | 1);
	cm_send_start();
}

static uint64_t round_trip(const struct cm_conn *conn)
{
	return cm_ns_of(CM_RESPONSE_TIMEOUT) + 2 * cm_ns_of(conn->path.lifetime);
}

/* Returns a QP's ACK timeout. It covers the packet lifetime in both directions, and the remote
 * adapter's ACK delay. */
uint8_t cm_ack_timeout(uint8_t lifetime, uint8_t ack_delay)
{
	uint8_t timeout = lifetime + 1;

	timeout = timeout >= ack_delay ? timeout + (ack_delay >= timeout - 1)
				       : ack_delay + (timeout >= ack_delay - 1);
	return timeout > 31 ? 31 : timeout;
}

void cm_connect(struct cm_conn *conn, const struct cm_param *param)
{
	cm_enlist(conn);
	conn->state = CM_REQ_SENT;
	conn->transaction = conn->local_id;
	conn->qpn = param->qpn;
	conn->responder_resources = param->responder_resources;
	conn->initiator_depth = param->initiator_depth;
	conn->retry_count = param->retry_count;
	conn->rnr_retry_count = param->rnr_retry_count;
	conn->remote_timeout = CM_RESPONSE_TIMEOUT;
	conn->max_retries = CM_MAX_RETRIES;
	conn->ack_timeout = cm_ack_timeout(conn->path.lifetime, CM_OWN_ACK_DELAY);
	cm_put_req(conn->mad, conn, param, cm_user->guid(conn->path.adapter));
	cm_send_and_repeat(conn, round_trip(conn));
}

void cm_resolve_service(struct cm_conn *conn, const void *private_data, uint8_t len)
{
	cm_enlist(conn);
	conn->state = CM_SIDR_SENT;
	conn->transaction = conn->local_id;
	conn->max_retries = CM_MAX_RETRIES;
	cm_put_sidr_req(conn->mad, conn, private_data, len);
	cm_send_and_repeat(conn, cm_ns_of(CM_RESPONSE_TIMEOUT));
}

int cm_confirm(struct cm_conn *conn)
{
	if (conn->state != CM_REP_RECEIVED)
		return EINVAL;
	conn->state = CM_ESTABLISHED;
	cm_send_ids(conn, CM_RTU);
	return 0;
}

int cm_accept(struct cm_conn *conn, const struct cm_param *param)
{
	if (conn->state != CM_REQ_RECEIVED)
		return EINVAL;
	conn->qpn = param->qpn;
	conn->responder_resources = param->responder_resources;
	conn->initiator_depth = param->initiator_depth;
	conn->state = CM_REP_SENT;
	cm_put_rep(conn->mad, conn, param, cm_user->guid(conn->path.adapter));
	cm_send_and_repeat(conn,
			   cm_ns_of(conn->remote_timeout) + 2 * cm_ns_of(conn->path.lifetime));
	return 0;
}

bool cm_establish(struct cm_conn *conn)
{
	if (conn->state != CM_REP_SENT && conn->state != CM_REP_DELAYED)
		return false;
	cm_stop_timer(conn);
	conn->state = CM_ESTABLISHED;
	return true;
}

static void send_rej(struct cm_conn *conn, enum cm_reason reason, const void *data, uint8_t len)
{
	cm_put_rej(conn->mad, conn, reason, data, len);
	cm_send(conn);
}

int cm_reject(struct cm_conn *conn, enum cm_reason reason, const void *private_data, uint8_t len)
{
	switch (conn->state) {
	case CM_REQ_SENT:
	case CM_REQ_DELAYED:
	case CM_REQ_RECEIVED:
	case CM_REP_RECEIVED:
		send_rej(conn, reason, private_data, len);
		cm_become_idle(conn);
		return 0;
	case CM_REP_SENT:
	case CM_REP_DELAYED:
		send_rej(conn, reason, private_data, len);
		cm_enter_timewait(conn);
		return 0;
	default:
		return EINVAL;
	}
}

int cm_answer_service(struct cm_conn *conn, uint8_t status, uint32_t qpn, uint32_t qkey,
		      const void *private_data, uint8_t len)
{
	if (conn->state != CM_SIDR_RECEIVED)
		return EINVAL;
	cm_put_sidr_rep(conn->mad, conn, status, qpn, qkey, private_data, len);
	cm_send(conn);
	cm_become_idle(conn);
	return 0;
}

void cm_send_dreq(struct cm_conn *conn)
{
	conn->state = CM_DREQ_SENT;
	cm_put_ids(conn->mad, conn, CM_DREQ);
	cm_send_and_repeat(conn,
			   cm_ns_of(conn->remote_timeout) + 2 * cm_ns_of(conn->path.lifetime));
}

static void send_drep(struct cm_conn *conn)
{
	cm_send_ids(conn, CM_DREP);
	cm_enter_timewait(conn);
}

void cm_disconnect(struct cm_conn *conn)
{
	if (conn->state == CM_ESTABLISHED)
		cm_send_dreq(conn);
	else if (conn->state == CM_DREQ_RECEIVED)
		send_drep(conn);
}

/* Sends a REJ with reason timeout, as we stop waiting for the answer to a REQ. The peer may not
 * know our id yet, so the REJ has our GUID to identify the request. */
static void give_up(struct cm_conn *conn)
{
	uint64_t guid = htobe64(cm_user->guid(conn->path.adapter));
	uint8_t *data = conn->mad + CM_DATA;

	cm_put_rej(conn->mad, conn, REASON_TIMEOUT, NULL, 0);
	fld_set(data, REJ_INFO_LENGTH, sizeof(guid));
	memcpy(data + REJ_INFO_AT, &guid, sizeof(guid));
	cm_send(conn);
}

void cm_destroy(struct cm_conn *conn)
{
	switch (conn->state) {
	case CM_REQ_SENT:
	case CM_REQ_DELAYED:
		give_up(conn);
		break;
	case CM_REQ_RECEIVED:
	case CM_REP_SENT:
	case CM_REP_DELAYED:
	case CM_REP_RECEIVED:
		send_rej(conn, REASON_CONSUMER, NULL, 0);
		break;
	case CM_ESTABLISHED:
		if (conn->qp_type != IB_UVERBS_QPT_XRC_TGT)
			cm_send_ids(conn, CM_DREQ);
		break;
	case CM_DREQ_RECEIVED:
		cm_send_ids(conn, CM_DREP);
		break;
	case CM_SIDR_RECEIVED:
		cm_answer_service(conn, SIDR_REJECT, 0, 0, NULL, 0);
		break;
	default:
		break;
	}
	cm_stop_timer(conn);
	cm_delist(conn);
	conn->state = CM_IDLE;
}
