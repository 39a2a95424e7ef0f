/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo.h - what the files that make a struct rdma_addrinfo share. Functions return 0 or a positive errno, and what they
 * put into an entry is freed with it.
 */
#ifndef LIBRDMACM_ADDRINFO_H
#define LIBRDMACM_ADDRINFO_H

#include "cma.h"

/* A copy of LEN bytes; NULL if there are none. *to_len is set last. */
int rdmacm_addrinfo_copy(void **to, size_t *to_len, const void *from, size_t len);
int rdmacm_addrinfo_put_source(struct rdma_addrinfo *info, const struct sockaddr *addr,
			       socklen_t len);
int rdmacm_addrinfo_put_destination(struct rdma_addrinfo *info, const struct sockaddr *addr,
				    socklen_t len);

/* Ask ibacm for paths to the one entry of *LIST; it may become two. That there are none is no failure. */
int rdmacm_addrinfo_add_route(struct rdma_addrinfo **list, const struct rdma_addrinfo *hints);

#endif
