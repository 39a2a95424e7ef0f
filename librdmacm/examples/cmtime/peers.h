/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peers.h - lets clients and servers keep in step, by TCP connections of all to one of them,
 * the controller.
 *
 * Each peer says who it is, and is told who all are. After that they meet at steps, which all have
 * to reach before one goes on. This is what cmtime of release 65.0 was seen to say (by tshark): a
 * struct peer to the controller, an array of them back, then for each step a byte with its number,
 * to the controller and back.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_PEERS_H
#define RDMACM_EXAMPLES_CMTIME_PEERS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct peer {
	struct sockaddr_storage address; /* where a server listens */
	uint8_t listens;
	uint8_t reserved[7];
};
static_assert(sizeof(struct peer) == 136, "as seen on the wire");

struct peers {
	int count;
	struct peer *all; /* begins with the controller, and has the same order at all peers */
	bool is_controller;
	int *sockets; /* controller: the number of other peers; otherwise 1 */
	int socket_count;
};

/* Becomes the controller, if the address is this machine's and no other process has become it yet;
 * else finds the controller, for TIMEOUT_MS at most. It then waits until all COUNT peers are there.
 * It returns 0, or -1 after saying the reason. peers_part() is called in either case. */
int peers_meet(struct peers *peers, const char *controller, const char *port, int count,
	       int timeout_ms, const struct peer *self);
void peers_part(struct peers *peers);

/* Waits until all peers have come to this step. It returns -1 after saying the reason if one has
 * gone, or is at another step. */
int peers_keep_step(struct peers *peers, uint8_t step);

/* Waits until a descriptor of FDS (no more than 4) is readable, at most TIMEOUT_MS unless that is
 * -1. It returns how many are, and readable[i] says which; -1 after saying the reason if a peer has
 * gone. */
int peers_poll(const struct peers *peers, const int *fds, int count, int timeout_ms,
	       bool *readable);

/* Returns how many servers there are if LISTENS, else how many clients. */
int peers_count(const struct peers *peers, bool listens);

#endif
