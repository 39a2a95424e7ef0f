/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwbuf.h - zeroed, page-aligned memory for the adapter: rings and pages of doorbell records.
 *
 * It is mapped separately from the heap, so that no page contains the program's data: children
 * would miss that data, because the pages are excluded from them (ibv_fork_init()).
 */
#ifndef PROVIDERS_COMMON_MEMORY_HWBUF_H
#define PROVIDERS_COMMON_MEMORY_HWBUF_H

#include <stddef.h>

struct hwbuf_source {
	void *(*alloc)(size_t size, void *arg);
	void (*free)(void *addr, void *arg);
	void *arg;
};

struct hwbuf {
	void *addr;
	size_t size; /* mapped size, in whole pages or huge pages */
};

int provider_hwbuf_alloc(size_t size, struct hwbuf *buf);
/* Allocates huge pages, which the system must have reserved. */
int provider_hwbuf_alloc_huge(size_t size, struct hwbuf *buf);
void provider_hwbuf_free(struct hwbuf *buf);

#endif
