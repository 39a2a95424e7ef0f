/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alloc.h - allocate memory, or log which call of the program ran out of it.
 */
#ifndef UTIL_ALLOC_H
#define UTIL_ALLOC_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/clear.h"
#include "util/log.h"

static inline void *calloc_for(const char *call, size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		verbs_warn("%s: no memory for %zu bytes", call, n * size);
	return memory;
}

/* Calls malloc(), which takes a quarter of calloc()'s instructions: for a small object that is
 * allocated often. */
static inline void *malloc_for(const char *call, size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		verbs_warn("%s: no memory for %zu bytes", call, size);
	return memory;
}

static inline void *memalign_for(const char *call, size_t alignment, size_t size)
{
	void *memory;

	if (!posix_memalign(&memory, alignment, size))
		return memory;
	verbs_warn("%s: no memory for %zu bytes", call, size);
	return NULL;
}

/* Returns zeroed memory of SIZE bytes, a constant, for free_aligned(). By malloc(), whose address
 * stands before the memory: posix_memalign() takes three times the instructions. */
static inline void *zalloc_aligned_for(const char *call, size_t alignment, size_t size)
{
	char *memory = malloc_for(call, size + sizeof(void *) + alignment - 1), *aligned;

	if (!memory)
		return NULL;
	aligned = memory + sizeof(void *);
	aligned += -(uintptr_t)aligned & (alignment - 1);
	memcpy(aligned - sizeof(void *), &memory, sizeof(void *));
	clear_struct(aligned, size);
	return aligned;
}

/* Like free(), accepts NULL. */
static inline void free_aligned(void *aligned)
{
	void *memory;

	if (!aligned)
		return;
	memcpy(&memory, (char *)aligned - sizeof(void *), sizeof(void *));
	free(memory);
}

#endif
