/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uplink.h - what leaves a fabric as packets: to other hosts, to a capture file, or back into the
 * same fabric when packets are to be lost. It is for fabric.c, under the
 * fabric's lock.
 *
 * On InfiniBand a LID says which host has it. On Ethernet hosts are learned from the packets that
 * come from them, by source MAC and source GID; what is not known goes to all.
 */
#ifndef SOFTHCA_NET_UPLINK_H
#define SOFTHCA_NET_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

struct uplink;

enum { UPLINK_LIDS = 64 }; /* each host has as many: from UPLINK_LIDS * number + 1 */

struct uplink_ops {
	/* A message arrived: one packet, or several that follow each other. */
	void (*message)(void *owner, const struct fabric_msg *msg);
	void (*frame)(void *owner, const uint8_t *frame, size_t len);
};

int uplink_create(const struct uplink_ops *ops, void *owner, struct uplink **uplink);
void uplink_destroy(struct uplink *uplink);

/* Return 0 or an errno of network_join() or pcap_open(). */
int uplink_join(struct uplink *uplink, const char *path, bool ethernet);
int uplink_capture(struct uplink *uplink, const char *path, bool ethernet);

bool uplink_is_joined(const struct uplink *uplink);
unsigned int uplink_number(const struct uplink *uplink);
bool uplink_has_host(const struct uplink *uplink, unsigned int host);
int uplink_fd(const struct uplink *uplink);

/* MSG, from an adapter with faults FAULT (may be NULL), leaves. LOCAL: it is for this fabric. True
 * when it has been, or will be, delivered there packet by packet; false: that is left to the
 * caller. */
bool uplink_send(struct uplink *uplink, struct fault *fault, const struct fabric_msg *msg,
		 bool local);
/* Sends a frame, from an adapter with faults FAULT. */
void uplink_send_frame(struct uplink *uplink, struct fault *fault, const uint8_t *frame,
		       size_t len);

bool uplink_progress(struct uplink *uplink, uint64_t now_ns);
void uplink_flush(struct uplink *uplink);
bool uplink_is_congested(const struct uplink *uplink);

#endif
