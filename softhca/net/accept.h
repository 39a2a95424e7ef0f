/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accept.h - accepts connections of a server, and turns callers away when no descriptor is left.
 * Otherwise poll() would report the waiting caller for ever, and the server would spin.
 *
 * A door keeps one spare descriptor for that: closing it lets the caller be accepted, and then
 * closed at once. Only one thread uses a door.
 */
#ifndef SOFTHCA_NET_ACCEPT_H
#define SOFTHCA_NET_ACCEPT_H

#include <stdbool.h>

struct accept_door {
	int listener;
	int spare; /* -1: none */
	bool told; /* callers are being turned away, and the log has said so */
};

/* Prepares a door. Returns 0 or a positive errno. The caller still owns LISTENER. */
int accept_open(struct accept_door *door, int listener);
void accept_close(struct accept_door *door);
/* Accepts a waiting caller, with FLAGS of accept4(). Returns its descriptor, or -1. */
int accept_next(struct accept_door *door, int flags);

#endif
