/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn.c - connections: REQ, REP, RTU, REJ and DREQ between ids, and SIDR for datagrams.
 *
 * The ids are in this process, so a message is a call that changes the other id's state and sends an event to its file. What
 * a network would answer late is a timer here: a request that nobody accepts, a disconnect that nobody answers, the time
 * that a connection stays known after its end. IBTA vol 1, chapter 12; sizes of private data: tables 99 to 123.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"

enum {
	QPT_UD = 4,
	CMA_HEADER = 36, /* of a request by IP address: who asks for what (IBTA annex A11) */
	REQ_PRIVATE = 92,
	REP_PRIVATE = 196,
	RTU_PRIVATE = 224,
	REJ_PRIVATE = 148,
	DREQ_PRIVATE = 220,
	SIDR_REQ_PRIVATE = 216,
	SIDR_REP_PRIVATE = 136,
	REJ_INVALID_SERVICE_ID = 8,
	REJ_CONSUMER_DEFINED = 28,
	SIDR_UNSUPPORTED = 1,
	SIDR_REJECT = 2,
	MAX_BACKLOG = 1024, /* as /proc/sys/net/rdma_ucm/max_backlog */
	UDP_QKEY = 0x01234567,
};

#define NS_PER_MS         1000000ull
#define ACCEPT_TIMEOUT_NS (60000 * NS_PER_MS) /* 15 retries of 4 s */
#define DREQ_TIMEOUT_NS   (4000 * NS_PER_MS)
#define TIMEWAIT_NS       (500 * NS_PER_MS)

/* ---- timers ---- */

static struct {
	struct watch watch;
	bool started;
	TAILQ_HEAD(, ucma_id) ids;
} timers;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void arm_timer(void)
{
	struct itimerspec when = { 0 };
	struct ucma_id *id;
	uint64_t first = UINT64_MAX;

	TAILQ_FOREACH(id, &timers.ids, in_timers)
	if (id->deadline < first)
		first = id->deadline;
	if (first != UINT64_MAX) {
		when.it_value.tv_sec = first / 1000000000;
		when.it_value.tv_nsec = first % 1000000000;
	}
	timerfd_settime(timers.watch.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void expire(struct ucma_id *id);

static void timer_ready(struct watch *watch, uint32_t events)
{
	uint64_t now = now_ns(), count;
	struct ucma_id *id, *next;

	(void)events;
	if (read(watch->fd, &count, sizeof(count)) != sizeof(count))
		return;
	for (id = TAILQ_FIRST(&timers.ids); id; id = next) {
		next = TAILQ_NEXT(id, in_timers);
		if (id->deadline > now)
			continue;
		TAILQ_REMOVE(&timers.ids, id, in_timers);
		id->deadline = 0;
		expire(id);
	}
	arm_timer();
}

static int start_timers(void)
{
	int ret;

	if (timers.started)
		return 0;
	TAILQ_INIT(&timers.ids);
	timers.watch = (struct watch){ timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				       timer_ready };
	if (timers.watch.fd < 0)
		return errno;
	ret = watch_add(&timers.watch, EPOLLIN);
	if (ret)
		close(timers.watch.fd);
	timers.started = !ret;
	return ret;
}

void ucma_conn_stop(void)
{
	if (!timers.started)
		return;
	watch_remove(&timers.watch);
	close(timers.watch.fd);
	timers.started = false;
}

static void stop_timer(struct ucma_id *id)
{
	if (!id->deadline)
		return;
	TAILQ_REMOVE(&timers.ids, id, in_timers);
	id->deadline = 0;
}

/* Without a timer a connection waits for ever, which is said. */
static void start_timer(struct ucma_id *id, uint64_t ns)
{
	stop_timer(id);
	if (start_timers()) {
		log_error("rdma_cm: no timer: %s", strerror(errno));
		return;
	}
	id->deadline = now_ns() + ns;
	TAILQ_INSERT_TAIL(&timers.ids, id, in_timers);
	arm_timer();
}

/* ---- events with parameters ---- */

/* Depths change sides: what one side starts, the other answers. SIZE: of the message's private data, all of which is there. */
static void put_conn_param(struct ucma_event *event, const struct ucma_id *from, const void *data,
			   uint8_t len, uint8_t size)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;

	memcpy(param->private_data, data, len);
	param->private_data_len = size;
	param->responder_resources = from->initiator_depth;
	param->initiator_depth = from->responder_resources;
	param->retry_count = from->retry_count;
	param->rnr_retry_count = from->rnr_retry_count;
	param->srq = from->srq;
	param->qp_num = from->qpn;
}

static void put_private(struct ucma_event *event, const void *data, uint8_t len, uint8_t size)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;

	if (len)
		memcpy(param->private_data, data, len);
	param->private_data_len = size;
}

/* How ID reaches its peer. */
static void put_ah_attr(const struct ucma_id *id, struct ib_uverbs_ah_attr *attr)
{
	bool roce = id->src.adapter->link_layer == HCA_LINK_ETHERNET;

	memset(attr, 0, sizeof(*attr));
	attr->port_num = id->src.port;
	attr->dlid = id->dst.lid;
	attr->is_global = roce;
	if (!roce)
		return;
	memcpy(attr->grh.dgid, id->dst.gid, sizeof(attr->grh.dgid));
	attr->grh.sgid_index = id->src.gid_index;
	attr->grh.hop_limit = 64;
	attr->grh.traffic_class = id->tos;
}

static void put_ud_param(struct ucma_event *event, const struct ucma_id *id, const void *data,
			 uint8_t len, uint8_t size)
{
	struct rdma_ucm_ud_param *param = &event->resp.param.ud;

	memcpy(param->private_data, data, len);
	param->private_data_len = size;
	param->qp_num = id->remote_qpn;
	param->qkey = UDP_QKEY;
	put_ah_attr(id, &param->ah_attr);
}

/* ---- the end of a connection ---- */

static void part(struct ucma_id *id)
{
	if (id->peer)
		id->peer->peer = NULL;
	id->peer = NULL;
}

static void enter_timewait(struct ucma_id *id)
{
	id->state = UCMA_TIMEWAIT;
	start_timer(id, TIMEWAIT_NS);
}

static void refuse(struct ucma_id *id, enum ucma_event_type type, int status, const void *data,
		   uint8_t len, uint8_t size)
{
	struct ucma_event *event = ucma_event_new(id, type, status);

	stop_timer(id);
	part(id);
	id->state = UCMA_ROUTE_RESOLVED;
	if (!event)
		return;
	put_private(event, data, len, size);
	ucma_event_send(event);
}

static void expire(struct ucma_id *id)
{
	struct ucma_id *peer = id->peer;

	switch (id->state) {
	case UCMA_REQ_SENT:
		if (peer)
			peer->state = UCMA_TIMEWAIT;
		refuse(id, EV_UNREACHABLE, -ETIMEDOUT, NULL, 0, 0);
		break;
	case UCMA_DREQ_SENT:
		ucma_event_simple(id, EV_DISCONNECTED, 0);
		enter_timewait(id);
		break;
	case UCMA_TIMEWAIT:
		ucma_event_simple(id, EV_TIMEWAIT_EXIT, 0);
		break;
	default:
		break;
	}
}

/* REJ from ID to the side that has asked. */
static void send_reject(struct ucma_id *id, int reason, const void *data, uint8_t len)
{
	struct ucma_id *peer = id->peer;

	if (!peer)
		return;
	refuse(peer, EV_REJECTED, reason, data, len,
	       peer->datagram ? SIDR_REP_PRIVATE : REJ_PRIVATE);
}

/* DREQ from ID: the peer hears of it; its answer comes when it disconnects, too. */
static void send_dreq(struct ucma_id *id)
{
	struct ucma_id *peer = id->peer;
	struct ucma_event *event;

	if (!peer)
		return;
	peer->state = UCMA_DREQ_RECEIVED;
	event = ucma_event_new(peer, EV_DISCONNECTED, 0);
	if (!event)
		return;
	put_private(event, NULL, 0, DREQ_PRIVATE);
	ucma_event_send(event);
}

/* DREP from ID */
static void send_drep(struct ucma_id *id)
{
	struct ucma_id *peer = id->peer;

	part(id);
	if (!peer || peer->state != UCMA_DREQ_SENT)
		return;
	ucma_event_simple(peer, EV_DISCONNECTED, 0);
	enter_timewait(peer);
}

void ucma_conn_end(struct ucma_id *id)
{
	stop_timer(id);
	switch (id->state) {
	case UCMA_REQ_RECEIVED:
	case UCMA_REP_RECEIVED:
		send_reject(id, REJ_CONSUMER_DEFINED, NULL, 0);
		break;
	case UCMA_REQ_SENT: /* taken back: the other side learns it when it answers */
		if (id->peer)
			id->peer->state = UCMA_TIMEWAIT;
		break;
	case UCMA_REP_SENT:
		if (id->peer && id->peer->state == UCMA_REP_RECEIVED)
			refuse(id->peer, EV_REJECTED, REJ_CONSUMER_DEFINED, NULL, 0, REJ_PRIVATE);
		break;
	case UCMA_ESTABLISHED:
		send_dreq(id);
		break;
	case UCMA_DREQ_RECEIVED:
		send_drep(id);
		break;
	default:
		break;
	}
	part(id);
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
		memcpy(&uc->bind.addr, &any, sizeof(any));
		uc->bind.id = id->number;
		uc->bind.addr_size = sizeof(any);
		uc->bind.reserved = 0;
		ret = ucma_id_bind(uc);
	}
	if (ret)
		return ret;
	if (id->state != UCMA_BOUND && id->state != UCMA_LISTENS)
		return EINVAL;
	id->backlog = backlog > 0 && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
	id->state = UCMA_LISTENS;
	log_note("rdma_cm: port %u of port space %#x is listened at", ucma_addr_port(&id->src.addr),
		 id->ps);
	return 0;
}

/* ---- asking ---- */

static void send_request_event(struct ucma_id *listener, struct ucma_id *request,
			       const struct ucma_id *from, const struct rdma_ucm_connect *cmd)
{
	const struct rdma_ucm_conn_param *param = &cmd->conn_param;
	struct ucma_event *event = ucma_event_new(listener, EV_CONNECT_REQUEST, 0);

	if (!event)
		return;
	event->resp.id = request->number;
	event->request = request;
	event->resp.ece = cmd->ece;
	if (from->datagram)
		put_ud_param(event, request, param->private_data, param->private_data_len,
			     SIDR_REQ_PRIVATE - CMA_HEADER);
	else
		put_conn_param(event, from, param->private_data, param->private_data_len,
			       REQ_PRIVATE - CMA_HEADER);
	ucma_event_send(event);
}

/* The other end of FROM, made for its listener. */
static int make_request(struct ucma_id *listener, struct ucma_id *from, struct ucma_id **out)
{
	struct ucma_id *id;
	int ret = ucma_id_new(listener->file, &id);

	if (ret)
		return ret;
	id->ps = listener->ps;
	id->qp_type = listener->qp_type;
	id->datagram = listener->datagram;
	id->src = from->dst;
	id->dst = from->src;
	id->has_src = id->has_dst = true;
	id->passive = true;
	id->state = UCMA_REQ_RECEIVED;
	id->remote_qpn = from->qpn;
	id->remote_psn = from->psn;
	id->peer = from;
	from->peer = id;
	*out = id;
	return 0;
}

static void ask(struct ucma_id *id, const struct rdma_ucm_connect *cmd)
{
	struct ucma_id *listener = id->dst.adapter ? ucma_id_find_listener(id) : NULL;
	struct ucma_id *request;

	if (!listener) {
		if (id->datagram)
			refuse(id, EV_UNREACHABLE, SIDR_UNSUPPORTED, NULL, 0, SIDR_REP_PRIVATE);
		else
			refuse(id, EV_REJECTED, REJ_INVALID_SERVICE_ID, NULL, 0, REJ_PRIVATE);
		return;
	}
	if (listener->backlog <= 0 || make_request(listener, id, &request)) {
		refuse(id, id->datagram ? EV_UNREACHABLE : EV_REJECTED,
		       id->datagram ? SIDR_REJECT : REJ_CONSUMER_DEFINED, NULL, 0, REJ_PRIVATE);
		return;
	}
	listener->backlog--;
	id->state = UCMA_REQ_SENT;
	start_timer(id, ACCEPT_TIMEOUT_NS);
	send_request_event(listener, request, id, cmd);
}

static void take_param(struct ucma_id *id, const struct rdma_ucm_conn_param *param)
{
	id->qpn = param->qp_num & 0xffffff;
	id->srq = param->srq;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	id->retry_count = param->retry_count & 7;
	id->rnr_retry_count = param->rnr_retry_count & 7;
}

/* All of a command that has an ECE field; programs of before it send less. */
static void clear_missing_ece(struct ucma_call *uc, size_t with_ece, struct rdma_ucm_ece *ece)
{
	if (uc->hdr.in < with_ece)
		memset(ece, 0, sizeof(*ece));
}

int ucma_conn_connect(struct ucma_call *uc)
{
	struct rdma_ucm_connect *cmd = &uc->connect;
	struct ucma_id *id;
	int ret = ucma_id_find(uc, cmd->id, &id);
	unsigned int limit;

	if (ret)
		return ret;
	limit = (id->datagram ? SIDR_REQ_PRIVATE : REQ_PRIVATE) - CMA_HEADER;
	if (!cmd->conn_param.valid || id->state != UCMA_ROUTE_RESOLVED ||
	    cmd->conn_param.private_data_len > limit)
		return EINVAL;
	clear_missing_ece(uc, sizeof(*cmd), &cmd->ece);
	take_param(id, &cmd->conn_param);
	ask(id, cmd);
	return 0;
}

/* ---- answering ---- */

/* SIDR_REP: the other side learns the QP; there is nothing to confirm. */
static void answer_datagram(struct ucma_id *id, const struct rdma_ucm_conn_param *param)
{
	struct ucma_id *peer = id->peer;
	struct ucma_event *event;

	id->state = UCMA_RESOLVED_SIDR;
	part(id);
	if (!peer)
		return;
	stop_timer(peer);
	peer->state = UCMA_RESOLVED_SIDR;
	peer->remote_qpn = param->qp_num & 0xffffff;
	event = ucma_event_new(peer, EV_ESTABLISHED, 0);
	if (!event)
		return;
	put_ud_param(event, peer, param->private_data, param->private_data_len, SIDR_REP_PRIVATE);
	ucma_event_send(event);
}

/* REP: the other side's QP, if its program left that to the library, is moved on by the library. */
static void answer_connection(struct ucma_id *id, const struct rdma_ucm_accept *cmd)
{
	const struct rdma_ucm_conn_param *param = &cmd->conn_param;
	struct ucma_id *peer = id->peer;
	struct ucma_event *event;

	id->state = UCMA_REP_SENT;
	if (!peer)
		return;
	stop_timer(peer);
	peer->state = UCMA_REP_RECEIVED;
	peer->remote_qpn = id->qpn;
	peer->remote_psn = id->psn;
	peer->responder_resources = id->initiator_depth;
	event = ucma_event_new(peer, EV_CONNECT_RESPONSE, 0);
	if (!event)
		return;
	event->resp.ece = cmd->ece;
	put_conn_param(event, id, param->private_data, param->private_data_len, REP_PRIVATE);
	ucma_event_send(event);
}

static int accept_request(struct ucma_call *uc, struct ucma_id *id)
{
	struct rdma_ucm_accept *cmd = &uc->accept;
	unsigned int limit = id->datagram ? SIDR_REP_PRIVATE : REP_PRIVATE;

	if (id->state != UCMA_REQ_RECEIVED || cmd->conn_param.private_data_len > limit)
		return EINVAL;
	clear_missing_ece(uc, sizeof(*cmd), &cmd->ece);
	id->uid = cmd->uid;
	id->retry_count = id->peer ? id->peer->retry_count : 7;
	take_param(id, &cmd->conn_param);
	if (id->datagram)
		answer_datagram(id, &cmd->conn_param);
	else
		answer_connection(id, cmd);
	return 0;
}

/* RTU */
static int confirm(struct ucma_id *id)
{
	struct ucma_id *peer = id->peer;
	struct ucma_event *event;

	if (id->state != UCMA_REP_RECEIVED)
		return EINVAL;
	id->state = UCMA_ESTABLISHED;
	if (!peer || peer->state != UCMA_REP_SENT)
		return 0;
	peer->state = UCMA_ESTABLISHED;
	event = ucma_event_new(peer, EV_ESTABLISHED, 0);
	if (!event)
		return 0;
	put_private(event, NULL, 0, RTU_PRIVATE);
	ucma_event_send(event);
	return 0;
}

int ucma_conn_accept(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->accept.id, &id);

	if (ret)
		return ret;
	return uc->accept.conn_param.valid ? accept_request(uc, id) : confirm(id);
}

static bool is_reason(uint8_t reason)
{
	enum { VENDOR_OPTION_NOT_SUPPORTED = 35 };

	return !reason || reason == REJ_CONSUMER_DEFINED || reason == VENDOR_OPTION_NOT_SUPPORTED;
}

int ucma_conn_reject(struct ucma_call *uc)
{
	const struct rdma_ucm_reject *cmd = &uc->reject;
	int reason = cmd->reason ? cmd->reason : REJ_CONSUMER_DEFINED;
	struct ucma_id *id;
	int ret = is_reason(cmd->reason) ? ucma_id_find(uc, cmd->id, &id) : EINVAL;

	if (ret)
		return ret;
	if ((id->state != UCMA_REQ_RECEIVED && id->state != UCMA_REP_RECEIVED) ||
	    cmd->private_data_len > (id->datagram ? SIDR_REP_PRIVATE : REJ_PRIVATE))
		return EINVAL;
	if (id->datagram && id->peer)
		refuse(id->peer, EV_UNREACHABLE, SIDR_REJECT, cmd->private_data,
		       cmd->private_data_len, SIDR_REP_PRIVATE);
	else
		send_reject(id, reason, cmd->private_data, cmd->private_data_len);
	part(id);
	id->state = UCMA_TIMEWAIT;
	return 0;
}

int ucma_conn_disconnect(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->disconnect.id, &id);

	if (ret)
		return ret;
	switch (id->state) {
	case UCMA_REP_SENT:
	case UCMA_ESTABLISHED:
		id->state = UCMA_DREQ_SENT;
		send_dreq(id);
		start_timer(id, DREQ_TIMEOUT_NS);
		return 0;
	case UCMA_DREQ_RECEIVED:
		send_drep(id);
		enter_timewait(id);
		return 0;
	case UCMA_DREQ_SENT:
	case UCMA_TIMEWAIT: /* both sides at once, or again: nothing is left to do */
		return 0;
	default:
		return EINVAL;
	}
}

/* IBV_EVENT_COMM_EST: data from the peer is as good as its RTU. */
int ucma_conn_notify(struct ucma_call *uc)
{
	enum { COMM_EST = 4 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->notify.id, &id);

	if (ret)
		return ret;
	if (uc->notify.event != COMM_EST || id->datagram)
		return EINVAL;
	if (id->state == UCMA_REP_SENT) {
		id->state = UCMA_ESTABLISHED;
		ucma_event_simple(id, EV_ESTABLISHED, 0);
	}
	return 0;
}

/* ---- attributes for the program's QP ---- */

enum { /* enum ibv_qp_state, ibv_qp_attr_mask, ibv_access_flags */
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
       DEFAULT_ACK_TIMEOUT = 19,
};

/* Before there is a connection, a QP can only receive; then its peer may write, and read what was agreed. */
static void attr_init(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->port_num = id->src.port;
	attr->qp_attr_mask = MASK_STATE | MASK_PKEY_INDEX | MASK_PORT;
	if (id->datagram) {
		attr->qkey = UDP_QKEY;
		attr->qp_attr_mask |= MASK_QKEY;
		return;
	}
	attr->qp_attr_mask |= MASK_ACCESS;
	if (id->state < UCMA_REQ_SENT)
		return;
	attr->qp_access_flags = REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= REMOTE_READ | REMOTE_ATOMIC;
}

static int attr_rtr(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	struct port_info info;

	if (id->datagram || id->state < UCMA_REQ_RECEIVED)
		return EINVAL;
	if (adapter_query_port(id->src.adapter, id->src.port, &info))
		return EINVAL;
	put_ah_attr(id, &attr->ah_attr);
	attr->path_mtu = info.active_mtu;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->remote_psn;
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->qp_attr_mask = MASK_STATE | MASK_AV | MASK_PATH_MTU | MASK_DEST_QPN | MASK_RQ_PSN |
			     MASK_MAX_DEST_RD_ATOMIC | MASK_MIN_RNR_TIMER;
	return 0;
}

static int attr_rts(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	if (id->datagram || id->state < UCMA_REQ_RECEIVED)
		return EINVAL;
	attr->sq_psn = id->psn;
	attr->timeout = id->ack_timeout ? id->ack_timeout : DEFAULT_ACK_TIMEOUT;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->max_rd_atomic = id->initiator_depth;
	attr->qp_attr_mask = MASK_STATE | MASK_SQ_PSN | MASK_TIMEOUT | MASK_RETRY_CNT |
			     MASK_RNR_RETRY | MASK_MAX_RD_ATOMIC;
	return 0;
}

int ucma_conn_init_qp_attr(struct ucma_call *uc)
{
	struct ib_uverbs_qp_attr attr = { 0 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->init_qp_attr.id, &id);

	if (ret)
		return ret;
	if (!ucma_id_adapter(id))
		return EINVAL;
	attr.qp_state = uc->init_qp_attr.qp_state;
	switch (attr.qp_state) {
	case QPS_INIT:
		attr_init(id, &attr);
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
