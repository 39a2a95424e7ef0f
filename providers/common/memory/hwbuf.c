/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwbuf.c - memory for the adapter comes straight from mmap: aligned, zeroed, kept from children
 * where ibv_fork_init() has been asked for that, and returned to the system when freed.
 * Decision: docs/adr/0009.
 */
#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libibverbs/driver.h"
#include "providers/common/memory/hwbuf.h"

/* SIZE is a multiple of the pages that FLAGS ask for. Where the kernel shares pinned pages with a
 * child, the first write after fork() would give the page that the adapter knows to either of the
 * two. */
static int hwbuf_map(size_t size, int flags, struct hwbuf *buf)
{
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			  -1, 0);
	int ret;

	if (addr == MAP_FAILED)
		return errno;
	ret = ibv_dontfork_range(addr, size);
	if (ret) {
		munmap(addr, size);
		return ret;
	}
	buf->addr = addr;
	buf->size = size;
	return 0;
}

int provider_hwbuf_alloc(size_t size, struct hwbuf *buf)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return hwbuf_map((size + page - 1) & ~(page - 1), 0, buf);
}

#define HUGE_PAGE ((size_t)2 << 20) /* the smallest kind, x86-64 and aarch64 with 4 KiB pages */

int provider_hwbuf_alloc_huge(size_t size, struct hwbuf *buf)
{
	return hwbuf_map((size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1), MAP_HUGETLB | MAP_HUGE_2MB,
			 buf);
}

void provider_hwbuf_free(struct hwbuf *buf)
{
	if (buf->addr) {
		/* It counts the pages down, as others that come to lie there count from 0. */
		ibv_dofork_range(buf->addr, buf->size);
		munmap(buf->addr, buf->size);
	}
	buf->addr = NULL;
	buf->size = 0;
}
