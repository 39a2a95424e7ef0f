/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parts.h - programs that measure one part for each run, as some parts end the process.
 */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H

#include <stddef.h>
#include <string.h>

struct world; /* the objects that a program's rows use; each program defines its own */

struct part {
	const char *name;
	void (*measure)(struct world *w);
};

/* Runs the part that the program's only argument names. Returns the program's status: 0, or 2 if no
 * part has that name. */
static inline int part_measure(struct world *w, const struct part *parts, size_t count, int argc,
			       char **argv)
{
	for (size_t i = 0; i < count; i++) {
		if (argc == 2 && !strcmp(argv[1], parts[i].name)) {
			parts[i].measure(w);
			return 0;
		}
	}
	return 2;
}

#endif
