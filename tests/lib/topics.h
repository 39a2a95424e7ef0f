/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * topics.h - the parts of a test program, which the command line selects by name.
 *
 * "PROGRAM" runs all topics, "PROGRAM NAME..." the named ones, "PROGRAM -NAME..." all others, and
 * "PROGRAM --list" prints the names. An unknown name, or arguments that leave no topic, are a
 * failure. At its end a program prints a last line, which scripts demand: "end: 3 of 3 topics, 14
 * checks".
 */
#ifndef TESTS_LIB_TOPICS_H
#define TESTS_LIB_TOPICS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/bits.h"

struct topic {
	const char *name;
	void (*run)(void);
};

int topics_main(const struct topic *topics, size_t count, int argc, char **argv);

/* The steps of topics_main(), for a program whose topics have arguments or share objects. TABLE is
 * an array of structures with a NAME. */
#define TOPICS_CHOOSE(table, argc, argv)                                            \
	(topics_add((const char *)(table) + offsetof(__typeof__((table)[0]), name), \
		    sizeof((table)[0]), sizeof(table) / sizeof((table)[0])),        \
	 topics_choose((argc), (argv)))
/* Adds the names of a table of COUNT entries of SIZE bytes. NAMES points to the first name. */
void topics_add(const void *names, size_t size, size_t count);
/* Parses the arguments. Ends the program for "--list" and for wrong arguments. */
void topics_choose(int argc, char **argv);
/* Returns whether the arguments choose the topic, and begins it if so. */
bool topic_begin(const char *name);
/* Records that the topic, which the arguments may choose, does not exist on this adapter or in this
 * build. */
void topic_leave_out(const char *name, const char *reason);
/* Records that this build cannot run the topic. Unless something fails, the program then ends with
 * status 77 and the reason as its last line. */
void topic_skip(const char *name, const char *reason);
/* Prints the last line. Returns the exit status: 1 if a check failed, or a chosen topic has not
 * run. */
int topics_end(void);

#endif
