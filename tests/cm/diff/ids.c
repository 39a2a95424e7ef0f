/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ids.c - ids: port spaces, binding, options, names of events, moving to another channel.
 *
 * Covers: librdmacm/id.c, librdmacm/device.c, softhca/front/process/ucma/id.c,
 * softhca/front/process/ucma/bind.c, softhca/front/process/ucma/option.c,
 * softhca/front/process/ucma/query.c, softhca/front/process/ucma/file.c,
 * softhca/front/process/ucma/command.c, softhca/front/process/ucma/ucma.h
 */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <unistd.h>

#include "tests/cm/cm.h"

void cm_diff_names(void)
{
	for (int i = 0; i < 16; i++)
		say("event %d: %s", i, rdma_event_str((enum rdma_cm_event_type)i));
	say("event 99: %s", rdma_event_str((enum rdma_cm_event_type)99));
	say("event -1: %s", rdma_event_str((enum rdma_cm_event_type) - 1));
}

void cm_diff_ids(void)
{
	static const int spaces[] = { RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, 0, 1,
				      0x107,         0xffff };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_event_channel closed = { .fd = -1 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	MUST(channel);
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (SAY_RET(rdma_create_id(channel, &id, &id, (enum rdma_port_space)spaces[i]),
			    "create_id of 0x%x", spaces[i]))
			continue;
		say("context %d channel %d verbs %d qp %d type %d ps 0x%x port %u event %d",
		    id->context == &id, id->channel == channel, id->verbs != NULL, id->qp != NULL,
		    id->qp_type, id->ps, id->port_num, id->event != NULL);
		say("ports %u %u", ntohs(rdma_get_src_port(id)), ntohs(rdma_get_dst_port(id)));
		SAY_RET(rdma_destroy_id(id), "destroy_id");
	}
	SAY_RET(rdma_create_id(&closed, &id, NULL, RDMA_PS_TCP), "create_id on no descriptor");
	SAY_RET(rdma_get_cm_event(&closed, &event), "get_cm_event of no descriptor");
	SAY_RET(rdma_get_cm_event(channel, NULL), "get_cm_event without room");
	SAY_RET(rdma_ack_cm_event(NULL), "ack_cm_event of none");
	rdma_destroy_event_channel(channel);
}

static void bind_to(struct rdma_event_channel *channel, const char *what, struct sockaddr *addr)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	if (!SAY_RET(rdma_bind_addr(id, addr), "bind to %s", what))
		say("verbs %d port_num %u family %d, a port was chosen: %d", id->verbs != NULL,
		    id->port_num, rdma_get_local_addr(id)->sa_family, rdma_get_src_port(id) != 0);
	SAY_RET(rdma_bind_addr(id, addr), "once more");
	MUST(!rdma_destroy_id(id));
}

static void bind_same_port(struct rdma_event_channel *channel)
{
	struct sockaddr_in addr = cm_loopback(0);
	struct rdma_cm_id *first, *second;
	uint16_t port;
	int on = 1;

	first = cm_listening(channel, RDMA_PS_TCP, &port);
	addr = cm_loopback(port);
	MUST(!rdma_create_id(channel, &second, NULL, RDMA_PS_TCP));
	SAY_RET(rdma_bind_addr(second, (struct sockaddr *)&addr), "bind to a port in use");
	MUST(!rdma_destroy_id(second));
	MUST(!rdma_create_id(channel, &second, NULL, RDMA_PS_UDP));
	SAY_RET(rdma_bind_addr(second, (struct sockaddr *)&addr),
		"bind to it in another port space");
	MUST(!rdma_destroy_id(second));
	MUST(!rdma_create_id(channel, &second, NULL, RDMA_PS_TCP));
	SAY_RET(rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)),
		"REUSEADDR");
	SAY_RET(rdma_bind_addr(second, (struct sockaddr *)&addr), "bind to it with REUSEADDR");
	MUST(!rdma_destroy_id(second));
	MUST(!rdma_destroy_id(first));
}

void cm_diff_bind(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in any = { .sin_family = AF_INET }, loopback = cm_loopback(0),
			   foreign = cm_loopback(0);
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in6 loopback6 = { .sin6_family = AF_INET6,
					  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in odd = { .sin_family = AF_UNIX };
	struct sockaddr_in none = { .sin_family = 0 };

	MUST(channel);
	foreign.sin_addr.s_addr = inet_addr("203.0.113.9");
	bind_to(channel, "any address", (struct sockaddr *)&any);
	bind_to(channel, "the loopback", (struct sockaddr *)&loopback);
	bind_to(channel, "a foreign address", (struct sockaddr *)&foreign);
	bind_to(channel, "any address of IPv6", (struct sockaddr *)&any6);
	bind_to(channel, "the loopback of IPv6", (struct sockaddr *)&loopback6);
	bind_to(channel, "an address of another kind", (struct sockaddr *)&odd);
	bind_to(channel, "no address", (struct sockaddr *)&none);
	bind_same_port(channel);
	rdma_destroy_event_channel(channel);
}

static void option_set(struct rdma_cm_id *id, int level, int name, const void *value, size_t size)
{
	SAY_RET(rdma_set_option(id, level, name, (void *)value, size),
		"level %d option %d of %zu bytes", level, name, size);
}

void cm_diff_options(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	static const uint8_t byte = 3, too_long = 32;
	static const int number = 1;
	struct rdma_cm_id *id;
	uint64_t paths[20] = { 0 };

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, sizeof(byte));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &number, sizeof(number));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number, sizeof(number));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &byte, sizeof(byte));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &number, sizeof(number));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, sizeof(byte));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &too_long, sizeof(too_long));
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &number, sizeof(number));
	option_set(id, RDMA_OPTION_ID, 99, &number, sizeof(number));
	option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths));
	option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, 5);
	option_set(id, RDMA_OPTION_IB, 99, paths, sizeof(paths));
	option_set(id, 99, 0, &number, sizeof(number));
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

void cm_diff_migrate(void)
{
	struct rdma_event_channel *second = rdma_create_event_channel();
	struct rdma_event_channel closed = { .fd = -1 };
	struct cm_pair pair;

	MUST(second);
	cm_pair_connect(&pair);
	SAY_RET(rdma_migrate_id(pair.client, second), "migrate the client");
	say_check(pair.client->channel == second, "the id knows its channel");
	SAY_RET(rdma_disconnect(pair.server), "disconnect the server");
	cm_expect("client, on the second channel", second);
	say("the first: %s",
	    cm_next("client", pair.client_channel, QUIET_MS) ? "an event" : "nothing");
	SAY_RET(rdma_migrate_id(pair.client, &closed), "migrate to no descriptor");
	SAY_RET(rdma_migrate_id(pair.client, pair.client_channel), "and back");
	cm_expect("server", pair.server_channel);
	SAY_RET(rdma_migrate_id(pair.listener, NULL), "the listener to a channel of its own");
	say_check(pair.listener->channel && pair.listener->channel != pair.server_channel,
		  "it has one");
	cm_pair_close(&pair);
	rdma_destroy_event_channel(second);
}
