/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row.h - rows of instructions of calls. A row makes its call EACH times in each round, or fewer,
 * under callgrind. Steps before and after the call are not counted.
 */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <errno.h>
#include <stdbool.h>

#include "bench/count.h"
#include "tests/lib/say.h"

enum { EACH = 16 };

struct world; /* the objects that a program's rows use; each program defines its own */

static inline bool is_absent(int err)
{
	return err == EOPNOTSUPP || err == ENOSYS;
}

/* Returns whether the call succeeded; RET is 0 or an errno. Exits if it failed although the library
 * has the call. */
static inline bool step_done(int ret)
{
	MUST(!ret || is_absent(ret));
	return !ret;
}

/* A step returns false if the library does not have the call. I is 0 to EACH - 1. */
typedef bool (*step)(struct world *w, int i);

struct row {
	const char *name;
	step before, run, after; /* before and after may be NULL */
};

static inline bool run_all(struct world *w, step step, int each)
{
	for (int i = 0; step && i < each; i++) {
		if (!step(w, i))
			return false;
	}
	return true;
}

static inline void row_measure_each(struct world *w, const struct row *row, int each)
{
	for (int round = 0; round < COUNT_ROUNDS; round++) {
		bool is_there = run_all(w, row->before, each);

		CALLGRIND_TOGGLE_COLLECT;
		is_there = is_there && run_all(w, row->run, each);
		CALLGRIND_TOGGLE_COLLECT;
		if (!is_there) {
			CALLGRIND_ZERO_STATS;
			count_absent(row->name);
			return;
		}
		run_all(w, row->after, each);
		count_round_end(round);
	}
	count_dump(row->name, each);
	fflush(stdout);
}

static inline void row_measure(struct world *w, const struct row *row)
{
	row_measure_each(w, row, EACH);
}

static inline void rows_measure(struct world *w, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_measure(w, &rows[i]);
}

/* The main() of a program with one world: makes it, runs all rows on it, and frees it. */
static inline int rows_main(struct world *w, const struct row *rows, size_t count,
			    void (*make)(struct world *w), void (*end)(struct world *w))
{
	make(w);
	rows_measure(w, rows, count);
	end(w);
	return 0;
}

#endif
