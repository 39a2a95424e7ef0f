/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heap.h - counts the blocks of memory that the sources under test have, and lets an allocation
 * fail.
 *
 * The test is linked with --wrap for each function below: ${heap} of tests/unit/CMakeLists.txt.
 * With HEAP_GROWS defined before, those of ${heap_that_grows} are counted, too.
 */
#ifndef TESTS_UNIT_HEAP_H
#define TESTS_UNIT_HEAP_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define HEAP_WRAPPED __attribute__((visibility("default")))

static struct {
	int blocks;
	unsigned int allocs, fail_at; /* the allocation that fails, counted from 1 */
} heap;

HEAP_WRAPPED void *__wrap_calloc(size_t count, size_t size);
HEAP_WRAPPED void *__wrap_malloc(size_t size);
HEAP_WRAPPED int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
HEAP_WRAPPED void __wrap_free(void *block);
void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);

static inline bool heap_lacks_memory(void)
{
	if (++heap.allocs == heap.fail_at)
		return true;
	heap.blocks++;
	return false;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return heap_lacks_memory() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
	return heap_lacks_memory() ? NULL : __real_malloc(size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
	return heap_lacks_memory() ? ENOMEM : __real_posix_memalign(block, alignment, size);
}

void __wrap_free(void *block)
{
	heap.blocks -= block != NULL;
	__real_free(block);
}

#ifdef HEAP_GROWS
HEAP_WRAPPED void *__wrap_aligned_alloc(size_t alignment, size_t size);
HEAP_WRAPPED void *__wrap_realloc(void *block, size_t size);
HEAP_WRAPPED void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_reallocarray(void *block, size_t count, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return heap_lacks_memory() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_realloc(void *block, size_t size)
{
	if (heap_lacks_memory())
		return NULL;
	heap.blocks -= block != NULL;
	return __real_realloc(block, size);
}

void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	if (heap_lacks_memory())
		return NULL;
	heap.blocks -= block != NULL;
	return __real_reallocarray(block, count, size);
}
#endif

/* Lets the allocation of this number fail from now on, or none if it is 0. */
static inline void heap_fail_at(unsigned int number)
{
	heap.allocs = 0;
	heap.fail_at = number;
}

static inline void heap_begin(void)
{
	heap.blocks = 0;
	heap_fail_at(0);
}

#endif
