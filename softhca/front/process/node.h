/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node.h - kinds of device files. Each kind registers how its files are opened and found, so that
 * calls that name a file (paths.c) do not know the kinds.
 */
#ifndef SOFTHCA_FRONT_PROCESS_NODE_H
#define SOFTHCA_FRONT_PROCESS_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>

struct call;
struct daemon;

struct node_kind {
	const char *path; /* of its only file, or what precedes the index of each */
	bool is_single;
	bool for_owner;
	unsigned int major, first_minor;
	/* Returns whether there is a file INDEX. */
	bool (*exists)(const struct daemon *daemon, unsigned int index);
	/* Opens file INDEX, and answers CALL with a descriptor; FLAGS are open()'s. */
	void (*open)(struct call *call, unsigned int index, uint64_t flags);
	/* Returns the index of the open file with ST's device and inode, or -1. */
	int (*find)(const struct stat *st);
	SLIST_ENTRY(node_kind) entry;
};

/* A device file. */
struct node {
	const struct node_kind *kind;
	unsigned int index;
};

void node_register(struct node_kind *kind);
/* Return whether PATH, or the open file with ST's device and inode, is a device file. */
bool node_of_path(const struct daemon *daemon, const char *path, struct node *node);
bool node_of_file(const struct stat *st, struct node *node);
dev_t node_number(const struct node *node);

#endif
