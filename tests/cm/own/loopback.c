/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loopback.c - Linux' behaviour with the loopback and the wildcard address: an id bound there has
 * no device, its listener gets requests to all addresses of its families, and an id that resolves
 * such a destination gets a device.
 *
 * Covers: softhca/front/process/ucma/addr.c, softhca/front/process/ucma/bind.c,
 * softhca/front/process/ucma/conn.c, softhca/front/process/ucma/listen.c,
 * softhca/front/process/ucma/option.c, softhca/front/process/ucma/route.c
 */
#include <arpa/inet.h>

#include "tests/cm/cm.h"
#include "own.h"

static const char first_port[] = "198.18.0.1"; /* of the first adapter */
static const char first_port6[] = "::ffff:198.18.0.1";
static struct rdma_event_channel *channel;

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
};

static struct address address_of(const char *host, uint16_t port)
{
	struct address address = { .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };

	if (inet_pton(AF_INET6, host, &address.v6.sin6_addr) == 1)
		return address;
	address.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	MUST(inet_pton(AF_INET, host, &address.v4.sin_addr) == 1);
	return address;
}

static struct rdma_cm_id *id_new(void)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	return id;
}

static int bind_to(struct rdma_cm_id *id, const char *host, uint16_t port)
{
	struct address address = address_of(host, port);

	return rdma_bind_addr(id, &address.any);
}

static bool is_next(enum rdma_cm_event_type type, int status, struct rdma_cm_id **request)
{
	struct rdma_cm_event *event;
	bool right;

	MUST(!rdma_get_cm_event(channel, &event));
	right = event->event == type && event->status == status;
	if (request)
		*request = right ? event->id : NULL;
	MUST(!rdma_ack_cm_event(event));
	return right;
}

/* Returns the type of the event that answers a request to HOST's PORT. */
static enum rdma_cm_event_type connect_to(const char *host, uint16_t port)
{
	struct address address = address_of(host, port);
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *id = id_new(), *server = NULL;
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	MUST(!rdma_resolve_addr(id, NULL, &address.any, RESOLVE_MS));
	MUST(is_next(RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL));
	MUST(!rdma_resolve_route(id, RESOLVE_MS));
	MUST(is_next(RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL));
	cm_make_qp(id);
	MUST(!rdma_connect(id, &param) && !rdma_get_cm_event(channel, &event));
	type = event->event;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		server = event->id;
	MUST(!rdma_ack_cm_event(event));
	if (server) {
		say_check(server->verbs && server->verbs == id->verbs,
			  "%s: the request's id has a device", host);
		MUST(!rdma_reject(server, NULL, 0) && !rdma_destroy_id(server));
		MUST(is_next(RDMA_CM_EVENT_REJECTED, 28, NULL));
	}
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
	return type;
}

static bool is_heard(const char *host, uint16_t port)
{
	return connect_to(host, port) == RDMA_CM_EVENT_CONNECT_REQUEST;
}

/* AF_ONLY: value of RDMA_OPTION_ID_AFONLY, 0 or 1; -1: not set. */
static void listener_hears(const char *host, int af_only, bool ipv4, bool ipv6)
{
	struct rdma_cm_id *id = id_new();
	uint16_t port;

	if (af_only >= 0)
		MUST(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &af_only,
				      sizeof(af_only)));
	MUST(!bind_to(id, host, 0));
	say_check(!id->verbs && !id->port_num, "%s: bound to no device", host);
	MUST(!rdma_listen(id, 4));
	say_check(!id->verbs && !id->port_num, "%s: a listener without one", host);
	say_check(rdma_disconnect(id) == -1 && errno == EINVAL, "%s: nothing to disconnect", host);
	port = ntohs(rdma_get_src_port(id));
	say_check(is_heard(first_port, port) == ipv4 && is_heard(first_port6, port) == ipv6,
		  "%s, AFONLY %d: hears IPv4 %d, IPv6 %d", host, af_only, ipv4, ipv6);
	MUST(!rdma_destroy_id(id));
}

static void listener_of_a_port(void)
{
	struct rdma_cm_id *id = id_new();
	uint16_t port;

	MUST(!bind_to(id, first_port, 0));
	say_check(id->verbs && id->port_num == 1, "an adapter's address: bound to its port");
	MUST(!rdma_listen(id, 4));
	port = ntohs(rdma_get_src_port(id));
	say_check(is_heard(first_port, port) && !is_heard("127.0.0.1", port),
		  "an adapter's address: hears requests to that one");
	say_check(!rdma_disconnect(id), "an adapter's address: disconnects like Linux' listeners");
	MUST(!rdma_destroy_id(id));
}

static void listener_has_its_port_alone(const char *host, int error)
{
	struct rdma_cm_id *first = id_new(), *second = id_new();
	int yes = 1;

	MUST(!rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)));
	MUST(!rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)));
	MUST(!bind_to(first, host, 0));
	say_check(!bind_to(second, host, ntohs(rdma_get_src_port(first))), "%s: bound by two",
		  host);
	say_check(rdma_listen(first, 1) == -1 && errno == error,
		  "%s: none listens while two have the port: %s", host, say_errno(error));
	MUST(!rdma_destroy_id(second));
	say_check(!rdma_listen(first, 1), "%s: one alone listens", host);
	MUST(!rdma_destroy_id(first));
}

static bool has_source(struct rdma_cm_id *id, const char *host)
{
	struct address wanted = address_of(host, ntohs(rdma_get_src_port(id)));
	const struct sockaddr *own = rdma_get_local_addr(id);

	return own->sa_family == wanted.any.sa_family &&
	       !memcmp(own, &wanted,
		       own->sa_family == AF_INET ? sizeof(wanted.v4) : sizeof(wanted.v6));
}

/* Returns an id bound to FROM, unless NULL, that resolves TO. WHY: the status of the event if that
 * fails. */
static struct rdma_cm_id *id_resolve(const char *from, const char *to, int why)
{
	struct address address = address_of(to, 7471);
	struct rdma_cm_id *id = id_new();

	if (from)
		MUST(!bind_to(id, from, 0));
	MUST(!rdma_resolve_addr(id, NULL, &address.any, RESOLVE_MS));
	say_check(is_next(why ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED, -why, NULL),
		  "%s to %s: %s", from ? from : "unbound", to, say_errno(why));
	return id;
}

static void source_is(const char *from, const char *to, const char *source, unsigned int port)
{
	struct rdma_cm_id *id = id_resolve(from, to, 0);

	say_check(id->verbs && id->port_num == port && has_source(id, source),
		  "%s to %s: goes by %s of a device", from ? from : "unbound", to, source);
	MUST(!rdma_destroy_id(id));
}

static void loopback_reaches_this_host_only(void)
{
	struct address foreign = address_of("203.0.113.9", 7471);
	struct rdma_cm_id *id = id_new();

	MUST(!bind_to(id, "127.0.0.1", 0));
	say_check(rdma_resolve_addr(id, NULL, &foreign.any, RESOLVE_MS) == -1 && errno == EINVAL,
		  "the loopback to another host: Invalid argument");
	MUST(!rdma_destroy_id(id));
}

static bool is_roce(void)
{
	struct rdma_cm_id *id = id_resolve(NULL, first_port, 0);
	struct ibv_port_attr attr;
	bool roce;

	MUST(!ibv_query_port(id->verbs, id->port_num, &attr));
	roce = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	MUST(!rdma_destroy_id(id));
	return roce;
}

void own_loopback(void)
{
	say_topic("loopback");
	MUST(channel = rdma_create_event_channel());
	listener_hears("127.0.0.1", -1, true, false);
	listener_hears("127.0.0.2", 0, true, true);
	listener_hears("0.0.0.0", -1, true, false);
	listener_hears("0.0.0.0", 0, true, true);
	listener_hears("::1", -1, true, true);
	listener_hears("::1", 1, false, true);
	listener_hears("::", -1, true, true);
	listener_of_a_port();
	listener_has_its_port_alone(first_port, EADDRINUSE);
	listener_has_its_port_alone("127.0.0.1", EADDRNOTAVAIL);
	source_is(NULL, "0.0.0.0", "127.0.0.1", 1);
	source_is(NULL, "127.0.0.2", "127.0.0.1", 1);
	source_is("127.0.0.2", "127.0.0.3", "127.0.0.1", 1);
	source_is(NULL, "::", "::1", 1);
	source_is(first_port, "127.0.0.1", first_port, 1);
	source_is("0.0.0.0", first_port, first_port, 1);
	if (is_roce())
		MUST(!rdma_destroy_id(id_resolve("127.0.0.1", first_port, ENODEV)));
	else
		source_is("127.0.0.1", first_port, "127.0.0.1", 1);
	loopback_reaches_this_host_only();
	rdma_destroy_event_channel(channel);
}
