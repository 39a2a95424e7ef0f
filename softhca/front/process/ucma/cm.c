/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.c - see cm.h. States are those of IBTA vol 1, 12.9; MRA is only sent when a message is repeated that the program has yet
 * to answer, as Linux does.
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/ucma/cm.h"

enum { BUCKETS = 1024, PROCESSING_TIMEOUT = 24, QPT_UD = 4, QPT_XRC_SEND = 9, QPT_XRC_RECV = 10 };

LIST_HEAD(conn_list, cm_conn);

static struct {
	const struct cm_ops *ops;
	struct conn_list by_local[BUCKETS], by_remote[BUCKETS], by_qpn[BUCKETS];
	TAILQ_HEAD(, cm_conn) timers;
	uint64_t wanted; /* when cm_expire() is to be called */
	uint32_t next_id;
} cm;

void cm_start(const struct cm_ops *ops)
{
	unsigned int i;

	memset(&cm, 0, sizeof(cm));
	cm.ops = ops;
	cm.wanted = CM_NEVER;
	cm.next_id = (uint32_t)ops->now() | 1;
	TAILQ_INIT(&cm.timers);
	for (i = 0; i < BUCKETS; i++) {
		LIST_INIT(&cm.by_local[i]);
		LIST_INIT(&cm.by_remote[i]);
		LIST_INIT(&cm.by_qpn[i]);
	}
}

/* ---- finding connections ---- */

static unsigned int bucket(uint64_t guid, uint32_t number)
{
	uint64_t mixed = (guid ^ number) * 0x9e3779b97f4a7c15ull;

	return (unsigned int)(mixed >> 32) % BUCKETS;
}

static struct cm_conn *find_local(uint32_t local_id)
{
	struct cm_conn *conn;

	LIST_FOREACH(conn, &cm.by_local[bucket(0, local_id)], by_local)
	if (conn->local_id == local_id)
		return conn;
	return NULL;
}

/* Of both ids, as messages behind the first name them. */
static struct cm_conn *find_pair(uint32_t local_id, uint32_t remote_id)
{
	struct cm_conn *conn = find_local(local_id);

	return conn && conn->remote_id == remote_id ? conn : NULL;
}

static struct cm_conn *find_remote(uint64_t guid, uint32_t remote_id, bool sidr)
{
	struct cm_conn *conn;

	LIST_FOREACH(conn, &cm.by_remote[bucket(guid, remote_id)], by_remote)
	if (conn->remote_guid == guid && conn->remote_id == remote_id &&
	    sidr == (conn->state == CM_SIDR_RECEIVED))
		return conn;
	return NULL;
}

static struct cm_conn *find_qpn(uint64_t guid, uint32_t qpn)
{
	struct cm_conn *conn;

	LIST_FOREACH(conn, &cm.by_qpn[bucket(guid, qpn)], by_qpn)
	if (conn->remote_guid == guid && conn->remote_qpn == qpn)
		return conn;
	return NULL;
}

static void enlist(struct cm_conn *conn)
{
	do {
		conn->local_id = cm.next_id++;
	} while (!conn->local_id || find_local(conn->local_id));
	LIST_INSERT_HEAD(&cm.by_local[bucket(0, conn->local_id)], conn, by_local);
	conn->listed = true;
}

/* The other side is known: what it repeats, or begins anew, is recognized. */
static void enlist_remote(struct cm_conn *conn)
{
	LIST_INSERT_HEAD(&cm.by_remote[bucket(conn->remote_guid, conn->remote_id)], conn,
			 by_remote);
	LIST_INSERT_HEAD(&cm.by_qpn[bucket(conn->remote_guid, conn->remote_qpn)], conn, by_qpn);
	conn->remote_listed = true;
}

static void delist_remote(struct cm_conn *conn)
{
	if (!conn->remote_listed)
		return;
	LIST_REMOVE(conn, by_remote);
	LIST_REMOVE(conn, by_qpn);
	conn->remote_listed = false;
}

static void delist(struct cm_conn *conn)
{
	delist_remote(conn);
	if (conn->listed)
		LIST_REMOVE(conn, by_local);
	conn->listed = false;
}

/* ---- time ---- */

static uint64_t ns_of(unsigned int iba_time)
{
	return 4096ull << iba_time;
}

static void stop_timer(struct cm_conn *conn)
{
	if (conn->deadline)
		TAILQ_REMOVE(&cm.timers, conn, in_timers);
	conn->deadline = 0;
}

static void start_timer(struct cm_conn *conn, uint64_t ns)
{
	stop_timer(conn);
	conn->deadline = cm.ops->now() + ns;
	TAILQ_INSERT_TAIL(&cm.timers, conn, in_timers);
	if (conn->deadline < cm.wanted) {
		cm.wanted = conn->deadline;
		cm.ops->set_timer(cm.wanted);
	}
}

/* ---- sending ---- */

static void send(const struct cm_conn *conn)
{
	cm.ops->send(&conn->path, conn->mad);
}

/* conn->mad, until it is answered */
static void send_and_repeat(struct cm_conn *conn, uint64_t interval)
{
	conn->tries = 0;
	conn->interval = interval;
	start_timer(conn, interval);
	send(conn);
}

static void send_once(const struct cm_conn *conn, unsigned int attribute)
{
	uint8_t mad[MAD_SIZE];

	cm_put_ids(mad, conn, attribute);
	cm.ops->send(&conn->path, mad);
}

/* From no connection */
static void answer(const struct cm_path *path, const uint8_t *mad, unsigned int attribute)
{
	uint8_t reply[MAD_SIZE];

	cm_put_answer(reply, mad, attribute);
	cm.ops->send(path, reply);
}

static void refuse(const struct cm_path *path, const uint8_t *mad, unsigned int message,
		   enum cm_reason reason)
{
	uint8_t rej[MAD_SIZE];

	cm_put_answer(rej, mad, CM_REJ);
	if (message == CM_OF_REQ)
		prm_set(rej + CM_DATA, CM_LOCAL_ID, 0); /* there was none yet */
	prm_set(rej + CM_DATA, REJ_MESSAGE, message);
	prm_set(rej + CM_DATA, REJ_REASON, reason);
	cm.ops->send(path, rej);
}

static void become_idle(struct cm_conn *conn)
{
	stop_timer(conn);
	delist_remote(conn);
	conn->state = CM_IDLE;
}

/* Packets that are still on their way have gone when it ends. */
static void enter_timewait(struct cm_conn *conn)
{
	delist_remote(conn);
	conn->state = CM_TIMEWAIT;
	start_timer(conn, ns_of(conn->ack_timeout));
}

static void report(struct cm_conn *conn, enum cm_event event, const uint8_t *mad)
{
	cm.ops->event(conn, event, mad);
}

/* ---- the side that asks ---- */

static uint64_t round_trip(const struct cm_conn *conn)
{
	return ns_of(CM_RESPONSE_TIMEOUT) + 2 * ns_of(conn->path.lifetime);
}

/* IBTA vol 1, 12.7.34: the packet's way there and back, and the adapter's own delay */
static uint8_t ack_timeout(uint8_t lifetime, uint8_t ack_delay)
{
	uint8_t timeout = lifetime + 1;

	timeout = timeout >= ack_delay ? timeout + (ack_delay >= timeout - 1)
				       : ack_delay + (timeout >= ack_delay - 1);
	return timeout > 31 ? 31 : timeout;
}

void cm_connect(struct cm_conn *conn, const struct cm_param *param)
{
	enum { OWN_ACK_DELAY = 16 };

	enlist(conn);
	conn->state = CM_REQ_SENT;
	conn->transaction = conn->local_id;
	conn->qpn = param->qpn;
	conn->responder_resources = param->responder_resources;
	conn->initiator_depth = param->initiator_depth;
	conn->retry_count = param->retry_count;
	conn->rnr_retry_count = param->rnr_retry_count;
	conn->remote_timeout = CM_RESPONSE_TIMEOUT;
	conn->max_retries = CM_MAX_RETRIES;
	conn->ack_timeout = ack_timeout(conn->path.lifetime, OWN_ACK_DELAY);
	cm_put_req(conn->mad, conn, param, cm.ops->guid(conn->path.adapter));
	send_and_repeat(conn, round_trip(conn));
}

void cm_resolve_service(struct cm_conn *conn, const void *private_data, uint8_t len)
{
	enlist(conn);
	conn->state = CM_SIDR_SENT;
	conn->transaction = conn->local_id;
	conn->max_retries = CM_MAX_RETRIES;
	cm_put_sidr_req(conn->mad, conn, private_data, len);
	send_and_repeat(conn, ns_of(CM_RESPONSE_TIMEOUT));
}

int cm_confirm(struct cm_conn *conn)
{
	if (conn->state != CM_REP_RECEIVED)
		return EINVAL;
	conn->state = CM_ESTABLISHED;
	send_once(conn, CM_RTU);
	return 0;
}

/* ---- the side that answers ---- */

int cm_accept(struct cm_conn *conn, const struct cm_param *param)
{
	if (conn->state != CM_REQ_RECEIVED)
		return EINVAL;
	conn->qpn = param->qpn;
	conn->responder_resources = param->responder_resources;
	conn->initiator_depth = param->initiator_depth;
	conn->state = CM_REP_SENT;
	cm_put_rep(conn->mad, conn, param, cm.ops->guid(conn->path.adapter));
	send_and_repeat(conn, ns_of(conn->remote_timeout) + 2 * ns_of(conn->path.lifetime));
	return 0;
}

bool cm_establish(struct cm_conn *conn)
{
	if (conn->state != CM_REP_SENT && conn->state != CM_REP_DELAYED)
		return false;
	stop_timer(conn);
	conn->state = CM_ESTABLISHED;
	return true;
}

static void send_rej(struct cm_conn *conn, enum cm_reason reason, const void *data, uint8_t len)
{
	cm_put_rej(conn->mad, conn, reason, data, len);
	send(conn);
}

int cm_reject(struct cm_conn *conn, enum cm_reason reason, const void *private_data, uint8_t len)
{
	switch (conn->state) {
	case CM_REQ_SENT:
	case CM_REQ_DELAYED:
	case CM_REQ_RECEIVED:
	case CM_REP_RECEIVED:
		send_rej(conn, reason, private_data, len);
		become_idle(conn);
		return 0;
	case CM_REP_SENT:
	case CM_REP_DELAYED:
		send_rej(conn, reason, private_data, len);
		enter_timewait(conn);
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
	send(conn);
	become_idle(conn);
	return 0;
}

/* ---- the end ---- */

static void send_dreq(struct cm_conn *conn)
{
	conn->state = CM_DREQ_SENT;
	cm_put_ids(conn->mad, conn, CM_DREQ);
	send_and_repeat(conn, ns_of(conn->remote_timeout) + 2 * ns_of(conn->path.lifetime));
}

static void send_drep(struct cm_conn *conn)
{
	send_once(conn, CM_DREP);
	enter_timewait(conn);
}

void cm_disconnect(struct cm_conn *conn)
{
	if (conn->state == CM_ESTABLISHED)
		send_dreq(conn);
	else if (conn->state == CM_DREQ_RECEIVED)
		send_drep(conn);
}

/* The other side does not know our id yet: the GUID says whose request it was. */
static void give_up(struct cm_conn *conn)
{
	uint64_t guid = htobe64(cm.ops->guid(conn->path.adapter));
	uint8_t *data = conn->mad + CM_DATA;

	cm_put_rej(conn->mad, conn, REASON_TIMEOUT, NULL, 0);
	prm_set(data, REJ_INFO_LENGTH, sizeof(guid));
	memcpy(data + REJ_INFO_AT, &guid, sizeof(guid));
	send(conn);
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
		if (conn->qp_type != QPT_XRC_RECV)
			send_once(conn, CM_DREQ);
		break;
	case CM_DREQ_RECEIVED:
		send_once(conn, CM_DREP);
		break;
	case CM_SIDR_RECEIVED:
		cm_answer_service(conn, SIDR_REJECT, 0, 0, NULL, 0);
		break;
	default:
		break;
	}
	stop_timer(conn);
	delist(conn);
	conn->state = CM_IDLE;
}

/* ---- what arrives: requests ---- */

static void send_mra(const struct cm_conn *conn, unsigned int message)
{
	uint8_t mad[MAD_SIZE];

	cm_put_ids(mad, conn, CM_MRA);
	prm_set(mad + CM_DATA, MRA_MESSAGE, message);
	prm_set(mad + CM_DATA, MRA_TIMEOUT, PROCESSING_TIMEOUT);
	cm.ops->send(&conn->path, mad);
}

/* The same QP cannot be in two connections: the older is over, and its other side does not know it any more. */
static void end_stale(struct cm_conn *conn)
{
	if (conn->state == CM_ESTABLISHED)
		send_dreq(conn);
}

static bool is_known(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	uint64_t guid = prm_get64(data, REQ_CA_GUID);
	struct cm_conn *conn = find_remote(guid, prm_get(data, CM_LOCAL_ID), false);

	if (conn) {
		if (conn->state == CM_REQ_RECEIVED)
			send_mra(conn, CM_OF_REQ);
		return true;
	}
	conn = find_qpn(guid, prm_get(data, REQ_QPN));
	if (!conn)
		return false;
	refuse(path, mad, CM_OF_REQ, REASON_STALE_CONNECTION);
	end_stale(conn);
	return true;
}

static void take_req(struct cm_conn *conn, const struct cm_request *request)
{
	const uint8_t *data = cm_data(request->mad);

	conn->path = request->path;
	conn->service = request->service;
	conn->qp_type = request->qp_type;
	conn->transaction = prm_get64(request->mad, MAD_TRANSACTION);
	conn->remote_id = prm_get(data, CM_LOCAL_ID);
	conn->remote_guid = prm_get64(data, REQ_CA_GUID);
	conn->remote_qpn = prm_get(data, REQ_QPN);
	conn->remote_psn = prm_get(data, REQ_PSN);
	conn->initiator_depth = prm_get(data, REQ_RESPONDER_RESOURCES);
	conn->responder_resources = prm_get(data, REQ_INITIATOR_DEPTH);
	conn->retry_count = prm_get(data, REQ_RETRY_COUNT);
	conn->rnr_retry_count = prm_get(data, REQ_RNR_RETRY_COUNT);
	conn->ack_timeout = prm_get(data, REQ_ACK_TIMEOUT);
	conn->remote_timeout = prm_get(data, REQ_LOCAL_TIMEOUT);
	conn->max_retries = prm_get(data, REQ_MAX_CM_RETRIES);
	conn->state = CM_REQ_RECEIVED;
	enlist(conn);
	enlist_remote(conn);
}

static void receive_req(const struct cm_path *path, const uint8_t *mad)
{
	struct cm_request request = { .mad = mad, .path = *path };
	struct cm_conn *conn;
	int ret;

	if (is_known(path, mad))
		return;
	cm_take_path(mad, &request.path);
	request.service = prm_get64(cm_data(mad), REQ_SERVICE_ID);
	request.qp_type = cm_take_qp_type(mad);
	ret = request.qp_type ? cm.ops->requested(&request, &conn) : ENOENT;
	if (ret == ENOENT || ret == EINVAL)
		refuse(path, mad, CM_OF_REQ,
		       ret == ENOENT ? REASON_INVALID_SERVICE_ID : REASON_CONSUMER);
	if (ret)
		return;
	take_req(conn, &request);
	report(conn, CM_EVENT_REQ, mad);
}

static void refuse_service(const struct cm_path *path, const uint8_t *mad, uint8_t status)
{
	struct cm_conn none = {
		.path = *path,
		.transaction = prm_get64(mad, MAD_TRANSACTION),
		.remote_id = prm_get(cm_data(mad), SIDR_REQUEST_ID),
		.service = prm_get64(cm_data(mad), SIDR_REQ_SERVICE_ID),
	};

	cm_put_sidr_rep(none.mad, &none, status, 0, 0, NULL, 0);
	send(&none);
}

/* Who asks is known by its address only: stands for the GUID. */
static uint64_t origin_of(const struct cm_path *path)
{
	uint64_t guid;

	memcpy(&guid, path->dgid + 8, sizeof(guid));
	return guid ^ path->dlid;
}

static void receive_sidr_req(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_request request = { .mad = mad, .sidr = true, .path = *path, .qp_type = QPT_UD };
	struct cm_conn *conn;
	int ret;

	if (find_remote(origin_of(path), prm_get(data, SIDR_REQUEST_ID), true))
		return;
	request.service = prm_get64(data, SIDR_REQ_SERVICE_ID);
	ret = cm.ops->requested(&request, &conn);
	if (ret == ENOENT || ret == EINVAL)
		refuse_service(path, mad, ret == ENOENT ? SIDR_UNSUPPORTED : SIDR_REJECT);
	if (ret)
		return;
	conn->path = request.path;
	conn->service = request.service;
	conn->qp_type = QPT_UD;
	conn->transaction = prm_get64(mad, MAD_TRANSACTION);
	conn->remote_id = prm_get(data, SIDR_REQUEST_ID);
	conn->remote_guid = origin_of(path);
	conn->state = CM_SIDR_RECEIVED;
	enlist(conn);
	enlist_remote(conn);
	report(conn, CM_EVENT_SIDR_REQ, mad);
}

/* ---- what arrives: answers ---- */

static void receive_sidr_rep(const struct cm_path *path, const uint8_t *mad)
{
	struct cm_conn *conn = find_local(prm_get(cm_data(mad), SIDR_REQUEST_ID));

	(void)path;
	if (!conn || conn->state != CM_SIDR_SENT)
		return;
	conn->remote_qpn = prm_get(cm_data(mad), SIDR_REP_QPN);
	become_idle(conn);
	report(conn, CM_EVENT_SIDR_REP, mad);
}

static void receive_mra(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = find_local(prm_get(data, CM_REMOTE_ID));
	unsigned int message = prm_get(data, MRA_MESSAGE);

	(void)path;
	if (!conn)
		return;
	if (message == CM_OF_REQ && conn->state == CM_REQ_SENT)
		conn->state = CM_REQ_DELAYED;
	else if (message == CM_OF_REP && conn->state == CM_REP_SENT)
		conn->state = CM_REP_DELAYED;
	else
		return;
	start_timer(conn, ns_of(prm_get(data, MRA_TIMEOUT)) + ns_of(conn->ack_timeout));
}

/* Ours was lost, or the program has not answered yet. */
static void receive_rep_again(const struct cm_conn *conn)
{
	if (conn->state == CM_ESTABLISHED)
		send_once(conn, CM_RTU);
	else if (conn->state == CM_REP_RECEIVED)
		send_mra(conn, CM_OF_REP);
}

static void take_rep(struct cm_conn *conn, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	bool xrc = conn->qp_type == QPT_XRC_SEND;

	stop_timer(conn);
	conn->remote_id = prm_get(data, CM_LOCAL_ID);
	conn->remote_guid = prm_get64(data, REP_CA_GUID);
	conn->remote_qpn = xrc ? prm_get(data, REP_EECN) : prm_get(data, REP_QPN);
	conn->remote_psn = prm_get(data, REP_PSN);
	conn->initiator_depth = prm_get(data, REP_RESPONDER_RESOURCES);
	conn->responder_resources = prm_get(data, REP_INITIATOR_DEPTH);
	if (!xrc)
		conn->rnr_retry_count = prm_get(data, REP_RNR_RETRY_COUNT);
	conn->ack_timeout = ack_timeout(conn->path.lifetime, prm_get(data, REP_ACK_DELAY));
}

static void receive_rep(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = find_local(prm_get(data, CM_REMOTE_ID)), *other;

	if (!conn)
		return;
	if (conn->state != CM_REQ_SENT && conn->state != CM_REQ_DELAYED) {
		receive_rep_again(conn);
		return;
	}
	take_rep(conn, mad);
	other = find_qpn(conn->remote_guid, conn->remote_qpn);
	if (other) {
		refuse(path, mad, CM_OF_REP, REASON_STALE_CONNECTION);
		end_stale(other);
		return;
	}
	enlist_remote(conn);
	conn->state = CM_REP_RECEIVED;
	report(conn, CM_EVENT_REP, mad);
}

static void receive_rtu(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = find_pair(prm_get(data, CM_REMOTE_ID), prm_get(data, CM_LOCAL_ID));

	(void)path;
	if (conn && cm_establish(conn))
		report(conn, CM_EVENT_RTU, mad);
}

/* The sender may have no id of ours, or we none of its. */
static struct cm_conn *find_rejected(const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	uint32_t theirs = prm_get(data, CM_LOCAL_ID), ours = prm_get(data, CM_REMOTE_ID);

	if (prm_get(data, REJ_REASON) == REASON_TIMEOUT)
		return find_remote(prm_get64(data, REJ_INFO_AT), theirs, false);
	if (prm_get(data, REJ_MESSAGE) == CM_OF_REQ)
		return find_local(ours);
	return find_pair(ours, theirs);
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
		if (prm_get(cm_data(mad), REJ_REASON) != REASON_STALE_CONNECTION)
			become_idle(conn);
		else
			enter_timewait(conn);
		break;
	case CM_REP_RECEIVED:
	case CM_ESTABLISHED:
	case CM_DREQ_SENT:
		enter_timewait(conn);
		break;
	default:
		return;
	}
	report(conn, CM_EVENT_REJ, mad);
}

static void receive_dreq(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = find_pair(prm_get(data, CM_REMOTE_ID), prm_get(data, CM_LOCAL_ID));

	if (!conn) {
		answer(path, mad, CM_DREP);
		return;
	}
	if (prm_get(data, DREQ_QPN) != conn->qpn)
		return;
	switch (conn->state) {
	case CM_REP_SENT:
	case CM_REP_DELAYED:
	case CM_ESTABLISHED:
	case CM_DREQ_SENT:
		stop_timer(conn);
		conn->transaction = prm_get64(mad, MAD_TRANSACTION);
		conn->state = CM_DREQ_RECEIVED;
		report(conn, CM_EVENT_DREQ, mad);
		break;
	case CM_TIMEWAIT: /* ours was lost */
		answer(path, mad, CM_DREP);
		break;
	default:
		break;
	}
}

static void receive_drep(const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *data = cm_data(mad);
	struct cm_conn *conn = find_pair(prm_get(data, CM_REMOTE_ID), prm_get(data, CM_LOCAL_ID));

	(void)path;
	if (!conn || (conn->state != CM_DREQ_SENT && conn->state != CM_DREQ_RECEIVED))
		return;
	enter_timewait(conn);
	report(conn, CM_EVENT_DREP, mad);
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
	const unsigned int count = sizeof(receivers) / sizeof(receivers[0]);
	unsigned int attribute = cm_attribute(mad);

	if (prm_get(mad, MAD_BASE_VERSION) != MAD_BASE_VERSION_1 ||
	    prm_get(mad, MAD_CLASS) != MAD_CLASS_CM ||
	    prm_get(mad, MAD_CLASS_VERSION) != CM_CLASS_VERSION ||
	    prm_get(mad, MAD_METHOD) != CM_SEND)
		return false;
	if (attribute < count && receivers[attribute])
		receivers[attribute](path, mad);
	return true;
}

/* ---- what does not arrive ---- */

static void give_up_waiting(struct cm_conn *conn)
{
	switch (conn->state) {
	case CM_REQ_SENT:
	case CM_REQ_DELAYED:
	case CM_SIDR_SENT:
		become_idle(conn);
		report(conn, CM_EVENT_REQ_TIMEOUT, NULL);
		break;
	case CM_REP_SENT:
	case CM_REP_DELAYED:
		become_idle(conn);
		report(conn, CM_EVENT_REP_TIMEOUT, NULL);
		break;
	case CM_DREQ_SENT:
		enter_timewait(conn);
		report(conn, CM_EVENT_DREQ_TIMEOUT, NULL);
		break;
	default:
		break;
	}
}

static void expire(struct cm_conn *conn)
{
	stop_timer(conn);
	if (conn->state == CM_TIMEWAIT) {
		conn->state = CM_IDLE;
		report(conn, CM_EVENT_TIMEWAIT_EXIT, NULL);
	} else if (conn->tries < conn->max_retries) {
		conn->tries++;
		start_timer(conn, conn->interval);
		send(conn);
	} else {
		give_up_waiting(conn);
	}
}

uint64_t cm_expire(void)
{
	uint64_t now = cm.ops->now(), next = CM_NEVER;
	struct cm_conn *conn, *after;

	for (conn = TAILQ_FIRST(&cm.timers); conn; conn = after) {
		after = TAILQ_NEXT(conn, in_timers);
		if (conn->deadline <= now)
			expire(conn);
		else if (conn->deadline < next)
			next = conn->deadline;
	}
	/* Those that were started meanwhile */
	TAILQ_FOREACH(conn, &cm.timers, in_timers)
	if (conn->deadline < next)
		next = conn->deadline;
	cm.wanted = next;
	return next;
}
