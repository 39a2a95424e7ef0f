/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmtime_peers.h - clients and servers that keep in step, by TCP connections of all to one of them, the controller.
 *
 * Each says who it is, and is told who all are; after that they meet at steps, which all have to have reached before one goes
 * on. This is what cmtime of release 65.0 was seen to say (tshark): a struct peer to the controller, an array of them back,
 * then a byte for each step, the step's number, to the controller and back.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_PEERS_H
#define RDMACM_EXAMPLES_CMTIME_PEERS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct peer {
	struct sockaddr_storage address; /* of a server: where it listens */
	uint8_t listens;
	uint8_t reserved[7];
};
static_assert(sizeof(struct peer) == 136, "as seen on the wire");

struct peers {
	int count;
	struct peer *all; /* the controller first; the same order at all of them */
	bool is_controller;
	int *sockets; /* the controller's to the others; else one */
	int socket_count;
};

/* Become controller, if that is this machine's address and nobody else is yet, or else find the controller, for TIMEOUT_MS at
 * most; then wait until all COUNT are there. 0, or -1 after the reason was said; peers_part() in either case. */
int peers_meet(struct peers *peers, const char *controller, const char *port, int count,
	       int timeout_ms, const struct peer *self);
void peers_part(struct peers *peers);

/* Until all have come to this step; -1 after the reason was said: one has gone, or is elsewhere. */
int peers_keep_step(struct peers *peers, uint8_t step);

/* Until a descriptor of FDS (no more than 4) is readable, at most TIMEOUT_MS unless that is -1: how many are; -1 after saying so when a
 * peer has gone. readable[i] says which. */
int peers_poll(const struct peers *peers, const int *fds, int count, int timeout_ms,
	       bool *readable);

/* How many servers there are, or clients. */
int peers_count(const struct peers *peers, bool listens);

#endif
