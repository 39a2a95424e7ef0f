/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach.c - connects to a server that may still be starting: scripts start `softhca serve` in the
 * background and call `softhca run` in the next line. `run` and `fault` use it.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "softhca/front/reach.h"
#include "softhca/log.h"

enum { TRIES = 250, NAP_NS = 20000000 };

/* Returns whether the server may still be starting. ECONNREFUSED counts, too, as a killed server
 * leaves its socket file behind. */
static bool may_be_on_its_way(int error)
{
	return error == ENOENT || error == ECONNREFUSED;
}

int reach_server(int fd, const struct sockaddr_un *addr, const char *path)
{
	const struct timespec nap = { 0, NAP_NS };
	int ret = 0;

	for (int i = 0; i < TRIES; i++) {
		if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
			return 0;
		ret = errno;
		if (!may_be_on_its_way(ret))
			break;
		nanosleep(&nap, NULL);
	}
	if (ret == EACCES)
		log_error("the softhca at %s does not let you connect: %s; its user can start it "
			  "with another --socket-mode",
			  path, strerror(ret));
	else
		log_error("no softhca serves at %s: %s; start one first: softhca serve --socket %s",
			  path, strerror(ret), path);
	return ret;
}
