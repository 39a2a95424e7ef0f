/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * segments.h - answers of subnet administration that need several datagrams: those are sent as the
 * one who asked acknowledges them. IBTA vol 1, 13.6 (reliable multi-packet protocol).
 *
 * Nothing is repeated: whoever misses a datagram asks again. An answer that nobody takes up to its
 * end gives way to later ones. Runs under the fabric's lock.
 */
#ifndef SOFTHCA_NET_SEGMENTS_H
#define SOFTHCA_NET_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/sa.h"
#include "softhca/device/fabric.h"

enum { SEGMENTS_ANSWERS = 32 };

struct long_answer {
	uint8_t header[SA_DATA];
	struct fabric_msg msg; /* where it goes; without payload */
	uint8_t *data;
	size_t len;
	uint32_t segments, sent, window; /* the last that was sent, and that may be */
	uint64_t started;                /* which of the answers this is */
};

struct segments {
	struct long_answer answer[SEGMENTS_ANSWERS];
	uint64_t count;
	struct long_answer *current; /* of which more may be sent now */
};

void segments_clear(struct segments *segments);
/* Starts to send LEN bytes of DATA as the answer with MAD's headers. Takes ownership of DATA. */
void segments_start(struct segments *segments, const uint8_t mad[MAD_SIZE], uint8_t *data,
		    size_t len, const struct fabric_msg *msg);
/* Takes MSG if it acknowledges, or ends, an answer. */
bool segments_take(struct segments *segments, const struct fabric_msg *msg);
/* Makes the next datagram that may be sent now; false: there is none. */
bool segments_next(struct segments *segments, uint8_t mad[MAD_SIZE], struct fabric_msg *msg);

#endif
