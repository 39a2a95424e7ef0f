/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_calls.c - counts the libraries' calls of the kernel and passes them on; see
 * kernel_calls.h.
 */
#include "tests/lib/kernel/kernel_calls.h"

#include <malloc.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FOR_LIBRARIES __attribute__((visibility("default")))
#define PAGE          4096

struct kernel_calls kernel_calls;

FOR_LIBRARIES int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	kernel_calls.ioctls++;
	kernel_calls.all++;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

FOR_LIBRARIES ssize_t write(int fd, const void *buf, size_t count)
{
	void (*const then)(const void *) = kernel_calls.after_next;
	ssize_t done;

	kernel_calls.writes++;
	kernel_calls.all++;
	done = syscall(SYS_write, fd, buf, count);
	if (then && done == (ssize_t)count && kernel_calls.is_next(buf)) {
		kernel_calls.after_next = NULL;
		then(buf);
	}
	return done;
}

FOR_LIBRARIES ssize_t writev(int fd, const struct iovec *iov, int count)
{
	kernel_calls.writes++;
	kernel_calls.all++;
	return syscall(SYS_writev, fd, iov, count);
}

static long bytes_of_pages(size_t length)
{
	return (long)((length + PAGE - 1) & ~(size_t)(PAGE - 1));
}

FOR_LIBRARIES void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	kernel_calls.all++;
	if (flags & MAP_SHARED)
		kernel_calls.shared_pages += bytes_of_pages(length) / PAGE;
	else if (flags & MAP_ANONYMOUS)
		kernel_calls.private_bytes += bytes_of_pages(length);
	return (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
}

FOR_LIBRARIES int munmap(void *addr, size_t length)
{
	kernel_calls.all++;
	kernel_calls.private_bytes -= bytes_of_pages(length);
	return (int)syscall(SYS_munmap, addr, length);
}

long kernel_calls_bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return (long)(info.uordblks + info.hblkhd) + kernel_calls.private_bytes;
}
