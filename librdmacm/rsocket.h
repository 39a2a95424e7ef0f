/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rsocket.h - sockets over RDMA: the calls of <sys/socket.h> prefixed with r, for descriptors from
 * rsocket() and raccept(). There are streams and datagrams, over IPv4 and IPv6. errno values are
 * those of sockets.
 */
#ifndef RSOCKET_H
#define RSOCKET_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

int rsocket(int domain, int type, int protocol);
int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen);
int rlisten(int socket, int backlog);
int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen);
int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen);
int rshutdown(int socket, int how);
int rclose(int socket);

ssize_t rrecv(int socket, void *buf, size_t len, int flags);
ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags, struct sockaddr *src_addr,
		  socklen_t *addrlen);
ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags);
ssize_t rread(int socket, void *buf, size_t count);
ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt);

ssize_t rsend(int socket, const void *buf, size_t len, int flags);
ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
		const struct sockaddr *dest_addr, socklen_t addrlen);
ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags);
ssize_t rwrite(int socket, const void *buf, size_t count);
ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt);

/* rpoll(), rselect() and repoll_ctl() accept other descriptors as well, since programs wait for
 * rsockets and other descriptors together. */
int rpoll(struct pollfd *fds, nfds_t nfds, int timeout);
int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
	    struct timeval *timeout);
int repoll_create(int size);
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);

int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen);
int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen);

/* Options of level SOL_RDMA, set before the socket connects or listens. All are int except the
 * last. */
#define SOL_RDMA 0x10000
enum {
	RDMA_SQSIZE,    /* work requests of the send queue */
	RDMA_RQSIZE,    /* work requests of the receive queue */
	RDMA_INLINE,    /* bytes sent inline */
	RDMA_IOMAPSIZE, /* mappings that the peer may make */
	RDMA_ROUTE      /* struct ibv_path_data[] */
};

int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen);
int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen);
int rfcntl(int socket, int cmd, ...);

/* riomap() gives memory an offset (-1: any). The peer may write the memory directly by riowrite()
 * to that offset. riowrite() returns the number of bytes written. */
off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset);
int riounmap(int socket, void *buf, size_t len);
size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags);

#ifdef __cplusplus
}
#endif

#endif
