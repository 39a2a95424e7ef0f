/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runner.h - runners: connections of the processes that start programs. A runner brings the
 * listener for trapped calls of its program.
 */
#ifndef SOFTHCA_FRONT_PROCESS_RUNNER_H
#define SOFTHCA_FRONT_PROCESS_RUNNER_H

struct daemon;

/* Sets the daemon that serves the calls; called once, first. */
void runners_start(struct daemon *daemon);
/* Adds a runner's connection. Returns 0 and takes FD over, or a positive errno. */
int runner_add(int fd);
void runners_close(void);
/* Tells the holders that programs already have the event of their adapters' death. */
void runners_tell_holders(void);

#endif
