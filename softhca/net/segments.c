/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * segments.c - see segments.h.
 */
#include <stdlib.h>
#include <string.h>

#include "softhca/net/segments.h"

enum { DATA_SIZE = MAD_SIZE - SA_DATA, FIRST_WINDOW = 1 };

static void answer_end(struct long_answer *answer)
{
	free(answer->data);
	answer->data = NULL;
}

void segments_clear(struct segments *segments)
{
	for (unsigned int i = 0; i < SEGMENTS_ANSWERS; i++)
		answer_end(&segments->answer[i]);
}

/* Returns a free slot. If there is none, ends the oldest answer and returns its slot. */
static struct long_answer *find_place(struct segments *segments)
{
	struct long_answer *best = &segments->answer[0];

	for (unsigned int i = 0; i < SEGMENTS_ANSWERS; i++) {
		if (!segments->answer[i].data)
			return &segments->answer[i];
		if (segments->answer[i].started < best->started)
			best = &segments->answer[i];
	}
	answer_end(best);
	return best;
}

void segments_start(struct segments *segments, const uint8_t mad[MAD_SIZE], uint8_t *data,
		    size_t len, const struct fabric_msg *msg)
{
	struct long_answer *answer = find_place(segments);

	*answer = (struct long_answer){
		.msg = *msg,
		.data = data,
		.len = len,
		.segments = (uint32_t)((len + DATA_SIZE - 1) / DATA_SIZE),
		.window = FIRST_WINDOW,
		.started = ++segments->count,
	};
	memcpy(answer->header, mad, sizeof(answer->header));
	segments->current = answer;
}

static struct long_answer *find_answer(struct segments *segments, const struct fabric_msg *msg)
{
	uint64_t transaction = fld_get(msg->payload, MAD_TRANSACTION);

	for (unsigned int i = 0; i < SEGMENTS_ANSWERS; i++) {
		struct long_answer *answer = &segments->answer[i];

		if (answer->data && fld_get(answer->header, MAD_TRANSACTION) == transaction &&
		    answer->msg.addr.dlid == msg->addr.slid && answer->msg.dest_qpn == msg->src_qpn)
			return answer;
	}
	return NULL;
}

static void take_acknowledge(struct segments *segments, struct long_answer *answer,
			     const uint8_t *mad)
{
	uint32_t segment = fld_get(mad, RMPP_SEGMENT);

	if (segment > answer->sent)
		return;
	if (segment == answer->segments) {
		answer_end(answer);
		return;
	}
	answer->window = fld_get(mad, RMPP_WINDOW);
	segments->current = answer;
}

bool segments_take(struct segments *segments, const struct fabric_msg *msg)
{
	const uint8_t *mad = msg->payload;
	struct long_answer *answer;

	if (!(fld_get(mad, RMPP_FLAGS) & RMPP_ACTIVE) || fld_get(mad, RMPP_TYPE) == RMPP_DATA)
		return false;
	answer = find_answer(segments, msg);
	if (answer && fld_get(mad, RMPP_TYPE) == RMPP_ACK)
		take_acknowledge(segments, answer, mad);
	else if (answer)
		answer_end(answer);
	return true;
}

/* Sets PayloadLength: in the first segment, the bytes of all segments behind their RMPP headers; in
 * the last, its own bytes. */
static void put_header(const struct long_answer *answer, uint32_t segment, size_t len, uint8_t *mad)
{
	uint32_t flags = RMPP_ACTIVE, length = 0;

	if (segment == 1) {
		flags |= RMPP_FIRST;
		length = (uint32_t)(answer->len + (size_t)answer->segments * SA_HEADER_SIZE);
	}
	if (segment == answer->segments) {
		flags |= RMPP_LAST;
		length = (uint32_t)(len + SA_HEADER_SIZE);
	}
	fld_set(mad, RMPP_VERSION, RMPP_VERSION_1);
	fld_set(mad, RMPP_TYPE, RMPP_DATA);
	fld_set(mad, RMPP_FLAGS, flags);
	fld_set(mad, RMPP_SEGMENT, segment);
	fld_set(mad, RMPP_LENGTH, length);
}

bool segments_next(struct segments *segments, uint8_t mad[MAD_SIZE], struct fabric_msg *msg)
{
	struct long_answer *answer = segments->current;
	size_t at, len;

	if (!answer || !answer->data || answer->sent == answer->segments ||
	    answer->sent >= answer->window) {
		segments->current = NULL;
		return false;
	}
	at = (size_t)answer->sent++ * DATA_SIZE;
	len = answer->len - at < DATA_SIZE ? answer->len - at : DATA_SIZE;
	memset(mad, 0, MAD_SIZE);
	memcpy(mad, answer->header, sizeof(answer->header));
	memcpy(mad + SA_DATA, answer->data + at, len);
	put_header(answer, answer->sent, len, mad);
	*msg = answer->msg;
	msg->payload = mad;
	return true;
}
