/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf.h - memory of dma-bufs: files whose memory a device of another driver has given out.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_DMABUF_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_DMABUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dmabuf {
	void *map; /* of map_len bytes; NULL: none */
	size_t map_len;
	uint64_t bus;   /* where this process's memory begins on the bus */
	uint64_t start; /* address in this process */
};

/* The function maps LENGTH bytes at OFFSET of descriptor FD of process TID. It returns 0, EBADF,
 * EINVAL for a file that is no dma-buf or too short, or why it cannot be mapped. */
int dmabuf_map(pid_t tid, int fd, uint64_t offset, uint64_t length, bool writable,
	       struct dmabuf *dmabuf);
void dmabuf_unmap(struct dmabuf *dmabuf);

#endif
