/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lro.c - see lro.h. Merges only segments that lose nothing by it: complete, with right checksums,
 * with no flags but ACK and PSH, and with no option but one timestamp that is the same in all.
 */
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/log.h"

enum { TIMESTAMP_OPTION = 12, TIMESTAMP_WORD = 0x0101080a };

struct lro_session {
	uint64_t merged, frames; /* statistics: segments, and the frames made of them */
	size_t len;              /* bytes of the merged frame; 0: no segment is held */
	size_t len_of_first;     /* length of the first frame, with its padding */
	size_t len_max;
	uint32_t next; /* TCP sequence number of the segment to merge next */
	struct eth_arrival arrival;
	uint8_t bytes[LRO_FRAME_MAX];
};

/* A segment that may be merged, and where its payload begins and ends in the frame. */
struct segment {
	const struct frame *frame;
	const uint8_t *ip, *tcp;
	size_t data, end;
};

static bool options_are_known(const uint8_t *tcp, size_t header)
{
	return header == TCP_SIZE || (header == TCP_SIZE + TIMESTAMP_OPTION &&
				      get_be32(tcp + TCP_SIZE) == TIMESTAMP_WORD);
}

static bool ip_is_plain(const struct frame *frame)
{
	return !frame->fragment &&
	       frame->l4 == frame->l3 + (frame->ip_version == 4 ? IP4_SIZE : IP6_SIZE);
}

static bool segment_read(const struct frame *frame, struct segment *seg)
{
	size_t header;

	if (!frame_is_tcp(frame) || !ip_is_plain(frame))
		return false;
	seg->frame = frame;
	seg->ip = frame->bytes + frame->l3;
	seg->tcp = frame->bytes + frame->l4;
	header = fld_get(seg->tcp, TCP_HEADER_WORDS) * 4;
	seg->data = frame->l4 + header;
	seg->end = frame->l3_end;
	return seg->data < seg->end && options_are_known(seg->tcp, header) &&
	       (fld_get(seg->tcp, TCP_FLAGS) & ~TCP_PSH) == TCP_ACK && frame_l3_ok(frame) &&
	       frame_l4_ok(frame);
}

static bool segment_is_pushed(const struct segment *seg)
{
	return fld_get(seg->tcp, TCP_FLAGS) & TCP_PSH;
}

static uint8_t segment_ttl(const struct segment *seg)
{
	return seg->frame->ip_version == 4 ? fld_get(seg->ip, IP4_TTL)
					   : fld_get(seg->ip, IP6_HOP_LIMIT);
}

static uint32_t segment_next(const struct segment *seg)
{
	return fld_get(seg->tcp, TCP_SEQUENCE) + (uint32_t)(seg->end - seg->data);
}

static bool ip_is_alike(const struct segment *seg, const uint8_t *first)
{
	if (seg->frame->ip_version == 6)
		return !memcmp(seg->ip, first, FLD_BYTE(IP6_PAYLOAD)) &&
		       !memcmp(fld_at(seg->ip, IP6_SOURCE), fld_at(first, IP6_SOURCE), 2 * 16);
	return fld_get(seg->ip, IP4_TOS) == fld_get(first, IP4_TOS) &&
	       fld_get(seg->ip, IP4_FRAGMENTATION) == fld_get(first, IP4_FRAGMENTATION) &&
	       !memcmp(fld_at(seg->ip, IP4_SOURCE), fld_at(first, IP4_SOURCE), 2 * 4);
}

static bool tcp_is_alike(const struct segment *seg, const uint8_t *first)
{
	size_t options = seg->data - seg->frame->l4 - TCP_SIZE;

	return get_be32(seg->tcp) == get_be32(first) &&
	       fld_get(seg->tcp, TCP_HEADER_WORDS) == fld_get(first, TCP_HEADER_WORDS) &&
	       !memcmp(seg->tcp + TCP_SIZE, first + TCP_SIZE, options);
}

static bool segment_follows(const struct lro_session *session, const struct segment *seg,
			    const struct eth_arrival *arrival)
{
	const struct frame *first = &session->arrival.frame;

	return first->l3 == seg->frame->l3 && first->l4 == seg->frame->l4 &&
	       session->arrival.tag == arrival->tag && session->arrival.sender == arrival->sender &&
	       session->arrival.lro.segments < LRO_SEGMENTS_MAX &&
	       session->len + seg->end - seg->data <= session->len_max &&
	       session->next == fld_get(seg->tcp, TCP_SEQUENCE) &&
	       !memcmp(session->bytes, seg->frame->bytes, first->l3) &&
	       ip_is_alike(seg, session->bytes + first->l3) &&
	       tcp_is_alike(seg, session->bytes + first->l4);
}

static void note_segment(struct lro_session *session, const struct segment *seg)
{
	struct lro_note *note = &session->arrival.lro;
	uint8_t ttl = segment_ttl(seg);

	if (!note->segments++ || ttl < note->min_ttl)
		note->min_ttl = ttl;
	note->push |= segment_is_pushed(seg);
	note->window = fld_get(seg->tcp, TCP_WINDOW);
	note->ack = fld_get(seg->tcp, TCP_ACKNOWLEDGMENT);
	session->next = segment_next(seg);
}

/* Returns the largest length of a merged frame, which must fit into one WQE. */
static size_t frame_room(const struct eth_rq *rq)
{
	return rq->strides ? ((size_t)rq->strides << rq->log_stride) - rq->shift : LRO_FRAME_MAX;
}

static void session_begin(struct hca *hca, const struct lro_rule *rule, struct eth_rq *rq,
			  const struct eth_arrival *arrival, const struct segment *seg)
{
	struct lro_session *session = rq->lro;
	size_t most = seg->frame->l4 + rule->payload_max;

	session->arrival = *arrival;
	session->arrival.frame.bytes = session->bytes;
	session->arrival.lro = (struct lro_note){ 0 };
	session->len = seg->end;
	session->len_of_first = seg->frame->len;
	session->len_max = most < frame_room(rq) ? most : frame_room(rq);
	memcpy(session->bytes, seg->frame->bytes, seg->frame->len);
	note_segment(session, seg);
	LIST_INSERT_HEAD(&hca->eth->collecting, rq, in_collecting);
}

static void session_append(struct lro_session *session, const struct segment *seg)
{
	size_t count = seg->end - seg->data;

	memcpy(session->bytes + session->len, seg->frame->bytes + seg->data, count);
	session->len += count;
	note_segment(session, seg);
}

/* Delivers the merged frame. A single segment is delivered unchanged. */
static void session_end(struct hca *hca, struct eth_rq *rq)
{
	struct lro_session *session = rq->lro;
	struct eth_arrival *arrival = &session->arrival;
	size_t data = arrival->frame.l4 +
		      fld_get(session->bytes + arrival->frame.l4, TCP_HEADER_WORDS) * (size_t)4;

	LIST_REMOVE(rq, in_collecting);
	if (arrival->lro.segments > 1) {
		session->merged += arrival->lro.segments;
		session->frames++;
		arrival->frame.len = session->len;
		arrival->lro.sum = frame_sum(session->bytes + data, session->len - data);
	} else {
		arrival->frame.len = session->len_of_first;
		arrival->lro.segments = 0;
	}
	session->len = 0;
	eth_rq_receive(hca, rq, arrival);
}

static bool rq_is_collecting(const struct eth_rq *rq)
{
	return rq->lro && rq->lro->len;
}

/* Returns whether to hold the segment until others can be merged with it. A segment with PSH is not
 * held, as no other would follow. */
static bool segment_begins(const struct lro_rule *rule, struct eth_rq *rq,
			   const struct segment *seg)
{
	bool wanted = seg->frame->ip_version == 4 ? rule->of_ipv4 : rule->of_ipv6;

	if (!wanted || segment_is_pushed(seg) || seg->end - seg->frame->l4 > rule->payload_max)
		return false;
	if (!rq->lro)
		rq->lro = calloc(1, sizeof(*rq->lro));
	return rq->lro;
}

void lro_receive(struct hca *hca, const struct lro_rule *rule, struct eth_rq *rq,
		 const struct eth_arrival *arrival)
{
	bool merges = rule->of_ipv4 || rule->of_ipv6;
	struct segment seg;

	merges = merges && segment_read(&arrival->frame, &seg);
	if (merges && rq_is_collecting(rq) && segment_follows(rq->lro, &seg, arrival)) {
		session_append(rq->lro, &seg);
		if (segment_is_pushed(&seg))
			session_end(hca, rq);
		return;
	}
	if (rq_is_collecting(rq))
		session_end(hca, rq);
	if (merges && segment_begins(rule, rq, &seg))
		session_begin(hca, rule, rq, arrival, &seg);
	else
		eth_rq_receive(hca, rq, arrival);
}

void lro_end_all(struct hca *hca)
{
	struct eth_rq *rq;

	while ((rq = LIST_FIRST(&hca->eth->collecting)) != NULL)
		session_end(hca, rq);
}

void lro_free(struct eth_rq *rq)
{
	if (!rq->lro)
		return;
	if (rq->lro->len)
		LIST_REMOVE(rq, in_collecting);
	log_note("RQ 0x%06x: %llu segments became %llu frames", rq->n,
		 (unsigned long long)rq->lro->merged, (unsigned long long)rq->lro->frames);
	free(rq->lro);
	rq->lro = NULL;
}
