/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmtime.h - what the files of cmtime share: the options and the clock.
 *
 * A pair of a client and a server (pair.c) needs nothing else. With a controller, any number of
 * them keep in step by peers.c; what they then do is in client.c and server.c, or, with sockets, in
 * sockets.c.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_CMTIME_H
#define RDMACM_EXAMPLES_CMTIME_CMTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "librdmacm/examples/complain.h"

struct cmtime_options {
	const char *server; /* the argument of -s; NULL for a server */
	const char *local, *interface, *port, *controller;
	int connections, retries, timeout_ms;
	/* the following are used with a controller only */
	int peers, threads;
	unsigned int first_qpn, delay_us;
	bool listens, sockets;
};
extern struct cmtime_options options;

static inline uint64_t cmtime_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Runs cmtime without a controller, and returns the status for exit(). */
int cmtime_pair(void);
/* Runs cmtime with a controller, and returns 0 or -1. */
int cmtime_together(void);

#endif
