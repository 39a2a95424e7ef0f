/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo.h - what the files that make a struct rdma_addrinfo share. Functions return 0 or a
 * positive errno. What they put into an entry is freed with the entry.
 */
#ifndef LIBRDMACM_ADDRINFO_H
#define LIBRDMACM_ADDRINFO_H

#include "cma.h"

/* *TO becomes a copy of LEN bytes, or NULL if there are none. */
int rdmacm_addrinfo_copy(void **to, size_t *to_len, const void *from, size_t len);
int rdmacm_addrinfo_put_source(struct rdma_addrinfo *info, const struct sockaddr *addr,
			       socklen_t len);
int rdmacm_addrinfo_put_destination(struct rdma_addrinfo *info, const struct sockaddr *addr,
				    socklen_t len);

/* Asks ibacm for paths to the only entry of *LIST, which may become two entries. That there is no
 * path is no failure. */
int rdmacm_addrinfo_add_route(struct rdma_addrinfo **list, const struct rdma_addrinfo *hints);

/* Finds, for RAI_SA, where the subnet has a service, by its name or its number. NODE must be NULL.
 * It returns ENOENT if no port knows it. */
int rdmacm_addrinfo_find_service(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **list);

#endif
