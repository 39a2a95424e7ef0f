/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address.h - resolves the addresses of a command line.
 */
#ifndef RDMACM_EXAMPLES_ADDRESS_H
#define RDMACM_EXAMPLES_ADDRESS_H

#include <rdma/rdma_cma.h>

/* Sets the hints for -f, the notation of addresses ("name", "ip", "ipv6" or "gid"). An unknown word
 * prints a warning on standard error and changes nothing. */
void address_take_format(const char *word, struct rdma_addrinfo *hints);

/* Resolves HOST (or NULL) and SERVICE by rdma_getaddrinfo() for the active side, from LOCAL unless
 * that is NULL. Returns 0, or an EAI_ number for gai_strerror(). The caller frees INFO. */
int address_resolve(const char *host, const char *service, const char *local,
		    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info);

int address_resolve_passive(const char *local, const char *service,
			    const struct rdma_addrinfo *hints, struct rdma_addrinfo **info);

/* Resolves HOST by getaddrinfo(), and prints a message on standard output if it has no address.
 * Returns 0, or an EAI_ number. */
int address_of_host(const char *host, struct sockaddr_storage *addr);

#endif
