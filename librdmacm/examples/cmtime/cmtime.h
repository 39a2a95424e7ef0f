/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmtime.h - the options and the clock of cmtime.
 *
 * A pair of one client and one server (pair.c) needs nothing else. With a controller, any number of
 * clients and servers synchronise through peers.c; client.c, server.c and, for TCP sockets,
 * sockets.c have their steps.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_CMTIME_H
#define RDMACM_EXAMPLES_CMTIME_CMTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "librdmacm/examples/complain.h"

struct cmtime_options {
	const char *server;
	const char *local, *interface, *port, *controller;
	int connections, retries, timeout_ms;
	/* used only with a controller */
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

int cmtime_pair(void);
int cmtime_together(void);

#endif
