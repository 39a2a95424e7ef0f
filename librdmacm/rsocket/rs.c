/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rs.c - the calls of <rdma/rsocket.h> that create, connect, name and close sockets.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/rs.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { TYPE_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC };

static int check_protocol(int type, int protocol)
{
	if (type == SOCK_STREAM)
		return !protocol || protocol == IPPROTO_TCP ? 0 : EOPNOTSUPP;
	if (type == SOCK_DGRAM)
		return !protocol || protocol == IPPROTO_UDP ? 0 : EOPNOTSUPP;
	return EOPNOTSUPP;
}

static int create_socket(int domain, int type, int protocol, struct rs **rs)
{
	int flags = type & TYPE_FLAGS;
	int ret;

	type &= ~TYPE_FLAGS;
	if (domain != AF_INET && domain != AF_INET6 && domain != AF_IB)
		return EOPNOTSUPP;
	ret = check_protocol(type, protocol);
	if (ret)
		return ret;
	rdmacm_rs_watch_forks();
	ret = type == SOCK_STREAM ? rdmacm_stream_create(domain, rs)
				  : rdmacm_dgram_create(domain, rs);
	if (!ret && flags & SOCK_NONBLOCK)
		(*rs)->status_flags = O_NONBLOCK;
	return ret;
}

CMA_EXPORT int rsocket(int domain, int type, int protocol)
{
	struct rs *rs;
	int ret;

	rdmacm_rs_shield();
	ret = create_socket(domain, type, protocol, &rs);
	rdmacm_rs_unshield();
	return ret ? cma_return(ret) : rs->fd;
}

/* Calls a function of the socket's kind: EBADF if there is no socket, EOPNOTSUPP if the kind lacks
 * the function.
 */

#define RS_CALL(socket, call, ...)                                                        \
	({                                                                                \
		struct rs *found_ = rdmacm_rs_find(socket);                               \
		int ret_;                                                                 \
		rdmacm_rs_shield();                                                       \
		ret_ = !found_               ? EBADF                                      \
		       : !found_->kind->call ? EOPNOTSUPP                                 \
					     : found_->kind->call(found_, ##__VA_ARGS__); \
		rdmacm_rs_unshield();                                                     \
		ret_;                                                                     \
	})

CMA_EXPORT int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	return cma_return(RS_CALL(socket, bind, addr, addrlen));
}

CMA_EXPORT int rlisten(int socket, int backlog)
{
	return cma_return(RS_CALL(socket, listen, backlog));
}

CMA_EXPORT int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	return cma_return(RS_CALL(socket, connect, addr, addrlen));
}

CMA_EXPORT int rshutdown(int socket, int how)
{
	int ret;

	rdmacm_rs_shield_sleep();
	ret = RS_CALL(socket, shutdown, how);
	rdmacm_rs_unshield_sleep();
	return cma_return(ret);
}

CMA_EXPORT int rclose(int socket)
{
	struct rs *rs = rdmacm_rs_find(socket);
	int ret = 0;

	rdmacm_rs_shield_sleep();
	if (rs)
		rs->kind->close(rs);
	else
		ret = rdmacm_rs_set_close(socket);
	rdmacm_rs_unshield_sleep();
	return cma_return(ret);
}

CMA_EXPORT int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	struct rs *accepted = NULL;
	int ret = RS_CALL(socket, accept, &accepted);

	if (ret)
		return cma_return(ret);
	accepted->kind->peer_name(accepted, addr, addrlen);
	return accepted->fd;
}

CMA_EXPORT int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	struct rs *rs = rs_find(socket);

	return cma_return(rs ? rs->kind->local_name(rs, addr, addrlen) : EBADF);
}

CMA_EXPORT int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	struct rs *rs = rs_find(socket);

	return cma_return(rs ? rs->kind->peer_name(rs, addr, addrlen) : EBADF);
}

static void set_nonblocking(struct rs *rs, bool on)
{
	rs->status_flags = on ? O_NONBLOCK : 0;
}

/* Handles ioctl() requests, whose numbers differ from all fcntl() commands, so that rfcntl() can
 * serve both. */
static int request_of_socket(struct rs *rs, unsigned int request, int *argument)
{
	if (!argument)
		return EFAULT;
	if (request == FIONREAD)
		return rs->kind->unread ? rs->kind->unread(rs, argument) : EOPNOTSUPP;
	set_nonblocking(rs, *argument);
	return 0;
}

static int ask_socket(struct rs *rs, unsigned int request, int *argument)
{
	int ret;

	rdmacm_rs_shield();
	ret = request_of_socket(rs, request, argument);
	rdmacm_rs_unshield();
	return ret;
}

static int __attribute__((noinline)) control_socket(struct rs *rs, int cmd, va_list args)
{
	switch (cmd) {
	case F_SETFL:
		set_nonblocking(rs, va_arg(args, int) & O_NONBLOCK);
		return 0;
	case FIONREAD:
	case FIONBIO:
		return ask_socket(rs, cmd, va_arg(args, int *));
	default:
		return EOPNOTSUPP;
	}
}

CMA_EXPORT int rfcntl(int socket, int cmd, ...)
{
	struct rs *rs = rs_find(socket);
	va_list args;
	int ret;

	if (!rs)
		return cma_return(EBADF);
	if (cmd == F_GETFL)
		return rs->status_flags;
	va_start(args, cmd);
	ret = control_socket(rs, cmd, args);
	va_end(args);
	return cma_return(ret);
}
