/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forks.h - processes that share a listener of rsockets: their actions, and how they report
 * results.
 */
#ifndef TESTS_CM_FORKS_H
#define TESTS_CM_FORKS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

extern int forks_port;

/* Returns the listeners' address: FORKS_ADDRESS in the environment, or 127.0.0.1. An adapter in
 * hardware has no loopback address in rdma_cm. */
struct sockaddr_in forks_here(void);
int listen_here(void);
/* Returns -1 if there is no listener. */
int connect_here(void);
/* Tries for ten seconds. */
int connect_patiently(void);

int echo(int socket, size_t *echoed);
int child_echo(int listener);
bool comes_back(int socket, const char *text);

pid_t child_that(int (*serve)(int), int argument);
bool ends_well(pid_t child);

/* Forks a child that listens and calls ACT, which may fork others; the child ends before those. */
int listen_in_child(int (*act)(int listener));
/* For ACT: forks a process that runs SERVE, and reports the result to the test's process. */
void child_that_reports(int (*serve)(int), int listener);
/* For such a process: waits until its parent has ended. */
void await_leaver(void);
bool reports_well(void);
void results_close(void);
int results_sum(void);

#endif
