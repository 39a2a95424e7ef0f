/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.c - maps the page of a device's clock, and reads the clock.
 */
#include "providers/common/clock.h"

#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/mutex.h"

void provider_clock_page_init(struct clock_page *page)
{
	mutex_init(&page->lock);
	page->addr = NULL;
	page->size = (size_t)sysconf(_SC_PAGESIZE);
}

void provider_clock_page_destroy(struct clock_page *page)
{
	if (page->addr)
		munmap((void *)(uintptr_t)page->addr, page->size);
}

static int page_map(struct clock_page *page, int fd, unsigned int number)
{
	void *addr;

	if (page->addr)
		return 0;
	addr = mmap(NULL, page->size, PROT_READ, MAP_SHARED, fd, (off_t)(number * page->size));
	if (addr == MAP_FAILED)
		return errno;
	__atomic_store_n(&page->addr, addr, __ATOMIC_RELEASE);
	return 0;
}

int provider_clock_page_get(struct clock_page *page, const struct ibv_context *context,
			    unsigned int number, const void **addr)
{
	int ret = 0;

	*addr = __atomic_load_n(&page->addr, __ATOMIC_ACQUIRE);
	if (*addr) /* once mapped, the page stays mapped, so later calls need no lock */
		return 0;
	pthread_mutex_lock(&page->lock);
	ret = page_map(page, context->cmd_fd, number);
	*addr = page->addr;
	pthread_mutex_unlock(&page->lock);
	return ret;
}

/* Reads the clock, whose two words no single load covers. They are consistent if the upper one is
 * the same before and after reading the lower one. */
void provider_clock_fill(const volatile __be32 *words, struct ibv_values_ex *values)
{
	uint32_t high, low, again = be32toh(words[0]);

	do {
		high = again;
		low = be32toh(words[1]);
		again = be32toh(words[0]);
	} while (high != again);
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = (long)((uint64_t)high << 32 | low);
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
}
