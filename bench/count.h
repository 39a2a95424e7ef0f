/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * count.h - instructions of operations, under callgrind: a dump for each, in the order in which
 * their names and numbers are printed. The first round of an operation, with cold caches, is left
 * out.
 */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

#include <stdio.h>
#include <valgrind/callgrind.h>

enum { COUNT_ROUNDS = 4 };

static inline void count_round_end(int round)
{
	if (!round)
		CALLGRIND_ZERO_STATS;
}

/* A round has EACH operations. */
static inline void count_dump(const char *name, int each)
{
	CALLGRIND_DUMP_STATS_AT(name);
	printf("%s\t%d\n", name, (COUNT_ROUNDS - 1) * each);
}

static inline void count_absent(const char *name)
{
	printf("%s\tabsent\n", name);
}

#endif
