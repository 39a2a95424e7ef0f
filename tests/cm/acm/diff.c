/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff.c - acm-diff: prints how rdma_getaddrinfo(), rdma_resolve_route() and rdma_create_ep() use
 * ibacm's answers. With the same daemon, the output must be the same on every librdmacm.
 *
 * Covers: librdmacm/acm.c, librdmacm/acm_wire.c, librdmacm/addrinfo.c, librdmacm/addrinfo_route.c
 */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

enum { PORT = 7471 };

static void say_bytes(const char *what, const void *bytes, size_t len)
{
	char text[2 * 16 + 1];

	for (size_t at = 0; at < len; at += 16) {
		for (size_t i = 0; i < 16; i++)
			snprintf(text + 2 * i, 3, "%02x",
				 at + i < len ? ((const uint8_t *)bytes)[at + i] : 0);
		say("%s %3zu: %s", what, at, text);
	}
}

static void say_addr(const char *what, const struct sockaddr *addr, socklen_t len)
{
	const struct sockaddr_ib *sib = (const struct sockaddr_ib *)addr;
	char text[INET6_ADDRSTRLEN] = "";

	if (!addr) {
		say("%s: NULL, %u bytes", what, len);
		return;
	}
	if (addr->sa_family == AF_IB) {
		inet_ntop(AF_INET6, &sib->sib_addr, text, sizeof(text));
		say("%s: GID %s pkey 0x%x flow 0x%x sid 0x%llx mask 0x%llx scope %llu, %u bytes",
		    what, text, ntohs(sib->sib_pkey), ntohl(sib->sib_flowinfo),
		    (unsigned long long)be64toh(sib->sib_sid),
		    (unsigned long long)be64toh(sib->sib_sid_mask),
		    (unsigned long long)sib->sib_scope_id, len);
		return;
	}
	if (addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)addr)->sin_addr, text,
			  sizeof(text));
	else
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)addr)->sin6_addr, text,
			  sizeof(text));
	say("%s: %s port %u, %u bytes", what, text,
	    ntohs(((const struct sockaddr_in *)addr)->sin_port), len);
}

/* Prints the host without the port or service, as the system may choose any. */
static void say_host(const char *what, const struct sockaddr *addr)
{
	struct sockaddr_storage copy = { .ss_family = addr->sa_family };

	if (addr->sa_family == AF_IB) {
		memcpy(&copy, addr, sizeof(struct sockaddr_ib));
		((struct sockaddr_ib *)&copy)->sib_sid = 0;
	} else if (addr->sa_family == AF_INET) {
		memcpy(&copy, addr, sizeof(struct sockaddr_in));
		((struct sockaddr_in *)&copy)->sin_port = 0;
	}
	say_addr(what, (struct sockaddr *)&copy, 0);
}

static void say_info(const struct rdma_addrinfo *info)
{
	for (; info; info = info->ai_next) {
		say("flags 0x%x family %d qp_type %d port_space 0x%x names %s %s", info->ai_flags,
		    info->ai_family, info->ai_qp_type, info->ai_port_space,
		    info->ai_src_canonname ? info->ai_src_canonname : "-",
		    info->ai_dst_canonname ? info->ai_dst_canonname : "-");
		say_addr("src", info->ai_src_addr, info->ai_src_len);
		say_addr("dst", info->ai_dst_addr, info->ai_dst_len);
		say_bytes("route", info->ai_route, info->ai_route_len);
		say_bytes("connect", info->ai_connect, info->ai_connect_len);
	}
}

static void addrinfo_ask(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *info = NULL;
	int ret = rdma_getaddrinfo((char *)node, (char *)service, hints, &info);

	say("%s %s flags 0x%x: %d", node ? node : "-", service ? service : "-",
	    hints ? hints->ai_flags : 0, ret);
	if (ret)
		return;
	say_info(info);
	rdma_freeaddrinfo(info);
}

static struct sockaddr_in host(const char *text, uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr = { inet_addr(text) } };
}

static void ask_by_flags(void)
{
	static const int flags[] = { 0, RAI_PASSIVE, RAI_NUMERICHOST, RAI_NOROUTE };
	struct rdma_addrinfo hints;

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		hints = (struct rdma_addrinfo){ .ai_flags = flags[i],
						.ai_port_space = RDMA_PS_TCP };
		addrinfo_ask("127.0.0.1", "7471", &hints);
		addrinfo_ask("198.18.0.9", NULL, &hints);
	}
}

static void ask_by_hints(void)
{
	struct sockaddr_in src = host("198.18.0.9", 0), dst = host("198.18.0.1", PORT);
	struct ibv_path_data data = { .path = { .pkey = htons(0xffff), .mtu = 0x84 } };
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP,
				       .ai_src_addr = (struct sockaddr *)&src,
				       .ai_src_len = sizeof(src) };

	addrinfo_ask("198.18.0.1", "7471", &hints);
	src.sin_port = htons(77);
	addrinfo_ask("198.18.0.1", "7471", &hints);
	hints.ai_route = &data;
	hints.ai_route_len = sizeof(data);
	addrinfo_ask("198.18.0.1", "7471", &hints);
	hints.ai_route = &data.path;
	hints.ai_route_len = sizeof(data.path);
	addrinfo_ask("198.18.0.1", "7471", &hints);
	hints = (struct rdma_addrinfo){ .ai_family = AF_INET,
					.ai_port_space = RDMA_PS_TCP,
					.ai_dst_addr = (struct sockaddr *)&dst,
					.ai_dst_len = sizeof(dst) };
	addrinfo_ask(NULL, NULL, &hints);
	hints = (struct rdma_addrinfo){ .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_UDP };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	hints = (struct rdma_addrinfo){ .ai_port_space = RDMA_PS_IB };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	/* a host that the daemon does not know */
	addrinfo_ask("203.0.113.9", "7471", NULL);
}

static struct rdma_cm_id *resolved(struct rdma_event_channel *channel, const char *to)
{
	struct sockaddr_in addr = host(to, PORT);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, RESOLVE_MS));
	cm_expect("address", channel);
	return id;
}

static void resolve_route(struct rdma_event_channel *channel, const char *to)
{
	struct rdma_cm_id *id = resolved(channel, to);

	if (!SAY_RET(rdma_resolve_route(id, RESOLVE_MS), "route to %s", to) &&
	    cm_expect("route", channel) == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		say("paths %d", id->route.num_paths);
		if (id->route.num_paths)
			say("mtu %u rate %u lifetime %u", id->route.path_rec->mtu,
			    id->route.path_rec->rate, id->route.path_rec->packet_life_time);
	}
	MUST(!rdma_destroy_id(id));
}

static struct rdma_cm_id *listen_at(struct rdma_event_channel *channel)
{
	struct sockaddr_in any = cm_loopback(PORT);
	struct rdma_cm_id *id;

	any.sin_addr.s_addr = INADDR_ANY;
	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&any) && !rdma_listen(id, 4));
	return id;
}

static void *answer_one(void *arg)
{
	struct rdma_event_channel *channel = arg;
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	/* reads events until the connection ends or fails */
	while (!rdma_get_cm_event(channel, &event)) {
		int type = event->event;

		id = event->id;
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			say_host("request from", rdma_get_peer_addr(id));
			say_host("request to", rdma_get_local_addr(id));
			say_bytes("request data", event->param.conn.private_data,
				  event->param.conn.private_data_len);
			cm_make_qp(id);
		}
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			SAY_RET(rdma_accept(id, &param), "accept");
		if (type != RDMA_CM_EVENT_DISCONNECTED)
			continue;
		rdma_disconnect(id);
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
		break;
	}
	return NULL;
}

static void connect_by(struct rdma_addrinfo *info)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener = listen_at(channel), *id = NULL;
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 0 }, .sq_sig_all = 1 };
	struct rdma_conn_param param = { .initiator_depth = 1,
					 .responder_resources = 1,
					 .private_data = "private",
					 .private_data_len = 8 };
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, answer_one, channel));
	if (!SAY_RET(rdma_create_ep(&id, info, NULL, &attr), "create_ep by family %d",
		     info->ai_family)) {
		say("paths %d", id->route.num_paths);
		MUST(!rdma_connect(id, &param));
		rdma_disconnect(id);
		/* its output describes how the connection was accepted */
		pthread_join(thread, NULL);
		say("was connected");
		rdma_destroy_ep(id);
	} else {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
}

static void connect_by_each(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;

	MUST(!rdma_getaddrinfo("198.18.0.1", "7471", &hints, &info));
	for (struct rdma_addrinfo *one = info; one; one = one->ai_next)
		connect_by(one);
	rdma_freeaddrinfo(info);
}

static void ask_gid(const char *gid)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST | RAI_FAMILY,
				       .ai_family = AF_IB,
				       .ai_port_space = RDMA_PS_IB };

	addrinfo_ask(gid, "7471", &hints);
	hints.ai_flags |= RAI_PASSIVE;
	addrinfo_ask(gid, "7471", &hints);
}

static void ask_own_gid(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = resolved(channel, "127.0.0.1");
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &id->route.addr.addr.ibaddr.sgid, text, sizeof(text));
	MUST(!rdma_destroy_id(id));
	ask_gid(text);
	ask_gid("fe80::77");
}

static bool has_route(const char *node)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	const struct ibv_path_data *path;
	struct in_addr to;
	bool right;

	if (rdma_getaddrinfo((char *)node, "7471", &hints, &info))
		return false;
	/* the two adapters' ports have different LIDs, so an answer to another question shows */
	path = info->ai_route;
	inet_aton(node, &to);
	right = info->ai_route_len == sizeof(*path) && info->ai_next &&
		!memcmp(&((struct sockaddr_in *)info->ai_next->ai_dst_addr)->sin_addr, &to,
			sizeof(to)) &&
		!memcmp(&path->path.dgid, &((struct sockaddr_ib *)info->ai_dst_addr)->sib_addr, 16);
	rdma_freeaddrinfo(info);
	return right;
}

static void *ask_often(void *arg)
{
	for (int i = 0; i < 50; i++)
		if (!has_route(arg))
			return NULL;
	return arg;
}

static int lowest_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void ask_by_threads(void)
{
	static char *const nodes[] = { "127.0.0.1", "198.18.0.1", "198.18.0.9", "198.18.0.1" };
	pthread_t threads[ARRAY_SIZE(nodes)];
	void *done;

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		MUST(!pthread_create(&threads[i], NULL, ask_often, nodes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		pthread_join(threads[i], &done);
		say_check(done, "thread %zu has the answers to its questions", i);
	}
}

static void ask_by_child(void)
{
	int fd = lowest_fd(), status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(!ask_often("198.18.0.9"));
	say_check(ask_often("198.18.0.1"), "a parent has its answers while its child asks");
	say_check(waitpid(pid, &status, 0) == pid && !status, "a child has its answers");
	say_check(lowest_fd() == fd, "no descriptor is left behind");
}

/* Replaces each socket that is connected by TCP or to a path by FD, and returns their number. The
 * library's connection to the daemon is among them. */
static int replace_connections(int fd)
{
	struct sockaddr_storage peer;
	int count = 0;

	for (int at = 3; at < 256; at++) {
		socklen_t len = sizeof(peer);

		if (at == fd || getpeername(at, (struct sockaddr *)&peer, &len) ||
		    (peer.ss_family == AF_UNIX && len <= sizeof(sa_family_t)))
			continue;
		MUST(dup2(fd, at) == at);
		count++;
	}
	return count;
}

/* A program that closes all descriptors may reuse their numbers for its own connections, so the
 * library must not write to the number that it remembers. */
static void ask_after_a_change_of_numbers(void)
{
	int ends[2];
	char byte;

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	say_check(replace_connections(ends[0]) == 1,
		  "the library has one connection to the daemon");
	say_check(has_route("127.0.0.1"), "a route by the daemon after its socket was closed");
	say_check(recv(ends[1], &byte, 1, MSG_DONTWAIT) == -1,
		  "no message in a connection of the program");
}

static void ask_much(void)
{
	say_check(has_route("127.0.0.1"), "a route by the daemon");
	ask_after_a_change_of_numbers();
	ask_by_threads();
	ask_by_child();
}

static struct rdma_event_channel *channel;

static void ask_little(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NOROUTE, .ai_port_space = RDMA_PS_TCP };

	addrinfo_ask("127.0.0.1", "7471", &hints);
	addrinfo_ask("127.0.0.1", "7471", &hints);
	resolve_route(channel, "127.0.0.1");
}

static void ask_everything(void)
{
	ask_by_flags();
	ask_by_hints();
	ask_own_gid(channel);
	resolve_route(channel, "127.0.0.1");
	resolve_route(channel, "198.18.0.9");
	connect_by_each();
}

/* Takes one argument. many: questions from several threads and a child; few: two questions and a
 * route; all: all of them. */
int main(int argc, char *argv[])
{
	static const struct topic topics[] = {
		{ "all", ask_everything },
		{ "few", ask_little },
		{ "many", ask_much },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	TOPICS_CHOOSE(topics, argc, argv);
	MUST(channel = rdma_create_event_channel());
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	rdma_destroy_event_channel(channel);
	return topics_end();
}
