/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control.h - adds faults while the adapter runs. A datagram socket beside the server's, named
 * PATH.control, receives texts in the notation of fault.h and answers each with "ok" or an error.
 * What a fault does at once has happened by then.
 * It answers the text "state" with four numbers: kernel commands and adapter commands so far, the
 * adapters' current number of objects, and commands of command queues so far. Tests detect leaks by
 * the number of objects.
 */
#ifndef SOFTHCA_FRONT_CONTROL_H
#define SOFTHCA_FRONT_CONTROL_H

#include <stdint.h>

struct fault;
struct options;

/* Opens the socket beside the server's socket PATH. Returns 0, or logs and returns an errno. */
int control_open(const char *path, int *fd);
void control_close(const char *path, int fd);

/* The server that a control socket belongs to. */
struct control {
	struct fault *fault; /* received faults are added to it */
	/* Applies the faults that are due at NOW_NS. Returns 0 when they are applied, or a positive
	 * errno. */
	int (*faults_finish)(void *host, uint64_t now_ns);
	void *host;
};

/* Receives a message and adds its fault, or answers "state". OBJECTS is the number of objects of
 * all adapters. Does not wait for a message. */
void control_receive(int fd, const struct control *control, uint64_t now_ns, uint64_t objects);

/* Runs `softhca fault`: sends each text of the command line. Returns the exit status. */
int control_send(const struct options *options);

#endif
