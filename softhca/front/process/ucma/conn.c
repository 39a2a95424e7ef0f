/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn.c - connections of ids: the commands, and the events for what cm/ hears.
 *
 * Which command is right in which state, and what an event says, is Linux' (drivers/infiniband/core/cma.c and ucma.c). A
 * request by IP address begins with a header that says who asks whom (IBTA annex A11).
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/cm/mad.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"
#include "softhca/net/bytes.h"

enum { MAX_BACKLOG = 1024 /* as /proc/sys/net/rdma_ucm/max_backlog */ };

static struct ucma_id *id_of(struct cm_conn *conn)
{
	return (struct ucma_id *)((char *)conn - offsetof(struct ucma_id, conn));
}

/* ---- events ---- */

/* Depths change sides: what one side starts, the other answers. */
static void put_req(struct ucma_event *event, const uint8_t *mad, unsigned int skip)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;
	const uint8_t *data = cm_data(mad);

	param->private_data_len = REQ_PRIVATE - skip;
	memcpy(param->private_data, data + REQ_PRIVATE_AT + skip, REQ_PRIVATE - skip);
	param->responder_resources = prm_get(data, REQ_INITIATOR_DEPTH);
	param->initiator_depth = prm_get(data, REQ_RESPONDER_RESOURCES);
	param->flow_control = prm_get(data, REQ_FLOW_CONTROL);
	param->retry_count = prm_get(data, REQ_RETRY_COUNT);
	param->rnr_retry_count = prm_get(data, REQ_RNR_RETRY_COUNT);
	param->srq = prm_get(data, REQ_SRQ);
	param->qp_num = prm_get(data, REQ_QPN);
	event->resp.ece.vendor_id = prm_get(data, REQ_VENDOR_ID);
	event->resp.ece.attr_mod = prm_get(mad, MAD_MODIFIER);
}

static void put_rep(struct ucma_event *event, const uint8_t *mad, const struct cm_conn *conn)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;
	const uint8_t *data = cm_data(mad);

	param->private_data_len = REP_PRIVATE;
	memcpy(param->private_data, data + REP_PRIVATE_AT, REP_PRIVATE);
	param->responder_resources = conn->responder_resources;
	param->initiator_depth = conn->initiator_depth;
	param->flow_control = prm_get(data, REP_FLOW_CONTROL);
	param->rnr_retry_count = prm_get(data, REP_RNR_RETRY_COUNT);
	param->srq = prm_get(data, REP_SRQ);
	param->qp_num = conn->remote_qpn;
	event->resp.ece.vendor_id = prm_get(data, REP_VENDOR_ID_H) << 16 |
				    prm_get(data, REP_VENDOR_ID_M) << 8 |
				    prm_get(data, REP_VENDOR_ID_L);
	event->resp.ece.attr_mod = prm_get(mad, MAD_MODIFIER);
}

static void put_rej(struct ucma_event *event, const uint8_t *mad)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;

	param->private_data_len = REJ_PRIVATE;
	memcpy(param->private_data, cm_data(mad) + REJ_PRIVATE_AT, REJ_PRIVATE);
	event->resp.status = prm_get(cm_data(mad), REJ_REASON);
}

void ucma_conn_put_ah(const struct cm_path *path, uint8_t sgid_index,
		      struct ib_uverbs_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->port_num = path->port;
	attr->dlid = path->dlid;
	attr->sl = path->sl;
	attr->is_global = path->grh;
	if (!path->grh)
		return;
	memcpy(attr->grh.dgid, path->dgid, sizeof(attr->grh.dgid));
	attr->grh.sgid_index = sgid_index;
	attr->grh.hop_limit = path->hop_limit;
	attr->grh.traffic_class = path->traffic_class;
	attr->grh.flow_label = path->flow_label;
}

static void put_sidr_rep(struct ucma_event *event, const uint8_t *mad, const struct cm_conn *conn)
{
	struct rdma_ucm_ud_param *param = &event->resp.param.ud;
	const uint8_t *data = cm_data(mad);
	unsigned int status = prm_get(data, SIDR_REP_STATUS);

	param->private_data_len = SIDR_REP_PRIVATE;
	memcpy(param->private_data, data + SIDR_REP_PRIVATE_AT, SIDR_REP_PRIVATE);
	if (status != SIDR_SUCCESS) {
		event->resp.event = EV_UNREACHABLE;
		event->resp.status = status;
		return;
	}
	param->qp_num = prm_get(data, SIDR_REP_QPN);
	param->qkey = prm_get(data, SIDR_REP_QKEY);
	ucma_conn_put_ah(&conn->path, conn->path.gid_index, &param->ah_attr);
}

/* Only the first says that it is over. */
static bool disconnects(struct ucma_id *id)
{
	if (id->state != UCMA_CONNECTS)
		return false;
	id->state = UCMA_DISCONNECTED;
	return true;
}

static const struct {
	enum ucma_event_type type;
	int status;
} event_of[] = {
	[CM_EVENT_REQ_TIMEOUT] = { EV_UNREACHABLE, -ETIMEDOUT },
	[CM_EVENT_REP] = { EV_CONNECT_RESPONSE, 0 },
	[CM_EVENT_REP_TIMEOUT] = { EV_UNREACHABLE, -ETIMEDOUT },
	[CM_EVENT_RTU] = { EV_ESTABLISHED, 0 },
	[CM_EVENT_REJ] = { EV_REJECTED, 0 },
	[CM_EVENT_DREQ] = { EV_DISCONNECTED, 0 },
	[CM_EVENT_DREQ_TIMEOUT] = { EV_DISCONNECTED, -ETIMEDOUT },
	[CM_EVENT_DREP] = { EV_DISCONNECTED, 0 },
	[CM_EVENT_TIMEWAIT_EXIT] = { EV_TIMEWAIT_EXIT, 0 },
	[CM_EVENT_SIDR_REP] = { EV_ESTABLISHED, 0 },
};

static void fill_event(struct ucma_event *event, enum cm_event what, const uint8_t *mad,
		       const struct cm_conn *conn)
{
	if (what == CM_EVENT_REP)
		put_rep(event, mad, conn);
	else if (what == CM_EVENT_REJ)
		put_rej(event, mad);
	else if (what == CM_EVENT_SIDR_REP)
		put_sidr_rep(event, mad, conn);
}

/* A program hears nothing of a connection that it has not accepted; its accept will fail. */
static void send_event(struct ucma_id *id, enum cm_event what, const uint8_t *mad)
{
	struct ucma_event *event;

	if (event_of[what].type == EV_DISCONNECTED && !disconnects(id))
		return;
	if (!id->uid)
		return;
	event = ucma_event_new(id, event_of[what].type, event_of[what].status);
	if (!event)
		return;
	fill_event(event, what, mad, &id->conn);
	ucma_event_send(event);
}

/* ---- requests that arrive ---- */

static bool has_ip_header(const uint8_t *header, bool *ipv4)
{
	unsigned int family = header[CM_IP_FAMILY] >> 4;

	*ipv4 = family == 4;
	return header[CM_IP_VERSION] == 0 && (family == 4 || family == 6);
}

static const uint8_t *private_of(const struct cm_request *request)
{
	return cm_data(request->mad) + (request->sidr ? SIDR_REQ_PRIVATE_AT : REQ_PRIVATE_AT);
}

static void read_host(const uint8_t *at, bool ipv4, uint8_t host[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(host, at, 16);
	if (ipv4)
		memcpy(host, mapped, sizeof(mapped));
}

static void put_addresses(struct ucma_id *id, const struct ucma_id *listener,
			  const struct cm_request *request)
{
	const uint8_t *header = private_of(request);
	uint16_t port = ucma_addr_port(&listener->src.addr);
	uint8_t own[16], from[16];
	bool ipv4;

	if (ucma_addr_is_gid(&listener->src.addr) || !has_ip_header(header, &ipv4)) {
		ucma_addr_put(&id->src.addr, AF_IB_FAMILY, request->path.sgid, id->ps, port);
		ucma_addr_put(&id->dst.addr, AF_IB_FAMILY, request->path.dgid, id->ps, 0);
		return;
	}
	read_host(header + CM_IP_DESTINATION, ipv4, own);
	read_host(header + CM_IP_SOURCE, ipv4, from);
	ucma_addr_put(&id->src.addr, ipv4 ? AF_INET : AF_INET6, own, id->ps, port);
	ucma_addr_put(&id->dst.addr, ipv4 ? AF_INET : AF_INET6, from, id->ps,
		      get16(header + CM_IP_PORT));
}

static int make_request(struct ucma_id *listener, const struct cm_request *request,
			struct ucma_id **out)
{
	const struct cm_path *path = &request->path;
	struct ucma_id *id;
	int ret = ucma_id_new(listener->file, &id);

	if (ret)
		return ret;
	id->ps = listener->ps;
	id->qp_type = request->qp_type;
	id->datagram = listener->datagram;
	id->src = (struct ucma_end){
		.adapter = path->adapter,
		.port = path->port,
		.gid_index = path->gid_index,
		.lid = path->slid,
	};
	id->dst = (struct ucma_end){ .port = path->port, .lid = path->dlid };
	memcpy(id->src.gid, path->sgid, 16);
	memcpy(id->dst.gid, path->dgid, 16);
	put_addresses(id, listener, request);
	id->has_src = id->has_dst = true;
	id->passive = true;
	id->path = *path;
	id->state = UCMA_CONNECTS;
	*out = id;
	return 0;
}

static struct ucma_id *listener_of(const struct cm_request *request)
{
	const uint8_t *header = private_of(request);
	uint8_t host[16];
	bool ipv4, has_ip = has_ip_header(header, &ipv4);

	if (has_ip)
		read_host(header + CM_IP_DESTINATION, ipv4, host);
	return ucma_id_find_listener(request->service, request->path.adapter, has_ip ? host : NULL,
				     ipv4);
}

static int requested(const struct cm_request *request, struct cm_conn **conn)
{
	struct ucma_id *listener = listener_of(request), *id;
	int ret;

	if (!listener)
		return ENOENT;
	if (listener->qp_type && listener->qp_type != request->qp_type)
		return EINVAL;
	if (listener->backlog <= 0)
		return ENOMEM;
	ret = make_request(listener, request, &id);
	if (ret)
		return ret;
	*conn = &id->conn;
	return 0;
}

/* Its listener may have gone since: then it is told when the id is destroyed. */
static void send_request(struct ucma_id *id, const struct cm_request *request)
{
	struct ucma_id *listener = listener_of(request);
	struct ucma_event *event =
		listener ? ucma_event_new(listener, EV_CONNECT_REQUEST, 0) : NULL;
	unsigned int skip = listener && ucma_addr_is_gid(&listener->src.addr) ? 0 : CM_IP_SIZE;

	if (!event) {
		ucma_id_destroy(id);
		return;
	}
	event->resp.id = id->number;
	event->request = id;
	if (request->sidr) {
		struct rdma_ucm_ud_param *param = &event->resp.param.ud;

		param->private_data_len = SIDR_REQ_PRIVATE - skip;
		memcpy(param->private_data, private_of(request) + skip, SIDR_REQ_PRIVATE - skip);
	} else {
		put_req(event, request->mad, skip);
	}
	listener->backlog--;
	ucma_event_send(event);
}

static void conn_event(struct cm_conn *conn, enum cm_event what, const uint8_t *mad)
{
	struct ucma_id *id = id_of(conn);

	if (what == CM_EVENT_REQ || what == CM_EVENT_SIDR_REQ) {
		struct cm_request request = {
			.mad = mad,
			.sidr = what == CM_EVENT_SIDR_REQ,
			.service = conn->service,
			.path = conn->path,
		};

		send_request(id, &request);
	} else {
		send_event(id, what, mad);
	}
}

/* ---- what cm/ needs ---- */

static struct ucma_timer cm_timer;

static void cm_timer_expired(struct ucma_timer *timer)
{
	uint64_t next = cm_expire();

	if (next != CM_NEVER)
		timer_start(timer, next);
}

static void set_cm_timer(uint64_t deadline)
{
	cm_timer.expired = cm_timer_expired;
	timer_start(&cm_timer, deadline);
}

static uint64_t guid_of(const struct adapter *adapter)
{
	return adapter->node_guid;
}

static const struct cm_ops cm_ops = {
	requested, conn_event, gsi_send, guid_of, set_cm_timer, timer_now,
};

int ucma_conn_start(void)
{
	int ret = timers_open();

	if (ret)
		return ret;
	cm_start(&cm_ops);
	resolve_start(ucma_addr_is_own);
	ret = gsi_open(resolve_take, ucma_id_adapter_died);
	if (ret)
		timers_close();
	return ret;
}

void ucma_conn_stop(void)
{
	timer_stop(&cm_timer);
	gsi_close();
	timers_close();
}

/* ---- listening ---- */

int ucma_conn_listen(struct ucma_call *uc)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->listen.id, &id);
	int backlog = (int)uc->listen.backlog;

	if (ret)
		return ret;
	if (id->state == UCMA_IDLE) { /* on a port of the kernel's choice */
		memset(&uc->bind, 0, sizeof(uc->bind));
		memcpy(&uc->bind.addr, &any, sizeof(any));
		uc->bind.id = id->number;
		uc->bind.addr_size = sizeof(any);
		ret = ucma_id_bind(uc);
	}
	if (ret)
		return ret;
	if (id->state != UCMA_BOUND)
		return EINVAL;
	id->backlog = backlog > 0 && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
	ucma_id_listen(id);
	log_note("rdma_cm: port %u of port space %#x is listened at", ucma_addr_port(&id->src.addr),
		 id->ps);
	return 0;
}

/* ---- asking ---- */

/* Returns how long it is. */
static unsigned int put_ip_header(const struct ucma_id *id, uint8_t *header)
{
	uint8_t own[16], to[16];
	bool ipv4 = id->src.addr.ss_family == AF_INET;

	if (ucma_addr_is_gid(&id->src.addr))
		return 0;
	ucma_addr_bytes(&id->src.addr, own);
	ucma_addr_bytes(&id->dst.addr, to);
	memset(header, 0, CM_IP_SIZE);
	header[CM_IP_FAMILY] = (ipv4 ? 4 : 6) << 4;
	put16(header + CM_IP_PORT, ucma_addr_port(&id->src.addr));
	if (ipv4) {
		memcpy(header + CM_IP_SOURCE + 12, own + 12, 4);
		memcpy(header + CM_IP_DESTINATION + 12, to + 12, 4);
	} else {
		memcpy(header + CM_IP_SOURCE, own, 16);
		memcpy(header + CM_IP_DESTINATION, to, 16);
	}
	return CM_IP_SIZE;
}

static struct cm_param take_param(const struct rdma_ucm_conn_param *from,
				  const struct rdma_ucm_ece *ece)
{
	return (struct cm_param){
		.qpn = from->qp_num & 0xffffff,
		.responder_resources = from->responder_resources,
		.initiator_depth = from->initiator_depth,
		.retry_count = from->retry_count < 7 ? from->retry_count : 7,
		.rnr_retry_count = from->rnr_retry_count < 7 ? from->rnr_retry_count : 7,
		.flow_control = from->flow_control,
		.srq = from->srq,
		.vendor_id = ece->vendor_id,
		.vendor_options = ece->attr_mod,
		.private_data = from->private_data,
		.private_len = from->private_data_len,
	};
}

/* All of a command that has an ECE field; programs of before it send less. */
static void clear_missing_ece(struct ucma_call *uc, size_t with_ece, struct rdma_ucm_ece *ece)
{
	if (uc->hdr.in < with_ece)
		memset(ece, 0, sizeof(*ece));
}

static void ask(struct ucma_id *id, const struct rdma_ucm_connect *cmd, const void *data,
		unsigned int len)
{
	struct cm_param param = take_param(&cmd->conn_param, &cmd->ece);
	struct cm_conn *conn = &id->conn;

	conn->path = id->path;
	conn->service = ucma_addr_service(&id->dst.addr, id->ps);
	conn->qp_type = id->qp_type;
	param.private_data = data;
	param.private_len = len;
	id->state = UCMA_CONNECTS;
	if (id->datagram)
		cm_resolve_service(conn, data, len);
	else
		cm_connect(conn, &param);
}

int ucma_conn_connect(struct ucma_call *uc)
{
	struct rdma_ucm_connect *cmd = &uc->connect;
	const struct rdma_ucm_conn_param *param = &cmd->conn_param;
	uint8_t data[CM_IP_SIZE + RDMA_MAX_PRIVATE_DATA];
	struct ucma_id *id;
	int ret = ucma_id_find(uc, cmd->id, &id);
	unsigned int len;

	if (ret)
		return ret;
	if (!param->valid || id->state != UCMA_ROUTE_RESOLVED)
		return EINVAL;
	len = put_ip_header(id, data);
	if (len + param->private_data_len > (id->datagram ? SIDR_REQ_PRIVATE : REQ_PRIVATE))
		return EINVAL;
	memcpy(data + len, param->private_data, param->private_data_len);
	clear_missing_ece(uc, sizeof(*cmd), &cmd->ece);
	ask(id, cmd, data, len + param->private_data_len);
	return 0;
}

/* ---- answering ---- */

static int answer_datagram(struct ucma_id *id, const struct rdma_ucm_conn_param *param)
{
	uint32_t qkey = ucma_addr_is_gid(&id->src.addr) && param->qkey ? param->qkey : UCMA_QKEY;

	if (param->private_data_len > SIDR_REP_PRIVATE)
		return EINVAL;
	return cm_answer_service(&id->conn, SIDR_SUCCESS, param->qp_num & 0xffffff, qkey,
				 param->private_data, param->private_data_len);
}

static int accept_request(struct ucma_call *uc, struct ucma_id *id)
{
	struct rdma_ucm_accept *cmd = &uc->accept;
	struct cm_param param;
	int ret;

	if (id->state != UCMA_CONNECTS)
		return EINVAL;
	clear_missing_ece(uc, sizeof(*cmd), &cmd->ece);
	param = take_param(&cmd->conn_param, &cmd->ece);
	if (id->datagram)
		ret = answer_datagram(id, &cmd->conn_param);
	else
		ret = param.private_len > REP_PRIVATE ? EINVAL : cm_accept(&id->conn, &param);
	if (!ret)
		id->uid = cmd->uid;
	return ret;
}

int ucma_conn_accept(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->accept.id, &id);

	if (ret)
		return ret;
	return uc->accept.conn_param.valid ? accept_request(uc, id) : cm_confirm(&id->conn);
}

static bool is_reason(uint8_t reason)
{
	return !reason || reason == REASON_CONSUMER || reason == REASON_VENDOR_OPTION;
}

int ucma_conn_reject(struct ucma_call *uc)
{
	const struct rdma_ucm_reject *cmd = &uc->reject;
	enum cm_reason reason = cmd->reason ? cmd->reason : REASON_CONSUMER;
	struct ucma_id *id;
	int ret = is_reason(cmd->reason) ? ucma_id_find(uc, cmd->id, &id) : EINVAL;

	if (ret)
		return ret;
	if (cmd->private_data_len > (id->datagram ? SIDR_REP_PRIVATE : REJ_PRIVATE))
		return EINVAL;
	if (id->datagram)
		return cm_answer_service(&id->conn, SIDR_REJECT, 0, 0, cmd->private_data,
					 cmd->private_data_len);
	return cm_reject(&id->conn, reason, cmd->private_data, cmd->private_data_len);
}

/* Says no more than that there has been something to disconnect. */
int ucma_conn_disconnect(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->disconnect.id, &id);

	if (ret)
		return ret;
	if (id->state < UCMA_CONNECTS && id->state != UCMA_LISTENS)
		return EINVAL;
	cm_disconnect(&id->conn);
	return 0;
}

/* IBV_EVENT_COMM_EST: data from the peer is as good as its RTU. */
int ucma_conn_notify(struct ucma_call *uc)
{
	enum { COMM_EST = 4 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->notify.id, &id);

	if (ret)
		return ret;
	if (id->state < UCMA_CONNECTS || uc->notify.event != COMM_EST || id->datagram)
		return EINVAL;
	if (cm_establish(&id->conn))
		send_event(id, CM_EVENT_RTU, NULL);
	else if (id->conn.state != CM_ESTABLISHED)
		return EINVAL;
	return id->conn.state == CM_ESTABLISHED ? 0 : EINVAL;
}
