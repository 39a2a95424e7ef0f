/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork.c - protects registered memory when the process forks.
 *
 * Kernels from 5.12 on copy pinned pages for the child, so the parent keeps the pages that the
 * adapter uses, and there is nothing to do. On older kernels, a program can request (ibv_fork_init)
 * that each registered page be excluded from its children by madvise(). A page shared by several
 * regions stays excluded until the last region is gone, hence the list of ranges with counts.
 */
#include "libibverbs/private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/bits.h"

static bool release_copies(void)
{
	struct utsname system;
	unsigned int major, minor;

	if (uname(&system) || sscanf(system.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 12);
}

static bool copies;

/* Sets `copies`. RDMA netlink also reports kernels with a backport of the copy. A container may
 * have no access to netlink, so the kernel's release is checked as well. */
static void kernel_ask(void)
{
	copies = verbs_netlink_copies_on_fork() || release_copies();
}

static bool kernel_copies(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, kernel_ask);
	return copies;
}

struct range {
	uintptr_t start, end;
	unsigned int count;
};

/* Disjoint ranges, sorted by address. `lock` guards the ranges and the flags below. */
static struct {
	struct range *ranges;
	size_t count, room;
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Whether ibv_fork_init() was called and the kernel does not copy. Written with `lock` held.
 * ibv_is_fork_initialized() reads it without the lock, because a handler of fork() may call that
 * function while the lock is held. */
static bool enabled;
static bool huge_pages; /* RDMAV_HUGEPAGES_SAFE: pages may be huge pages */
bool verbs_fork_is_off; /* a region was registered unprotected: too late for ibv_fork_init() */

/* Reserves the room that one change needs at most: for two splits, and a gap next to each range.
 * Runs before the change, which then cannot fail half-way. */
static int ranges_reserve(void)
{
	const size_t need = kept.count * 2 + 3;
	struct range *more;

	if (kept.room >= need)
		return 0;
	more = reallocarray(kept.ranges, need * 2, sizeof(*more));
	if (!more)
		return ENOMEM;
	kept.ranges = more;
	kept.room = need * 2;
	return 0;
}

static size_t range_find(uintptr_t addr)
{
	size_t low = 0, high = kept.count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (kept.ranges[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void range_insert(size_t at, struct range range)
{
	struct range *to = &kept.ranges[at];

	memmove(to + 1, to, (kept.count++ - at) * sizeof(*to));
	*to = range;
}

/* Splits the range that contains ADDR, if any, so that a range starts there. */
static void range_cut(uintptr_t addr)
{
	const size_t at = range_find(addr);
	struct range *range = &kept.ranges[at];

	if (at == kept.count || range->start >= addr)
		return;
	range_insert(at + 1, (struct range){ addr, range->end, range->count });
	kept.ranges[at].end = addr;
}

static int pages_advise(uintptr_t start, uintptr_t end, int advice)
{
	return madvise((void *)start, end - start, advice) ? errno : 0;
}

/* Returns where to halve [start, end), which has at least two pages: at the address of the highest
 * power of two, so that no huge page is cut. */
static uintptr_t middle_of(uintptr_t start, uintptr_t end)
{
	const unsigned int bit = log2_floor((start ^ (end - 1)));

	return (end - 1) >> bit << bit;
}

/* Gives pages to children again. The program may have mapped something else there meanwhile.
 * madvise() goes on behind pages that are not mapped (ENOMEM), but stops at device memory (EINVAL):
 * so the pages behind it are tried in smaller ranges. */
static void pages_release(uintptr_t start, uintptr_t end)
{
	const int err = pages_advise(start, end, MADV_DOFORK);
	uintptr_t middle;

	if (!err || err == ENOMEM || end - start <= (uintptr_t)sysconf(_SC_PAGESIZE))
		return;
	middle = middle_of(start, end);
	pages_release(start, middle);
	pages_release(middle, end);
}

static bool is_one(const struct range *a, const struct range *b)
{
	return a->end == b->start && a->count == b->count;
}

static void join_neighbours(void)
{
	size_t to = 0;

	for (size_t i = 1; i < kept.count; i++)
		if (is_one(&kept.ranges[to], &kept.ranges[i]))
			kept.ranges[to].end = kept.ranges[i].end;
		else
			kept.ranges[++to] = kept.ranges[i];
	kept.count = kept.count ? to + 1 : 0;
}

/* Decrements the counts of [start, end). */
static void remove_pages(uintptr_t start, uintptr_t end)
{
	size_t to;

	range_cut(start);
	range_cut(end);
	to = range_find(start);
	for (size_t i = to; i < kept.count; i++) {
		struct range range = kept.ranges[i];

		if (range.start < end && --range.count == 0)
			pages_release(range.start, range.end);
		else
			kept.ranges[to++] = range;
	}
	kept.count = to;
}

/* Increments the counts of [start, end). On failure, changes nothing, because the caller then
 * refuses the registration. */
static int add_pages(uintptr_t start, uintptr_t end)
{
	uintptr_t at = start;
	int err;

	range_cut(start);
	range_cut(end);
	for (size_t i = range_find(start); at < end; i++) {
		const bool is_gap = i == kept.count || kept.ranges[i].start > at;
		const uintptr_t gap_end = i == kept.count ? end : min_of(end, kept.ranges[i].start);

		if (is_gap) {
			err = pages_advise(at, gap_end, MADV_DONTFORK);
			if (err) {
				/* Undo it, because madvise() may have changed a part of the gap
				 * before it failed. */
				pages_release(at, gap_end);
				remove_pages(start, at);
				return err;
			}
			range_insert(i, (struct range){ at, gap_end, 0 });
		}
		kept.ranges[i].count++;
		at = kept.ranges[i].end;
	}
	return 0;
}

/* Returns the page size of the mapping at ADDR. "7f00-7f20 rw-p ..." starts a mapping, and
 * "KernelPageSize: 2048 kB" is one of its lines. */
static size_t page_size_in(FILE *smaps, uintptr_t addr)
{
	unsigned long start, end, kb;
	bool is_it = false;
	char line[512];

	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_it = addr >= start && addr < end;
		else if (is_it && sscanf(line, "KernelPageSize: %lu kB", &kb) == 1)
			return kb * 1024;
	}
	return 0;
}

static size_t page_size_at(uintptr_t addr)
{
	size_t size = 0;
	FILE *smaps;

	if (huge_pages) {
		smaps = fopen("/proc/self/smaps", "re");
		if (smaps) {
			size = page_size_in(smaps, addr);
			fclose(smaps);
		}
	}
	return size ? size : (size_t)sysconf(_SC_PAGESIZE);
}

/* Regions that are excluded, with their page sizes, if pages may be huge. By the time of a region's
 * release, the program may have mapped pages of another size at its address. */
struct region {
	uintptr_t first;
	size_t length, page;
};

static struct {
	struct region *regions;
	size_t count, room;
} sized;

static bool range_is_kept(uintptr_t start, uintptr_t end)
{
	const size_t at = range_find(start);

	return at < kept.count && kept.ranges[at].start < end;
}

/* Drops regions of which no page is excluded any more: they were released in parts. */
static void sized_drop_released(void)
{
	size_t to = 0;

	for (size_t i = 0; i < sized.count; i++) {
		const struct region *region = &sized.regions[i];

		if (range_is_kept(region->first, region->first + region->length))
			sized.regions[to++] = *region;
	}
	sized.count = to;
}

static int sized_reserve(void)
{
	struct region *more;

	if (!huge_pages || sized.room > sized.count)
		return 0;
	sized_drop_released();
	if (sized.room >= sized.count * 2 + 4)
		return 0;
	more = reallocarray(sized.regions, sized.count * 2 + 4, sizeof(*more));
	if (!more)
		return ENOMEM;
	sized.regions = more;
	sized.room = sized.count * 2 + 4;
	return 0;
}

/* Removes a region from the list. Returns the page size that was found when the region was
 * excluded. A range that was excluded as a part of a larger region is not in the list: for it,
 * returns the page size of the present mapping. */
static size_t sized_take(uintptr_t first, size_t length)
{
	for (size_t i = sized.count; i-- > 0;) {
		const struct region region = sized.regions[i];

		if (region.first != first || region.length != length)
			continue;
		/* keeps the order: of two equal regions, the search must find the younger */
		memmove(&sized.regions[i], &sized.regions[i + 1],
			(--sized.count - i) * sizeof(region));
		return region.page;
	}
	return page_size_at(first);
}

static int region_keep(uintptr_t first, size_t length)
{
	const size_t page = page_size_at(first);
	int err = ranges_reserve();

	if (!err)
		err = sized_reserve();
	if (!err)
		err = add_pages(first & ~(page - 1), align_up(first + length, page));
	if (!err && huge_pages)
		sized.regions[sized.count++] = (struct region){ first, length, page };
	return err;
}

static int region_release(uintptr_t first, size_t length)
{
	const int err = ranges_reserve();
	size_t page;

	if (err)
		return err;
	page = sized_take(first, length);
	remove_pages(first & ~(page - 1), align_up(first + length, page));
	return 0;
}

/* Does the work of verbs_fork_keep(). In its own function, because most programs never call
 * ibv_fork_init(), and then verbs_fork_keep() only tests a flag. */
static __attribute__((noinline)) int range_keep(void *addr, size_t length)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!enabled)
		__atomic_store_n(&verbs_fork_is_off, true, __ATOMIC_RELAXED);
	else if (length)
		err = region_keep((uintptr_t)addr, length);
	join_neighbours();
	pthread_mutex_unlock(&lock);
	if (err)
		verbs_warn("addr %p length %zu cannot be kept from child processes: %s", addr,
			   length, strerror(err));
	return err;
}

int verbs_fork_keep(void *addr, size_t length)
{
	return verbs_fork_never_keeps() ? 0 : range_keep(addr, length);
}

static __attribute__((noinline)) int range_release(void *addr, size_t length)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	if (enabled && length)
		err = region_release((uintptr_t)addr, length);
	join_neighbours();
	pthread_mutex_unlock(&lock);
	return err;
}

int verbs_fork_release(void *addr, size_t length)
{
	return verbs_fork_never_keeps() ? 0 : range_release(addr, length);
}

/* ---- children ----
 *
 * Excluded pages do not exist in a child. Other memory may be mapped at their addresses there, so
 * the child's counts start at 0. The lock is held during fork(). Otherwise a child could inherit
 * the lock held by a thread that does not exist in the child, and the list that this thread was
 * changing.
 */

enum { FORK_WAIT_S = 2 };

/* Whether fork_prepare() in this thread has taken the lock. After a timeout it has not, and the
 * handlers after fork() must not unlock it. */
static __thread bool has_lock;

/* Takes the lock before fork(). The wait is limited, because a signal handler may fork in the
 * thread that holds the lock. */
static void fork_prepare(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += FORK_WAIT_S;
	has_lock = verbs_loader_lock_until(&lock, &until);
}

static void forked_in_parent(void)
{
	if (has_lock)
		pthread_mutex_unlock(&lock);
	has_lock = false;
}

static void forked_in_child(void)
{
	has_lock = false;
	kept.count = 0;
	sized.count = 0;
	pthread_mutex_init(&lock, NULL);
}

static int range_result(int err)
{
	return err ? fail_fd(err) : 0;
}

static int protection_start(void)
{
	int err;

	if (verbs_fork_is_off) {
		verbs_warn(
			"ibv_fork_init: memory was registered before: it must be the first call");
		return EINVAL;
	}
	err = pthread_atfork(fork_prepare, forked_in_parent, forked_in_child);
	if (err) {
		verbs_warn("ibv_fork_init: no memory to be told of forks");
		return err;
	}
	huge_pages = getenv("RDMAV_HUGEPAGES_SAFE") != NULL;
	__atomic_store_n(&enabled, true, __ATOMIC_RELEASE);
	return 0;
}

static int protection_enable(void)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!enabled)
		err = protection_start();
	pthread_mutex_unlock(&lock);
	return err;
}

VERBS_EXPORT int ibv_fork_init(void)
{
	return verbs_result(kernel_copies() ? 0 : protection_enable());
}

/* Enables protection for RDMAV_FORK_SAFE and IBV_FORK_SAFE, for programs that cannot be changed. */
void verbs_fork_init_from_environment(void)
{
	if ((verbs_env_is_on("RDMAV_FORK_SAFE") || verbs_env_is_on("IBV_FORK_SAFE")) &&
	    ibv_fork_init())
		verbs_error("RDMAV_FORK_SAFE is set, but fork() is not safe");
}

VERBS_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	if (kernel_copies())
		return IBV_FORK_UNNEEDED;
	return __atomic_load_n(&enabled, __ATOMIC_ACQUIRE) ? IBV_FORK_ENABLED : IBV_FORK_DISABLED;
}

VERBS_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
	return range_result(verbs_fork_keep(base, size));
}

VERBS_EXPORT int ibv_dofork_range(void *base, size_t size)
{
	return range_result(verbs_fork_release(base, size));
}
