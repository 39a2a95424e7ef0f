/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io.c - puts bytes into a stream and takes them out, and says what poll reports of it.
 *
 * Small messages go inline from the program's buffer. Others are copied to the send ring in pieces
 * that grow, so that the adapter has begun with the first while the next is copied.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <string.h>

enum { FIRST_PIECE = 4096, LAST_PIECE = 65536, FEW_BYTES = 4096 };

/* How long a call waits. */
struct patience {
	bool nonblocking;
	int64_t deadline_us; /* -1 without one */
};

static inline struct patience patience_of(const struct rs *rs, int flags, int64_t limit_us)
{
	bool nonblocking = rs_nonblocking(rs, flags);
	bool is_limited = !nonblocking && limit_us;

	return (struct patience){ nonblocking, is_limited ? rdmacm_rs_limit_over(limit_us) : -1 };
}

/* Waits while the call has LOCK, the lock of its direction. As with sockets, a call whose time is
 * over fails as one that does not wait. */
static int wait_with(struct stream *stream, struct cm_lock *lock,
		     bool (*ready)(struct stream *stream), const struct patience *patience)
{
	int ret;

	if (patience->nonblocking) /* so it does not sleep, where it could be cancelled */
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

/* No bytes need no reader: as with TCP, the other side's close does not refuse them. */
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

/* No other thread is writing (tx_lock), so the lock of the state is not needed while bytes are
 * copied. */
static int send_copied(struct stream *stream, struct span *span, uint32_t size)
{
	uint8_t *to = stream->tx_bytes + stream->tx.head;

	if (size <= FEW_BYTES) { /* letting go of the lock costs more */
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

/* Without a minimum of room, a full ring would be emptied and filled in crumbs. */
static uint32_t room_wanted(const struct stream *stream, size_t left)
{
	if (fits_inline(stream, left))
		return 0;
	return left < WORTH_SENDING ? (uint32_t)left : WORTH_SENDING;
}

/* A side that goes while a call waits to send to it has not read all: as with TCP, that is a reset,
 * of which the program hears once. A call that has sent some bytes leaves it to the next one. */
static int await_room(struct stream *stream, const struct patience *patience, bool has_sent)
{
	int ret = wait_with(stream, &stream->tx_lock, is_sendable, patience);
	bool is_gone = stream->state == STREAM_OVER || stream->peer_gone;

	if (ret)
		return ret;
	if (is_gone && !stream->write_shut && !stream->error)
		stream->error = ECONNRESET;
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
	stream->tx_want = WORTH_SENDING; /* what those who poll are told */
	return ret;
}

/* A call that is not to wait for another thread's finds nothing, which *REFUSED counts. */
static __attribute__((noinline)) int lock_taken_direction(struct rs *rs, struct cm_lock *lock,
							  bool nonblocking, uint32_t *refused)
{
	if (!nonblocking) {
		rdmacm_lock_wait(lock);
		return 0;
	}
	cm_lock_take(&rs->lock);
	++*refused;
	cm_lock_drop(&rs->lock);
	return EAGAIN;
}

static inline int lock_direction(struct rs *rs, struct cm_lock *lock, bool nonblocking,
				 uint32_t *refused)
{
	return cm_lock_try(lock) ? 0 : lock_taken_direction(rs, lock, nonblocking, refused);
}

int rdmacm_stream_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		       socklen_t len, size_t *done)
{
	struct stream *stream = to_stream(rs);
	struct patience patience = patience_of(rs, flags, rs->options.send_limit_us);
	size_t size = span->left;
	int ret = lock_direction(rs, &stream->tx_lock, patience.nonblocking, &rs->found_full);

	(void)to; /* an address has no meaning once the stream is connected */
	(void)len;
	if (ret)
		return ret;
	cm_lock_take(&rs->lock);
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

/* Hands out the bytes that lie ready if they are few, lie together and leave their half of the ring
 * before its end, so that there is nothing to tell the other side. Returns false if it is not so,
 * and nothing is done. */
static inline bool receive_few(struct stream *stream, struct span *span, int flags)
{
	struct rx_ring *rx = &stream->rx;
	uint32_t size = rx->ready < span->left ? rx->ready : (uint32_t)span->left;

	if (size > FEW_BYTES || size >= rx_ring_rest(rx) || flags & MSG_PEEK || stream->error ||
	    (flags & MSG_WAITALL && size < span->left) || !span_has_run(span, size))
		return false;
	memcpy(span_take(span, size), stream->rx_bytes + rx->head, size);
	rx->head += size;
	rx->ready -= size;
	rx->read += size;
	return true;
}

/* Returns whether both sides send and receive, and nothing has gone wrong. */
static inline bool is_open(const struct stream *stream)
{
	return stream->state == STREAM_CONNECTED && !stream->ends && !stream->error;
}

static inline bool is_open_and_empty(const struct stream *stream)
{
	return !stream->rx.ready && is_open(stream);
}

/* Returns whether a call that does not wait has nothing to receive yet. */
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

/* Copies what lies ready, LIMIT bytes at most, without taking it from the ring. No other thread is
 * reading (rx_lock), so the lock of the state need not be held, but for a few bytes letting go of
 * it costs more. */
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

/* A side that receives no more still reads what has arrived, as with TCP. */
static bool at_end(const struct stream *stream)
{
	return !stream->rx.ready && (stream->read_shut || stream->peer_done);
}

static int receive_some(struct stream *stream, struct span *span, int flags)
{
	const struct patience patience =
		patience_of(&stream->rs, flags, stream->rs.options.receive_limit_us);
	bool peek = flags & MSG_PEEK, all = (flags & MSG_WAITALL) && !peek;
	size_t size, wanted = span->left;
	int ret = why_not_readable(stream);

	if (ret || !wanted)
		return ret;
	do {
		if (peek) /* a program that peeks may be waiting for more */
			rdmacm_stream_progress(stream);
		if (!stream->rx.ready) /* completions can wait until ready bytes are read */
			ret = wait_with(stream, &stream->rx_lock, is_readable, &patience);
		if (!ret && stream->error && span->left < wanted)
			break; /* the next call tells the error */
		if (!ret)
			ret = why_not_readable(stream);
		if (ret || at_end(stream))
			break;
		size = copy_out(stream, span, peek ? UINT32_MAX : rx_ring_rest(&stream->rx));
		if (!peek) /* half of the ring is the other side's while the rest is read */
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
	int ret = lock_direction(rs, &stream->rx_lock, nonblocking, &rs->found_empty);

	if (ret)
		return ret;
	cm_lock_take(&rs->lock);
	if (nonblocking && size && receive_nothing(stream))
		ret = EAGAIN;
	else if (!receive_few(stream, span, *flags))
		ret = receive_some(stream, span, *flags);
	cm_lock_drop(&rs->lock);
	cm_lock_drop(&stream->rx_lock);
	*done = size - span->left;
	*flags = 0;
	if (from) /* the bytes of a stream have no sender's address */
		from->ss_family = AF_UNSPEC;
	return ret;
}

/* As with TCP, a listener has none and refuses. */
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
	default: /* there is a request, or raccept() says why not */
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

/* POLLIN and POLLOUT have another name each. */
static short with_aliases(short events)
{
	if (events & POLLIN)
		events |= POLLRDNORM;
	if (events & POLLOUT)
		events |= POLLWRNORM;
	return events;
}

/* Returns which of EVENTS, and of those that poll() always says, there are. */
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

/* A listener's requests are looked for with the events of all others. */
static short glance_at_listener(struct stream *stream, short events, int *look_fd)
{
	if (!stream->read_shut && !stream->is_lost && STAILQ_EMPTY(&stream->accepted)) {
		*look_fd = rdmacm_listener_fd(stream);
		return 0;
	}
	return events_of(stream, events);
}

/* Events of rdma_cm make a connection; later they are rare, and are looked for now and then. */
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
