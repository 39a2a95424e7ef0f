/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mappings.c - see mappings.h. Linux: Documentation/filesystems/proc.rst, PROCMAP_QUERY.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "softhca/front/process/program/mappings.h"

struct mapping {
	uint64_t start, end;
	bool readable, writable;
};

static bool is_usable(const struct mapping *mapping, uint64_t addr, bool writable)
{
	return mapping->start <= addr && mapping->readable && (mapping->writable || !writable);
}

/* PROCMAP_QUERY's argument, from <linux/fs.h>, written here as Debian 12's headers lack it. */
struct map_query {
	uint64_t size; /* of this structure */
	uint64_t flags;
	uint64_t addr;
	uint64_t start, end; /* the answer: from here to rights */
	uint64_t rights;
	uint64_t others[7]; /* page size, offset, file, name, build id: not asked for */
};

#define MAP_QUERY _IOWR('f', 17, struct map_query)
enum { MAP_READABLE = 1, MAP_WRITABLE = 2 }; /* bits of rights */

/* Finds the mapping that contains ADDR. Returns 0, ENOENT if no mapping does, or ENOTTY if the
 * kernel has no PROCMAP_QUERY. */
static int mapping_at(int maps, uint64_t addr, struct mapping *mapping)
{
	struct map_query query = { .size = sizeof(query), .addr = addr };

	if (ioctl(maps, MAP_QUERY, &query))
		return errno;
	*mapping = (struct mapping){ query.start, query.end, query.rights & MAP_READABLE,
				     query.rights & MAP_WRITABLE };
	return 0;
}

/* Sets *COVERED to the result of mappings_cover(), by PROCMAP_QUERY. Returns 0, or an errno if the
 * kernel has no such query or a sandbox refuses it. */
static int cover_by_query(int maps, uint64_t addr, uint64_t end, bool writable, bool *covered)
{
	struct mapping mapping = { 0 };
	int ret = 0;

	while (addr < end && !ret) {
		ret = mapping_at(maps, addr, &mapping);
		if (!ret && !is_usable(&mapping, addr, writable))
			ret = EFAULT;
		if (!ret)
			addr = mapping.end;
	}
	*covered = addr >= end;
	return ret == EFAULT || ret == ENOENT || ret == ESRCH ? 0 : ret;
}

static bool next_mapping(FILE *list, struct mapping *mapping)
{
	char line[512];
	unsigned long start, end;
	char perms[5];

	while (fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3)
			continue; /* rest of a long line */
		*mapping = (struct mapping){ start, end, perms[0] == 'r', perms[1] == 'w' };
		return true;
	}
	return false;
}

/* Returns a stream at the start of the list of mappings. It uses a duplicate of MAPS, which shares
 * the file position with MAPS. */
static FILE *list_begin(int maps)
{
	int copy = fcntl(maps, F_DUPFD_CLOEXEC, 0);
	FILE *list = copy < 0 ? NULL : fdopen(copy, "r");

	if (list)
		rewind(list);
	else if (copy >= 0)
		close(copy);
	return list;
}

static bool cover_by_list(int maps, uint64_t addr, uint64_t end, bool writable)
{
	static pthread_mutex_t position_lock = PTHREAD_MUTEX_INITIALIZER;
	struct mapping mapping;
	FILE *list;

	pthread_mutex_lock(&position_lock);
	list = list_begin(maps);
	while (list && addr < end && next_mapping(list, &mapping)) {
		if (mapping.end <= addr)
			continue;
		if (!is_usable(&mapping, addr, writable))
			break;
		addr = mapping.end;
	}
	if (list)
		fclose(list);
	pthread_mutex_unlock(&position_lock);
	return addr >= end;
}

bool mappings_cover(int maps, uint64_t addr, uint64_t end, bool writable)
{
	bool covered;

	if (cover_by_query(maps, addr, end, writable, &covered))
		return cover_by_list(maps, addr, end, writable);
	return covered;
}
