/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.c - the only file that accesses /dev/infiniband/rdma_cm.
 *
 * A command is one write() of a header and a body. The kernel stores the response, if there is one,
 * at the address in the body before write() returns. Decisions: docs/adr/0021, docs/adr/0023.
 */
#include "cma.h"

#include <fcntl.h>
#include <infiniband/ib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/threads.h"

static const char *const names[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = "CREATE_ID",
	[RDMA_USER_CM_CMD_DESTROY_ID] = "DESTROY_ID",
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = "RESOLVE_ROUTE",
	[RDMA_USER_CM_CMD_CONNECT] = "CONNECT",
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = "QUERY_ROUTE",
	[RDMA_USER_CM_CMD_LISTEN] = "LISTEN",
	[RDMA_USER_CM_CMD_ACCEPT] = "ACCEPT",
	[RDMA_USER_CM_CMD_REJECT] = "REJECT",
	[RDMA_USER_CM_CMD_DISCONNECT] = "DISCONNECT",
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = "INIT_QP_ATTR",
	[RDMA_USER_CM_CMD_GET_EVENT] = "GET_EVENT",
	[RDMA_USER_CM_CMD_SET_OPTION] = "SET_OPTION",
	[RDMA_USER_CM_CMD_NOTIFY] = "NOTIFY",
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = "LEAVE_MCAST",
	[RDMA_USER_CM_CMD_MIGRATE_ID] = "MIGRATE_ID",
	[RDMA_USER_CM_CMD_QUERY] = "QUERY",
	[RDMA_USER_CM_CMD_BIND] = "BIND",
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = "RESOLVE_ADDR",
	[RDMA_USER_CM_CMD_JOIN_MCAST] = "JOIN_MCAST",
	[RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE] = "RESOLVE_IB_SERVICE",
	[RDMA_USER_CM_CMD_WRITE_CM_EVENT] = "WRITE_CM_EVENT",
};

static __thread const struct cm_renewal *renewal;

const struct cm_renewal *rdmacm_cmd_set_renewal(const struct cm_renewal *of_thread)
{
	const struct cm_renewal *before = renewal;

	renewal = of_thread;
	return before;
}

/* Runs write() with cancellation disabled. Only waiting for an event is meant to be a cancellation
 * point: any other command has effects in the kernel that a cancelled caller would not learn of. */
static inline __attribute__((always_inline)) ssize_t
write_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	ssize_t done;
	int state;

	if (rdmacm_shield.depth)
		return write(fd, cmd, size);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	done = write(fd, cmd, size);
	pthread_setcancelstate(state, NULL);
	return done;
}

static int write_again(int fd, const struct cm_cmd *cmd)
{
	const size_t size = sizeof(cmd->hdr) + cmd->hdr.in;
	ssize_t done = write_shielded(fd, cmd, size);

	if (done == (ssize_t)size)
		return 0;
	return done < 0 ? errno : ENODATA;
}

/* Repeats CMD on a renewed channel. Returns EACCES if the channel cannot be renewed, or the errno
 * of the renewal. */
static int repeat_renewed(int fd, const struct cm_cmd *cmd)
{
	int ret;

	if (!renewal || renewal->fd != fd || cmd->hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return EACCES;
	ret = renewal->renew(renewal->of, cmd->hdr.cmd);
	return ret ? ret : write_again(fd, cmd);
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	const uint32_t number = cmd->hdr.cmd;
	int ret = done < 0 ? errno : ENODATA;
	char why[384];

	if (ret == EACCES)
		ret = repeat_renewed(fd, cmd);
	if (ret && ret != EAGAIN && ret != EINTR && verbs_log_on(VERBS_LOG_WARN)) {
		rdmacm_cmd_explain(cmd, ret, why, sizeof(why));
		verbs_warn("rdma_cm: the kernel refuses %s: %s%s", names[number], strerror(ret),
			   why);
	}
	return ret;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	ssize_t done = write_shielded(fd, cmd, size);

	return done == (ssize_t)size ? 0 : rdmacm_cmd_failed(fd, cmd, done);
}

/* udev's default path, and the path of older systems. */
static const char *const paths[] = { "/dev/infiniband/rdma_cm", "/dev/rdma_cm" };

static int open_device_file(int *fd)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		*fd = open(paths[i], O_RDWR | O_CLOEXEC);
		if (*fd >= 0)
			return 0;
		if (errno != ENOENT)
			return errno;
	}
	return ENOENT;
}

enum { UDEV_TRIES = 100, UDEV_NAP_US = 10000 };

static int await_device_file(int *fd)
{
	int ret = ENOENT;

	for (int i = 0; ret == ENOENT && i < UDEV_TRIES; i++) {
		if (i)
			usleep(UDEV_NAP_US);
		ret = open_device_file(fd);
	}
	return ret;
}

/* Opens the device file after loading the module. udev creates the file a moment later; in a
 * container, or if the module does not load, the file never appears. After one wait without
 * success, no later call waits, since programs would wait for each channel and socket. A permission
 * error is reported at once, and not remembered. */
static int open_after_load(int *fd)
{
	static atomic_bool has_waited_in_vain;
	int ret;

	if (has_waited_in_vain)
		return ENOENT;
	ret = rdmacm_module_load();
	if (ret && ret != EAGAIN)
		return ENOENT;
	if (!ret)
		ret = await_device_file(fd);
	has_waited_in_vain = ret == EAGAIN || ret == ENOENT;
	return has_waited_in_vain ? ENOENT : ret;
}

int rdmacm_cmd_open(int *fd)
{
	int ret = open_device_file(fd);

	if (ret == ENOENT)
		ret = open_after_load(fd);
	if (!ret)
		return 0;
	verbs_warn("rdma_cm: cannot open %s: %s%s", paths[0], strerror(ret),
		   ret == ENOENT ? " (the kernel has no module rdma_ucm to load)" : "");
	return ret == ENOENT ? ENODEV : ret;
}

socklen_t rdmacm_addr_len(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

int rdmacm_addr_check(const char *call, const struct sockaddr *addr)
{
	if (addr && rdmacm_addr_len(addr))
		return 0;
	if (!addr)
		verbs_warn("%s: the address is NULL", call);
	else
		verbs_warn("%s: address family %d is not IPv4, IPv6 or AF_IB: set it in "
			   "the address",
			   call, addr->sa_family);
	return EINVAL;
}

int rdmacm_addr_put(struct __kernel_sockaddr_storage *to, uint16_t *size,
		    const struct sockaddr *addr)
{
	socklen_t len;

	/* copied inline, because it is the usual family */
	if (addr && addr->sa_family == AF_INET) {
		*size = sizeof(struct sockaddr_in);
		memcpy(to, addr, sizeof(struct sockaddr_in));
		return 0;
	}
	len = addr ? rdmacm_addr_len(addr) : 0;
	if (!len)
		return rdmacm_addr_check("rdma_cm", addr);
	*size = (uint16_t)len;
	memcpy(to, addr, len);
	return 0;
}
