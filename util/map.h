/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * map.h - mappings of device files. Their offsets have 64 bits, while off_t may have 32, and a
 * sign.
 * - Calls mmap() with MAP_SHARED
 */
#ifndef UTIL_MAP_H
#define UTIL_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Calls mmap() with MAP_SHARED. */
static inline void *map_shared(size_t length, int prot, int fd, uint64_t offset)
{
#ifdef __GLIBC__
	return mmap64(NULL, length, prot, MAP_SHARED, fd, (off64_t)offset);
#else
	return mmap(NULL, length, prot, MAP_SHARED, fd, (off_t)offset);
#endif
}

#endif
