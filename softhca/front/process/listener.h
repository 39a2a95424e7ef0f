/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener.h - listeners for the trapped calls of programs: one for each program that a runner has
 * started, shared by its children. All calls are made in the thread of the daemon's poll loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_LISTENER_H
#define SOFTHCA_FRONT_PROCESS_LISTENER_H

struct daemon;

/* Sets the daemon that serves the calls; called once, first. */
void listeners_start(struct daemon *daemon);
/* Serves the listener FD, which came over the connection LINK. Returns 0, takes FD over, and sets
 * MEMORY to a descriptor that the caller owns: the mailbox and the table of epitaphs. Or returns a
 * positive errno: EPROTO if FD is not a listener. */
int listener_add(int fd, int link, int *memory);
void listeners_stop_if_unused(void);
void listeners_tell_holders(void);

#endif
