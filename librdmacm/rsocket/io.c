/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io.c - the calls of <rdma/rsocket.h> that transfer data. Each is reduced to one call that sends
 * or receives a span of the program's memory.
 */
#include "librdmacm/rsocket/rs.h"

#include <limits.h>
#include <string.h>

static ssize_t send_span(int socket, struct span *span, int flags, const struct sockaddr *to,
			 socklen_t len)
{
	struct rs *rs = rs_find(socket);
	size_t done = 0;
	int ret = rs ? rs->kind->send(rs, span, flags, to, len, &done) : EBADF;

	return ret && !done ? cma_return(ret) : (ssize_t)done;
}

static ssize_t send_iov(int socket, const struct iovec *iov, size_t count, int flags,
			const struct sockaddr *to, socklen_t len)
{
	struct span span;
	int ret = count <= IOV_MAX ? rdmacm_span_init(&span, iov, count) : EMSGSIZE;

	return ret ? cma_return(ret) : send_span(socket, &span, flags, to, len);
}

static ssize_t send_buf(int socket, const void *buf, size_t len, int flags,
			const struct sockaddr *to, socklen_t to_len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct span span;
	int ret = span_of_buffer(&span, &iov);

	return ret ? cma_return(ret) : send_span(socket, &span, flags, to, to_len);
}

CMA_EXPORT ssize_t rsend(int socket, const void *buf, size_t len, int flags)
{
	return send_buf(socket, buf, len, flags, NULL, 0);
}

CMA_EXPORT ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
			   const struct sockaddr *dest_addr, socklen_t addrlen)
{
	return send_buf(socket, buf, len, flags, dest_addr, addrlen);
}

/* Refuses ancillary data, because rsockets have none: a program that relied on the data would lose
 * it silently. */
CMA_EXPORT ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags)
{
	if (msg->msg_control && msg->msg_controllen)
		return cma_return(EOPNOTSUPP);
	return send_iov(socket, msg->msg_iov, msg->msg_iovlen, flags, msg->msg_name,
			msg->msg_namelen);
}

CMA_EXPORT ssize_t rwrite(int socket, const void *buf, size_t count)
{
	return send_buf(socket, buf, count, 0, NULL, 0);
}

CMA_EXPORT ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt)
{
	if (iovcnt < 0 || iovcnt > IOV_MAX)
		return cma_return(EINVAL);
	return send_iov(socket, iov, iovcnt, 0, NULL, 0);
}

static inline ssize_t receive_span(struct rs *rs, struct span *span, int *flags,
				   struct sockaddr_storage *from)
{
	size_t done = 0;
	int ret = rs->kind->receive(rs, span, flags, from, &done);

	return ret && !done ? cma_return(ret) : (ssize_t)done;
}

static ssize_t receive_iov(int socket, const struct iovec *iov, size_t count, int *flags,
			   struct sockaddr_storage *from)
{
	struct rs *rs = rs_find(socket);
	struct span span;
	int ret = rs ? 0 : EBADF;

	if (!ret)
		ret = count <= IOV_MAX ? rdmacm_span_init(&span, iov, count) : EMSGSIZE;
	return ret ? cma_return(ret) : receive_span(rs, &span, flags, from);
}

static ssize_t receive_buf(int socket, void *buf, size_t len, int flags,
			   struct sockaddr_storage *from)
{
	struct rs *rs = rs_find(socket);
	struct iovec iov = { buf, len };
	struct span span;
	int ret = rs ? span_of_buffer(&span, &iov) : EBADF;

	return ret ? cma_return(ret) : receive_span(rs, &span, &flags, from);
}

CMA_EXPORT ssize_t rrecv(int socket, void *buf, size_t len, int flags)
{
	return receive_buf(socket, buf, len, flags, NULL);
}

CMA_EXPORT ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags,
			     struct sockaddr *src_addr, socklen_t *addrlen)
{
	struct sockaddr_storage from;
	ssize_t size;

	if (!src_addr || !addrlen)
		return receive_buf(socket, buf, len, flags, NULL);
	from = (struct sockaddr_storage){ 0 };
	size = receive_buf(socket, buf, len, flags, &from);
	if (size >= 0)
		rdmacm_rs_hand_out(&from, src_addr, addrlen);
	return size;
}

CMA_EXPORT ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags)
{
	struct sockaddr_storage from;
	ssize_t size;

	if (msg->msg_name)
		from = (struct sockaddr_storage){ 0 };
	size = receive_iov(socket, msg->msg_iov, msg->msg_iovlen, &flags,
			   msg->msg_name ? &from : NULL);
	if (size < 0)
		return size;
	if (msg->msg_name)
		rdmacm_rs_hand_out(&from, msg->msg_name, &msg->msg_namelen);
	msg->msg_controllen = 0;
	msg->msg_flags = flags;
	return size;
}

CMA_EXPORT ssize_t rread(int socket, void *buf, size_t count)
{
	return receive_buf(socket, buf, count, 0, NULL);
}

CMA_EXPORT ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt)
{
	int flags = 0;

	if (iovcnt < 0 || iovcnt > IOV_MAX)
		return cma_return(EINVAL);
	return receive_iov(socket, iov, iovcnt, &flags, NULL);
}
