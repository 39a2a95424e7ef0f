/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwbuf.c - allocates memory for the adapter by mmap(): aligned, zeroed, excluded from children if
 * ibv_fork_init() was called, and unmapped when freed. Decision: docs/adr/0009.
 */
#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libibverbs/driver.h"
#include "providers/common/memory/hwbuf.h"

/* Maps memory. SIZE is a multiple of the page size in FLAGS. Excludes the pages from children: if
 * the kernel shared pinned pages with a child, the first write after fork() could give the
 * adapter's page to either process. */
static int hwbuf_map(size_t size, int flags, struct hwbuf *buf)
{
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			  -1, 0);
	int ret;

	if (addr == MAP_FAILED)
		return errno;
	ret = ibv_dontfork_range(addr, size);
	if (ret) {
		ret = errno;
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

#define HUGE_PAGE ((size_t)2 << 20) /* smallest huge page; x86-64, and aarch64 with 4 KiB pages */

int provider_hwbuf_alloc_huge(size_t size, struct hwbuf *buf)
{
	return hwbuf_map((size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1), MAP_HUGETLB | MAP_HUGE_2MB,
			 buf);
}

void provider_hwbuf_free(struct hwbuf *buf)
{
	if (buf->addr) {
		/* resets the page counts, or memory mapped here later would inherit them */
		ibv_dofork_range(buf->addr, buf->size);
		munmap(buf->addr, buf->size);
	}
	buf->addr = NULL;
	buf->size = 0;
}
