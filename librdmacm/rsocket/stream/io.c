/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io.c - writes and reads the bytes of a stream, and computes its poll events.
 *
 * Small messages are sent inline from the program's buffer. Others are copied to the send ring in
 * growing pieces, so that the adapter sends the first piece while the next is copied.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <string.h>

enum { FIRST_PIECE = 4096, LAST_PIECE = 65536, FEW_BYTES = 4096 };

struct patience {
	bool nonblocking;
	int64_t deadline_us; /* -1: none */
};

/* Returns how long the call may wait. The limit begins with the call, so WAITED_US, which the call
 * has waited for its direction's lock, count. */
static inline struct patience patience_of(bool nonblocking, int64_t limit_us, int64_t waited_us)
{
	struct patience patience = { nonblocking, -1 };

	if (!nonblocking && limit_us) {
		patience.deadline_us = rdmacm_rs_limit_over(limit_us);
		if (patience.deadline_us > waited_us)
			patience.deadline_us -= waited_us;
	}
	return patience;
}

/* Waits; the caller holds LOCK, the lock of its direction. As for sockets, a call that exceeds its
 * time limit fails like a nonblocking one. */
static int wait_with(struct stream *stream, struct cm_lock *lock,
		     bool (*ready)(struct stream *stream), const struct patience *patience)
{
	int ret;

	if (patience->nonblocking) /* does not sleep, and so is no cancellation point */
		return rdmacm_stream_wait(stream, ready, true, -1);
	rdmacm_rs_cancel_has(lock);
	ret = rdmacm_stream_wait(stream, ready, false, patience->deadline_us);
	rdmacm_rs_cancel_has(NULL);
	return ret == ETIMEDOUT ? EAGAIN : ret;
}

/* ---- sending ---- */

static bool is_sendable(struct stream *stream)
{
	return stream->state == STREAM_OVER || stream->peer_gone || stream->write_shut ||
	       rdmacm_stream_can_send(stream);
}

static int why_not_sendable(struct stream *stream)
{
	int error = stream->error;

	if (stream->state < STREAM_ADDR)
		return ENOTCONN;
	if (stream->state != STREAM_OVER && !stream->peer_gone && !stream->write_shut)
		return 0;
	stream->error = 0;
	return error ? error : EPIPE;
}

/* Checks a send of zero bytes. As with TCP, it does not fail after the peer's close, because it
 * needs no reader. */
static int why_not_sendable_nothing(struct stream *stream)
{
	bool was_connected = stream->state >= STREAM_ACCEPTED && stream->remote.slots_addr;

	if (was_connected && !stream->write_shut && !stream->error)
		return 0;
	return why_not_sendable(stream);
}

static bool fits_inline(const struct stream *stream, size_t left)
{
	return left <= stream->inline_size;
}

static uint32_t piece_size(const struct stream *stream, size_t left, uint32_t limit)
{
	uint32_t room = tx_ring_room(&stream->tx);
	uint32_t size = left < limit ? (uint32_t)left : limit;

	if (size > stream->target.length)
		size = stream->target.length;
	return size < room || fits_inline(stream, left) ? size : room;
}

static int send_inline(struct stream *stream, struct span *span, uint32_t size)
{
	uint8_t bytes[MAX_INLINE];

	if (span_has_run(span, size))
		return rdmacm_stream_post_data(stream, (uintptr_t)span_take(span, size), 0, size,
					       true);
	rdmacm_span_read(span, bytes, size);
	return rdmacm_stream_post_data(stream, (uintptr_t)bytes, 0, size, true);
}

/* Copies SIZE bytes to the ring and posts them. tx_lock excludes other writers, so the state's lock
 * is released during the copy. */
static int send_copied(struct stream *stream, struct span *span, uint32_t size)
{
	uint8_t *to = stream->tx_bytes + stream->tx.head;

	if (size <= FEW_BYTES) { /* for few bytes, releasing the lock costs more than the copy */
		rdmacm_span_read(span, to, size);
	} else {
		cm_lock_drop(&stream->rs.lock);
		rdmacm_span_read(span, to, size);
		cm_lock_take(&stream->rs.lock);
	}
	if (stream->state != STREAM_CONNECTED)
		return EPIPE;
	tx_ring_put(&stream->tx, size);
	return rdmacm_stream_post_data(stream, (uintptr_t)to, stream->mr->lkey, size, false);
}

/* Returns the room to wait for. Without a minimum, a full ring would be drained and refilled in
 * tiny pieces. */
static uint32_t room_wanted(const struct stream *stream, size_t left)
{
	if (fits_inline(stream, left))
		return 0;
	return left < WORTH_SENDING ? (uint32_t)left : WORTH_SENDING;
}

/* Waits for room. If the peer closes meanwhile, the peer has not read everything: as with TCP, the
 * call fails with a reset, once. If some bytes were sent, the next call reports the reset. */
static int await_room(struct stream *stream, const struct patience *patience, bool has_sent)
{
	int ret = wait_with(stream, &stream->tx_lock, is_sendable, patience);
	bool is_gone = stream->state == STREAM_OVER || stream->peer_gone;

	if (ret)
		return ret;
	if (is_gone && !stream->write_shut && !stream->error) {
		stream->error = ECONNRESET;
		rs_flag_set(&stream->rs.is_sound, false);
	}
	return has_sent && (is_gone || stream->write_shut) ? EPIPE : why_not_sendable(stream);
}

static int send_all(struct stream *stream, struct span *span, const struct patience *patience)
{
	uint32_t limit = FIRST_PIECE, size;
	size_t all = span->left;
	int ret = 0;

	while (span->left && !ret) {
		stream->tx_want = room_wanted(stream, span->left);
		if (!rdmacm_stream_can_send(stream))
			ret = await_room(stream, patience, span->left < all);
		if (ret)
			break;
		size = piece_size(stream, span->left, limit);
		if (fits_inline(stream, span->left))
			ret = send_inline(stream, span, size);
		else
			ret = send_copied(stream, span, size);
		if (limit < LAST_PIECE)
			limit *= 2;
	}
	if (ret == EAGAIN)
		stream->rs.found_full++;
	stream->tx_want = WORTH_SENDING; /* poll() reports room only from there on, too */
	return ret;
}

/* Takes a direction's lock that another thread holds, and stores the time that took. A nonblocking
 * call does not wait: it counts in *REFUSED as finding nothing to do, and returns EAGAIN. */
static __attribute__((noinline)) int lock_taken_direction(struct rs *rs, struct cm_lock *lock,
							  bool nonblocking, uint32_t *refused,
							  int64_t *waited_us)
{
	if (!nonblocking) {
		int64_t start_us = rdmacm_rs_now_us();

		rdmacm_lock_wait(lock);
		*waited_us = rdmacm_rs_now_us() - start_us;
		return 0;
	}
	cm_lock_take(&rs->lock);
	++*refused;
	cm_lock_drop(&rs->lock);
	return EAGAIN;
}

static inline int lock_direction(struct rs *rs, struct cm_lock *lock, bool nonblocking,
				 uint32_t *refused, int64_t *waited_us)
{
	*waited_us = 0;
	return cm_lock_try(lock) ? 0
				 : lock_taken_direction(rs, lock, nonblocking, refused, waited_us);
}

int rdmacm_stream_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		       socklen_t len, size_t *done)
{
	struct stream *stream = to_stream(rs);
	bool nonblocking = rs_nonblocking(rs, flags);
	struct patience patience;
	size_t size = span->left;
	int64_t waited_us;
	int ret = lock_direction(rs, &stream->tx_lock, nonblocking, &rs->found_full, &waited_us);

	(void)to; /* a connected stream ignores an address */
	(void)len;
	if (ret)
		return ret;
	cm_lock_take(&rs->lock);
	patience = patience_of(nonblocking, rs->options.send_limit_us, waited_us);
	ret = size ? why_not_sendable(stream) : why_not_sendable_nothing(stream);
	if (!ret)
		ret = send_all(stream, span, &patience);
	cm_lock_drop(&rs->lock);
	cm_lock_drop(&stream->tx_lock);
	*done = size - span->left;
	return ret;
}

/* ---- receiving ---- */

static bool is_readable(struct stream *stream)
{
	return stream->rx.ready || stream->peer_done || stream->read_shut ||
	       stream->state == STREAM_OVER;
}

static int why_not_readable(struct stream *stream)
{
	int error = stream->error;

	if (stream->state < STREAM_ADDR)
		return ENOTCONN;
	if (stream->rx.ready || !error)
		return 0;
	stream->error = 0;
	return error;
}

static void copy_from_ring(struct stream *stream, struct span *span, uint32_t left)
{
	uint32_t head = stream->rx.head, run;

	while (left) {
		run = rx_ring_run(&stream->rx, head);
		if (run > left)
			run = left;
		rdmacm_span_write(span, stream->rx_bytes + head, run);
		head = (head + run) % stream->rx.size;
		left -= run;
	}
}

/* Fast path for few bytes that do not reach the end of their half, so that nothing is announced to
 * the peer. Otherwise returns false and does nothing. */
static inline bool receive_few(struct stream *stream, struct span *span, int flags)
{
	struct rx_ring *rx = &stream->rx;
	uint32_t size = rx->ready < span->left ? rx->ready : (uint32_t)span->left;

	if (!size || size > FEW_BYTES || size >= rx_ring_rest(rx) || flags & MSG_PEEK ||
	    stream->error || (flags & MSG_WAITALL && size < span->left))
		return false;
	if (!span_has_run(span, size))
		rdmacm_span_write(span, stream->rx_bytes + rx->head, size);
	else
		memcpy(span_take(span, size), stream->rx_bytes + rx->head, size);
	rx->head += size;
	rx->ready -= size;
	rx->read += size;
	return true;
}

static inline bool is_open(const struct stream *stream)
{
	return stream->state == STREAM_CONNECTED && !stream->ends && !stream->error;
}

static inline bool is_open_and_empty(const struct stream *stream)
{
	return !stream->rx.ready && is_open(stream);
}

/* Fast path: returns whether a nonblocking call has nothing to receive. */
static bool receive_nothing(struct stream *stream)
{
	if (!is_open_and_empty(stream))
		return false;
	rdmacm_stream_progress(stream);
	if (is_open_and_empty(stream) && stream_look_is_due(stream))
		rdmacm_stream_look(stream);
	if (!is_open_and_empty(stream))
		return false;
	stream->rs.found_empty++;
	return true;
}

/* Copies readable bytes, LIMIT at most, without removing them from the ring. rx_lock excludes other
 * readers, so the copy does not need the state's lock; for few bytes, releasing that lock costs
 * more than it saves. */
static size_t copy_out(struct stream *stream, struct span *span, uint32_t limit)
{
	uint32_t size = stream->rx.ready;

	if (size > limit)
		size = limit;
	if (size > span->left)
		size = span->left;
	if (size > FEW_BYTES)
		cm_lock_drop(&stream->rs.lock);
	copy_from_ring(stream, span, size);
	if (size > FEW_BYTES)
		cm_lock_take(&stream->rs.lock);
	return size;
}

static bool at_end(const struct stream *stream)
{
	return !stream->rx.ready && (stream->read_shut || stream->peer_done);
}

static int receive_some(struct stream *stream, struct span *span, int flags, int64_t waited_us)
{
	const struct patience patience = patience_of(
		rs_nonblocking(&stream->rs, flags), stream->rs.options.receive_limit_us, waited_us);
	bool peek = flags & MSG_PEEK, all = (flags & MSG_WAITALL) && !peek;
	size_t size, wanted = span->left;
	int ret = why_not_readable(stream);

	if (ret || !wanted)
		return ret;
	do {
		if (peek) /* a program that peeks may wait for more */
			rdmacm_stream_progress(stream);
		if (!stream->rx.ready) /* handle completions only when no bytes are ready */
			ret = wait_with(stream, &stream->rx_lock, is_readable, &patience);
		if (!ret && stream->error && span->left < wanted)
			break; /* the next call reports the error */
		if (!ret)
			ret = why_not_readable(stream);
		if (ret || at_end(stream))
			break;
		size = copy_out(stream, span, peek ? UINT32_MAX : rx_ring_rest(&stream->rx));
		/* announce the free half now, so that the peer sends while the rest is read */
		if (!peek)
			rdmacm_stream_received(stream, size);
	} while (span->left && (all || (!peek && stream->rx.ready)));
	if (ret == EAGAIN)
		stream->rs.found_empty++;
	return ret;
}

int rdmacm_stream_receive(struct rs *rs, struct span *span, int *flags,
			  struct sockaddr_storage *from, size_t *done)
{
	struct stream *stream = to_stream(rs);
	size_t size = span->left;
	bool nonblocking = rs_nonblocking(rs, *flags);
	int64_t waited_us;
	int ret = lock_direction(rs, &stream->rx_lock, nonblocking, &rs->found_empty, &waited_us);

	if (ret)
		return ret;
	cm_lock_take(&rs->lock);
	if (nonblocking && size && receive_nothing(stream))
		ret = EAGAIN;
	else if (!receive_few(stream, span, *flags))
		ret = receive_some(stream, span, *flags, waited_us);
	cm_lock_drop(&rs->lock);
	cm_lock_drop(&stream->rx_lock);
	*done = size - span->left;
	*flags = 0;
	if (from) /* stream data has no sender address, so the program gets none */
		from->ss_family = AF_UNSPEC;
	return ret;
}

/* Counts the readable bytes. As with TCP, a listener refuses. */
int rdmacm_stream_unread(struct rs *rs, int *bytes)
{
	struct stream *stream = to_stream(rs);
	int ret = 0;

	cm_lock_take(&rs->lock);
	rdmacm_stream_progress(stream);
	if (stream->state == STREAM_LISTENING)
		ret = EINVAL;
	else
		*bytes = (int)stream->rx.ready;
	cm_lock_drop(&rs->lock);
	return ret;
}

/* ---- polling ---- */

static short listener_events(struct stream *stream)
{
	if (stream->read_shut)
		return POLLIN | POLLHUP;
	switch (rdmacm_listener_look_locked(stream)) {
	case EAGAIN:
		return 0;
	case EIDRM:
		return POLLIN | POLLERR | POLLHUP;
	default: /* there is a request, or raccept() returns an error */
		return POLLIN;
	}
}

static short events_now(struct stream *stream)
{
	short events = 0;

	switch (stream->state) {
	case STREAM_NEW:
	case STREAM_BOUND:
		return POLLOUT | POLLHUP;
	case STREAM_LISTENING:
		return listener_events(stream);
	case STREAM_OVER:
		events = POLLIN | POLLOUT | POLLHUP | POLLRDHUP;
		break;
	default:
		if (is_readable(stream))
			events |= POLLIN;
		if (stream->state == STREAM_CONNECTED && is_sendable(stream))
			events |= POLLOUT;
		if (stream->peer_done || stream->read_shut)
			events |= POLLRDHUP;
		if (stream->peer_gone || (stream->peer_done && stream->write_shut))
			events |= POLLHUP;
	}
	return stream->error ? events | POLLERR : events;
}

static short with_aliases(short events)
{
	if (events & POLLIN)
		events |= POLLRDNORM;
	if (events & POLLOUT)
		events |= POLLWRNORM;
	return events;
}

/* Returns the current events among EVENTS and those that poll() always reports. */
static short events_of(struct stream *stream, short events)
{
	return with_aliases(events_now(stream)) & (events | POLLERR | POLLHUP);
}

short rdmacm_stream_poll(struct rs *rs, short events, bool sleep)
{
	struct stream *stream = to_stream(rs);
	short now;

	cm_lock_take(&rs->lock);
	rdmacm_stream_progress(stream);
	now = events_of(stream, events);
	if (sleep && !rdmacm_stream_arm(stream))
		now = events_of(stream, events);
	cm_lock_drop(&rs->lock);
	return now;
}

static short events_of_open(struct stream *stream, short events)
{
	short now = stream->rx.ready ? POLLIN | POLLRDNORM : 0;

	if (events & (POLLOUT | POLLWRNORM) && rdmacm_stream_can_send(stream))
		now |= POLLOUT | POLLWRNORM;
	return now & events;
}

/* Looks at a listener: its requests arrive on a descriptor that the caller polls together with
 * others. */
static short glance_at_listener(struct stream *stream, short events, int *look_fd)
{
	if (!stream->read_shut && !stream->is_lost && STAILQ_EMPTY(&stream->accepted)) {
		*look_fd = rdmacm_listener_fd(stream);
		return 0;
	}
	return events_of(stream, events);
}

/* Looks at a socket. While connecting, rdma_cm's events matter; later they are rare, and are
 * checked periodically. */
static short glance_at(struct stream *stream, short events, int *look_fd)
{
	if (stream->state == STREAM_LISTENING && !rs_is_paused(&stream->pause))
		return glance_at_listener(stream, events, look_fd);
	rdmacm_stream_progress(stream);
	if (is_open(stream)) {
		if (stream_look_is_due(stream) && !rs_is_paused(&stream->pause))
			*look_fd = stream->rs.fd;
		return events_of_open(stream, events);
	}
	if (stream->state >= STREAM_ADDR && stream->state != STREAM_OVER &&
	    !rs_is_paused(&stream->pause))
		*look_fd = stream->rs.fd;
	return events_of(stream, events);
}

short rdmacm_stream_glance(struct rs *rs, short events, int *look_fd)
{
	short now;

	cm_lock_take(&rs->lock);
	now = glance_at(to_stream(rs), events, look_fd);
	cm_lock_drop(&rs->lock);
	return now;
}

int rdmacm_stream_rs_wake_fds(struct rs *rs, struct pollfd *fds)
{
	int count;

	cm_lock_take(&rs->lock);
	count = rdmacm_stream_wake_fds(to_stream(rs), fds);
	cm_lock_drop(&rs->lock);
	return count;
}

void rdmacm_stream_rs_woken(struct rs *rs, const struct pollfd *fds, int count)
{
	cm_lock_take(&rs->lock);
	rdmacm_stream_woken(to_stream(rs), fds, count);
	cm_lock_drop(&rs->lock);
}
