/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link.c - messages between runner and daemon. See link.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softhca/front/process/link.h"

enum { MAX_FDS = 2 };

union fd_control {
	struct cmsghdr align;
	char room[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static int send_with_fds(int link, const void *data, size_t len, const int *fds, unsigned int nfds)
{
	struct iovec iov = { (void *)(uintptr_t)data, len };
	union fd_control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(nfds * sizeof(int)) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
	memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));
	return sendmsg(link, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

/* Closes the descriptors of an unexpected message, as a hostile sender could otherwise use up our
 * descriptors. */
static void close_fds(const struct cmsghdr *cmsg)
{
	size_t nfds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fds[MAX_FDS];

	memcpy(fds, CMSG_DATA(cmsg), nfds * sizeof(int));
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
}

/* Receives exactly LEN bytes and NFDS descriptors, or returns EPROTO. EMFILE: this process had no
 * free descriptor, so the kernel has dropped those of the message. */
static int receive_with_fds(int link, void *data, size_t len, int *fds, unsigned int nfds)
{
	struct iovec iov = { data, len };
	union fd_control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(link, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg;

	if (n <= 0)
		return n ? errno : ECONNRESET;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return msg.msg_flags & MSG_CTRUNC ? EMFILE : EPROTO;
	if ((size_t)n != len || cmsg->cmsg_len != CMSG_LEN(nfds * sizeof(int))) {
		close_fds(cmsg);
		return EPROTO;
	}
	memcpy(fds, CMSG_DATA(cmsg), nfds * sizeof(int));
	return 0;
}

int link_send_hello(int link, int listener)
{
	struct link_hello hello = { LINK_MAGIC, LINK_VERSION };

	return send_with_fds(link, &hello, sizeof(hello), &listener, 1);
}

int link_receive_hello(int link, int *listener)
{
	struct link_hello hello;
	int fd, ret = receive_with_fds(link, &hello, sizeof(hello), &fd, 1);

	if (ret)
		return ret;
	if (hello.magic != LINK_MAGIC || hello.version != LINK_VERSION) {
		close(fd);
		return EPROTO;
	}
	*listener = fd;
	return 0;
}

int link_send_welcome(int link, int error, int memory)
{
	uint32_t value = error;

	return error ? link_send_answer(link, error)
		     : send_with_fds(link, &value, sizeof(value), &memory, 1);
}

/* Receives the daemon's answer. An error comes without a descriptor. */
int link_receive_welcome(int link, int *memory)
{
	uint32_t value = 0;
	int ret = receive_with_fds(link, &value, sizeof(value), memory, 1);

	return ret == EPROTO && value ? (int)value : ret;
}

int link_send_answer(int link, int error)
{
	uint32_t value = error;

	/* do not block on a peer that reads nothing: this thread serves all others */
	return send(link, &value, sizeof(value), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

int link_receive_answer(int link)
{
	uint32_t value;
	ssize_t n = recv(link, &value, sizeof(value), 0);

	if (n <= 0)
		return n ? errno : ECONNRESET;
	return n == sizeof(value) ? (int)value : EPROTO;
}

int link_send_fd(int link, int fd)
{
	char byte = 0;

	return send_with_fds(link, &byte, 1, &fd, 1);
}

int link_receive_fd(int link, int *fd)
{
	char byte;

	return receive_with_fds(link, &byte, 1, fd, 1);
}
