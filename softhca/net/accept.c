/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accept.c - accepts connections when descriptors may run out. See accept.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "softhca/log.h"
#include "softhca/net/accept.h"

static int spare_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int accept_open(struct accept_door *door, int listener)
{
	*door = (struct accept_door){ .listener = listener, .spare = spare_open() };
	return door->spare < 0 ? errno : 0;
}

void accept_close(struct accept_door *door)
{
	if (door->spare >= 0)
		close(door->spare);
	door->spare = -1;
}

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Turns away the caller that waits: frees the spare descriptor, accepts, closes, and opens the
 * spare again. If another thread has used the freed descriptor meanwhile, the caller still waits;
 * the function then sleeps a millisecond, so that the server does not spin. */
static void turn_away(struct accept_door *door, int error)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int fd;

	if (!door->told)
		log_error("new connections are turned away: %s", strerror(error));
	door->told = true;
	accept_close(door);
	fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else
		nanosleep(&nap, NULL);
	door->spare = spare_open();
}

int accept_next(struct accept_door *door, int flags)
{
	int fd = accept4(door->listener, NULL, NULL, flags | SOCK_CLOEXEC);

	if (fd >= 0)
		door->told = false;
	else if (is_shortage(errno))
		turn_away(door, errno);
	return fd;
}
