/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_calls.h - counts the libraries' calls of the kernel, and the bytes that they allocate.
 *
 * A program that is linked with kernel_calls.c defines ioctl(), write(), writev(), mmap() and
 * munmap(). A program's symbols override its libraries', so the libraries' calls arrive here first,
 * which counts them and passes them on. The program must export its symbols (ENABLE_EXPORTS in
 * CMake).
 */
#ifndef TESTS_LIB_KERNEL_KERNEL_CALLS_H
#define TESTS_LIB_KERNEL_KERNEL_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

struct kernel_calls {
	atomic_long ioctls;
	atomic_long writes;
	atomic_long shared_pages;  /* mapped pages of a device */
	atomic_long all;           /* calls of all these functions */
	atomic_long private_bytes; /* mapped and not yet unmapped private bytes */
	/* If set, called once: after the first write() of a buffer for which IS_NEXT returns true,
	 * before the write() returns to the library */
	void (*after_next)(const void *buf);
	bool (*is_next)(const void *buf);
};

extern struct kernel_calls kernel_calls;

long kernel_calls_bytes_in_use(void);

#endif
