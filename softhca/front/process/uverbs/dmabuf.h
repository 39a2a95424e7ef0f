/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf.h - dma-bufs: files that stand for memory which another driver's device exports.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_DMABUF_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_DMABUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct call;

struct uverbs_file;

struct dmabuf {
	LIST_ENTRY(dmabuf) in_export; /* if is_exported: list of an adapter's export */
	bool is_exported;
	void *map; /* of map_len bytes; NULL: not mapped */
	size_t map_len;
	uint64_t bus;   /* bus address of this process's memory */
	uint64_t start; /* address in this process */
};

/* Maps LENGTH bytes at OFFSET of the caller's descriptor FD. PINNED mappings stay until unmapped;
 * others may be revoked. Returns 0, EBADF, EINVAL for a file that is no dma-buf or too short,
 * ENODEV if its pages were freed, EOPNOTSUPP if it cannot be pinned, or the errno of mapping. */
int dmabuf_map(const struct call *call, int fd, uint64_t offset, uint64_t length, bool writable,
	       bool pinned, struct dmabuf *dmabuf);
void dmabuf_unmap(struct dmabuf *dmabuf);

/* Exports PAGES pages of FILE as a dma-buf, unless they are. *FD is for the program, and stays
 * owned here. Returns 0 or a positive errno. */
int dmabuf_export(const struct uverbs_file *file, uint32_t first_page, uint32_t pages, int *fd);
/* Ends the dma-buf that begins at a page of FILE. Accesses by all its mappings fail from now on. */
void dmabuf_revoke(const struct uverbs_file *file, uint32_t first_page);

#endif
