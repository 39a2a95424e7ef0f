/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node.c - kinds of device files: which file a path or a descriptor is.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "softhca/front/process/node.h"

static SLIST_HEAD(, node_kind) kinds = SLIST_HEAD_INITIALIZER(kinds);

void node_register(struct node_kind *kind)
{
	const struct node_kind *known;

	SLIST_FOREACH(known, &kinds, entry)
	if (known == kind)
		return;
	SLIST_INSERT_HEAD(&kinds, kind, entry);
}

/* Reads the index behind the kind's path. Returns false if PATH is of no such file. */
static bool read_index(const struct node_kind *kind, const char *path, unsigned int *index)
{
	const size_t len = strlen(kind->path);
	unsigned long number;
	char *end;

	if (strncmp(path, kind->path, len))
		return false;
	*index = 0;
	if (kind->is_single || !path[len])
		return kind->is_single && !path[len];
	number = strtoul(path + len, &end, 10);
	*index = (unsigned int)number;
	return !*end && *index == number;
}

bool node_of_path(const struct daemon *daemon, const char *path, struct node *node)
{
	SLIST_FOREACH(node->kind, &kinds, entry)
	if (read_index(node->kind, path, &node->index) && node->kind->exists(daemon, node->index))
		return true;
	return false;
}

bool node_of_file(const struct stat *st, struct node *node)
{
	SLIST_FOREACH(node->kind, &kinds, entry)
	{
		int index = node->kind->find(st);

		node->index = (unsigned int)index;
		if (index >= 0)
			return true;
	}
	return false;
}

dev_t node_number(const struct node *node)
{
	return makedev(node->kind->major, node->kind->first_minor + node->index);
}
