/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.h - the directory tree that stands in for /sys/class/infiniband*, /dev/infiniband and what
 * they lead to.
 *
 * It is a real tree of small files below a private directory: what programs open there is handed to
 * them as it is, so that reading, listing and relative opens need no help.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct adapter;

struct sysfs {
	char root[64];
	int fd;       /* of the root */
	int owner_fd; /* of a file in it, locked as long as this process lives */
};

/* Returns 0 or a positive errno. */
int sysfs_create(struct adapter **adapters, unsigned int num_adapters, struct sysfs *sysfs);
void sysfs_destroy(struct sysfs *sysfs);
/* Removes what another process created and left behind; does nothing for a root of no length. */
void sysfs_remove_tree(const char *root);
/* Opens PATH as if the tree were the root directory. It returns a descriptor, or -1 and sets
 * errno. */
int sysfs_open(const struct sysfs *sysfs, const char *path, uint64_t flags);
/* What PATH names, absolute and without links, is not there for programs, nor is what is below
 * it. */
void sysfs_remove(const struct sysfs *sysfs, const char *path);
/* The adapter's file in /dev/infiniband comes or goes. */
void sysfs_show_device(const struct sysfs *sysfs, const struct adapter *adapter, bool present);
/* Brings what PATH names up to date, if it is a file whose text changes. To be called before the
 * file is opened. */
void sysfs_refresh(const struct sysfs *sysfs, struct adapter **adapters, unsigned int num_adapters,
		   const char *path);
/* Is PATH, absolute and without . and .. and //, one that the tree answers for, existing or not? */
bool sysfs_claims(const char *path);

#endif
