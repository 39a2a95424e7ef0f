/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * module.c - makes the kernel load rdma_cm's interface (rdma_ucm). A query for the client's
 * character device by RDMA netlink loads its module before it is answered.
 */
#include "cma.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_S = 10 }; /* loading a module takes time, but the wait must end */

struct question {
	struct nlmsghdr head;
	struct nlattr attr;
	char client[8];
};

static const struct question question = {
	.head = { .nlmsg_len = sizeof(struct question),
		  .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV),
		  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		  .nlmsg_seq = 1 },
	.attr = { .nla_len = NLA_HDRLEN + sizeof("rdma_cm"),
		  .nla_type = RDMA_NLDEV_ATTR_CHARDEV_TYPE },
	.client = "rdma_cm",
};
_Static_assert(sizeof(struct question) == 28, "no holes between the parts");

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Waits for the answer until the time limit. A signal handler may interrupt the wait, which then
 * continues, because the device file exists only after the answer. */
static ssize_t await_answer(int sock, void *answer, size_t size)
{
	const struct timeval limit = { .tv_sec = ANSWER_S };
	const time_t end = now_s() + ANSWER_S;
	ssize_t got;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	do
		got = recv(sock, answer, size, 0);
	while (got < 0 && errno == EINTR && now_s() < end);
	return got;
}

static ssize_t send_question(int sock)
{
	ssize_t done;

	do
		done = send(sock, &question, sizeof(question), 0);
	while (done < 0 && errno == EINTR);
	return done;
}

static int ask_kernel(int sock)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	struct nlmsgerr error;
	ssize_t size;

	if (send_question(sock) < 0)
		return errno;
	size = await_answer(sock, &answer, sizeof(answer));
	if (size < 0)
		return errno == EINTR ? EAGAIN : errno;
	if ((size_t)size < sizeof(answer.head) + sizeof(error.error) ||
	    answer.head.nlmsg_type != NLMSG_ERROR)
		return 0;
	memcpy(&error.error, answer.bytes + sizeof(answer.head), sizeof(error.error));
	return -error.error;
}

int rdmacm_module_load(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), ret;

	if (sock < 0)
		return errno;
	ret = ask_kernel(sock);
	close(sock);
	return ret;
}
