/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * share.c - the pipe of requests, and the socket with the holders' channels; see share.h.
 */
#include "librdmacm/rsocket/share.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Writes of up to PIPE_BUF are atomic, so a request is never split. */
_Static_assert(sizeof(struct rdma_ucm_event_resp) <= 512, "POSIX: PIPE_BUF");

/* Data of a message with descriptors. The stamp distinguishes it from earlier messages, which a
 * holder that died may have left. */
struct stamp {
	pid_t pid;
	int32_t is_lost;
	int64_t ns;
};

union control {
	char bytes[CMSG_SPACE(SHARE_CHANNELS * sizeof(int))];
	struct cmsghdr align;
};

static struct msghdr message_with(struct iovec *iov, union control *control)
{
	return (struct msghdr){ .msg_iov = iov,
				.msg_iovlen = 1,
				.msg_control = control,
				.msg_controllen = sizeof(*control) };
}

void rdmacm_share_close_channels(struct rs_share_channels *channels)
{
	while (channels->count)
		close(channels->fds[--channels->count]);
}

static void take_descriptors(struct msghdr *message, struct rs_share_channels *channels)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);

	channels->count = 0;
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return;
	channels->count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(channels->fds, CMSG_DATA(header), channels->count * sizeof(int));
}

/* Duplicates the channels. If descriptors run out, some are missing. */
int rdmacm_share_find_channels(const struct rs_share *share, struct rs_share_channels *channels)
{
	struct stamp stamp;
	struct iovec iov = { &stamp, sizeof(stamp) };
	union control control;
	struct msghdr message = message_with(&iov, &control);

	channels->count = 0;
	if (recvmsg(share->channel[0], &message, MSG_PEEK | MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0)
		return errno;
	take_descriptors(&message, channels);
	if (stamp.is_lost)
		return EIDRM;
	if (channels->count && !(message.msg_flags & MSG_CTRUNC))
		return 0;
	rdmacm_share_close_channels(channels);
	return EMFILE;
}

static int lay_down(const struct rs_share *share, struct stamp *stamp,
		    const struct rs_share_channels *channels)
{
	const size_t size = channels->count * sizeof(int);
	struct iovec iov = { stamp, sizeof(*stamp) };
	union control control = { { 0 } };
	struct msghdr message = message_with(&iov, &control);
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	message.msg_controllen = channels->count ? CMSG_SPACE(size) : 0;
	*header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(size),
				    .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(header), channels->fds, size);
	return sendmsg(share->channel[1], &message, MSG_DONTWAIT) < 0 ? errno : 0;
}

/* Removes the messages before OWN. There are two if a holder has died in
 * rdmacm_share_set_channel(). */
static int drop_others(const struct rs_share *share, const struct stamp *own)
{
	struct stamp first;

	for (;;) {
		if (recv(share->channel[0], &first, sizeof(first), MSG_PEEK | MSG_DONTWAIT) < 0)
			return errno;
		if (first.pid == own->pid && first.ns == own->ns)
			return 0;
		if (recv(share->channel[0], &first, sizeof(first), MSG_DONTWAIT) < 0)
			return errno;
	}
}

static struct stamp stamp_make(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (struct stamp){ .pid = getpid(),
			       .ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec };
}

/* Sends the new message before it removes the old one, because this process may die in between. */
int rdmacm_share_set_channel(const struct rs_share *share, int channel,
			     const struct rs_share_channels *before)
{
	struct rs_share_channels all = { 1, { channel } };
	struct stamp stamp = stamp_make();
	int ret;

	for (int i = 0; i < before->count && all.count < SHARE_CHANNELS; i++)
		all.fds[all.count++] = before->fds[i];
	ret = lay_down(share, &stamp, &all);
	return ret ? ret : drop_others(share, &stamp);
}

int rdmacm_share_lose(const struct rs_share *share)
{
	const struct rs_share_channels none = { 0 };
	struct stamp stamp = stamp_make();
	int ret;

	stamp.is_lost = true;
	ret = lay_down(share, &stamp, &none);
	return ret ? ret : drop_others(share, &stamp);
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_ends(struct rs_share *share)
{
	for (int i = 0; i < 2; i++) {
		close_end(&share->requests[i]);
		close_end(&share->channel[i]);
	}
}

void rdmacm_share_close(struct rs_share *share)
{
	if (!share->is_open)
		return;
	share->is_open = share->holds = false;
	close_ends(share);
}

/* Creates pipe and socket pair. The mode lets the next holder reopen the pipe by its number even as
 * another user; no other process has a path to the pipe. */
static int share_make(struct rs_share *share, int channel)
{
	const struct rs_share_channels channels = { 1, { channel } };
	struct stamp stamp = stamp_make();

	if (pipe2(share->requests, O_CLOEXEC | O_NONBLOCK) || fchmod(share->requests[0], 0666) ||
	    flock(share->requests[1], LOCK_EX | LOCK_NB) ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, share->channel))
		return errno;
	return lay_down(share, &stamp, &channels);
}

/* Creates the share; other threads use it only when is_open is set, so it is set last. */
static int share_open_alone(struct rs_share *share, int channel)
{
	int ret;

	share->requests[0] = share->requests[1] = -1;
	share->channel[0] = share->channel[1] = -1;
	ret = share_make(share, channel);
	if (ret) {
		close_ends(share);
		return ret;
	}
	share->holds = true;
	__atomic_store_n(&share->is_open, true, __ATOMIC_RELEASE);
	return 0;
}

enum { NAPS = 1000, NAP_US = 1000 };

/* Claims the right to create the share. Two threads may fork at once, and a child with a half-made
 * share would lose the listener. The wait is limited, because a signal handler may fork in the very
 * thread that is creating the share. */
static bool share_claim(struct rs_share *share)
{
	for (int i = 0; i < NAPS; i++) {
		if (!__atomic_exchange_n(&share->is_making, true, __ATOMIC_ACQUIRE))
			return true;
		usleep(NAP_US);
	}
	return false;
}

int rdmacm_share_open(struct rs_share *share, int channel)
{
	int ret = 0;

	if (!share_claim(share))
		return EBUSY;
	if (!rs_share_is_open(share))
		ret = share_open_alone(share, channel);
	__atomic_store_n(&share->is_making, false, __ATOMIC_RELEASE);
	return ret;
}

void rdmacm_share_let_go(struct rs_share *share)
{
	share->holds = false;
	close_end(&share->requests[1]);
}

void rdmacm_share_forked(struct rs_share *share)
{
	share->is_making = false;
	if (share->is_open)
		rdmacm_share_let_go(share);
}

bool rdmacm_share_has_room(const struct rs_share *share)
{
	struct pollfd fd = { .fd = share->requests[1], .events = POLLOUT };

	return poll(&fd, 1, 0) > 0;
}

int rdmacm_share_put(const struct rs_share *share, const struct rdma_ucm_event_resp *request)
{
	return write(share->requests[1], request, sizeof(*request)) < 0 ? errno : 0;
}

int rdmacm_share_take(const struct rs_share *share, struct rdma_ucm_event_resp *request)
{
	ssize_t got = read(share->requests[0], request, sizeof(*request));

	if (got == sizeof(*request))
		return 0;
	return got < 0 ? errno : EAGAIN;
}

unsigned int rdmacm_share_count(const struct rs_share *share)
{
	int bytes = 0;

	if (ioctl(share->requests[0], FIONREAD, &bytes))
		return 0;
	return (unsigned int)bytes / sizeof(struct rdma_ucm_event_resp);
}

/* Reopens the pipe for writing, and locks it. A process that comes too late closes its descriptor
 * again, because readers see no end of the pipe while it has a writer. */
bool rdmacm_share_hold(struct rs_share *share, int *error)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", share->requests[0]);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	*error = fd < 0 ? errno : 0;
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return false;
	}
	share->requests[1] = fd;
	share->holds = true;
	return true;
}
