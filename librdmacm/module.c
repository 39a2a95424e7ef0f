/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * module.c - has the kernel load rdma_cm's interface (rdma_ucm) where nobody has. Who asks for a
 * client's character device by RDMA netlink is answered once its module is loaded.
 */
#include "cma.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_S = 10 }; /* loading a module takes a while, but not for ever */

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

static int ask_kernel(int sock)
{
	struct timeval limit = { .tv_sec = ANSWER_S };
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	struct nlmsgerr error;
	ssize_t size;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (send(sock, &question, sizeof(question), 0) < 0)
		return errno;
	size = recv(sock, &answer, sizeof(answer), 0);
	if (size < 0)
		return errno;
	if ((size_t)size < sizeof(answer.head) + sizeof(error.error) ||
	    answer.head.nlmsg_type != NLMSG_ERROR)
		return 0;
	memcpy(&error.error, answer.bytes + sizeof(answer.head), sizeof(error.error));
	return -error.error;
}

/* The function returns EAGAIN if the kernel has not answered in time. */
int rdmacm_module_load(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), ret;

	if (sock < 0)
		return errno;
	ret = ask_kernel(sock);
	close(sock);
	return ret;
}
