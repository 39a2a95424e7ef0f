/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast.c - datagram ids: looks up services, joins and leaves multicast groups.
 *
 * Covers: librdmacm/mcast.c, softhca/front/process/ucma/mcast.c,
 * softhca/front/process/ucma/service.c, softhca/front/process/ucma/gsi.c
 */
#include <arpa/inet.h>

#include "tests/cm/cm.h"

static void look_up(const char *what, struct rdma_event_channel *channel, uint16_t port,
		    uint8_t len)
{
	static const uint8_t data[255] = { 1, 2, 3 };
	struct rdma_conn_param param = { .private_data = data, .private_data_len = len };
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_UDP, port);

	cm_make_qp(id);
	if (!SAY_RET(rdma_connect(id, &param), "connect: %s", what) && port == 1)
		cm_expect("client", channel);
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

static void service_answer(bool accepts, uint8_t len)
{
	static const uint8_t data[255] = { 9, 8, 7 };
	struct rdma_event_channel *client_channel = rdma_create_event_channel(),
				  *channel = rdma_create_event_channel();
	struct rdma_conn_param param = { .private_data = data, .private_data_len = 10 };
	struct rdma_cm_id *client, *listener, *server;
	struct rdma_cm_event *event;
	uint16_t port;

	listener = cm_listening(channel, RDMA_PS_UDP, &port);
	client = cm_resolved(client_channel, RDMA_PS_UDP, port);
	cm_make_qp(client);
	MUST(!rdma_connect(client, &param));
	event = cm_next("server", channel, WAIT_MS);
	MUST(event);
	server = event->id;
	rdma_ack_cm_event(event);
	cm_make_qp(server);
	param.private_data_len = len;
	param.qp_num = server->qp->qp_num;
	if (accepts)
		SAY_RET(rdma_accept(server, &param), "accept with %u bytes", len);
	else
		SAY_RET(rdma_reject(server, data, len), "reject with %u bytes", len);
	cm_expect("client", client_channel);
	SAY_RET(rdma_disconnect(client), "disconnect");
	rdma_destroy_qp(server);
	MUST(!rdma_destroy_id(server));
	rdma_destroy_qp(client);
	MUST(!rdma_destroy_id(client) && !rdma_destroy_id(listener));
	rdma_destroy_event_channel(client_channel);
	rdma_destroy_event_channel(channel);
}

void cm_diff_datagrams(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	MUST(channel);
	look_up("nobody listens", channel, 1, 0);
	look_up("180 bytes of private data", channel, 1, 180);
	look_up("181 bytes of private data", channel, 1, 181);
	look_up("255 bytes of private data", channel, 1, 255);
	rdma_destroy_event_channel(channel);
	service_answer(true, 5);
	service_answer(true, 136);
	service_answer(false, 0);
	service_answer(false, 20);
}

static void group_join(struct rdma_event_channel *channel, struct rdma_cm_id *id, const char *what,
		       struct sockaddr *addr)
{
	struct rdma_cm_event *event;
	int context = 0;

	if (SAY_RET(rdma_join_multicast(id, addr, &context), "join %s", what))
		return;
	event = cm_next(what, channel, WAIT_MS);
	if (!event)
		return;
	if (event->event == RDMA_CM_EVENT_MULTICAST_JOIN)
		say("qp_num 0x%x qkey 0x%x context %d", event->param.ud.qp_num,
		    event->param.ud.qkey, event->param.ud.private_data == &context);
	rdma_ack_cm_event(event);
}

static void group_leave(struct rdma_cm_id *id, const char *what, struct sockaddr *addr)
{
	SAY_RET(rdma_leave_multicast(id, addr), "leave %s", what);
}

/* A member that only sends to a group must not receive from it, so it is not attached. */
static void attached(struct rdma_event_channel *channel, struct rdma_cm_id *id,
		     struct sockaddr *addr, uint32_t flags)
{
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = 3, .join_flags = flags, .addr = addr };
	struct ibv_ah_attr *to;
	struct rdma_cm_event *event;

	MUST(!rdma_join_multicast_ex(id, &attr, NULL));
	MUST(!rdma_get_cm_event(channel, &event));
	MUST(event->event == RDMA_CM_EVENT_MULTICAST_JOIN);
	to = &event->param.ud.ah_attr;
	say("joined with flags %u: attached %d", flags,
	    !ibv_detach_mcast(id->qp, &to->grh.dgid, to->dlid));
	rdma_ack_cm_event(event);
	group_leave(id, "it", addr);
}

static void extended(struct rdma_event_channel *channel, struct rdma_cm_id *id,
		     struct sockaddr *addr)
{
	static const uint32_t masks[] = { 0, 1, 2, 3, 4, 7 };
	static const uint32_t flags[] = { 0, 1, 2 };

	for (size_t m = 0; m < ARRAY_SIZE(masks); m++)
		for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
			struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = masks[m],
								.join_flags = flags[f],
								.addr = addr };

			if (SAY_RET(rdma_join_multicast_ex(id, &attr, NULL),
				    "join_ex 0x%x flags %u", masks[m], flags[f]))
				continue;
			cm_expect("joined", channel);
			group_leave(id, "it", addr);
		}
}

void cm_diff_mcast(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in group = cm_loopback(0), other = cm_loopback(0), unicast = cm_loopback(0);
	struct sockaddr_in odd = { .sin_family = AF_UNIX };
	struct rdma_cm_id *id;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	group.sin_addr.s_addr = inet_addr("224.1.2.3");
	other.sin_addr.s_addr = inet_addr("224.1.2.4");
	group_join(channel, id, "a group without a device", (struct sockaddr *)&group);
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_UDP, 7471);
	cm_make_qp(id);
	group_leave(id, "a group never joined", (struct sockaddr *)&group);
	group_join(channel, id, "a group", (struct sockaddr *)&group);
	group_join(channel, id, "another", (struct sockaddr *)&other);
	group_leave(id, "it", (struct sockaddr *)&group);
	group_leave(id, "it once more", (struct sockaddr *)&group);
	group_join(channel, id, "an address of another kind", (struct sockaddr *)&odd);
	group_join(channel, id, "no group", (struct sockaddr *)&unicast);
	group_leave(id, "no group", (struct sockaddr *)&unicast);
	extended(channel, id, (struct sockaddr *)&group);
	attached(channel, id, (struct sockaddr *)&group, RDMA_MC_JOIN_FLAG_FULLMEMBER);
	attached(channel, id, (struct sockaddr *)&group, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	rdma_destroy_qp(id);
	SAY_RET(rdma_destroy_id(id), "destroy_id with a group");
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	group_join(channel, id, "a group with an id of connections", (struct sockaddr *)&group);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}
