/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocator_forks.h - whether a child of fork() may allocate, where another thread of its parent
 * was allocating.
 *
 * gcc 12's AddressSanitizer does not hold its allocator's locks over fork(), so such a child waits
 * for ever for a lock that no thread of its own has. glibc's allocator holds them.
 */
#ifndef TESTS_LIB_ALLOCATOR_FORKS_H
#define TESTS_LIB_ALLOCATOR_FORKS_H

#ifdef __SANITIZE_ADDRESS__
enum { ALLOCATOR_FORKS = 0 };
#else
enum { ALLOCATOR_FORKS = 1 };
#endif

#define ALLOCATOR_FORKS_NOT "AddressSanitizer does not free its locks in a child"

#endif
