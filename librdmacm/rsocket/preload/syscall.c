/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscall.c - intercepts syscall(), with which libuv creates an io_uring.
 *
 * The kernel would execute a ring's requests on the unconnected socket behind an rsocket's number.
 * Without a ring, the program uses the calls that librspreload intercepts. All other system calls
 * are passed on unchanged.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns libc's syscall(). Does not use real(), since an allocator may come here during its
 * lookups. */
static long (*next_syscall(void))(long, ...)
{
	static long (*next)(long, ...);
	long (*found)(long, ...) = __atomic_load_n(&next, __ATOMIC_RELAXED);

	if (!found) {
		*(void **)&found = dlsym(RTLD_NEXT, "syscall");
		__atomic_store_n(&next, found, __ATOMIC_RELAXED);
	}
	return found;
}

/* Passes on six arguments. With fewer, the rest is garbage from the caller's frame, which the
 * kernel ignores; the address sanitizer would complain. */
PRELOAD_EXPORT __attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	long arguments[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_io_uring_setup && preload_wants_any()) {
		errno = ENOSYS;
		return -1;
	}
	return next_syscall()(number, arguments[0], arguments[1], arguments[2], arguments[3],
			      arguments[4], arguments[5]);
}
