/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.c - ids on channels, and events as lines of text.
 */
#include "cm.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

const char *cm_host(void)
{
	const char *address = getenv("CM_ADDRESS");

	return address ? address : "127.0.0.1";
}

struct sockaddr_in cm_loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr = { inet_addr(cm_host()) } };
}

static void say_private_data(const char *who, const void *data, uint8_t len)
{
	unsigned int sum = 0;

	for (int i = 0; data && i < len; i++)
		sum = sum * 31 + ((const uint8_t *)data)[i];
	say("%s: private data %s, %u bytes, sum %u", who, data ? "given" : "NULL", len, sum);
}

static void say_conn(const char *who, const struct rdma_conn_param *param)
{
	say("%s: responder_resources %u initiator_depth %u flow_control %u retry %u rnr_retry %u "
	    "srq %u",
	    who, param->responder_resources, param->initiator_depth, param->flow_control,
	    param->retry_count, param->rnr_retry_count, param->srq);
	say_private_data(who, param->private_data, param->private_data_len);
}

static void say_params(const char *who, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		if (event->id->ps == RDMA_PS_TCP || event->id->ps == RDMA_PS_IB)
			say_conn(who, &event->param.conn);
		else
			say_private_data(who, event->param.ud.private_data,
					 event->param.ud.private_data_len);
		break;
	default:
		break;
	}
}

struct rdma_cm_event *cm_next(const char *who, struct rdma_event_channel *channel, int ms)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&fd, 1, ms) <= 0) {
		say("%s: no event", who);
		return NULL;
	}
	if (SAY_RET(rdma_get_cm_event(channel, &event), "%s: get_cm_event", who))
		return NULL;
	say("%s: %s status %d, of a listener: %d", who, rdma_event_str(event->event), event->status,
	    event->listen_id != NULL);
	say_params(who, event);
	return event;
}

int cm_expect(const char *who, struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = cm_next(who, channel, WAIT_MS);
	int type;

	if (!event)
		return -1;
	type = event->event;
	rdma_ack_cm_event(event);
	return type;
}

static void must_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(channel, &event));
	MUST(event->event == type);
	rdma_ack_cm_event(event);
}

struct rdma_cm_id *cm_resolved(struct rdma_event_channel *channel, enum rdma_port_space ps,
			       uint16_t port)
{
	struct sockaddr_in addr = cm_loopback(port);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, ps));
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, RESOLVE_MS));
	must_take(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(id, RESOLVE_MS));
	must_take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

struct rdma_cm_id *cm_listening(struct rdma_event_channel *channel, enum rdma_port_space ps,
				uint16_t *port)
{
	struct sockaddr_in addr = cm_loopback(0);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, ps));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&addr));
	MUST(!rdma_listen(id, 4));
	*port = ntohs(rdma_get_src_port(id));
	MUST(*port);
	return id;
}

void cm_make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = id->qp_type,
	};

	MUST(!rdma_create_qp(id, NULL, &attr));
}

void cm_pair_request(struct cm_pair *pair, struct rdma_conn_param *param)
{
	struct rdma_cm_event *event;
	uint16_t port;

	*pair = (struct cm_pair){ .client_channel = rdma_create_event_channel(),
				  .server_channel = rdma_create_event_channel() };
	MUST(pair->client_channel && pair->server_channel);
	pair->listener = cm_listening(pair->server_channel, RDMA_PS_TCP, &port);
	pair->client = cm_resolved(pair->client_channel, RDMA_PS_TCP, port);
	cm_make_qp(pair->client);
	MUST(!SAY_RET(rdma_connect(pair->client, param), "connect"));
	event = cm_next("server", pair->server_channel, WAIT_MS);
	MUST(event);
	pair->server = event->id;
	rdma_ack_cm_event(event);
}

void cm_pair_connect(struct cm_pair *pair)
{
	cm_pair_request(pair, NULL);
	cm_make_qp(pair->server);
	MUST(!SAY_RET(rdma_accept(pair->server, NULL), "accept"));
	cm_expect("client", pair->client_channel);
	cm_expect("server", pair->server_channel);
}

static void close_id(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	SAY_RET(rdma_destroy_id(id), "destroy_id");
}

void cm_pair_close(struct cm_pair *pair)
{
	close_id(pair->client);
	close_id(pair->server);
	close_id(pair->listener);
	rdma_destroy_event_channel(pair->client_channel);
	rdma_destroy_event_channel(pair->server_channel);
}
