/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - scripts of calls on sockets, of the system's or of rsockets, one step a line.
 *
 * A step names a command, the ends (sockets) that it is about by words of the script's own, and
 * numbers or words of the command's. It leaves a text, in which nothing depends on time.
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

/* Whether the calls are those of rsockets. */
extern bool steps_use_rsockets;
#define CALL(name, ...) (steps_use_rsockets ? r##name(__VA_ARGS__) : name(__VA_ARGS__))

struct end {
	char name[16];
	int fd;
	bool is_set;             /* of epoll */
	uint32_t sent, received; /* bytes so far: where in the pattern the next one is */
};

struct step {
	char *words[STEP_WORDS]; /* the command first; NULL behind the last */
	char text[STEP_TEXT];    /* what came of it */
};

/* ---- main.c ---- */

struct end *end_find(const char *name); /* ends the program if there is none */
struct end *end_new(const char *name, int fd);
struct end *end_at(int index); /* NULL behind the last */
void end_close(struct end *end);
void step_say(struct step *step, const char *fmt, ...) SAY_FORMAT(2);
/* Says the number that a call returned, or its errno. */
void step_say_result(struct step *step, ssize_t result);
int step_number(const struct step *step, int word, int otherwise);

/* ---- the commands of each file, up to one without a name ---- */

struct command {
	const char *name;
	void (*run)(struct step *step);
};

extern const struct command connect_commands[], byte_commands[], wait_commands[], option_commands[];

#endif
