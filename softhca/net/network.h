/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * network.h - the processes that name the same directory are hosts of one network: each is
 * connected with each, and packets go between them. What packets say is fabric.c's business.
 *
 * The directory holds a lock file, taken while joining only, and one socket for each host, N.ib or
 * N.roce; N is the host's number, the lowest that is free. A host connects to all that are there,
 * and later ones connect to it, so nobody is in the middle. One that goes, however it does, closes
 * its sockets; the file of one that was killed is removed by the next to join.
 *
 * Nothing here blocks but network_join(), which may wait a moment for the lock. The caller
 * serializes calls and polls network_fd().
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
	/* A packet from HOST; it may be changed in place. Runs in network_progress() and may
	 * send. */
	void (*receive)(void *owner, unsigned int host, uint8_t *packet, size_t len);
	/* All that had come from HOST for now was handed over. */
	void (*pause)(void *owner, unsigned int host);
	void (*gone)(void *owner, unsigned int host);
};

/* Returns 0, EPROTOTYPE when it is a network of the other link layer, EMFILE when it is full, or
 * another errno. */
int network_join(const char *path, bool ethernet, const struct network_ops *ops, void *owner,
		 struct network **network);
void network_leave(struct network *network);

unsigned int network_number(const struct network *network);
/* Is another host with that number there? */
bool network_has_host(const struct network *network, unsigned int host);
/* The descriptor is readable when network_progress() has something to do. */
int network_fd(const struct network *network);

/* Sends to HOST or NETWORK_ALL. The packet is lost when the host is not there, or its queue is
 * full. */
void network_send(struct network *network, unsigned int host, const uint8_t *packet, size_t len);

/* Sends and receives what can be now; a bounded amount. It returns true when there was
 * something. */
bool network_progress(struct network *network, uint64_t now_ns);
/* Hands what was sent to the other hosts, without receiving. */
void network_flush(struct network *network);
/* Asks whether more is queued than should be, so that whoever can had better wait until
 * network_progress() says otherwise. It is not so when the host has stopped to receive: then
 * packets are dropped. */
bool network_is_congested(const struct network *network);

#endif
