/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runner.h - runners: connections of the processes that start programs. A runner sends hello with
 * the listener for trapped calls of its program.
 *
 * Any user with access to the server's socket may connect and stay silent. So a connection has one
 * second to send hello, and a user has at most 64 that have not sent it: the oldest is closed for a
 * new one. All calls are made in the thread of the daemon's poll loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_RUNNER_H
#define SOFTHCA_FRONT_PROCESS_RUNNER_H

/* Adds the connection of a private daemon's own runner, without a time limit for its hello. Returns
 * 0 and takes FD over, or a positive errno. */
int runner_add_own(int fd);
/* Adds a connection that a server has accepted. Returns like runner_add_own(). */
int runner_add(int fd);
void runners_close(void);

#endif
