/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwbuf.h - zeroed, page-aligned memory that the adapter reads and writes: rings and doorbell
 * record pages.
 *
 * It is mapped apart from the heap, so that no page is shared with data of the program, whose
 * children would miss that when the page is kept from them (ibv_fork_init()).
 */
#ifndef PROVIDERS_COMMON_MEMORY_HWBUF_H
#define PROVIDERS_COMMON_MEMORY_HWBUF_H

#include <stddef.h>

/* Somebody else's allocator, of whole pages. */
struct hwbuf_source {
	void *(*alloc)(size_t size, void *arg);
	void (*free)(void *addr, void *arg);
	void *arg;
};

struct hwbuf {
	void *addr;
	size_t size; /* as mapped: whole pages, or huge ones */
};

int provider_hwbuf_alloc(size_t size, struct hwbuf *buf);
/* Takes huge pages, of which the system must have some. */
int provider_hwbuf_alloc_huge(size_t size, struct hwbuf *buf);
void provider_hwbuf_free(struct hwbuf *buf);

#endif
