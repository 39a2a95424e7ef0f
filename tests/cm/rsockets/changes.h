/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * changes.h - processes that change their user. To Linux's rdma_cm each of their threads, and the
 * library's, is another writer from then on, even if the user stays the same.
 *
 * The library's open() comes here first, as the program exports its symbols: that is how a channel
 * is not to be had. So does its write(), by which the user changes between two commands of one
 * step, and its pthread_create().
 */
#ifndef TESTS_CM_CHANGES_H
#define TESTS_CM_CHANGES_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "tests/lib/topics.h"

enum { PATIENCE_S = 20, LATE_US = 300000 };

extern int why_no_channel; /* what opening one is answered by, or 0 */
extern int refusals;       /* how often it was */
extern bool has_no_thread; /* for anybody to start */

/* Threads but the program's wait before the command HELD, or so many of them later, until the user
 * has changed; meanwhile the program's finds no events. */
enum { NONE = -1 };
extern pthread_t program_thread;
extern atomic_int held, held_later;
extern atomic_bool is_waiting;
extern atomic_int questions; /* how often the way to an address was asked for */

/* Changes the user when a thread waits, which goes on then; HELD_NEXT is held next. */
int change_when_held(int held_next);
/* A process that hangs ends by a signal. */
int change_user(void);
/* The calling thread alone changes its user, which the C library does not offer. */
int change_user_of_thread(void);
/* Who waits does not turn in circles meanwhile. */
bool is_idle(void);

struct sockaddr_in next_port(void);
/* Whether somebody accepts, and sends back what comes. */
bool is_served(void);
/* Whether the child's connection is echoed, and the child ends well. The other side of one that is
 * not made hears nothing. */
bool is_echoed_or_ends(int listener, pid_t child);
/* Runs CONNECT in a child, to where nobody listens until it writes to what it is given. Whether the
 * child ends well. */
bool connects_when_somebody_listens(int (*connect)(int told));
/* Returns a socket that may be connected later. */
int begin_to_connect(struct sockaddr_in to);

/* Runs the topics, and ends the program where that takes too long. */
int changes_run(const struct topic *topics, size_t count, int argc, char *argv[]);

#endif
