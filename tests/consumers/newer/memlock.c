/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded: there is no limit of locked memory. GASNet looks at the limit before it registers
 * anything, and a container may have a low one that cannot be raised; an adapter in software locks
 * none.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	if (syscall(SYS_prlimit64, 0, resource, NULL, limit))
		return -1;
	if (resource == RLIMIT_MEMLOCK)
		limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
	return 0;
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
	return getrlimit(resource, (struct rlimit *)limit);
}
