/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peers.h - synchronises clients and servers, by TCP connections of all peers to one of them, the
 * controller.
 *
 * Each peer introduces itself, and receives the list of all peers. After that they synchronise at
 * steps: a peer continues when all have reached the step. The protocol equals cmtime's of release
 * 65.0, as observed with tshark: a struct peer to the controller, an array of them back, then for
 * each step a byte with its number to the controller and back.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_PEERS_H
#define RDMACM_EXAMPLES_CMTIME_PEERS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct peer {
	struct sockaddr_storage address;
	uint8_t listens;
	uint8_t reserved[7];
};
static_assert(sizeof(struct peer) == 136, "as seen on the wire");

struct peers {
	int count;
	/* the controller first; in the same order at all peers, so that an index names one peer
	 * everywhere */
	struct peer *all;
	bool is_controller;
	int *sockets; /* the controller has one per other peer; a peer has one, to the controller */
	int socket_count;
};

/* Becomes the controller if the address is local and no other process has taken it; otherwise
 * connects to the controller within TIMEOUT_MS. Then waits until all COUNT peers have come. Returns
 * 0, or -1 after printing the reason. Call peers_part() in either case. */
int peers_meet(struct peers *peers, const char *controller, const char *port, int count,
	       int timeout_ms, const struct peer *self);
void peers_part(struct peers *peers);

/* Waits until all peers have reached this step. Returns -1 after printing the reason if a peer has
 * disconnected, or is at another step. */
int peers_keep_step(struct peers *peers, uint8_t step);

/* Waits until a descriptor of FDS (4 at most) is readable, at most TIMEOUT_MS, or without limit for
 * -1. Returns the number of readable ones, marked in readable[], or -1 after printing the reason if
 * a peer has disconnected. */
int peers_poll(const struct peers *peers, const int *fds, int count, int timeout_ms,
	       bool *readable);

int peers_count(const struct peers *peers, bool listens);

#endif
