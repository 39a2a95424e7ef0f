/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.h - the directory tree that replaces /sys/class/infiniband*, /dev/infiniband and the places
 * that they link to.
 *
 * It is a real tree of small files in a private directory. Programs get descriptors of these files,
 * so reading, listing and relative opens need no emulation.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct adapter;

struct sysfs {
	char root[64];
	int fd;       /* descriptor of the root */
	int owner_fd; /* descriptor of a file in the tree that is locked while this process lives */
};

/* Creates the tree. VFIO is the adapter that is bound to vfio-pci, or NULL. Returns 0 or a positive
 * errno. */
int sysfs_create(struct adapter **adapters, unsigned int num_adapters, struct adapter *vfio,
		 struct sysfs *sysfs);
void sysfs_destroy(struct sysfs *sysfs);
/* Removes the tree ROOT, also one that a killed softhca has left. Does nothing if ROOT is empty. */
void sysfs_remove_tree(const char *root);
/* Opens PATH with the tree as root directory. Returns a descriptor, or -1 and errno. */
int sysfs_open(const struct sysfs *sysfs, const char *path, uint64_t flags);
/* Removes PATH, absolute and without links, and all below it. */
void sysfs_remove(const struct sysfs *sysfs, const char *path);
void sysfs_show_device(const struct sysfs *sysfs, const struct adapter *adapter, bool present);
/* Updates file PATH if its text changes over time. Call it before opening the file. */
void sysfs_refresh(const struct sysfs *sysfs, struct adapter **adapters, unsigned int num_adapters,
		   const char *path);
/* Returns whether the tree answers for PATH, existing or not. PATH is absolute and normalized. */
bool sysfs_claims(const char *path);

#endif
