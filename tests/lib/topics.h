/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * topics.h - the parts of a test program, each under a name that the command line knows.
 *
 * "PROGRAM" runs all topics, "PROGRAM NAME..." those named, "PROGRAM -NAME..." all but those, and
 * "PROGRAM --list" prints their names. A name that no topic has, or arguments that leave no topic
 * to run, are a failure. A program that reaches its end prints a last line, which scripts demand:
 * "end: 3 of 3 topics, 14 checks".
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

/* Runs the topics that the arguments choose, and returns the status of the program. */
int topics_main(const struct topic *topics, size_t count, int argc, char **argv);

/* The steps of topics_main(), for a program whose topics take arguments or share something. TABLE
 * is an array of structures that have a NAME. */
#define TOPICS_CHOOSE(table, argc, argv)                                            \
	(topics_add((const char *)(table) + offsetof(__typeof__((table)[0]), name), \
		    sizeof((table)[0]), sizeof(table) / sizeof((table)[0])),        \
	 topics_choose((argc), (argv)))
/* Adds the names of a table of COUNT entries of SIZE bytes, the first of which is at NAMES. */
void topics_add(const void *names, size_t size, size_t count);
/* Reads the arguments; ends the program for "--list" and where they are wrong. */
void topics_choose(int argc, char **argv);
/* Whether the arguments choose the topic; if so, it begins here. */
bool topic_begin(const char *name);
/* Notes that the topic, which the arguments may choose, does not exist on this adapter or in this
 * build. */
void topic_leave_out(const char *name, const char *reason);
/* Notes that this build cannot run the topic: the program ends with status 77, and the reason as
 * its last line, unless something is wrong. */
void topic_skip(const char *name, const char *reason);
/* Prints the last line, and returns the status: 1 when a check failed, or a chosen topic has not
 * run. */
int topics_end(void);

#endif
