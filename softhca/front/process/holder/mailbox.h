/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mailbox.h - what a holder has to know when the daemon dies.
 *
 * The daemon receives each notification right into this page, which it shows to the holder. A
 * call that the daemon was working on when it died is therefore known, and the holder can answer
 * it; the kernel would not report it twice. Behind this, in the same memory, is the table of
 * epitaph.h.
 *
 * The holder is a process of the daemon's client, which may belong to somebody else. So the memory
 * is the daemon's, sealed: no other process can write to it, nor make it shorter, and the daemon
 * can believe what it reads there.
 * Decision: docs/adr/0045.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_MAILBOX_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_MAILBOX_H

#include <linux/seccomp.h>
#include <stdint.h>

enum { MAILBOX_DEFERRED = 128 };

struct mailbox {
	union {
		struct seccomp_notif notif; /* id 0: none */
		char room[512];             /* should a later kernel's be longer */
	};
	char tree[64];                       /* the daemon's directory, for the holder to remove */
	uint32_t told;                       /* the adapter was dead before, and programs know it */
	uint64_t deferred[MAILBOX_DEFERRED]; /* notifications that wait for their answer; 0: none */
};

#endif
