/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inbox.h - datagrams on their way to the switch and to subnet administration, in the order of
 * their arrival.
 *
 * Both answer at once, but on a wire no answer comes before the adapter has completed the send. So
 * the fabric puts a datagram here within the send, and serves it when the adapter has written the
 * completion. The fabric owns the inbox; its lock guards it. The inbox copies what it holds, and
 * drops what does not fit, as a wire may. It logs the first drop.
 */
#ifndef SOFTHCA_NET_INBOX_H
#define SOFTHCA_NET_INBOX_H

#include <stdbool.h>
#include <sys/queue.h>

#include "ib/mad.h"
#include "softhca/device/fabric.h"

enum { INBOX_MAX = 1024 };

struct letter {
	STAILQ_ENTRY(letter) entry;
	struct fabric_msg msg; /* payload points to mad */
	uint8_t mad[MAD_SIZE];
};

struct inbox {
	STAILQ_HEAD(, letter) letters;
	unsigned int count;
	bool has_overflowed; /* and has logged it */
};

void inbox_init(struct inbox *inbox);
/* Frees the datagrams that nobody has taken. */
void inbox_clear(struct inbox *inbox);
/* Adds a copy of MSG, which is a datagram of MAD_SIZE bytes, or drops it. */
void inbox_put(struct inbox *inbox, const struct fabric_msg *msg);
/* Returns the oldest datagram, for the caller to free(), or NULL. */
struct letter *inbox_take(struct inbox *inbox);

#endif
