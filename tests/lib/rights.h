/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rights.h - tests of what a process may do without root's rights. In a namespace of users, where
 * ./run-tests --quick runs, the only user may be its root: no process can become another one there,
 * but each can give up its capabilities.
 */
#ifndef TESTS_LIB_RIGHTS_H
#define TESTS_LIB_RIGHTS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { RIGHTS_NOBODY = 65534 };

/* Returns whether the namespace has a user named nobody, as some containers map only root. */
static inline bool rights_has_nobody(void)
{
	unsigned long first, outside, count;
	FILE *file = fopen("/proc/self/uid_map", "re");
	bool found = !file;

	while (file && fscanf(file, "%lu %lu %lu", &first, &outside, &count) == 3)
		found |= RIGHTS_NOBODY >= first && RIGHTS_NOBODY - first < count;
	if (file)
		fclose(file);
	return found;
}

/* Root becomes nobody, or loses its capabilities. Returns 0, or -1 and errno. */
static inline int rights_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	if (geteuid())
		return 0;
	if (rights_has_nobody())
		return setgid(RIGHTS_NOBODY) || setuid(RIGHTS_NOBODY) ? -1 : 0;
	return (int)syscall(SYS_capset, &header, none);
}

#endif
