/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uplink.h - sends messages of a fabric as packets: to other hosts, to a capture file, or back into
 * the same fabric if packets are to be lost. fabric.c uses it under its lock.
 *
 * On InfiniBand the LID determines the host. On Ethernet the uplink learns hosts from source MAC
 * and source GID of received packets; packets to unknown addresses go to all hosts.
 */
#ifndef SOFTHCA_NET_UPLINK_H
#define SOFTHCA_NET_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

struct uplink;

enum { UPLINK_LIDS = 64 }; /* LIDs of a host, from UPLINK_LIDS * number + 1 on */

struct uplink_ops {
	/* Receives a message: one packet, or several consecutive ones. */
	void (*message)(void *owner, const struct fabric_msg *msg);
	void (*frame)(void *owner, const uint8_t *frame, size_t len);
};

int uplink_create(const struct uplink_ops *ops, void *owner, struct uplink **uplink);
void uplink_destroy(struct uplink *uplink);

/* Return 0 or an errno of network_join() or pcap_open(). */
int uplink_join(struct uplink *uplink, const char *path, bool ethernet);
int uplink_capture(struct uplink *uplink, const char *path, bool ethernet);

/* Describes this host in the network's directory. Returns 0 or an errno. */
int uplink_describe(struct uplink *uplink, const char *text, size_t len);

bool uplink_is_joined(const struct uplink *uplink);
unsigned int uplink_number(const struct uplink *uplink);
bool uplink_has_host(const struct uplink *uplink, unsigned int host);
int uplink_fd(const struct uplink *uplink);

/* Sends MSG of an adapter with faults FAULT (may be NULL). LOCAL: its destination is this fabric.
 * Returns true if the uplink delivers MSG there packet by packet, now or later; if false, the
 * caller must deliver it. */
bool uplink_send(struct uplink *uplink, struct fault *fault, const struct fabric_msg *msg,
		 bool local);
void uplink_send_frame(struct uplink *uplink, struct fault *fault, const uint8_t *frame,
		       size_t len);

bool uplink_progress(struct uplink *uplink, uint64_t now_ns);
/* Releases the packet that a fault holds back until the adapters rest. */
void uplink_rest(struct uplink *uplink);
/* Sends the packets that wait for other hosts. */
void uplink_flush(struct uplink *uplink);
bool uplink_is_congested(const struct uplink *uplink);

#endif
