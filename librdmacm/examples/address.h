/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address.h - addresses as the programs' command lines have them.
 */
#ifndef RDMACM_EXAMPLES_ADDRESS_H
#define RDMACM_EXAMPLES_ADDRESS_H

#include <rdma/rdma_cma.h>

/* What -f says about how addresses are written ("name", "ip", "ipv6" or "gid"), into the hints; of
 * anything else a warning on standard error, and the hints stay as they are. */
void address_take_format(const char *word, struct rdma_addrinfo *hints);

/* HOST (or NULL) and SERVICE, by rdma_getaddrinfo(): the side that connects, from LOCAL unless that
 * is NULL. 0, or an EAI_ number that gai_strerror() explains. The caller frees INFO. */
int address_resolve(const char *host, const char *service, const char *local,
		    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info);

/* LOCAL (or NULL: any) and SERVICE: the side that listens. */
int address_resolve_passive(const char *local, const char *service,
			    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info);

/* HOST by getaddrinfo(); a message on standard output if it has no address. 0, or an EAI_ number. */
int address_of_host(const char *host, struct sockaddr_storage *addr);

#endif
