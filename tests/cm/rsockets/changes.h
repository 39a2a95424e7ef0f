/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * changes.h - processes that change their user. Linux' rdma_cm compares the credentials of each
 * write() with those of the file's opener: after setuid(), even to the same user, it refuses the
 * process's threads and the library's.
 *
 * The program exports open(), write() and pthread_create(), so the library calls these instead of
 * libc's. open() refuses channels, write() lets the user change between two commands of one step,
 * and pthread_create() can fail.
 */
#ifndef TESTS_CM_CHANGES_H
#define TESTS_CM_CHANGES_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "tests/lib/topics.h"

enum { PATIENCE_S = 20, LATE_US = 300000 };

extern int why_no_channel; /* errno with which opening a channel fails; 0: it succeeds */
extern int refusals;       /* number of channels that were refused */
extern bool has_no_thread; /* pthread_create() fails */

/* Command before which the threads other than the program's wait until the user has changed; with a
 * number, they pass that many such commands first. Meanwhile the program's own thread finds no
 * events. */
enum { NONE = -1 };
extern pthread_t program_thread;
extern atomic_int held, held_later;
extern atomic_bool is_waiting;
extern atomic_int questions;

/* Waits until a thread is held, changes the user and lets the thread go on. HELD_NEXT is the next
 * command that is held. */
int change_when_held(int held_next);
int change_user(void);
/* Changes the user of the calling thread only. It is a system call of its own, as the C library's
 * setuid() changes all threads. */
int change_user_of_thread(void);
/* Returns whether the process has slept while it waited, rather than polled. */
bool is_idle(void);

struct sockaddr_in next_port(void);
bool is_served(void);
/* Returns whether the child's connection is echoed and the child succeeds. Does not wait for a
 * connection that is never made, as the listener would learn nothing of it. */
bool is_echoed_or_ends(int listener, pid_t child);
/* Runs CONNECT in a child, at first without a listener: CONNECT writes to the descriptor that it is
 * given when it wants one. Returns whether the child succeeds. */
bool connects_when_somebody_listens(int (*connect)(int told));
int begin_to_connect(struct sockaddr_in to);

int changes_run(const struct topic *topics, size_t count, int argc, char *argv[]);

#endif
