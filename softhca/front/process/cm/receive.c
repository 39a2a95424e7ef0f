/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * receive.c - arriving messages: their connections and state changes. See conn.h.
 *
 * Like Linux, sends an MRA only for a repeated message that the program has not answered yet.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/cm/conn.h"
#include "util/bits.h"

enum { PROCESSING_TIMEOUT = 24 };

static void answer_unconnected(const struct cm_path *path, const uint8_t *mad,
			       unsigned int attribute)
{
	uint8_t reply[MAD_SIZE];

	cm_put_answer(reply, mad, attribute);
	cm_user->send(path, reply);
}

static void refuse_request(const struct cm_path *path, const uint8_t *mad, unsigned int message,
			   enum cm_reason reason)
{
	uint8_t rej[MAD_SIZE];

	cm_put_answer(rej, mad, CM_REJ);
	if (message == CM_OF_REQ)
		fld_set(rej + CM_DATA, CM_LOCAL_ID, 0); /* there was no connection yet, so no id */
	fld_set(rej + CM_DATA, REJ_MESSAGE, message);
	fld_set(rej + CM_DATA, REJ_REASON, reason);
	cm_user->send(path, rej);
}

static void send_mra(const struct cm_conn *conn, unsigned int message)
{
	uint8_t mad[MAD_SIZE];

	cm_put_ids(mad, conn, CM_MRA);
	fld_set(mad + CM_DATA, MRA_MESSAGE, message);
	fld_set(mad + CM_DATA, MRA_TIMEOUT, PROCESSING_TIMEOUT);
	cm_user->send(&conn->path, mad);
}

/* Ends the older one, CONN, of two connections with the same remote QP. IBTA calls it stale, as the
 * peer does not know it any more. */
static void end_stale(struct cm_conn *conn)
{
	if (conn->state == CM_ESTABLISHED)
		cm_send_dreq(conn);
}

static bool is_known(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	uint64_t guid = fld_get(data, REQ_CA_GUID);
	struct cm_conn *conn = cm_find_remote(guid, fld_get(data, CM_LOCAL_ID), false);

	if (conn) {
		if (conn->state == CM_REQ_RECEIVED)
			send_mra(conn, CM_OF_REQ);
		return true;
	}
	conn = cm_find_qpn(guid, fld_get(data, REQ_QPN));
	if (!conn)
		return false;
	refuse_request(path, mad, CM_OF_REQ, REASON_STALE_CONNECTION);
	end_stale(conn);
	return true;
}

static void take_req(struct cm_conn *conn, const struct cm_request *request)
{
	const uint8_t *data = cm_data(request->mad);

	conn->path = request->path;
	conn->service = request->service;
	conn->qp_type = request->qp_type;
	conn->transaction = fld_get(request->mad, MAD_TRANSACTION);
	conn->remote_id = fld_get(data, CM_LOCAL_ID);
	conn->remote_guid = fld_get(data, REQ_CA_GUID);
	conn->remote_qpn = fld_get(data, REQ_QPN);
	conn->remote_psn = fld_get(data, REQ_PSN);
	conn->initiator_depth = fld_get(data, REQ_RESPONDER_RESOURCES);
	conn->responder_resources = fld_get(data, REQ_INITIATOR_DEPTH);
	conn->retry_count = fld_get(data, REQ_RETRY_COUNT);
	conn->rnr_retry_count = fld_get(data, REQ_RNR_RETRY_COUNT);
	conn->ack_timeout = fld_get(data, REQ_ACK_TIMEOUT);
	conn->remote_timeout = fld_get(data, REQ_LOCAL_TIMEOUT);
	conn->max_retries = fld_get(data, REQ_MAX_CM_RETRIES);
	conn->state = CM_REQ_RECEIVED;
	cm_enlist(conn);
	cm_enlist_remote(conn);
}

static void receive_req(const struct cm_path *path, const uint8_t *mad)
{
	struct cm_request request = { .mad = mad, .path = *path };
	struct cm_conn *conn;
	int ret;

	if (is_known(path, mad))
		return;
	cm_take_path(mad, &request.path);
	request.service = fld_get(cm_data(mad), REQ_SERVICE_ID);
	request.qp_type = cm_take_qp_type(mad);
	ret = request.qp_type ? cm_user->requested(&request, &conn) : ENOENT;
	if (ret == ENOENT || ret == EINVAL)
		refuse_request(path, mad, CM_OF_REQ,
			       ret == ENOENT ? REASON_INVALID_SERVICE_ID : REASON_CONSUMER);
	if (ret)
		return;
	take_req(conn, &request);
	cm_user->event(conn, CM_EVENT_REQ, mad);
}

static void refuse_service(const struct cm_path *path, const uint8_t *mad, uint8_t status)
{
	struct cm_conn none = {
		.path = *path,
		.transaction = fld_get(mad, MAD_TRANSACTION),
		.remote_id = fld_get(cm_data(mad), SIDR_REQUEST_ID),
		.service = fld_get(cm_data(mad), SIDR_REQ_SERVICE_ID),
	};

	cm_put_sidr_rep(none.mad, &none, status, 0, 0, NULL, 0);
	cm_send(&none);
}

/* Returns a number that identifies the sender of a service ID request. It is derived from the
 * sender's address, as these messages have no GUID. */
static uint64_t origin_of(const struct cm_path *path)
{
	uint64_t guid;

	memcpy(&guid, path->dgid + 8, sizeof(guid));
	return guid ^ path->dlid;
}

static void receive_sidr_req(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_request request = {
		.mad = mad, .sidr = true, .path = *path, .qp_type = IB_UVERBS_QPT_UD
	};
	struct cm_conn *conn;
	int ret;

	if (cm_find_remote(origin_of(path), fld_get(data, SIDR_REQUEST_ID), true))
		return;
	request.service = fld_get(data, SIDR_REQ_SERVICE_ID);
	ret = cm_user->requested(&request, &conn);
	if (ret == ENOENT || ret == EINVAL)
		refuse_service(path, mad, ret == ENOENT ? SIDR_UNSUPPORTED : SIDR_REJECT);
	if (ret)
		return;
	conn->path = request.path;
	conn->service = request.service;
	conn->qp_type = IB_UVERBS_QPT_UD;
	conn->transaction = fld_get(mad, MAD_TRANSACTION);
	conn->remote_id = fld_get(data, SIDR_REQUEST_ID);
	conn->remote_guid = origin_of(path);
	conn->state = CM_SIDR_RECEIVED;
	cm_enlist(conn);
	cm_enlist_remote(conn);
	cm_user->event(conn, CM_EVENT_SIDR_REQ, mad);
}

static void receive_sidr_rep(const struct cm_path *path, const uint8_t *mad)
{
	struct cm_conn *conn = cm_find_local(fld_get(cm_data(mad), SIDR_REQUEST_ID));

	(void)path;
	if (!conn || conn->state != CM_SIDR_SENT)
		return;
	conn->remote_qpn = fld_get(cm_data(mad), SIDR_REP_QPN);
	cm_become_idle(conn);
	cm_user->event(conn, CM_EVENT_SIDR_REP, mad);
}

static void receive_mra(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = cm_find_local(fld_get(data, CM_REMOTE_ID));
	unsigned int message = fld_get(data, MRA_MESSAGE);

	(void)path;
	if (!conn)
		return;
	if (message == CM_OF_REQ && conn->state == CM_REQ_SENT)
		conn->state = CM_REQ_DELAYED;
	else if (message == CM_OF_REP && conn->state == CM_REP_SENT)
		conn->state = CM_REP_DELAYED;
	else
		return;
	cm_start_timer(conn, cm_ns_of(fld_get(data, MRA_TIMEOUT)) + cm_ns_of(conn->ack_timeout));
}

/* Handles a repeated REP. Repeats our RTU, which was lost, or sends an MRA if the program has not
 * answered the REP yet. */
static void receive_rep_again(const struct cm_conn *conn)
{
	if (conn->state == CM_ESTABLISHED)
		cm_send_ids(conn, CM_RTU);
	else if (conn->state == CM_REP_RECEIVED)
		send_mra(conn, CM_OF_REP);
}

static uint32_t qpn_of_rep(const struct cm_conn *conn, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);

	return conn->qp_type == IB_UVERBS_QPT_XRC_INI ? fld_get(data, REP_EECN)
						      : fld_get(data, REP_QPN);
}

static void take_rep(struct cm_conn *conn, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);

	cm_stop_timer(conn);
	conn->remote_id = fld_get(data, CM_LOCAL_ID);
	conn->remote_guid = fld_get(data, REP_CA_GUID);
	conn->remote_qpn = qpn_of_rep(conn, mad);
	conn->remote_psn = fld_get(data, REP_PSN);
	conn->initiator_depth = fld_get(data, REP_RESPONDER_RESOURCES);
	conn->responder_resources = fld_get(data, REP_INITIATOR_DEPTH);
	if (conn->qp_type != IB_UVERBS_QPT_XRC_INI)
		conn->rnr_retry_count = fld_get(data, REP_RNR_RETRY_COUNT);
	conn->ack_timeout = cm_ack_timeout(conn->path.lifetime, fld_get(data, REP_ACK_DELAY));
}

/* Handles a REP. If the REP is stale, refuses it and leaves CONN in its state: the REQ is repeated
 * until it times out, and the program gets that event. */
static void receive_rep(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = cm_find_local(fld_get(data, CM_REMOTE_ID)), *other;
	uint64_t guid = fld_get(data, REP_CA_GUID);

	if (!conn)
		return;
	if (conn->state != CM_REQ_SENT && conn->state != CM_REQ_DELAYED) {
		receive_rep_again(conn);
		return;
	}
	if (cm_find_remote(guid, fld_get(data, CM_LOCAL_ID), false))
		return; /* another connection has this id, so the message is an old one */
	other = cm_find_qpn(guid, qpn_of_rep(conn, mad));
	if (other) {
		refuse_request(path, mad, CM_OF_REP, REASON_STALE_CONNECTION);
		end_stale(other);
		return;
	}
	take_rep(conn, mad);
	cm_enlist_remote(conn);
	conn->state = CM_REP_RECEIVED;
	cm_user->event(conn, CM_EVENT_REP, mad);
}

static void receive_rtu(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn =
		cm_find_pair(fld_get(data, CM_REMOTE_ID), fld_get(data, CM_LOCAL_ID));

	(void)path;
	if (conn && cm_establish(conn))
		cm_user->event(conn, CM_EVENT_RTU, mad);
}

/* Finds the connection that a REJ rejects. The sender may not know our id yet (reason timeout), or
 * we may not know the sender's (REJ of a REQ). */
static struct cm_conn *find_rejected(const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	uint32_t theirs = fld_get(data, CM_LOCAL_ID), ours = fld_get(data, CM_REMOTE_ID);

	if (fld_get(data, REJ_REASON) == REASON_TIMEOUT)
		return cm_find_remote(fld_get64(data, REJ_INFO_AT), theirs, false);
	if (fld_get(data, REJ_MESSAGE) == CM_OF_REQ)
		return cm_find_local(ours);
	return cm_find_pair(ours, theirs);
}

static void receive_rej(const struct cm_path *path, const uint8_t *mad)
{
	struct cm_conn *conn = find_rejected(mad);

	(void)path;
	if (!conn)
		return;
	switch (conn->state) {
	case CM_REQ_SENT:
	case CM_REQ_DELAYED:
	case CM_REQ_RECEIVED:
	case CM_REP_SENT:
	case CM_REP_DELAYED:
		if (fld_get(cm_data(mad), REJ_REASON) != REASON_STALE_CONNECTION)
			cm_become_idle(conn);
		else
			cm_enter_timewait(conn);
		break;
	case CM_REP_RECEIVED:
	case CM_ESTABLISHED:
	case CM_DREQ_SENT:
		cm_enter_timewait(conn);
		break;
	default:
		return;
	}
	cm_user->event(conn, CM_EVENT_REJ, mad);
}

static void receive_dreq(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn =
		cm_find_pair(fld_get(data, CM_REMOTE_ID), fld_get(data, CM_LOCAL_ID));

	if (!conn) {
		answer_unconnected(path, mad, CM_DREP);
		return;
	}
	if (fld_get(data, DREQ_QPN) != conn->qpn)
		return;
	switch (conn->state) {
	case CM_REP_SENT:
	case CM_REP_DELAYED:
	case CM_ESTABLISHED:
	case CM_DREQ_SENT:
		cm_stop_timer(conn);
		conn->transaction = fld_get(mad, MAD_TRANSACTION);
		conn->state = CM_DREQ_RECEIVED;
		cm_user->event(conn, CM_EVENT_DREQ, mad);
		break;
	case CM_TIMEWAIT: /* our DREP was lost, so send it again */
		answer_unconnected(path, mad, CM_DREP);
		break;
	default:
		break;
	}
}

static void receive_drep(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn =
		cm_find_pair(fld_get(data, CM_REMOTE_ID), fld_get(data, CM_LOCAL_ID));

	(void)path;
	if (!conn || (conn->state != CM_DREQ_SENT && conn->state != CM_DREQ_RECEIVED))
		return;
	cm_enter_timewait(conn);
	cm_user->event(conn, CM_EVENT_DREP, mad);
}

static void (*const receivers[])(const struct cm_path *path, const uint8_t *mad) = {
	[CM_REQ] = receive_req,           [CM_MRA] = receive_mra,
	[CM_REJ] = receive_rej,           [CM_REP] = receive_rep,
	[CM_RTU] = receive_rtu,           [CM_DREQ] = receive_dreq,
	[CM_DREP] = receive_drep,         [CM_SIDR_REQ] = receive_sidr_req,
	[CM_SIDR_REP] = receive_sidr_rep,
};

bool cm_receive(const struct cm_path *path, const uint8_t mad[MAD_SIZE])
{
	const unsigned int count = ARRAY_SIZE(receivers);
	unsigned int attribute = cm_attribute(mad);

	if (fld_get(mad, MAD_BASE_VERSION) != MAD_BASE_VERSION_1 ||
	    fld_get(mad, MAD_CLASS) != MAD_CLASS_CM ||
	    fld_get(mad, MAD_CLASS_VERSION) != CM_CLASS_VERSION ||
	    fld_get(mad, MAD_METHOD) != MAD_SEND)
		return false;
	if (attribute < count && receivers[attribute])
		receivers[attribute](path, mad);
	return true;
}
