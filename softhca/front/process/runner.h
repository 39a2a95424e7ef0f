/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runner.h - runners: the connections to those that start programs. A runner brings a listener for
 * the trapped calls of what it starts.
 */
#ifndef SOFTHCA_FRONT_PROCESS_RUNNER_H
#define SOFTHCA_FRONT_PROCESS_RUNNER_H

struct daemon;

/* Called once, before the others; DAEMON serves the calls. */
void runners_start(struct daemon *daemon);
/* Takes FD over when it returns 0; otherwise it returns a positive errno. */
int runner_add(int fd);
void runners_close(void);
/* Programs have had the event of their adapters' death: the holders need not tell them. */
void runners_tell_holders(void);

#endif
