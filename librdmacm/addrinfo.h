/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo.h - helpers to build a struct rdma_addrinfo. They return 0 or a positive errno. Memory
 * that they put into an entry is freed with the entry.
 */
#ifndef LIBRDMACM_ADDRINFO_H
#define LIBRDMACM_ADDRINFO_H

#include "cma.h"

int rdmacm_addrinfo_copy(void **to, size_t *to_len, const void *from, size_t len);
int rdmacm_addrinfo_put_source(struct rdma_addrinfo *info, const struct sockaddr *addr,
			       socklen_t len);
int rdmacm_addrinfo_put_destination(struct rdma_addrinfo *info, const struct sockaddr *addr,
				    socklen_t len);

/* Asks ibacm for paths for the only entry of *LIST, and may add an entry. Returns 0 also without a
 * path, because the program can let the kernel resolve the route. */
int rdmacm_addrinfo_add_route(struct rdma_addrinfo **list, const struct rdma_addrinfo *hints);

/* For RAI_SA: finds the hosts that offer a service, by its name or number. NODE must be NULL.
 * Returns ENOENT if no port's subnet has the service. */
int rdmacm_addrinfo_find_service(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **list);

#endif
