/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server_socket.c - the socket file of a server.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "softhca/front/process/server_socket.h"
#include "softhca/front/socket_bind.h"
#include "softhca/log.h"

/* Makes the temporary name under which the socket is created. The socket gets the name PATH only
 * when it is ready. */
static int hidden_name(const char *path, struct sockaddr_un *addr)
{
	int len;

	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s.%d", path, (int)getpid());
	return len < (int)sizeof(addr->sun_path) ? 0 : ENAMETOOLONG;
}

/* Removes a socket at PATH that a killed server has left. Returns EADDRINUSE if a server listens
 * there, or if we may not connect, as the socket is another user's then. */
static int path_claim(int fd, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat at_path;

	memcpy(addr.sun_path, path, strlen(path));
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return EADDRINUSE;
	if (errno == EACCES)
		return EADDRINUSE;
	if (errno == ECONNREFUSED && !lstat(path, &at_path) && S_ISSOCK(at_path.st_mode))
		unlink(path);
	return 0;
}

/* Creates the socket under the temporary name. server_socket_show() gives it the name PATH when the
 * server is ready, as a client may connect as soon as it sees the file. */
int server_socket_open(const char *path, mode_t mode, int *sock)
{
	struct sockaddr_un addr;
	int fd, ret = hidden_name(path, &addr);

	if (ret)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	ret = path_claim(fd, path);
	if (!ret)
		ret = socket_bind(fd, (struct sockaddr *)&addr, sizeof(addr), mode);
	if (!ret && listen(fd, 64))
		ret = errno;
	if (ret)
		close(fd);
	else
		*sock = fd;
	return ret;
}

int server_socket_show(const char *path)
{
	struct sockaddr_un addr;
	int ret = hidden_name(path, &addr);

	if (!ret && link(addr.sun_path, path))
		ret = errno == EEXIST ? EADDRINUSE : errno;
	unlink(addr.sun_path);
	if (ret)
		log_error("cannot listen at %s: %s", path, strerror(ret));
	return ret;
}

void server_socket_close(int sock, const char *path, bool shown)
{
	struct sockaddr_un addr;

	if (!hidden_name(path, &addr))
		unlink(addr.sun_path);
	if (shown)
		unlink(path);
	close(sock);
}
