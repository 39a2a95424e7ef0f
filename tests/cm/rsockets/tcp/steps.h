/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - scripts of calls, one step a line, on sockets of the system or on rsockets.
 *
 * A step has a command, names of ends (sockets) that the script chooses, and arguments of the
 * command. Its result is a text that does not depend on time.
 */
#ifndef TESTS_CM_RSOCKETS_TCP_STEPS_H
#define TESTS_CM_RSOCKETS_TCP_STEPS_H

#include "tests/cm/rsockets/repoll.h"

#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tests/lib/say.h"
#include "util/bits.h"

enum { STEP_WORDS = 12, STEP_TEXT = 256, MOST_ENDS = 16, PATIENCE_MS = 20000 };

/* the calls are those of rsockets */
extern bool steps_use_rsockets;
#define CALL(name, ...) (steps_use_rsockets ? r##name(__VA_ARGS__) : name(__VA_ARGS__))

struct end {
	char name[16];
	int fd;
	bool is_set;             /* a set of epoll */
	uint32_t sent, received; /* number of bytes so far: the position in the pattern */
};

struct step {
	char *words[STEP_WORDS]; /* the command and its arguments, then NULL */
	char text[STEP_TEXT];
};

struct end *end_find(const char *name); /* exits if there is no such end */
struct end *end_new(const char *name, int fd);
struct end *end_at(int index); /* NULL after the last */
void end_close(struct end *end);
void step_say(struct step *step, const char *fmt, ...) SAY_FORMAT(2);
/* Writes the number that a call returned, or its errno, as the result. */
void step_say_result(struct step *step, ssize_t result);
int step_number(const struct step *step, int word, int otherwise);

struct command {
	const char *name;
	void (*run)(struct step *step);
};

extern const struct command connect_commands[], byte_commands[], wait_commands[], option_commands[];

#endif
