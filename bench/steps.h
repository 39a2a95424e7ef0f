/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - rows of instructions of calls that need several steps before and after them, as those
 * of connections do: see row.h for the others. A row makes its call EACH times in each round, under
 * callgrind.
 */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H

#include <stddef.h>
#include <stdio.h>
#include <arpa/inet.h>
#include <netinet/in.h>

#include "bench/count.h"
#include "util/bits.h"

enum { EACH = 16, BACKLOG = 64 };

struct world; /* the objects that a program's rows use; each program defines its own */

typedef void (*step)(struct world *w, int i);

struct row {
	const char *name;
	step before[5], run, after[6]; /* each step runs for all objects before the next one */
};

static inline void run_all(struct world *w, step step)
{
	for (int i = 0; step && i < EACH; i++)
		step(w, i);
}

static inline void row_measure(struct world *w, const struct row *row)
{
	for (int round = 0; round < COUNT_ROUNDS; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(row->before); i++)
			run_all(w, row->before[i]);
		CALLGRIND_TOGGLE_COLLECT;
		run_all(w, row->run);
		CALLGRIND_TOGGLE_COLLECT;
		for (size_t i = 0; i < ARRAY_SIZE(row->after); i++)
			run_all(w, row->after[i]);
		count_round_end(round);
	}
	count_dump(row->name, EACH);
	fflush(stdout);
}

static inline void rows_measure(struct world *w, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_measure(w, &rows[i]);
	fflush(stdout);
}

static inline struct sockaddr *loopback(__be16 port)
{
	static struct sockaddr_in addr;

	addr = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = port,
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	return (struct sockaddr *)&addr;
}

#endif
