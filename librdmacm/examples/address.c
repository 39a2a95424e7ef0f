/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address.c - resolves the addresses of a command line.
 */
#include "address.h"

#include <infiniband/ib.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

void address_take_format(const char *word, struct rdma_addrinfo *hints)
{
	static const struct {
		const char *word;
		int flags, family;
	} formats[] = {
		{ "name", 0, 0 },
		{ "ip", RAI_NUMERICHOST, 0 }, /* an address of either version of IP */
		{ "ipv6", RAI_NUMERICHOST, 0 },
		{ "gid", RAI_NUMERICHOST | RAI_FAMILY, AF_IB },
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcasecmp(word, formats[i].word))
			continue;
		hints->ai_flags |= formats[i].flags;
		hints->ai_family = formats[i].family;
		return;
	}
	fprintf(stderr, "Warning: unknown address format\n");
}

int address_resolve_passive(const char *local, const char *service,
			    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo wanted = *hints;

	wanted.ai_flags |= RAI_PASSIVE;
	return rdma_getaddrinfo(local, service, &wanted, info);
}

int address_resolve(const char *host, const char *service, const char *local,
		    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo wanted = *hints;
	struct rdma_addrinfo *source = NULL;
	int ret = 0;

	if (local)
		ret = address_resolve_passive(local, NULL, hints, &source);
	if (ret)
		return ret;
	if (source) {
		wanted.ai_src_addr = source->ai_src_addr;
		wanted.ai_src_len = source->ai_src_len;
	}
	ret = rdma_getaddrinfo(host, service, &wanted, info);
	rdma_freeaddrinfo(source);
	return ret;
}

int address_of_host(const char *host, struct sockaddr_storage *addr)
{
	struct addrinfo *found;
	int ret = getaddrinfo(host, NULL, NULL, &found);

	if (ret) {
		printf("getaddrinfo failed (%s) - invalid hostname or IP address\n",
		       gai_strerror(ret));
		return ret;
	}
	memcpy(addr, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}
