/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_entry.c - fills and frees the entries of a struct rdma_addrinfo list. All memory belongs
 * to an entry, so rdma_freeaddrinfo() frees any list, whichever file built it.
 */
#include "addrinfo.h"

#include <stdlib.h>
#include <string.h>

int rdmacm_addrinfo_copy(void **to, size_t *to_len, const void *from, size_t len)
{
	*to = NULL;
	*to_len = 0;
	if (!from || !len)
		return 0;
	*to = malloc(len);
	if (!*to)
		return ENOMEM;
	memcpy(*to, from, len);
	*to_len = len;
	return 0;
}

int rdmacm_addrinfo_put_source(struct rdma_addrinfo *info, const struct sockaddr *addr,
			       socklen_t len)
{
	size_t copied;
	int ret = rdmacm_addrinfo_copy((void **)&info->ai_src_addr, &copied, addr, len);

	info->ai_src_len = copied;
	return ret;
}

int rdmacm_addrinfo_put_destination(struct rdma_addrinfo *info, const struct sockaddr *addr,
				    socklen_t len)
{
	size_t copied;
	int ret = rdmacm_addrinfo_copy((void **)&info->ai_dst_addr, &copied, addr, len);

	info->ai_dst_len = copied;
	return ret;
}

/* Makes one entry from one address of the C library's result. On failure, the caller frees *OUT,
 * which may be half filled. */

/* Skips the call for NULL, because most members of an entry are NULL and calls cost time. */
static inline void free_if_any(void *memory)
{
	if (memory)
		free(memory);
}

CMA_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free_if_any(res->ai_src_addr);
		free_if_any(res->ai_dst_addr);
		free_if_any(res->ai_src_canonname);
		free_if_any(res->ai_dst_canonname);
		free_if_any(res->ai_route);
		free_if_any(res->ai_connect);
		free(res);
	}
}
