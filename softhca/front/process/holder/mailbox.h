/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mailbox.h - the memory by which a holder knows what the daemon was doing when it died.
 *
 * The daemon receives each notification directly into this page, which the holder can read. So the
 * holder can answer the call that the daemon was handling; the kernel would not report it twice.
 * Behind it, in the same memory, is the table of epitaph.h.
 *
 * The holder is a process of the daemon's client, and may belong to another user. So the daemon
 * owns the memory and seals it: no other process can write or shrink it, and the daemon can trust
 * its contents. Decision: docs/adr/0045.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_MAILBOX_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_MAILBOX_H

#include <linux/seccomp.h>
#include <stdint.h>

enum { MAILBOX_DEFERRED = 128 };

struct mailbox {
	union {
		struct seccomp_notif notif; /* id 0: no call */
		char room[512];             /* for a longer structure of later kernels */
	};
	char tree[64]; /* the daemon's directory, which the holder removes */
	/* the daemon has already told programs that the adapter is dead */
	uint32_t told;
	uint64_t deferred[MAILBOX_DEFERRED]; /* ids of deferred calls; 0: free */
};

#endif
