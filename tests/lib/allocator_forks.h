/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocator_forks.h - whether a child of fork() may allocate memory while another thread of its
 * parent does.
 *
 * gcc 12's AddressSanitizer does not take its allocator's locks around fork(), so the child may
 * wait forever for a lock that none of its threads holds. glibc's allocator takes them.
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
