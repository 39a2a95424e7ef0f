/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addresses.c - resolves addresses and names: existing, missing and invalid ones.
 *
 * Covers: librdmacm/resolve.c, librdmacm/addrinfo.c, librdmacm/addrinfo_entry.c,
 * softhca/front/process/ucma/addr.c,
 * softhca/front/process/ucma/resolve.c, softhca/front/process/ucma/route.c
 */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <stdio.h>

#include "tests/cm/cm.h"

static void address_resolve(struct rdma_event_channel *channel, const char *what,
			    struct sockaddr *from, struct sockaddr *to)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	if (!SAY_RET(rdma_resolve_addr(id, from, to, RESOLVE_MS), "resolve %s", what)) {
		cm_expect(what, channel);
		say("verbs %d port_num %u", id->verbs != NULL, id->port_num);
		if (id->verbs &&
		    !SAY_RET(rdma_resolve_route(id, RESOLVE_MS), "route to %s", what)) {
			cm_expect(what, channel);
			say("paths %d", id->route.num_paths);
		}
	}
	MUST(!rdma_destroy_id(id));
}

static void address_is_refused(struct rdma_event_channel *channel, const char *what,
			       struct sockaddr *address, int error)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	say_check(rdma_bind_addr(id, address) == -1 && errno == error, "bind to %s: %s", what,
		  say_errno(error));
	MUST(!rdma_destroy_id(id));
}

static void bad_sources(struct rdma_event_channel *channel)
{
	struct sockaddr_in group = cm_loopback(0);
	struct sockaddr_in6 address6 = { .sin6_family = AF_INET6 };

	group.sin_addr.s_addr = inet_addr("224.1.1.1");
	address_is_refused(channel, "a group", (struct sockaddr *)&group, EADDRNOTAVAIL);
	MUST(inet_pton(AF_INET6, "ff12::1", &address6.sin6_addr) == 1);
	address_is_refused(channel, "a group of IPv6", (struct sockaddr *)&address6, EADDRNOTAVAIL);
	MUST(inet_pton(AF_INET6, "fe80::fc:ff:fe00:1", &address6.sin6_addr) == 1);
	address_is_refused(channel, "an address of one link, of which is not said",
			   (struct sockaddr *)&address6, EINVAL);
}

void cm_diff_addresses(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in loopback = cm_loopback(7471), foreign = cm_loopback(7471),
			   any = cm_loopback(0);
	struct sockaddr_in6 loopback6 = { .sin6_family = AF_INET6,
					  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in odd = { .sin_family = AF_UNIX };

	MUST(channel);
	foreign.sin_addr.s_addr = inet_addr("203.0.113.9");
	any.sin_addr.s_addr = INADDR_ANY;
	address_resolve(channel, "the loopback", NULL, (struct sockaddr *)&loopback);
	address_resolve(channel, "the loopback of IPv6", NULL, (struct sockaddr *)&loopback6);
	address_resolve(channel, "the loopback from itself", (struct sockaddr *)&loopback,
			(struct sockaddr *)&loopback);
	address_resolve(channel, "the loopback from any address", (struct sockaddr *)&any,
			(struct sockaddr *)&loopback);
	address_resolve(channel, "the loopback from a foreign address", (struct sockaddr *)&foreign,
			(struct sockaddr *)&loopback);
	address_resolve(channel, "any address", NULL, (struct sockaddr *)&any);
	address_resolve(channel, "a foreign address", NULL, (struct sockaddr *)&foreign);
	address_resolve(channel, "an address of another kind", NULL, (struct sockaddr *)&odd);
	address_resolve(channel, "from an address of another kind", (struct sockaddr *)&odd,
			(struct sockaddr *)&loopback);
	address_resolve(channel, "from another family", (struct sockaddr *)&loopback6,
			(struct sockaddr *)&loopback);
	bad_sources(channel);
	rdma_destroy_event_channel(channel);
}

static void say_addr(const char *what, const struct sockaddr *addr, socklen_t len)
{
	char text[INET6_ADDRSTRLEN] = "";
	uint16_t port = 0;

	if (addr && addr->sa_family == AF_INET) {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)addr)->sin_addr, text,
			  sizeof(text));
		port = ntohs(((const struct sockaddr_in *)addr)->sin_port);
	} else if (addr && addr->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)addr)->sin6_addr, text,
			  sizeof(text));
		port = ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
	}
	if (addr && addr->sa_family == AF_IB) {
		const struct sockaddr_ib *sib = (const struct sockaddr_ib *)addr;

		inet_ntop(AF_INET6, &sib->sib_addr, text, sizeof(text));
		say("%s: pkey 0x%x flow 0x%x sid 0x%llx mask 0x%llx scope %llu", what,
		    ntohs(sib->sib_pkey), ntohl(sib->sib_flowinfo),
		    (unsigned long long)be64toh(sib->sib_sid),
		    (unsigned long long)be64toh(sib->sib_sid_mask),
		    (unsigned long long)sib->sib_scope_id);
	}
	say("%s: %s, %u bytes, family %d, %s port %u", what, addr ? "given" : "NULL", len,
	    addr ? addr->sa_family : -1, text, port);
}

static void say_info(const struct rdma_addrinfo *info)
{
	for (; info; info = info->ai_next) {
		say("flags 0x%x family %d qp_type %d port_space 0x%x route %zu connect %zu",
		    info->ai_flags, info->ai_family, info->ai_qp_type, info->ai_port_space,
		    info->ai_route_len, info->ai_connect_len);
		say_addr("src", info->ai_src_addr, info->ai_src_len);
		say_addr("dst", info->ai_dst_addr, info->ai_dst_len);
		say("names %s %s", info->ai_src_canonname ? info->ai_src_canonname : "-",
		    info->ai_dst_canonname ? info->ai_dst_canonname : "-");
	}
}

static void addrinfo_ask(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *info = NULL;
	int ret = rdma_getaddrinfo((char *)node, (char *)service, hints, &info);

	say("%s %s flags 0x%x family %d type %d space 0x%x: %d %s", node ? node : "-",
	    service ? service : "-", hints ? hints->ai_flags : 0, hints ? hints->ai_family : 0,
	    hints ? hints->ai_qp_type : 0, hints ? hints->ai_port_space : 0, ret,
	    ret < -1 ? gai_strerror(ret) : "");
	if (ret)
		return;
	say_info(info);
	rdma_freeaddrinfo(info);
}

/* Asks with neither node nor service, so the hints alone decide. */
static void ask_without_name(void)
{
	static const int flags[] = { 0, RAI_PASSIVE, RAI_NOROUTE, RAI_NUMERICHOST | RAI_FAMILY };
	static const int types[] = { 0, IBV_QPT_RC, IBV_QPT_UD };
	struct sockaddr_in src = cm_loopback(0), dst = cm_loopback(7471);
	struct rdma_addrinfo hints;

	for (size_t f = 0; f < ARRAY_SIZE(flags); f++)
		for (size_t t = 0; t < ARRAY_SIZE(types); t++)
			for (int ends = 0; ends < 4; ends++) {
				hints = (struct rdma_addrinfo){ .ai_flags = flags[f],
								.ai_family = AF_INET,
								.ai_qp_type = types[t] };
				if (ends & 1) {
					hints.ai_src_addr = (struct sockaddr *)&src;
					hints.ai_src_len = sizeof(src);
				}
				if (ends & 2) {
					hints.ai_dst_addr = (struct sockaddr *)&dst;
					hints.ai_dst_len = sizeof(dst);
				}
				addrinfo_ask(NULL, NULL, &hints);
			}
}

/* Combines QP types with port spaces, which may contradict each other. */
static void ask_of_kinds(void)
{
	static const int types[] = { 0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 77, 255 };
	static const int spaces[] = {
		0, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB, 0x77
	};
	static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6, AF_APPLETALK };
	struct rdma_addrinfo hints;

	for (size_t t = 0; t < ARRAY_SIZE(types); t++)
		for (size_t s = 0; s < ARRAY_SIZE(spaces); s++) {
			hints = (struct rdma_addrinfo){ .ai_qp_type = types[t],
							.ai_port_space = spaces[s] };
			addrinfo_ask("127.0.0.1", "7471", &hints);
		}
	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		hints = (struct rdma_addrinfo){ .ai_family = families[f] };
		addrinfo_ask("127.0.0.1", NULL, &hints);
		addrinfo_ask("::1", "1", &hints);
	}
}

/* A string is parsed as a GID only if the hints say that it is numeric and that the family is
 * AF_IB. */
static void ask_for_gids(void)
{
	static const char *const nodes[] = { NULL, "fe80::1:2:3:4", "fe80::1:2:3:4%lo",
					     "127.0.0.1" };
	static const char *const services[] = { NULL, "7471", "http" };
	const int numeric = RAI_NUMERICHOST | RAI_FAMILY;
	struct rdma_addrinfo hints;

	for (int flags = 0; flags < 16; flags++)
		for (size_t n = 0; n < ARRAY_SIZE(nodes); n++)
			for (size_t s = 0; s < ARRAY_SIZE(services); s++) {
				hints = (struct rdma_addrinfo){ .ai_flags = flags,
								.ai_family = AF_IB,
								.ai_port_space = RDMA_PS_IB };
				/* left out, as Debian's reads beyond the end of an IPv4 address
				 * here */
				if ((flags & numeric) == numeric &&
				    (n == 3 || (!n && flags & RAI_PASSIVE)))
					continue;
				if (nodes[n] || services[s])
					addrinfo_ask(nodes[n], services[s], &hints);
			}
}

void cm_diff_addrinfo(void)
{
	static const int flags[] = { 0, RAI_PASSIVE, RAI_NUMERICHOST, RAI_NUMERICHOST | RAI_FAMILY,
				     RAI_NOROUTE };
	static const char *const nodes[] = { NULL, "127.0.0.1", "::1", "localhost.invalid",
					     "300.1.2.3" };
	static const char *const services[] = { NULL, "7471", "nosuchservice" };
	struct sockaddr_in addr = cm_loopback(7471);
	struct rdma_addrinfo hints;

	for (size_t f = 0; f < ARRAY_SIZE(flags); f++)
		for (size_t n = 0; n < ARRAY_SIZE(nodes); n++)
			for (size_t s = 0; s < ARRAY_SIZE(services); s++) {
				hints = (struct rdma_addrinfo){ .ai_flags = flags[f],
								.ai_port_space = RDMA_PS_TCP };
				if (nodes[n] || services[s])
					addrinfo_ask(nodes[n], services[s], &hints);
			}
	addrinfo_ask("127.0.0.1", "7471", NULL);
	hints = (struct rdma_addrinfo){ .ai_port_space = RDMA_PS_UDP };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	hints = (struct rdma_addrinfo){ .ai_qp_type = IBV_QPT_UD };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	hints = (struct rdma_addrinfo){ .ai_qp_type = IBV_QPT_XRC_SEND,
					.ai_port_space = RDMA_PS_IB };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	hints = (struct rdma_addrinfo){ .ai_flags = RAI_NUMERICHOST | RAI_FAMILY,
					.ai_family = AF_INET6 };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	hints = (struct rdma_addrinfo){ .ai_src_addr = (struct sockaddr *)&addr,
					.ai_src_len = sizeof(addr) };
	addrinfo_ask("127.0.0.1", "7471", &hints);
	ask_without_name();
	ask_of_kinds();
	ask_for_gids();
}
