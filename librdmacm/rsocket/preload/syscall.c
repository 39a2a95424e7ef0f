/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscall.c - syscall(), by which libuv asks the kernel for a ring of requests (io_uring).
 *
 * The kernel would carry out a ring's requests on the unconnected socket behind an rsocket's
 * number. A program that gets no ring makes the calls that librspreload takes over. All other
 * numbers go to the system unchanged.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* real() is not asked: an allocator may come here while that looks its calls up. */
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

/* A call with fewer arguments has variables of its caller's where the sixth would be, at which the
 * kernel does not look. */
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
