/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork.c - may a process that uses verbs fork?
 *
 * Kernels from 5.12 on copy pinned pages for the child when a process forks, so the parent keeps
 * those that the adapter knows and nothing has to be done. Where the kernel does not, memory would
 * have to be kept from children with madvise(), one mapping per region, which exhausts mappings:
 * that is not offered, and these calls say so.
 */
#include "private.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/utsname.h>

static bool release_copies(void)
{
	struct utsname system;
	unsigned int major, minor;

	if (uname(&system) || sscanf(system.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 12);
}

static bool copies;

/* RDMA netlink knows of back-ports, too; a container may have no access to it. */
static void find_out(void)
{
	copies = netlink_copies_on_fork() || release_copies();
}

static bool kernel_copies(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_out);
	return copies;
}

static int unless_copied(const char *call)
{
	if (kernel_copies())
		return 0;
	verbs_warn(
		"%s: this kernel does not copy pinned pages at fork() (Linux 5.12 or later does)",
		call);
	return EOPNOTSUPP;
}

VERBS_EXPORT int ibv_fork_init(void)
{
	return unless_copied("ibv_fork_init");
}

VERBS_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return kernel_copies() ? IBV_FORK_UNNEEDED : IBV_FORK_DISABLED;
}

VERBS_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return unless_copied("ibv_dontfork_range");
}

VERBS_EXPORT int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return unless_copied("ibv_dofork_range");
}
