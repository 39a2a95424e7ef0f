/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf.h - memory of dma-bufs: files whose memory a device of another driver has given out.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_DMABUF_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_DMABUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct uverbs_file;

struct dmabuf {
	LIST_ENTRY(dmabuf) in_export; /* with is_exported: pages of an adapter */
	bool is_exported;
	void *map; /* of map_len bytes; NULL: none */
	size_t map_len;
	uint64_t bus;   /* where this process's memory begins on the bus */
	uint64_t start; /* address in this process */
};

/* Maps LENGTH bytes at OFFSET of descriptor FD of process TID, which stay where they are (PINNED),
 * or may be taken back. It returns 0, EBADF, EINVAL for a file that is no dma-buf or too short,
 * ENODEV for one whose pages are gone, EOPNOTSUPP for one that is not to be pinned, or why it
 * cannot be mapped. */
int dmabuf_map(pid_t tid, int fd, uint64_t offset, uint64_t length, bool writable, bool pinned,
	       struct dmabuf *dmabuf);
void dmabuf_unmap(struct dmabuf *dmabuf);

/* Makes a dma-buf of PAGES pages of FILE, unless there is one; its descriptor, which stays the
 * function's, is for programs. 0 or a positive errno. */
int dmabuf_export(const struct uverbs_file *file, uint32_t first_page, uint32_t pages, int *fd);
/* The dma-buf that begins at a page of FILE ends, and all that was mapped of it: access fails from
 * here on. */
void dmabuf_revoke(const struct uverbs_file *file, uint32_t first_page);

#endif
