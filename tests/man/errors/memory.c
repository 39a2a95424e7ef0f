/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - allocations of the calling thread that fail.
 *
 * The program's own malloc() and its kin come before libc's, also for the libraries that it loads.
 */
#include <stdlib.h>

#include "errors.h"

/* Symbols of the program that come before those of libraries. */
#define BEFORE_LIBC __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static __thread unsigned int countdown; /* the allocation that fails; 0: none */
static __thread bool has_failed;

/* A call that has memory in store allocates only when the store is used up. */
static bool takes_from_store(struct no_memory *m, bool hit)
{
	return m->n && !hit && !m->ret && m->store && m->store--;
}

/* Looks at what the call has said so far, and has the next allocation fail. */
bool no_memory_next(struct no_memory *m)
{
	bool hit = has_failed;
	int left = errno;

	if (takes_from_store(m, hit))
		return true;
	countdown = 0;
	has_failed = false;
	if (m->n && hit && m->ret == ENOMEM) {
		m->refused = true;
		m->left = left;
	}
	if (m->n && (!hit || (m->ret && m->ret != ENOMEM)))
		return false;
	countdown = ++m->n;
	return true;
}

/* The last call went through all allocations, or found nothing more to do, or was refused
 * otherwise. */
int no_memory_end(const struct no_memory *m)
{
	if ((m->ret && m->ret != EAGAIN) || !m->refused)
		return m->ret;
	errno = m->left;
	return ENOMEM;
}

static bool allocation_is_refused(void)
{
	if (!countdown || --countdown)
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

BEFORE_LIBC void *malloc(size_t size)
{
	return allocation_is_refused() ? NULL : __libc_malloc(size);
}

BEFORE_LIBC void *calloc(size_t n, size_t size)
{
	return allocation_is_refused() ? NULL : __libc_calloc(n, size);
}

BEFORE_LIBC void *realloc(void *old, size_t size)
{
	return allocation_is_refused() ? NULL : __libc_realloc(old, size);
}

BEFORE_LIBC void *aligned_alloc(size_t alignment, size_t size)
{
	return allocation_is_refused() ? NULL : __libc_memalign(alignment, size);
}

BEFORE_LIBC int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = allocation_is_refused() ? NULL : __libc_memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}
