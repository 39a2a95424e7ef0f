/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * socket_bind.c - see socket_bind.h.
 */
#include <errno.h>
#include <sys/stat.h>

#include "softhca/front/socket_bind.h"

int socket_bind(int fd, const struct sockaddr *addr, socklen_t len, mode_t mode)
{
	const mode_t all = 0777, before = umask(all & ~mode);
	int ret = bind(fd, addr, len) ? errno : 0;

	umask(before);
	return ret;
}
