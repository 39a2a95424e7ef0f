/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memlock.c - checks how much memory this process may register: registered memory is pinned, and
 * the kernel limits that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "checks.h"
#include "findings.h"

enum { CAP_IPC_LOCK_BIT = 14 };
#define PLENTY (UINT64_C(1) << 30)

/* Returns whether this is the initial user namespace, in which the kernel checks the capability. */
static bool is_in_first_namespace(void)
{
	unsigned int inside = 1, outside = 1, count = 0;
	FILE *file = fopen("/proc/self/uid_map", "re");

	if (!file)
		return true;
	if (fscanf(file, "%u %u %u", &inside, &outside, &count) != 3)
		count = 0;
	fclose(file);
	return !inside && !outside && count == UINT32_MAX;
}

static bool may_lock_all(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	uint64_t capabilities = 0;
	char line[256];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %" SCNx64, &capabilities) == 1)
			break;
	fclose(file);
	return capabilities >> CAP_IPC_LOCK_BIT & 1 && is_in_first_namespace();
}

void check_memlock(void)
{
	struct rlimit limit;

	if (may_lock_all()) {
		found(FINE, "memlock", "this user may register any memory");
	} else if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY) {
		found(FINE, "memlock", "there is no limit");
	} else {
		found(limit.rlim_cur < PLENTY ? WARNING : HINT, "memlock",
		      "a process may register %" PRIu64 " KiB; what goes beyond fails with ENOMEM",
		      (uint64_t)limit.rlim_cur / 1024);
		cure("ulimit -l unlimited; for good \"* - memlock unlimited\" in "
		     "/etc/security/limits.conf, for services LimitMEMLOCK=infinity, for "
		     "containers --ulimit memlock=-1");
	}
}
