/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * segments.h - answers of subnet administration in several datagrams (RMPP), sent as the requester
 * acknowledges them. IBTA vol 1, 13.6 (reliable multi-packet protocol).
 *
 * Nothing is repeated: a requester that misses a datagram repeats its query. An unfinished answer
 * is replaced when its slot is needed. The fabric's lock guards it.
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
	struct fabric_msg msg; /* header and address, without payload */
	uint8_t *data;
	size_t len;
	uint32_t segments, sent, window; /* number of all; last sent; last that may be sent */
	uint64_t started;                /* number of this answer, to find the oldest */
};

struct segments {
	struct long_answer answer[SEGMENTS_ANSWERS];
	uint64_t count;
	struct long_answer *current; /* the answer with more segments to send now */
};

void segments_clear(struct segments *segments);
/* Starts an answer of LEN bytes of DATA, with MAD's headers. Takes ownership of DATA. */
void segments_start(struct segments *segments, const uint8_t mad[MAD_SIZE], uint8_t *data,
		    size_t len, const struct fabric_msg *msg);
bool segments_take(struct segments *segments, const struct fabric_msg *msg);
/* Makes the next datagram that may be sent now. Returns false if there is none. */
bool segments_next(struct segments *segments, uint8_t mad[MAD_SIZE], struct fabric_msg *msg);

#endif
