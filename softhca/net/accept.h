/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accept.h - the door of a server: who connects is let in, or turned away when no descriptor is
 * left. Who was left waiting would have the poll of the listening socket report it for ever.
 *
 * A door keeps one descriptor for that. One thread uses it.
 */
#ifndef SOFTHCA_NET_ACCEPT_H
#define SOFTHCA_NET_ACCEPT_H

#include <stdbool.h>

struct accept_door {
	int listener;
	int spare; /* -1: it is not there */
	bool told; /* that callers are turned away */
};

/* Returns 0 or a positive errno. LISTENER stays the caller's to close. */
int accept_open(struct accept_door *door, int listener);
void accept_close(struct accept_door *door);
/* Lets in whoever waits, with FLAGS of accept4(); it returns a descriptor, or -1. */
int accept_next(struct accept_door *door, int flags);

#endif
