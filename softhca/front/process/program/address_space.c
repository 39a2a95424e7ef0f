/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address_space.c - access to a process's memory. See address_space.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "softhca/front/process/program/address_space.h"
#include "softhca/front/process/program/mappings.h"

static int file_open(pid_t tid, const char *name, int mode)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	return open(path, mode | O_CLOEXEC);
}

/* Opens the memory through thread TID, as the main thread may have ended before it. Opens the list
 * of mappings through the main thread if possible, as a list is only readable while its thread
 * exists. */
int space_open(pid_t pid, pid_t tid, struct address_space *space)
{
	int ret;

	space->bytes = file_open(tid, "mem", O_RDWR);
	if (space->bytes < 0)
		return errno;
	space->maps = file_open(pid, "maps", O_RDONLY);
	if (space->maps < 0)
		space->maps = file_open(tid, "maps", O_RDONLY);
	if (space->maps >= 0)
		return 0;
	ret = errno;
	close(space->bytes);
	return ret;
}

void space_close(struct address_space *space)
{
	close(space->bytes);
	close(space->maps);
	*space = (struct address_space){ -1, -1 };
}

/* Returns whether the address space still exists. Reads address 0, which is never mapped: an
 * existing address space returns an error, one that is gone returns end of file. */
bool space_is_there(const struct address_space *space)
{
	char byte;

	return pread(space->bytes, &byte, 1, 0) != 0;
}

static int result_of(ssize_t done, size_t len)
{
	if (!done && len)
		return ESRCH;
	return done == (ssize_t)len ? 0 : EFAULT;
}

int space_read(const struct address_space *space, uint64_t addr, void *buf, size_t len)
{
	return result_of(pread(space->bytes, buf, len, (off_t)addr), len);
}

int space_write(const struct address_space *space, uint64_t addr, const void *buf, size_t len)
{
	return result_of(pwrite(space->bytes, buf, len, (off_t)addr), len);
}

int space_check_range(const struct address_space *space, uint64_t addr, uint64_t len, bool writable)
{
	if (addr + len < addr)
		return EFAULT;
	return mappings_cover(space->maps, addr, addr + len, writable) ? 0 : EFAULT;
}
