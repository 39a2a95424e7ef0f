/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.c - see page.h.
 *
 * Nothing is pinned here, so a page can change where an adapter's would not: the first write after
 * a fork copies it (Linux copies pinned pages for the child instead, from 5.12 on), small pages
 * merge into a huge one, and compaction moves pages. For the last two Linux only counts events of
 * the whole machine. Linux: Documentation/admin-guide/mm/pagemap.rst
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softhca/front/process/program/page.h"
#include "softhca/log.h"
#include "util/bits.h"

enum { PAGE_SHIFT = 12, PAGE_SIZE = 1 << PAGE_SHIFT };

#define PAGEMAP_PRESENT   (1ull << 63)
#define PAGEMAP_FILE      (1ull << 61) /* file page or shared memory */
#define PAGEMAP_EXCLUSIVE (1ull << 56)
#define PAGEMAP_NUMBER    ((1ull << 55) - 1)

/* Bits of /proc/kpageflags. */
#define KPAGE_HUGE  (1ull << 17)
#define KPAGE_TRANS (1ull << 22)

int page_size_check(void)
{
	const long bytes = sysconf(_SC_PAGESIZE);

	if (bytes == PAGE_SIZE)
		return 0;
	log_error("this host has pages of %ld bytes: programs get pages of %d bytes from an "
		  "adapter, which takes a host that has such",
		  bytes, PAGE_SIZE);
	return ENOTSUP;
}

static uint64_t read_word(const char *path, uint64_t index)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t word = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &word, sizeof(word), index * sizeof(word)) != sizeof(word))
		word = 0;
	close(fd);
	return word;
}

static uint64_t page_entry(pid_t pid, uint64_t addr)
{
	char path[32];
	uint64_t entry;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	entry = read_word(path, addr >> PAGE_SHIFT);
	return entry & PAGEMAP_PRESENT ? entry : 0;
}

/* Returns whether NAME is a counter of /proc/vmstat for an event that replaces pages of a program:
 * migration, huge pages or swap. */
static bool is_of_exchange(const char *name)
{
	static const char *const names[] = { "pgmigrate_success", "thp_collapse_alloc", "pswpin" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

static unsigned long long count_exchanged(void)
{
	FILE *file = fopen("/proc/vmstat", "re");
	unsigned long long sum = 0, count;
	char name[64];

	while (file && fscanf(file, "%63s %llu", name, &count) == 2)
		sum += is_of_exchange(name) ? count : 0;
	if (file)
		fclose(file);
	return sum;
}

static unsigned long long exchanged_at_first;

static void learn_first(void)
{
	exchanged_at_first = count_exchanged();
}

static pthread_once_t first = PTHREAD_ONCE_INIT;

/* Returns the page's number if only this process maps the page, else 0. A shared page (zero page,
 * of a file, of the parent) is replaced by a copy when it is written; pinning would have copied it
 * at once. */
uint64_t page_identity(pid_t pid, uint64_t addr)
{
	uint64_t entry;

	pthread_once(&first, learn_first);
	entry = page_entry(pid, addr);
	return entry & PAGEMAP_FILE || !(entry & PAGEMAP_EXCLUSIVE) ? 0 : entry & PAGEMAP_NUMBER;
}

/* Reads the parent of a process, and the number of page faults of the children for which it has
 * waited. Source: proc(5) */
static bool read_stat(const char *pid, int *parent, unsigned long *faults)
{
	char path[64], text[512];
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	at = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	if (file)
		fclose(file);
	return at && sscanf(at, ") %*c %d %*d %*d %*d %*d %*u %*u %lu", parent, faults) == 2;
}

static bool has_children(pid_t pid)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned long faults;
	bool found = false;
	int parent;

	while (proc && !found && (entry = readdir(proc)) != NULL)
		found = isdigit((unsigned char)entry->d_name[0]) &&
			read_stat(entry->d_name, &parent, &faults) && parent == pid;
	if (proc)
		closedir(proc);
	return found || !proc;
}

/* Returns whether the process has forked: it has a living child, or page faults of ended children.
 * Checks living children first, so that a child that ends meanwhile counts among the ended ones. */
static bool has_forked(pid_t pid)
{
	unsigned long faults;
	char name[16];
	int parent;

	if (has_children(pid))
		return true;
	snprintf(name, sizeof(name), "%d", pid);
	return !read_stat(name, &parent, &faults) || faults;
}

bool page_may_move(pid_t pid, uint64_t addr)
{
	uint64_t flags = read_word("/proc/kpageflags", page_entry(pid, addr) & PAGEMAP_NUMBER);

	return !flags || flags & (KPAGE_HUGE | KPAGE_TRANS) || has_forked(pid) ||
	       count_exchanged() != exchanged_at_first;
}
