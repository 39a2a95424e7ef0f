/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forks.h - processes that share a listener of rsockets: what they do, and how they tell of it.
 */
#ifndef TESTS_CM_FORKS_H
#define TESTS_CM_FORKS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

extern int forks_port; /* of the last listener */

/* FORKS_ADDRESS in the environment is an address of this host that rdma_cm reaches, if that is not
 * 127.0.0.1. */
struct sockaddr_in forks_here(void);
int listen_here(void);
/* Returns -1 if nobody accepts. */
int connect_here(void);
/* Tries for ten seconds. */
int connect_patiently(void);

/* Sends back what comes, until the other side ends, and closes the socket. */
int echo(int socket, size_t *echoed);
/* Accepts one connection and sends back what comes, until the other side ends. */
int child_echo(int listener);
bool comes_back(int socket, const char *text);

pid_t child_that(int (*serve)(int), int argument);
bool ends_well(pid_t child);

/* A child that listens, and ends when ACT does, before those that it has forked. */
int listen_in_child(int (*act)(int listener));
/* ACT forks a process that SERVEs, whose result the test's process learns. */
void child_that_reports(int (*serve)(int), int listener);
/* In such a process: until its parent has ended. */
void await_leaver(void);
bool reports_well(void);
void results_close(void);
/* Waits until all that report have ended, and closes the results. */
int results_sum(void);

#endif
