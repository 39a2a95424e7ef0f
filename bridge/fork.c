/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork.c - stands in for libibverbs/fork.c: the host has already excluded a region's memory from
 * child processes when it calls the bridge, and includes it again afterwards.
 */
#include "libibverbs/private.h"

bool verbs_fork_is_off = true;

int verbs_fork_keep(void *addr, size_t length)
{
	(void)addr;
	(void)length;
	return 0;
}

int verbs_fork_release(void *addr, size_t length)
{
	(void)addr;
	(void)length;
	return 0;
}
