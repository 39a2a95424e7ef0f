/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alloc.h - memory, or a line in the log that says which call has none.
 */
#ifndef UTIL_ALLOC_H
#define UTIL_ALLOC_H

#include <stdlib.h>

#include "util/log.h"

/* Does what calloc() does; CALL is what the program has called. */
static inline void *calloc_for(const char *call, size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		verbs_warn("%s: no memory for %zu bytes", call, n * size);
	return memory;
}

/* Does what malloc() does, which for a small object that is allocated again and again takes a
 * quarter of calloc()'s instructions. */
static inline void *malloc_for(const char *call, size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		verbs_warn("%s: no memory for %zu bytes", call, size);
	return memory;
}

#endif
