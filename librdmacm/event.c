/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event.c - converts the kernel's events to the program's. First the library does its part: it
 * stores resolved addresses, makes the id of a request, moves QPs to the next state, attaches QPs
 * to multicast groups.
 *
 * Each event type has one function for that part. It may change the event (if the library's step
 * fails, the program gets the event of that failure), or swallow it. The kernel's event identifies
 * the id or multicast group by its address (uid).
 *
 * Programs end the thread that reads their events by pthread_cancel(). It is a cancellation point
 * only while it waits for an event.
 */
#include "cma.h"

#include <infiniband/ib.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/clear.h"
#include "util/threads.h"

struct cm_event {
	struct rdma_cm_event event; /* first, because rdma_ack_cm_event() gets its address */
	struct cm_id *cm;           /* id that counts the acknowledgement; NULL afterwards */
	struct cm_multicast *multicast;
	uint8_t private_data[RDMA_MAX_PRIVATE_DATA];
};

/* ---- parameters ---- */

static void take_conn_param(struct cm_event *event, const struct rdma_ucm_conn_param *from)
{
	struct rdma_conn_param *to = &event->event.param.conn;

	*to = (struct rdma_conn_param){
		.private_data_len = from->private_data_len,
		.responder_resources = from->responder_resources,
		.initiator_depth = from->initiator_depth,
		.flow_control = from->flow_control,
		.retry_count = from->retry_count,
		.rnr_retry_count = from->rnr_retry_count,
		.srq = from->srq,
		.qp_num = from->qp_num,
	};
	if (!from->private_data_len)
		return;
	memcpy(event->private_data, from->private_data, sizeof(event->private_data));
	to->private_data = event->private_data;
}

static void take_ud_param(struct cm_event *event, const struct rdma_ucm_ud_param *from)
{
	struct rdma_ud_param *to = &event->event.param.ud;

	*to = (struct rdma_ud_param){ .private_data_len = from->private_data_len,
				      .qp_num = from->qp_num,
				      .qkey = from->qkey };
	rdmacm_attr_take_ah(&to->ah_attr, &from->ah_attr);
	if (!from->private_data_len)
		return;
	memcpy(event->private_data, from->private_data, sizeof(event->private_data));
	to->private_data = event->private_data;
}

static bool is_datagram(const struct cm_id *cm)
{
	return cm->id.qp_type == IBV_QPT_UD;
}

static void take_param(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	if (is_datagram(event->cm))
		take_ud_param(event, &resp->param.ud);
	else
		take_conn_param(event, &resp->param.conn);
}

/* ---- the library's part of each event: 0, or nonzero if the event is swallowed ---- */

/* Changes the event to the failure TYPE, because the library's step failed. */
static int event_fail(struct cm_event *event, enum rdma_cm_event_type type, int err)
{
	event->event.event = type;
	event->event.status = -err;
	return 0;
}

/* ADDR_RESOLVED: binds the id. Fails if the kernel's answer identifies no device, which happens for
 * a port without a provisioned GUID (0). */
static int addr_resolved(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	int ret = rdmacm_id_query_route(event->cm);

	(void)resp;
	if (!ret && !event->cm->device) {
		verbs_warn("rdma_cm: the address is resolved to a device of GUID 0");
		ret = ENODEV;
	}
	return ret ? event_fail(event, RDMA_CM_EVENT_ADDR_ERROR, ret) : 0;
}

static int route_resolved(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	int ret = rdmacm_id_query_path(event->cm);

	(void)resp;
	return ret ? event_fail(event, RDMA_CM_EVENT_ROUTE_ERROR, ret) : 0;
}

int rdmacm_request_refuse(int fd, uint32_t number, const char *why)
{
	struct rdma_ucm_destroy_id_resp resp = { 0 };
	struct cm_cmd cmd;

	cmd.destroy_id = (struct rdma_ucm_destroy_id){ .response = (uintptr_t)&resp, .id = number };
	verbs_warn("rdma_cm: a connection request is dropped: %s", why);
	return CM_RUN(fd, &cmd, DESTROY_ID, destroy_id, sizeof(resp));
}

/* Queries the kernel about a request's id. On any error destroys the id, in the kernel too: the
 * program does not know the id, so nothing else would destroy it. */
static int request_learn(struct cm_id *cm, const struct rdma_ucm_event_resp *resp)
{
	int ret;

	cm->is_request = true;
	ret = rdmacm_id_query_route(cm);
	if (ret) {
		verbs_warn("rdma_cm: a connection request is dropped: %s", strerror(ret));
		rdmacm_id_destroy_in_kernel(cm);
		rdmacm_id_free(cm);
		return ret;
	}
	if (!is_datagram(cm)) {
		cm->initiator_depth = resp->param.conn.initiator_depth;
		cm->responder_resources = resp->param.conn.responder_resources;
	}
	cm->remote_ece.vendor_id = resp->ece.vendor_id;
	cm->remote_ece.options = resp->ece.attr_mod;
	return 0;
}

static int request_alloc(const struct cm_id *listener, const struct rdma_ucm_event_resp *resp,
			 struct rdma_event_channel *channel, struct cm_id **cm)
{
	int ret = rdmacm_id_alloc(channel, listener->id.context, listener->id.ps,
				  listener->id.qp_type, cm);

	if (ret)
		rdmacm_request_refuse(channel->fd, resp->id, "no memory");
	else
		(*cm)->number = resp->id;
	return ret;
}

/* CONNECT_REQUEST: makes the new id on the listener's channel, where the kernel has put it.
 * rdma_get_request() moves the id to a channel of its own. */
static int connect_request(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	struct cm_id *listener = event->cm;
	struct cm_id *cm;
	int ret;

	take_param(event, resp);
	ret = request_alloc(listener, resp, listener->id.channel, &cm);
	if (!ret)
		ret = request_learn(cm, resp);
	if (ret)
		return ret;
	event->event.listen_id = &listener->id;
	event->event.id = &cm->id;
	return 0;
}

int rdmacm_request_fetch(const struct cm_id *listener, const struct rdma_ucm_event_resp *request,
			 int from, struct rdma_event_channel *channel, struct cm_id **out)
{
	uint32_t reported;
	struct cm_id *cm;
	int ret = rdmacm_id_fetch(request->id, from, channel, &reported);

	if (!ret)
		ret = request_alloc(listener, request, channel, &cm);
	if (!ret)
		ret = request_learn(cm, request);
	if (!ret)
		*out = cm;
	return ret;
}

/* CONNECT_RESPONSE: the peer has accepted. If the id has a QP, moves it to RTS, and the program
 * gets ESTABLISHED. Without a QP, the program gets the response and calls rdma_establish(). */
static int connect_response(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	struct cm_id *cm = event->cm;
	int ret;

	take_param(event, resp);
	cm->remote_ece.vendor_id = resp->ece.vendor_id;
	cm->remote_ece.options = resp->ece.attr_mod;
	if (!cm->id.qp)
		return 0;
	ret = rdmacm_qp_take_ece(cm);
	if (!ret)
		ret = rdmacm_qp_to_rtr(cm, RDMA_MAX_RESP_RES);
	if (!ret)
		ret = rdmacm_qp_to_rts(cm, RDMA_MAX_INIT_DEPTH);
	if (!ret)
		ret = rdmacm_connect_confirm(cm);
	if (!ret) {
		event->event.event = RDMA_CM_EVENT_ESTABLISHED;
		return 0;
	}
	rdmacm_qp_to_error(cm);
	return event_fail(event, RDMA_CM_EVENT_CONNECT_ERROR, ret);
}

static int connection_event(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	take_param(event, resp);
	return 0;
}

static int connection_rejected(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	take_param(event, resp);
	rdmacm_qp_to_error(event->cm);
	return 0;
}

static int multicast_joined(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	int ret;

	take_ud_param(event, &resp->param.ud);
	event->event.param.ud.private_data = event->multicast->context;
	ret = rdmacm_multicast_attach(event->multicast, &event->event.param.ud);
	return ret ? event_fail(event, RDMA_CM_EVENT_MULTICAST_ERROR, ret) : 0;
}

static int multicast_failed(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	(void)resp;
	event->event.param.ud.private_data = event->multicast->context;
	return 0;
}

static int user_event(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	memcpy(&event->event.param.arg, &resp->param, sizeof(event->event.param.arg));
	return 0;
}

static int device_removed(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	(void)resp;
	if (event->cm->device)
		rdmacm_device_remove(event->cm->device);
	return 0;
}

/* INTERNAL: rdma_resolve_addrinfo() writes this event after it has resolved names. */
static int internal_event(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	(void)resp;
	event->event.event = event->event.status ? RDMA_CM_EVENT_ADDRINFO_ERROR
						 : RDMA_CM_EVENT_ADDRINFO_RESOLVED;
	return 0;
}

static int services_resolved(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	int ret = rdmacm_addrinfo_take_services(event->cm);

	(void)resp;
	return ret ? event_fail(event, RDMA_CM_EVENT_ADDRINFO_ERROR, ret) : 0;
}

static int (*const on_event[])(struct cm_event *event, const struct rdma_ucm_event_resp *resp) = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = addr_resolved,
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = route_resolved,
	[RDMA_CM_EVENT_CONNECT_REQUEST] = connect_request,
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = connect_response,
	[RDMA_CM_EVENT_CONNECT_ERROR] = connection_event,
	[RDMA_CM_EVENT_UNREACHABLE] = connection_event,
	[RDMA_CM_EVENT_REJECTED] = connection_rejected,
	[RDMA_CM_EVENT_ESTABLISHED] = connection_event,
	[RDMA_CM_EVENT_DISCONNECTED] = connection_event,
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = device_removed,
	[RDMA_CM_EVENT_MULTICAST_JOIN] = multicast_joined,
	[RDMA_CM_EVENT_MULTICAST_ERROR] = multicast_failed,
	[RDMA_CM_EVENT_USER] = user_event,
	[RDMA_CM_EVENT_ADDRINFO_RESOLVED] = services_resolved,
	[RDMA_CM_EVENT_INTERNAL] = internal_event,
};

/* ---- reading and acknowledging ---- */

static bool is_of_multicast(uint32_t type)
{
	return type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR;
}

static void event_identify(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	event->event.event = resp->event;
	event->event.status = (int)resp->status;
	if (is_of_multicast(resp->event)) {
		event->multicast = (struct cm_multicast *)(uintptr_t)resp->uid;
		order_observe(event->multicast);
		event->cm = event->multicast->id;
	} else {
		event->cm = (struct cm_id *)(uintptr_t)resp->uid;
	}
	order_observe(event->cm);
	event->event.id = &event->cm->id;
}

/* Counts the acknowledgement. The kernel counts an event of a multicast group twice: for the group
 * and for its id. */
static void event_count(struct cm_event *event)
{
	struct cm_id *cm = event->cm;
	struct cm_ack_wait *wait;

	if (!cm)
		return;
	/* No thread waits. A signal handler may count too: atomic, so that no count is lost. */
	if (process_has_one_thread()) {
		__atomic_fetch_add(&cm->events_acked, 1, __ATOMIC_RELAXED);
		if (event->multicast)
			__atomic_fetch_add(&event->multicast->events_acked, 1, __ATOMIC_RELAXED);
		event->cm = NULL;
		return;
	}
	pthread_mutex_lock(&cm->lock);
	cm->events_acked++;
	if (event->multicast)
		event->multicast->events_acked++;
	LIST_FOREACH(wait, &cm->ack_waits, entry)
		pthread_cond_signal(&wait->acked);
	pthread_mutex_unlock(&cm->lock);
	event->cm = NULL;
}

static void event_acknowledge(struct cm_event *event)
{
	event_count(event);
	free(event);
}

/* Counts the acknowledgement before the program acknowledges the request: the program may destroy
 * the listener first, which waits for that count. */
void rdmacm_event_settle(struct rdma_cm_event *event)
{
	event_count((struct cm_event *)event);
}

static int read_event(int fd, struct cm_event *event, struct rdma_ucm_event_resp *resp)
{
	struct cm_cmd cmd;
	int ret;

	cmd.get_event = (struct rdma_ucm_get_event){ .response = (uintptr_t)resp };
	clear_struct(resp, sizeof(*resp));
	ret = CM_RUN(fd, &cmd, GET_EVENT, get_event, sizeof(*resp));
	if (!ret)
		event_identify(event, resp);
	return ret;
}

int rdmacm_event_read(struct cm_id *listener, struct rdma_ucm_event_resp *resp)
{
	struct cm_event event = { 0 };
	int ret = read_event(listener->id.channel->fd, &event, resp);

	if (!ret)
		event_count(&event);
	return ret;
}

struct wait {
	int fd;
	struct cm_event *event;
	struct rdma_ucm_event_resp resp;
};

/* Cleans up after a cancelled wait. If the kernel has delivered an event already, acknowledges it:
 * no other thread can read that event again, and destroying its id would wait for the
 * acknowledgement. */
static void wait_abandon(void *of)
{
	struct wait *wait = of;

	if (!wait->resp.uid) {
		free(wait->event);
		return;
	}
	event_identify(wait->event, &wait->resp);
	if (wait->resp.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		rdmacm_request_refuse(wait->fd, wait->resp.id, "the thread that has read it ends");
	event_acknowledge(wait->event);
}

/* Waits with cancellation enabled, and returns with it disabled, so that an event that was read
 * cannot be lost. *STATE is the previous setting. */
static int __attribute__((noinline)) await_cancelled(struct wait *wait, int *state)
{
	int ret;

	pthread_cleanup_push(wait_abandon, wait);
	ret = read_event(wait->fd, wait->event, &wait->resp);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, state);
	pthread_cleanup_pop(0);
	return ret;
}

static bool is_swallowed(struct cm_event *event, const struct rdma_ucm_event_resp *resp)
{
	return resp->event < ARRAY_SIZE(on_event) && on_event[resp->event] &&
	       on_event[resp->event](event, resp);
}

/* Reads one event and does the library's part. In a process with one thread, no thread can cancel
 * another, so the call skips the shielding. */
static int one_event(struct wait *wait, bool *swallowed)
{
	const bool is_alone = process_has_one_thread();
	int state = 0;
	int ret = is_alone ? read_event(wait->fd, wait->event, &wait->resp)
			   : await_cancelled(wait, &state);

	if (!ret)
		*swallowed = is_swallowed(wait->event, &wait->resp);
	if (!ret && !*swallowed)
		rdmacm_event_explain(&wait->event->event);
	if (!is_alone)
		pthread_setcancelstate(state, NULL);
	return ret;
}

/* Allocates an event, zeroed except for its private data, which stays uninitialised if the event
 * has none. */
static struct cm_event *event_alloc(void)
{
	struct cm_event *event = malloc(sizeof(*event));

	if (event)
		clear_struct(event, offsetof(struct cm_event, private_data));
	return event;
}

static int next_event(const struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
	bool swallowed = false;
	struct wait wait;
	int ret;

	wait.fd = channel->fd;
	for (;;) {
		wait.event = event_alloc();
		if (!wait.event)
			return ENOMEM;
		ret = one_event(&wait, &swallowed);
		if (ret) {
			free(wait.event);
			return ret;
		}
		if (!swallowed)
			break;
		event_acknowledge(wait.event);
	}
	*out = &wait.event->event;
	return 0;
}

CMA_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	if (!channel || !event)
		return cma_refuse(EINVAL, "rdma_get_cm_event",
				  "no channel, or no place for the event");
	return cma_return(next_event(channel, event));
}

CMA_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	if (!event)
		return cma_refuse(EINVAL, "rdma_ack_cm_event", "no event");
	event_acknowledge((struct cm_event *)event);
	return 0;
}

/* ---- ids whose calls wait ---- */

void rdmacm_event_release(struct cm_id *cm)
{
	if (!cm->id.event)
		return;
	rdma_ack_cm_event(cm->id.event);
	cm->id.event = NULL;
}

int rdmacm_event_await(struct cm_id *cm)
{
	int ret;

	rdmacm_event_release(cm);
	ret = next_event(cm->id.channel, &cm->id.event);
	if (ret || !cm->id.event->status)
		return ret;
	if (cm->id.event->event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	return abs(cm->id.event->status);
}
