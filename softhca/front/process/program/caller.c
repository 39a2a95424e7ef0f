/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caller.c - see caller.h.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"

bool caller_is_alive(const struct call *call)
{
	return !ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->notif->id);
}

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	int ret = client_read(call->tid, addr, buf, len);

	return ret || caller_is_alive(call) ? ret : EFAULT;
}

int caller_write(const struct call *call, uint64_t addr, const void *buf, size_t len)
{
	return caller_is_alive(call) ? client_write(call->tid, addr, buf, len) : EFAULT;
}

int caller_read_string(const struct call *call, uint64_t addr, char *buf, size_t size)
{
	int ret = client_read_string(call->tid, addr, buf, size);

	return ret || caller_is_alive(call) ? ret : EFAULT;
}

int caller_fd_copy(const struct call *call, int fd)
{
	int copy = client_fd_copy(call->tid, fd);

	if (copy < 0 || caller_is_alive(call))
		return copy;
	close(copy);
	return -1;
}

int caller_client(const struct call *call, struct client **client)
{
	struct client *const known = client_find(call->tid);
	int ret = 0;

	if (known) {
		client_keep(known);
		*client = known;
	} else {
		ret = client_get(call->tid, client);
	}
	if (ret || caller_is_alive(call))
		return ret;
	if (known)
		client_put(*client);
	else
		client_forget(*client);
	return ESRCH;
}
