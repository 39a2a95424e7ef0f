/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address.h - resolves addresses that the programs' command lines have.
 */
#ifndef RDMACM_EXAMPLES_ADDRESS_H
#define RDMACM_EXAMPLES_ADDRESS_H

#include <rdma/rdma_cma.h>

/* Puts into the hints what -f says about how addresses are written ("name", "ip", "ipv6" or "gid").
 * Any other word is warned of on standard error and leaves the hints as they are. */
void address_take_format(const char *word, struct rdma_addrinfo *hints);

/* Resolves HOST (or NULL) and SERVICE by rdma_getaddrinfo() for the side that connects, from LOCAL
 * unless that is NULL. It returns 0, or an EAI_ number that gai_strerror() explains. The caller
 * frees INFO. */
int address_resolve(const char *host, const char *service, const char *local,
		    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info);

/* Resolves LOCAL (NULL stands for any) and SERVICE for the side that listens. */
int address_resolve_passive(const char *local, const char *service,
			    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info);

/* Resolves HOST by getaddrinfo(), and says on standard output if it has no address. It returns 0,
 * or an EAI_ number. */
int address_of_host(const char *host, struct sockaddr_storage *addr);

#endif
