/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connections.c - mistakes with rdma_cm: calls out of order, addresses, parameters.
 *
 * Covers: librdmacm/cmd.c, librdmacm/connect.c, librdmacm/explain.c, librdmacm/explain_cmd.c
 */
#include "mistakes.h"
#include "tests/cm/cm.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static struct rdma_cm_id *id_of(enum rdma_port_space ps)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	MUST(channel);
	MUST(!rdma_create_id(channel, &id, NULL, ps));
	return id;
}

static struct rdma_cm_id *resolved(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	MUST(channel);
	return cm_resolved(channel, RDMA_PS_TCP, 7471);
}

static void must_happen(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(id->channel, &event));
	if (event->event != type)
		say("event %s, status %d", rdma_event_str(event->event), event->status);
	MUST(event->event == type);
	rdma_ack_cm_event(event);
}

#define MUST_REFUSE(call) MUST((call) == -1)

MISTAKE(cm_route_before_address)
{
	MUST_REFUSE(rdma_resolve_route(id_of(RDMA_PS_TCP), 1000));
}

MISTAKE(cm_connect_before_route)
{
	struct rdma_cm_id *id = id_of(RDMA_PS_TCP);
	struct sockaddr_in addr = cm_loopback(7471);
	struct rdma_conn_param param = { 0 };

	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000));
	must_happen(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	cm_make_qp(id);
	MUST_REFUSE(rdma_connect(id, &param));
}

MISTAKE(cm_connect_before_address)
{
	struct rdma_conn_param param = { 0 };

	MUST_REFUSE(rdma_connect(id_of(RDMA_PS_TCP), &param));
}

MISTAKE(cm_qp_before_address)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_send_sge = 1 },
					 .qp_type = IBV_QPT_RC };

	MUST_REFUSE(rdma_create_qp(id_of(RDMA_PS_TCP), NULL, &attr));
}

MISTAKE(cm_accept_of_no_request)
{
	struct rdma_cm_id *id = resolved();
	struct rdma_conn_param param = { 0 };

	cm_make_qp(id);
	MUST_REFUSE(rdma_accept(id, &param));
}

MISTAKE(cm_reject_of_no_request)
{
	MUST_REFUSE(rdma_reject(resolved(), NULL, 0));
}

MISTAKE(cm_disconnect_unconnected)
{
	struct rdma_cm_id *id = resolved();

	cm_make_qp(id);
	MUST_REFUSE(rdma_disconnect(id));
}

MISTAKE(cm_address_twice)
{
	struct rdma_cm_id *id = resolved();
	struct sockaddr_in addr = cm_loopback(7471);

	MUST_REFUSE(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000));
}

MISTAKE(cm_bind_twice)
{
	struct rdma_cm_id *id = id_of(RDMA_PS_TCP);
	struct sockaddr_in addr = cm_loopback(0);

	MUST(!rdma_bind_addr(id, (struct sockaddr *)&addr));
	MUST_REFUSE(rdma_bind_addr(id, (struct sockaddr *)&addr));
}

MISTAKE(cm_listen_on_client)
{
	MUST_REFUSE(rdma_listen(resolved(), 4));
}

MISTAKE(cm_port_in_use)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = id_of(RDMA_PS_TCP);
	struct sockaddr_in addr;
	uint16_t port;

	MUST(cm_listening(channel, RDMA_PS_TCP, &port));
	addr = cm_loopback(port);
	MUST_REFUSE(rdma_bind_addr(id, (struct sockaddr *)&addr));
}

MISTAKE(cm_bind_foreign_address)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { inet_addr("192.0.2.9") } };

	MUST_REFUSE(rdma_bind_addr(id_of(RDMA_PS_TCP), (struct sockaddr *)&addr));
}

MISTAKE(cm_address_without_family)
{
	struct sockaddr_in addr = { .sin_addr = { inet_addr("127.0.0.1") } };

	MUST_REFUSE(rdma_bind_addr(id_of(RDMA_PS_TCP), (struct sockaddr *)&addr));
}

MISTAKE(cm_resolve_foreign_address)
{
	struct rdma_cm_id *id = id_of(RDMA_PS_TCP);
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(7471),
				    .sin_addr = { inet_addr("192.0.2.9") } };

	if (!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 500))
		must_happen(id, RDMA_CM_EVENT_ADDR_ERROR);
}

MISTAKE(cm_private_data_too_long)
{
	static const char data[200];
	struct rdma_cm_id *id = resolved();
	struct rdma_conn_param param = { .private_data = data, .private_data_len = sizeof(data) };

	cm_make_qp(id);
	MUST_REFUSE(rdma_connect(id, &param));
}

MISTAKE(cm_depth_above_device)
{
	struct rdma_cm_id *id = resolved();
	struct rdma_conn_param param = { .initiator_depth = 200 };

	cm_make_qp(id);
	MUST_REFUSE(rdma_connect(id, &param));
}

MISTAKE(cm_connect_without_parameters)
{
	MUST_REFUSE(rdma_connect(resolved(), NULL));
}

MISTAKE(cm_nobody_listens)
{
	struct rdma_cm_id *id = resolved();
	struct rdma_conn_param param = { 0 };

	cm_make_qp(id);
	MUST(!rdma_connect(id, &param));
	must_happen(id, RDMA_CM_EVENT_REJECTED);
}

MISTAKE(cm_listener_of_another_port_space)
{
	struct rdma_event_channel *channels[] = { rdma_create_event_channel(),
						  rdma_create_event_channel() };
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *id;
	uint16_t port;

	MUST(cm_listening(channels[0], RDMA_PS_UDP, &port));
	id = cm_resolved(channels[1], RDMA_PS_TCP, port);
	cm_make_qp(id);
	MUST(!rdma_connect(id, &param));
	must_happen(id, RDMA_CM_EVENT_REJECTED);
}

MISTAKE(cm_unknown_port_space)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	MUST_REFUSE(rdma_create_id(channel, &id, NULL, (enum rdma_port_space)0x999));
}

MISTAKE(cm_request_of_no_listener)
{
	struct rdma_cm_id *id;

	MUST_REFUSE(rdma_get_request(resolved(), &id));
}

static void destroy_unacknowledged(void)
{
	struct rdma_cm_id *id = id_of(RDMA_PS_TCP);
	struct sockaddr_in addr = cm_loopback(7471);
	struct rdma_cm_event *event;

	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000));
	MUST(!rdma_get_cm_event(id->channel, &event));
	alarm(3); /* a limit, as the call that follows never returns */
	rdma_destroy_id(id);
	MUST(!"the call returns");
}

MISTAKE(cm_events_not_acknowledged)
{
	destroy_unacknowledged();
}

static void *pause_long(void *nothing)
{
	pause();
	return nothing;
}

/* With another thread, the call waits for a condition. */
MISTAKE(cm_events_not_acknowledged_by_thread)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, pause_long, NULL));
	destroy_unacknowledged();
}

MISTAKE(cm_events_muted_by_name)
{
	MUST(!setenv("VERBS_CHECK", "off:VERBS-EVENT-001", 1));
	destroy_unacknowledged();
}

static void end_by_signal(int number)
{
	_exit(number != SIGABRT);
}

MISTAKE(cm_events_abort_by_name)
{
	MUST(!setenv("VERBS_CHECK", "abort:VERBS-EVENT-001", 1));
	MUST(signal(SIGABRT, end_by_signal) != SIG_ERR);
	MUST(signal(SIGALRM, end_by_signal) != SIG_ERR);
	destroy_unacknowledged();
	MUST(!"alive");
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake connection_mistakes[] = {
	ROW(cm_route_before_address),
	ROW(cm_connect_before_route),
	ROW(cm_connect_before_address),
	ROW(cm_qp_before_address),
	ROW(cm_accept_of_no_request),
	ROW(cm_reject_of_no_request),
	ROW(cm_disconnect_unconnected),
	ROW(cm_address_twice),
	ROW(cm_bind_twice),
	ROW(cm_listen_on_client),
	ROW(cm_port_in_use),
	ROW(cm_bind_foreign_address),
	ROW(cm_address_without_family),
	ROW(cm_resolve_foreign_address),
	ROW(cm_private_data_too_long),
	ROW(cm_depth_above_device),
	ROW(cm_connect_without_parameters),
	ROW(cm_nobody_listens),
	ROW(cm_listener_of_another_port_space),
	ROW(cm_unknown_port_space),
	ROW(cm_request_of_no_listener),
	ROW(cm_events_not_acknowledged),
	ROW(cm_events_not_acknowledged_by_thread),
	ROW(cm_events_muted_by_name),
	ROW(cm_events_abort_by_name),
	{ 0 },
};
