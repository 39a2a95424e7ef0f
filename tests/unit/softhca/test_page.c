/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_page.c - a page that Linux has moved is no fault of the program's. Compaction moves the
 * pages that lie alone in their neighbourhood; asking for it, and seeing it, takes root.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softhca/front/process/page.h"

enum { SMALL = 4096, FAR = 16 * SMALL, PAGES = 4096, SKIP = 77 };

static char *memory;
static uint64_t before[PAGES];

static uintptr_t page_at(int i)
{
	return (uintptr_t)memory + (uintptr_t)i * FAR;
}

/* The memory between the pages is given back. */
static bool pages_scatter(void)
{
	size_t size = (size_t)PAGES * FAR;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, size, MADV_NOHUGEPAGE))
		return false;
	memset(memory, 1, size);
	for (int i = 0; i < PAGES; i++) {
		if (madvise((void *)(page_at(i) + SMALL), FAR - SMALL, MADV_DONTNEED))
			return false;
		before[i] = page_identity(getpid(), page_at(i));
	}
	return before[0];
}

static bool memory_compact(void)
{
	int fd = open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "1", 1) == 1;

	if (fd >= 0)
		close(fd);
	return done;
}

static int skip(const char *why)
{
	puts(why);
	return SKIP;
}

int main(void)
{
	int moved = 0, excused = 0;

	if (!pages_scatter())
		return skip("Linux does not tell which pages there are");
	if (page_may_move(getpid(), page_at(0)))
		return skip("Linux moves pages meanwhile");
	if (!memory_compact())
		return skip("Linux compacts no memory for this user");
	for (int i = 0; i < PAGES; i++) {
		if (page_identity(getpid(), page_at(i)) == before[i])
			continue;
		moved++;
		excused += page_may_move(getpid(), page_at(i));
	}
	printf("%d pages of %d were moved, %d may be\n", moved, PAGES, excused);
	if (!moved)
		return skip("compaction had nothing to move");
	return moved != excused;
}
