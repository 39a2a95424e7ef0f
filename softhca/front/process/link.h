/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link.h - what runner and daemon say to each other over a SOCK_SEQPACKET socket.
 *
 * The runner brings the listener of its filter; the daemon answers with the memory of mailbox.h, of
 * which the runner's side can read what it likes, and write nothing.
 */
#ifndef SOFTHCA_FRONT_PROCESS_LINK_H
#define SOFTHCA_FRONT_PROCESS_LINK_H

#include <stdint.h>

#define LINK_MAGIC   0x736f6674u
#define LINK_VERSION 3u

struct link_hello {
	uint32_t magic;
	uint32_t version;
};

/* All return 0 or a positive errno; EPROTO for a peer that speaks otherwise, ECONNRESET for one
 * that went away. */
int link_send_hello(int link, int listener);
int link_receive_hello(int link, int *listener);
/* MEMORY goes with an error of 0 only. The error that the daemon answers with is returned as
 * one. */
int link_send_welcome(int link, int error, int memory);
int link_receive_welcome(int link, int *memory);

/* The runner tells the process that waits to become the program. */
int link_send_answer(int link, int error);
int link_receive_answer(int link);

/* Pass one descriptor: from the process that installs the filter to its runner, from the daemon to
 * a holder. EAGAIN: there is no room, and the link does not wait. */
int link_send_fd(int link, int fd);
int link_receive_fd(int link, int *fd);

#endif
