/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmtime.h - what the files of cmtime share: options, the steps of a connection's life, the clock.
 *
 * A pair of a client and a server (cmtime_pair.c) needs nothing else. With a controller, any number of them keep in step by
 * cmtime_peers.c; what they then do is in cmtime_client.c and cmtime_server.c, or, with sockets, in cmtime_sockets.c.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_H
#define RDMACM_EXAMPLES_CMTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "complain.h"

struct cmtime_options {
	const char *server; /* -s; NULL for a server */
	const char *local, *interface, *port, *controller;
	int connections, retries, timeout_ms;
	/* with a controller */
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

/* Without a controller: the status for exit(). */
int cmtime_pair(void);
/* With one. */
int cmtime_together(void);

#endif
