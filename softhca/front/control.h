/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control.h - faults while the adapter runs: a datagram socket beside the server's, named
 * PATH.control, takes texts as fault.h has them and answers each with "ok" or what is wrong with
 * it. The text "state" is answered by three numbers: kernel commands and adapter commands so far,
 * and the objects that the adapters have now. Tests count leaks by them.
 */
#ifndef SOFTHCA_FRONT_CONTROL_H
#define SOFTHCA_FRONT_CONTROL_H

#include <stdint.h>

struct fault;
struct options;

/* PATH is the server's socket. Returns 0, or an errno after saying what is wrong. */
int control_open(const char *path, int *fd);
void control_close(const char *path, int fd);

/* Takes the messages that have come and adds their faults to FAULT; OBJECTS is how many objects the
 * adapters have. It does not block. */
void control_receive(int fd, struct fault *fault, uint64_t now_ns, uint64_t objects);

/* Carries out `softhca fault`: sends each text of the command line, and returns the exit status. */
int control_send(const struct options *options);

#endif
