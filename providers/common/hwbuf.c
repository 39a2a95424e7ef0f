/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hwbuf.c - memory for the adapter comes straight from mmap: aligned, zeroed, and returned to the
 * system when freed.
 */
#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/common/hwbuf.h"

int provider_hwbuf_alloc(size_t size, struct hwbuf *buf)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t mapped = (size + page - 1) & ~(page - 1);
	void *addr;

	addr = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return errno;
	buf->addr = addr;
	buf->size = mapped;
	return 0;
}

#define HUGE_PAGE ((size_t)2 << 20) /* the smallest kind, x86-64 and aarch64 with 4 KiB pages */

int provider_hwbuf_alloc_huge(size_t size, struct hwbuf *buf)
{
	size_t mapped = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	void *addr = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);

	if (addr == MAP_FAILED)
		return errno;
	buf->addr = addr;
	buf->size = mapped;
	return 0;
}

void provider_hwbuf_free(struct hwbuf *buf)
{
	if (buf->addr)
		munmap(buf->addr, buf->size);
	buf->addr = NULL;
	buf->size = 0;
}
