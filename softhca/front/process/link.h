/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link.h - messages between runner and daemon over a SOCK_SEQPACKET socket.
 *
 * The runner sends the listener of its filter; the daemon answers with the memory of mailbox.h,
 * which the runner's side can only read.
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

/* All return 0 or a positive errno: EPROTO for an unexpected message, ECONNRESET for a closed
 * peer. */
int link_send_hello(int link, int listener);
int link_receive_hello(int link, int *listener);
/* Send and receive the daemon's answer to a hello: ERROR, and if that is 0 descriptor MEMORY. The
 * receiving function returns ERROR. */
int link_send_welcome(int link, int error, int memory);
int link_receive_welcome(int link, int *memory);

/* Send and receive an errno, or 0: the runner's answer to the process that becomes the program. */
int link_send_answer(int link, int error);
int link_receive_answer(int link);

/* Pass one descriptor: from the process that installs the filter to its runner, or from the daemon
 * to a holder. EAGAIN: no room, and the link does not block. EMFILE: the receiver has no free
 * descriptor, so the passed one is lost. */
int link_send_fd(int link, int fd);
int link_receive_fd(int link, int *fd);

#endif
