/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait.c - waits until a stream is ready for a call: polls the queue for a moment, then sleeps.
 *
 * A thread sleeps on the descriptors (rdma_cm's and the completion channel's), and is also woken by
 * other threads that have handled an event. Completions before the queue was armed raise no event,
 * so the queue is polled again after arming.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <poll.h>

static void take_event(struct stream *stream)
{
	struct ibv_cq *cq;
	void *context;
	int ret;

	stream->has_event = false;
	if (!stream->completions)
		return;
	rdmacm_rs_shield();
	ret = ibv_get_cq_event(stream->completions, &cq, &context);
	rdmacm_rs_unshield();
	if (ret)
		return;
	stream->is_armed = false;
	stream->events++;
}

bool rdmacm_stream_arm(struct stream *stream)
{
	const bool was_over = stream->state == STREAM_OVER;

	if (!stream->cq)
		return true;
	if (stream->has_event)
		take_event(stream);
	if (!stream->is_armed) {
		if (ibv_req_notify_cq(stream->cq, 0))
			rdmacm_stream_fail(stream, EIO);
		stream->is_armed = true;
	}
	if (rdmacm_stream_progress(stream))
		return false;
	return was_over || stream->state != STREAM_OVER; /* else the queue has failed */
}

int rdmacm_stream_wake_fds(struct stream *stream, struct pollfd *fds)
{
	fds[0] = (struct pollfd){ .fd = rs_is_paused(&stream->pause) ? -1
								     : rdmacm_listener_fd(stream),
				  .events = POLLIN };
	if (!stream->completions)
		return 1;
	fds[1] = (struct pollfd){ .fd = stream->completions->fd, .events = POLLIN };
	return 2;
}

static void look_at_stream(struct stream *stream, bool at_cm)
{
	rdmacm_stream_progress(stream);
	if (!at_cm)
		return;
	rdmacm_rs_shield();
	rdmacm_stream_cm_events(stream);
	rdmacm_rs_unshield();
}

void rdmacm_stream_woken(struct stream *stream, const struct pollfd *fds, int count)
{
	if (count > 1 && fds[1].revents) {
		take_event(stream);
		rs_changed(&stream->rs); /* other sleepers must arm the queue again */
	}
	look_at_stream(stream, fds[0].revents);
}

/* Sleeps until an event or a timeout. Leaves the event in its channel until the next event is
 * requested: reading it at that time delays neither the program's reply nor the peer. */
int rdmacm_stream_sleep(struct stream *stream, int timeout_ms)
{
	struct pollfd fds[RS_WAKE_FDS + 1];
	int count = rdmacm_stream_wake_fds(stream, fds);
	int ret = rdmacm_rs_sleep_unlocked(&stream->rs, fds, count, timeout_ms);

	if (count > 1 && fds[1].revents)
		stream->has_event = true;
	look_at_stream(stream, fds[0].revents);
	return ret;
}

/* Polls the queue for a moment, since a wake-up costs more than a short spin, and returns whether
 * the stream became ready. */
static bool spin_until_ready(struct stream *stream, bool (*ready)(struct stream *))
{
	int64_t until;

	if (!rs_spin_pays(&stream->rs.spin))
		return false;
	until = rdmacm_rs_now_us() + rdmacm_rs_defaults()->polling_us;
	do {
		rdmacm_stream_progress(stream);
		if (ready(stream))
			return rs_spin_done(&stream->rs.spin, true);
	} while (rdmacm_rs_now_us() < until);
	return rs_spin_done(&stream->rs.spin, false);
}

enum { LOOK_US = 500, MOST_LOOKS_SKIPPED = 15 };

/* Returns whether rdma_cm's events must be looked at, by the exact clock. Adapts `skip`: the more
 * frequent the calls, the fewer of them read this clock. */
bool rdmacm_stream_look_by_clock(struct rs_look *look)
{
	const int64_t now_us = rdmacm_rs_now_us();
	const bool is_due = now_us >= look->next_us;

	if (!is_due)
		look->skip =
			look->skip < MOST_LOOKS_SKIPPED ? 2 * look->skip + 1 : MOST_LOOKS_SKIPPED;
	else if (now_us - look->next_us >= LOOK_US)
		look->skip = 0;
	look->left = look->skip;
	if (is_due)
		look->next_us = now_us + LOOK_US;
	return is_due;
}

void rdmacm_stream_look(struct stream *stream)
{
	struct pollfd fd = { .fd = stream->rs.fd, .events = POLLIN };

	rdmacm_rs_shield();
	if (!rs_is_paused(&stream->pause) && poll(&fd, 1, 0) > 0)
		rdmacm_stream_cm_events(stream);
	rdmacm_rs_unshield();
}

int rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *), bool nonblocking,
		       int64_t deadline_us)
{
	int ret = 0;

	rdmacm_stream_progress(stream);
	if (ready(stream))
		return 0;
	if (nonblocking) {
		/* after the connection, rdma_cm events are rare */
		if (stream->state != STREAM_CONNECTED || stream_look_is_due(stream))
			rdmacm_stream_look(stream);
		return ready(stream) ? 0 : EAGAIN;
	}
	if (stream->cq && spin_until_ready(stream, ready))
		return 0;
	while (!ready(stream) && !ret) {
		if (deadline_us >= 0 && rdmacm_rs_now_us() >= deadline_us)
			return ETIMEDOUT;
		if (rdmacm_stream_arm(stream))
			ret = rdmacm_stream_sleep(stream, rdmacm_rs_sleep_limit(deadline_us));
	}
	return ready(stream) ? 0 : ret;
}
