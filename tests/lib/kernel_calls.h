/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_calls.h - how often the libraries call the kernel, and how many bytes they take.
 *
 * A program that is linked with kernel_calls.c defines ioctl(), write(), writev(), mmap() and
 * munmap(). A program's symbols go before those of its libraries, so the libraries' calls come
 * here first, where they are counted and passed on. The program must export its symbols
 * (ENABLE_EXPORTS in CMake).
 */
#ifndef TESTS_LIB_KERNEL_CALLS_H
#define TESTS_LIB_KERNEL_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

struct kernel_calls {
	atomic_long ioctls;        /* those of device files */
	atomic_long writes;        /* write() and writev(), by which rdma_cm gets its commands */
	atomic_long shared_pages;  /* pages that were mapped of a device */
	atomic_long all;           /* of all these functions */
	atomic_long private_bytes; /* bytes of private mappings, less what was unmapped */
	/* once, if set: after the first write() of what IS_NEXT says yes to, before it returns to
	 * the library */
	void (*after_next)(const void *buf);
	bool (*is_next)(const void *buf);
};

extern struct kernel_calls kernel_calls;

/* Returns the bytes of the heap and of private mappings. */
long kernel_calls_bytes_in_use(void);

#endif
