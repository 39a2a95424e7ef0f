/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accept.c - the door of a server. See accept.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softhca/log.h"
#include "softhca/net/accept.h"

static int spare_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int accept_open(struct accept_door *door, int listener)
{
	*door = (struct accept_door){ listener, spare_open() };
	return door->spare < 0 ? errno : 0;
}

void accept_close(struct accept_door *door)
{
	if (door->spare >= 0)
		close(door->spare);
	door->spare = -1;
}

/* The spare may be had by another thread meanwhile; then the next try turns the caller away. */
static void turn_away(struct accept_door *door, int error)
{
	int fd;

	log_error("somebody who connects is turned away: %s", strerror(error));
	accept_close(door);
	fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	door->spare = spare_open();
}

int accept_next(struct accept_door *door, int flags)
{
	int fd = accept4(door->listener, NULL, NULL, flags | SOCK_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		turn_away(door, errno);
	return fd;
}
