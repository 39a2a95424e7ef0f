/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * network.h - a network: processes that name the same directory are its hosts. Each is connected
 * with each other, and they exchange packets, whose contents this file does not know.
 *
 * The directory holds a lock file, used only while joining, and for each host a socket, N.ib or
 * N.roce, and a description for people, N.host; N is the host's number, the lowest that is free. A
 * host connects to all that exist, and later ones connect to it, so there is no central process. A
 * host that ends, in any way, closes its sockets; the next host to join removes the files of a
 * killed one.
 *
 * Only network_join() blocks, for a moment, for the lock. The caller serializes calls and polls
 * network_fd().
 */
#ifndef SOFTHCA_NET_NETWORK_H
#define SOFTHCA_NET_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NETWORK_MAX_HOSTS = 256,
	NETWORK_ALL = NETWORK_MAX_HOSTS,
	NETWORK_MAX_PACKET = 16 * 1024,
};

struct network;

struct network_ops {
	/* Takes a packet from HOST, which it may change in place. Called in network_progress(); may
	 * send. */
	void (*receive)(void *owner, unsigned int host, uint8_t *packet, size_t len);
	/* Called when all packets that HOST had sent so far were delivered. */
	void (*pause)(void *owner, unsigned int host);
	void (*gone)(void *owner, unsigned int host);
};

/* Joins a network. Returns 0, EPROTOTYPE if it has the other link layer, EMFILE if it is full, or
 * another errno. */
int network_join(const char *path, bool ethernet, const struct network_ops *ops, void *owner,
		 struct network **network);
void network_leave(struct network *network);
/* Replaces the description of this host, which hosts.h prints. Returns 0 or an errno. */
int network_describe(struct network *network, const char *text, size_t len);

unsigned int network_number(const struct network *network);
bool network_has_host(const struct network *network, unsigned int host);
/* Returns a descriptor that is readable when network_progress() has work. */
int network_fd(const struct network *network);

/* Sends to HOST or NETWORK_ALL. The packet is dropped if the host does not exist or its queue is
 * full. */
void network_send(struct network *network, unsigned int host, const uint8_t *packet, size_t len);

/* Sends and receives a bounded amount. Returns true if there was something to do. */
bool network_progress(struct network *network, uint64_t now_ns);
void network_flush(struct network *network);
/* Returns whether queues are so full that senders should wait for network_progress(). Ignores hosts
 * that have stopped receiving: packets for them are dropped once their queues are full. */
bool network_is_congested(const struct network *network);

#endif
