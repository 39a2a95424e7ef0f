/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * by_fd.h - a map from descriptors to objects, which costs the same however many there are. The
 * caller guards it by a lock.
 */
#ifndef RSOCKET_BY_FD_H
#define RSOCKET_BY_FD_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

enum { BY_FD_LEAST_ROOM = 64 };

struct by_fd {
	void **objects; /* NULL: none */
	unsigned int room;
};

static inline void *by_fd_find(const struct by_fd *map, int fd)
{
	return (unsigned int)fd < map->room ? map->objects[fd] : NULL;
}

/* Makes room for an object of FD, which is not negative. Returns 0 or ENOMEM. */
static inline int by_fd_reserve(struct by_fd *map, int fd)
{
	unsigned int room = max_of(map->room, (unsigned int)BY_FD_LEAST_ROOM);
	void **objects;

	if ((unsigned int)fd < map->room)
		return 0;
	while (room <= (unsigned int)fd)
		room *= 2;
	objects = realloc(map->objects, room * sizeof(void *));
	if (!objects)
		return ENOMEM;
	memset(objects + map->room, 0, (room - map->room) * sizeof(void *));
	map->objects = objects;
	map->room = room;
	return 0;
}

/* Sets the object of FD, for which there is room. */
static inline void by_fd_set(struct by_fd *map, int fd, void *object)
{
	map->objects[fd] = object;
}

#endif
