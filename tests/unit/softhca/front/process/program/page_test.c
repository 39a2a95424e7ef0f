/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_test.c - pages that Linux moves, which must not count as errors of the program. Compaction,
 * which moves lone pages, needs root to trigger and to see. The first write after a fork moves a
 * page as well, even after the child has exited.
 *
 * Covers: softhca/front/process/program/page.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softhca/front/process/program/page.h"

enum { SMALL = 4096, FAR = 16 * SMALL, PAGES = 4096, CHILDREN = 100, SKIP = 77 };

static char *memory;
static uint64_t before[PAGES];

static uintptr_t page_at(int i)
{
	return (uintptr_t)memory + (uintptr_t)i * FAR;
}

/* Keeps one page in FAR bytes, as compaction moves pages that lie alone. */
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

/* Runs as a parent whose child exits when GATE closes. Writes to READY once the child runs, waits
 * for it, and stays until GATE_OF_END closes. */
static void parent_be(int ready, int gate, int gate_of_end)
{
	pid_t child = fork();
	char byte = 0;

	if (child) {
		(void)!write(ready, &byte, 1);
		waitpid(child, NULL, 0);
		(void)!read(gate_of_end, &byte, 1);
	} else {
		(void)!read(gate, &byte, 1);
	}
	_exit(0);
}

/* Lets a child exit while the page check runs on its parent. Returns how often the check found that
 * the page could not have moved. */
static int child_ends(void)
{
	int ready[2], gate[2], gate_of_end[2], unexcused = 0;
	pid_t parent;
	char byte;

	if (pipe(ready) || pipe(gate) || pipe(gate_of_end))
		return 1;
	parent = fork();
	if (!parent) {
		close(gate[1]);
		close(gate_of_end[1]);
		parent_be(ready[1], gate[0], gate_of_end[0]);
	}
	(void)!read(ready[0], &byte, 1);
	close(gate[1]);
	for (int i = 0; i < 20; i++)
		unexcused += !page_may_move(parent, page_at(0));
	close(gate_of_end[1]);
	waitpid(parent, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	close(gate[0]);
	close(gate_of_end[0]);
	return unexcused;
}

static int skip(const char *why)
{
	puts(why);
	return SKIP;
}

int main(void)
{
	int moved = 0, excused = 0, unexcused = 0;

	if (!pages_scatter())
		return skip("Linux does not tell which pages there are");
	if (page_may_move(getpid(), page_at(0)))
		return skip("Linux moves pages meanwhile");
	for (int i = 0; i < CHILDREN; i++)
		unexcused += child_ends();
	if (unexcused) {
		printf("%d times the page of a parent could not have moved\n", unexcused);
		return 1;
	}
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
