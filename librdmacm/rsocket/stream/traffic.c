/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * traffic.c - posts the work requests of a stream, handles completions, and announces credits and
 * segments to the peer. The caller holds rs.lock.
 *
 * Only some data requests are signaled; such a completion covers all requests before it. The wr_id
 * of a work request has the number of requests posted up to it, and the bytes put into the send
 * ring; bit 63 marks controls and segments.
 */
#include "librdmacm/rsocket/stream/stream.h"

#include <stddef.h>

enum { POLL_BATCH = 16 };

#define WR_CONTROL (1ULL << 63)
#define WR_RECEIVE UINT64_MAX

static uint64_t wr_id_now(const struct stream *stream)
{
	return (uint64_t)(stream->sq_put & 0x7fffffff) << 32 | stream->tx.put;
}

static void on_data(struct stream *stream, uint32_t bytes)
{
	stream->rx_count++;
	if (!rx_ring_arrived(&stream->rx, bytes)) {
		verbs_warn("rsocket: the other side has sent more than it may");
		rdmacm_stream_fail(stream, EPROTO);
		return;
	}
	stream->rs.arrivals++;
}

static void on_control(struct stream *stream, uint32_t value)
{
	if (value == WIRE_DISCONNECT)
		stream->peer_done = stream->peer_gone = true;
	else if (value == WIRE_SHUTDOWN)
		stream->peer_done = true;
	stream->rs.arrivals++;
}

static void on_message(struct stream *stream, uint32_t imm)
{
	uint32_t value = wire_imm_value(imm);

	/* the message can arrive before the event of rdma_cm, which the service thread or the next
	 * look reads */
	if (stream->state == STREAM_ACCEPTED)
		rdmacm_stream_established(stream);
	switch (wire_imm_op(imm)) {
	case WIRE_DATA:
		on_data(stream, value);
		break;
	case WIRE_SEGMENT:
		stream->tx_limit = value;
		break;
	case WIRE_MAPPING:
		stream->rx_count++;
		break;
	case WIRE_CONTROL:
		on_control(stream, value);
		break;
	default:
		verbs_warn("rsocket: the other side sent an unknown message (0x%08x)", imm);
		rdmacm_stream_fail(stream, EPROTO);
	}
}

static void on_sent(struct stream *stream, uint64_t wr_id)
{
	uint32_t put = wr_id >> 32 & 0x7fffffff;

	stream->sq_done += (put - stream->sq_done) & 0x7fffffff;
	stream->tx.done = (uint32_t)wr_id;
	if (wr_id & WR_CONTROL)
		stream->controls--;
}

static void on_completion(struct stream *stream, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR && stream->state == STREAM_CONNECTED)
			verbs_info("rsocket: %s", ibv_wc_status_str(wc->status));
		rdmacm_stream_fail(stream, ECONNRESET);
		return;
	}
	if (!(wc->opcode & IBV_WC_RECV)) {
		on_sent(stream, wc->wr_id);
		return;
	}
	stream->to_post++;
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		on_message(stream, be32toh(wc->imm_data));
}

/* Posts receives. They have no buffers, so it does not matter which ones complete. */
static void repost_receives(struct stream *stream)
{
	struct ibv_recv_wr batch[REPOST_BATCH] = { 0 }, *bad;

	for (int i = 0; i < REPOST_BATCH; i++) {
		batch[i].wr_id = WR_RECEIVE;
		batch[i].next = i + 1 < REPOST_BATCH ? &batch[i + 1] : NULL;
	}
	if (ibv_post_recv(stream->id->qp, batch, &bad))
		rdmacm_stream_fail(stream, EIO);
	stream->to_post -= REPOST_BATCH;
}

static __attribute__((noinline)) void on_completions(struct stream *stream, struct ibv_wc *wc,
						     int count)
{
	for (;;) {
		for (int i = 0; i < count; i++)
			on_completion(stream, &wc[i]);
		while (stream->to_post >= REPOST_BATCH && stream->state != STREAM_OVER)
			repost_receives(stream);
		if (count < POLL_BATCH)
			break;
		count = ibv_poll_cq(stream->cq, POLL_BATCH, wc);
	}
	if (count < 0)
		rdmacm_stream_fail(stream, EIO);
	rdmacm_stream_send_controls(stream);
	rs_changed(&stream->rs);
}

/* Handles completions. An announcement can become due by completions, calls, or keepalives only. */
bool rdmacm_stream_progress(struct stream *stream)
{
	struct ibv_wc wc[POLL_BATCH];
	int count;

	if (!stream->cq)
		return false;
	count = ibv_poll_cq(stream->cq, POLL_BATCH, wc);
	if (count) {
		on_completions(stream, wc, count);
		return count > 0;
	}
	if (stream->must_shutdown || stream->must_disconnect || stream->keepalive_due)
		rdmacm_stream_send_controls(stream);
	return false;
}

static inline int post_send(struct stream *stream, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int ret;

	stream->sq_put++;
	if (stream->sq_put - stream->sq_marked >= stream->rs.options.sq_size / 4 ||
	    tx_ring_wants_mark(&stream->tx))
		wr->send_flags |= IBV_SEND_SIGNALED;
	if (wr->send_flags & IBV_SEND_SIGNALED) {
		stream->sq_marked = stream->sq_put;
		stream->tx.marked = stream->tx.put;
	}
	wr->wr_id |= wr_id_now(stream);
	ret = ibv_post_send(stream->id->qp, wr, &bad);
	if (ret)
		rdmacm_stream_fail(stream, ret);
	return ret;
}

static bool has_send_room(const struct stream *stream)
{
	return stream->sq_put - stream->sq_done < stream->rs.options.sq_size;
}

/* Returns whether there is room at the peer. When the target is used up, the peer may already have
 * announced the next target. */
static bool has_target(struct stream *stream)
{
	struct wire_segment *slot = &stream->slots[stream->slot];

	if (stream->target.length)
		return true;
	if (!__atomic_load_n(&slot->length, __ATOMIC_ACQUIRE))
		return false;
	stream->target = *slot;
	if (stream->remote.swapped)
		rdmacm_wire_segment_swap(&stream->target);
	slot->length = 0;
	stream->slot = (stream->slot + 1) % WIRE_SLOTS;
	return stream->target.length != 0;
}

bool rdmacm_stream_can_send(struct stream *stream)
{
	return stream->state == STREAM_CONNECTED && stream->tx_count != stream->tx_limit &&
	       has_send_room(stream) && tx_ring_free(&stream->tx) >= stream->tx_want &&
	       has_target(stream);
}

int rdmacm_stream_post_data(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			    bool is_inline)
{
	struct ibv_sge sge = { addr, bytes, lkey };
	struct ibv_send_wr wr; /* fields that an RDMA WRITE does not use stay uninitialised */

	wr.wr_id = 0;
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.send_flags = is_inline ? IBV_SEND_INLINE : 0;
	wr.imm_data = htobe32(wire_imm(WIRE_DATA, bytes));
	wr.wr.rdma.remote_addr = stream->target.addr;
	wr.wr.rdma.rkey = stream->target.key;
	stream->tx_count++;
	stream->target.addr += bytes;
	stream->target.length -= bytes;
	return post_send(stream, &wr);
}

int rdmacm_stream_post_write(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			     bool is_inline, const struct wire_segment *to)
{
	struct ibv_sge sge = { addr, bytes, lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = is_inline ? IBV_SEND_INLINE : 0,
		.wr.rdma = { to->addr, to->key },
	};

	return post_send(stream, &wr);
}

/* Writes BYTES to the peer's slots or mappings at OFFSET. The caller may reuse BYTES at once,
 * because they are sent inline. */
static int post_announcement(struct stream *stream, uint32_t imm, const void *bytes, uint32_t size,
			     uint64_t offset, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)bytes, size, 0 };
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = size ? 1 : 0,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_INLINE | (wr_id & WR_CONTROL ? IBV_SEND_SIGNALED : 0),
		.imm_data = htobe32(imm),
		.wr.rdma = { stream->remote.slots_addr + offset, stream->remote.slots_key },
	};

	return post_send(stream, &wr);
}

int rdmacm_stream_post_mapping(struct stream *stream, unsigned int index,
			       const struct wire_mapping *mapping)
{
	uint64_t offset = WIRE_SLOTS * sizeof(struct wire_segment) + index * sizeof(*mapping);

	stream->tx_count++;
	return post_announcement(stream, wire_imm(WIRE_MAPPING, index), mapping, sizeof(*mapping),
				 offset, 0);
}

static uint16_t grant_credits(struct stream *stream)
{
	stream->rx_granted = stream->rx_count + stream->rs.options.rq_size;
	return stream->rx_granted;
}

static int send_control(struct stream *stream, uint32_t imm)
{
	stream->controls++;
	return post_announcement(stream, imm, NULL, 0, 0, WR_CONTROL);
}

static int send_segment(struct stream *stream)
{
	struct wire_segment segment = { .key = stream->mr->rkey, .length = stream->rx.size / 2 };
	uint64_t offset = stream->remote_slot * sizeof(segment);

	segment.addr = (uintptr_t)stream->rx_bytes + rx_ring_tell(&stream->rx);
	stream->remote_slot = (stream->remote_slot + 1) % WIRE_SLOTS;
	stream->controls++;
	return post_announcement(stream, wire_imm(WIRE_SEGMENT, grant_credits(stream)), &segment,
				 sizeof(segment), offset, WR_CONTROL);
}

/* Sends a keepalive: an RDMA WRITE of zero bytes, because only the transport's answer matters. */
static int send_keepalive(struct stream *stream)
{
	struct ibv_send_wr wr = { .wr_id = WR_CONTROL,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED };

	stream->controls++;
	return post_send(stream, &wr);
}

static bool credit_is_due(const struct stream *stream)
{
	return (uint16_t)(stream->rx_granted - stream->rx_count) <= stream->rs.options.rq_size / 2;
}

static bool send_one_control(struct stream *stream)
{
	if (stream->must_shutdown) {
		stream->must_shutdown = false;
		send_control(stream, wire_imm(WIRE_CONTROL, WIRE_SHUTDOWN));
	} else if (stream->must_disconnect) {
		stream->must_disconnect = false;
		send_control(stream, wire_imm(WIRE_CONTROL, WIRE_DISCONNECT));
	} else if (stream->keepalive_due && !stream->peer_gone) {
		stream->keepalive_due = false;
		send_keepalive(stream);
	} else if (stream->peer_done) {
		return false; /* the peer sends no more, so it needs no more room */
	} else if (stream->rx.due) {
		send_segment(stream);
	} else if (credit_is_due(stream)) {
		send_control(stream, wire_imm(WIRE_SEGMENT, grant_credits(stream)));
	} else {
		return false;
	}
	return true;
}

void rdmacm_stream_send_controls(struct stream *stream)
{
	while (stream->state == STREAM_CONNECTED && stream->controls < CONTROL_SQ &&
	       send_one_control(stream))
		;
}

void rdmacm_stream_received(struct stream *stream, uint32_t bytes)
{
	rx_ring_take(&stream->rx, bytes);
	rdmacm_stream_send_controls(stream);
}
