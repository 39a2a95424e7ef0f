/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.c - glibc's other names of intercepted calls. A program built with _FORTIFY_SOURCE calls
 * checked variants if the compiler knows the size of the buffer but not the requested length; some
 * libraries call names with two leading underscores.
 *
 * tests/abi/preload-names compares the names here with glibc's.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

_Noreturn void __chk_fail(void); /* glibc's; not in any header */

static void need_room(size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
}

PRELOAD_EXPORT ssize_t __read_chk(int fd, void *buf, size_t count, size_t room)
{
	need_room(count, room);
	return read(fd, buf, count);
}

PRELOAD_EXPORT ssize_t __recv_chk(int socket, void *buf, size_t len, size_t room, int flags)
{
	need_room(len, room);
	return recv(socket, buf, len, flags);
}

PRELOAD_EXPORT ssize_t __recvfrom_chk(int socket, void *restrict buf, size_t len, size_t room,
				      int flags, struct sockaddr *restrict from,
				      socklen_t *restrict addrlen)
{
	need_room(len, room);
	return recvfrom(socket, buf, len, flags, from, addrlen);
}

PRELOAD_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
	need_room(count, room / sizeof(*fds));
	return poll(fds, count, timeout);
}

PRELOAD_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			       const sigset_t *mask, size_t room)
{
	need_room(count, room / sizeof(*fds));
	return ppoll(fds, count, timeout, mask);
}

PRELOAD_EXPORT int __close(int fd)
{
	return close(fd);
}

PRELOAD_EXPORT int __connect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	return connect(socket, addr, addrlen);
}

PRELOAD_EXPORT int __dup2(int fd, int to)
{
	return dup2(fd, to);
}

PRELOAD_EXPORT int __fcntl(int fd, int cmd, ...)
{
	va_list args;
	long argument;

	va_start(args, cmd);
	argument = va_arg(args, long);
	va_end(args);
	return fcntl(fd, cmd, argument);
}

PRELOAD_EXPORT int __poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return poll(fds, count, timeout);
}

PRELOAD_EXPORT ssize_t __read(int fd, void *buf, size_t count)
{
	return read(fd, buf, count);
}

PRELOAD_EXPORT int __select(int limit, fd_set *restrict read, fd_set *restrict write,
			    fd_set *restrict except, struct timeval *restrict timeout)
{
	return select(limit, read, write, except, timeout);
}

PRELOAD_EXPORT ssize_t __send(int socket, const void *buf, size_t len, int flags)
{
	return send(socket, buf, len, flags);
}

PRELOAD_EXPORT ssize_t __write(int fd, const void *buf, size_t count)
{
	return write(fd, buf, count);
}
