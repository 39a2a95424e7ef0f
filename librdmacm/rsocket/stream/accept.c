/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accept.c - makes a stream of a request to a listener.
 *
 * The stream is created before the request is read, because a request that was read must be
 * answered; without a free descriptor, requests stay queued. Then the id of the request moves to
 * the stream's channel.
 */
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/service.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <stdlib.h>
#include <string.h>

struct greeting {
	struct wire_hello hello;
	struct rdma_conn_param param;
};

static void take_greeting(struct greeting *greeting, const struct rdma_cm_id *id,
			  const struct rdma_ucm_conn_param *from)
{
	size_t header = rdmacm_stream_request_header(id), size = 0;

	*greeting = (struct greeting){ 0 };
	if (from->private_data_len > header)
		size = from->private_data_len - header;
	if (size > sizeof(greeting->hello))
		size = sizeof(greeting->hello);
	memcpy(&greeting->hello, from->private_data + header, size);
	greeting->param.private_data = &greeting->hello;
	greeting->param.private_data_len = size;
}

static void inherit_flags(struct rs_flags *flags, const struct rs_flags *from)
{
	flags->reuse_addr = rs_flag(&from->reuse_addr);
	flags->v6_only = rs_flag(&from->v6_only);
	flags->no_delay = rs_flag(&from->no_delay);
	flags->oob_inline = rs_flag(&from->oob_inline);
	flags->rx_size = rs_number(&from->rx_size);
	flags->tx_size = rs_number(&from->tx_size);
}

/* Copies the listener's options under its lock, because another thread may be setting them. */
static void inherit_options(struct stream *stream, struct stream *listener)
{
	inherit_flags(&stream->rs.flags, &listener->rs.flags);
	cm_lock_take(&listener->rs.lock);
	stream->rs.options = listener->rs.options;
	cm_lock_drop(&listener->rs.lock);
	stream->rs.options.route = NULL;
}

/* Starts the keepalive. The connection is complete, so a failure is only logged. */
static void begin_keepalive(struct stream *stream)
{
	struct rs_options *options = &stream->rs.options;
	int ret = options->keepalive ? rdmacm_keepalive_set(stream, options->keepalive_idle) : 0;

	if (!ret)
		return;
	verbs_warn("rsocket: a stream is accepted without SO_KEEPALIVE: %s", strerror(ret));
	options->keepalive = false;
}

static int answer_request(struct stream *stream, const struct rdma_ucm_conn_param *param)
{
	struct greeting greeting;
	int ret;

	take_greeting(&greeting, stream->id, param);
	ret = rdmacm_stream_meet(stream, &greeting.param);
	if (!ret)
		ret = rdmacm_stream_say_hello(stream, STREAM_ACCEPTED, rdma_accept);
	if (ret)
		rdma_reject(stream->id, NULL, 0);
	return ret;
}

struct acceptance {
	struct stream *stream, *listener;
	struct rdma_ucm_event_resp request;
	struct rs_share_channels channels;
};

static int renew_in_acceptance(void *of, uint32_t refused)
{
	struct acceptance *acceptance = of;

	return rdmacm_stream_renew_for_request(acceptance->stream, acceptance->request.id, refused);
}

static int accept_taken(struct acceptance *acceptance)
{
	struct stream *stream = acceptance->stream;
	struct cm_id *cm;
	int ret = rdmacm_listener_fetch(acceptance->listener, &acceptance->request,
					&acceptance->channels, stream->channel, &cm);

	if (ret)
		return ret;
	inherit_options(stream, acceptance->listener);
	stream->id = &cm->id;
	stream->id->context = stream;
	ret = answer_request(stream, &acceptance->request.param.conn);
	if (!ret)
		begin_keepalive(stream);
	return ret;
}

/* Accepts a request. A request that was taken cannot be read again, so after a change of user the
 * step continues on a renewed channel. */
static int accept_as(struct stream *stream, struct stream *listener, bool *is_taken)
{
	struct acceptance acceptance = { .stream = stream, .listener = listener };
	const struct cm_renewal renewal = { stream->rs.fd, renew_in_acceptance, &acceptance };
	int ret = rdmacm_listener_take(listener, &acceptance.request, &acceptance.channels);

	*is_taken = !ret;
	if (ret) {
		rdmacm_share_close_channels(&acceptance.channels);
		return ret;
	}
	rdmacm_cmd_set_renewal(&renewal);
	ret = accept_taken(&acceptance);
	rdmacm_cmd_set_renewal(NULL);
	return ret;
}

/* Returns whether ERROR prevents this side from accepting anything, so that raccept() must report
 * it. With any other error, only this request is refused. */
static bool is_own_trouble(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE || error == EIDRM;
}

/* Accepts one request. Sets *IS_TAKEN to whether the request was consumed; a retry then accepts the
 * next request. */
static int accept_one(struct stream *listener, struct stream **out, bool *is_taken)
{
	struct stream *stream;
	int ret = rdmacm_stream_alloc(listener->rs.domain, &stream);

	*is_taken = false;
	if (ret)
		return ret;
	ret = accept_as(stream, listener, is_taken);
	if (!ret)
		*out = stream;
	else
		rdmacm_stream_free(stream);
	if (ret && *is_taken && !is_own_trouble(ret))
		verbs_warn("rsocket: a request is refused: %s", strerror(ret));
	return ret;
}

enum { LEAST_ROOM = 1 };

bool rdmacm_accept_has_room(const struct stream *listener)
{
	return listener->accepted_count <
	       (listener->backlog < LEAST_ROOM ? LEAST_ROOM : listener->backlog);
}

static void put_accepted(struct stream *listener, struct stream *stream)
{
	cm_lock_take(&listener->rs.lock);
	STAILQ_INSERT_TAIL(&listener->accepted, stream, in_accepted);
	listener->accepted_count++;
	rs_changed(&listener->rs);
	cm_lock_drop(&listener->rs.lock);
}

/* Returns an accepted stream, or NULL. Resets first_seen_us, because the call shows that the
 * program still accepts. Requests have no count of arrivals, so raises found_empty: edge-triggered
 * sets then report the next request. */
static struct stream *take_accepted(struct stream *listener)
{
	struct stream *stream;

	cm_lock_take(&listener->rs.lock);
	listener->first_seen_us = 0;
	listener->rs.found_empty++;
	stream = STAILQ_FIRST(&listener->accepted);
	if (stream) {
		if (!rdmacm_accept_has_room(listener))
			rdmacm_service_kick();
		STAILQ_REMOVE_HEAD(&listener->accepted, in_accepted);
		listener->accepted_count--;
	}
	cm_lock_drop(&listener->rs.lock);
	return stream;
}

void rdmacm_accept_ahead(struct stream *listener)
{
	struct stream *stream;
	bool is_taken;

	while (rdmacm_accept_has_room(listener) && !rs_share_is_open(&listener->share) &&
	       !rdmacm_listener_look(listener) && !accept_one(listener, &stream, &is_taken))
		put_accepted(listener, stream);
}

/* Closes the streams that the program has not taken. Nothing was sent on them, so there is nothing
 * to wait for. */
void rdmacm_accept_close(struct stream *listener)
{
	struct stream *stream;

	while ((stream = STAILQ_FIRST(&listener->accepted))) {
		STAILQ_REMOVE_HEAD(&listener->accepted, in_accepted);
		stream->rs.options.aborts = true;
		stream->rs.kind->close(&stream->rs);
	}
}

static int accept_next(struct stream *listener, struct stream **out)
{
	bool is_taken;
	int ret;

	do {
		*out = take_accepted(listener);
		if (*out)
			return 0;
		is_taken = false;
		ret = rdmacm_listener_look(listener);
		if (!ret)
			ret = accept_one(listener, out, &is_taken);
	} while (ret && is_taken && !is_own_trouble(ret));
	return ret;
}

static bool is_not_listening(struct stream *stream)
{
	bool is;

	cm_lock_take(&stream->rs.lock);
	is = stream->state != STREAM_LISTENING || stream->read_shut;
	cm_lock_drop(&stream->rs.lock);
	return is;
}

/* Waits for a request. Another thread may shut the listener down, or take the request, meanwhile,
 * so the caller looks again. */
static int await_request(struct stream *listener, int64_t deadline_us)
{
	int ret = 0;

	if (deadline_us >= 0 && rdmacm_rs_now_us() >= deadline_us)
		return EAGAIN;
	cm_lock_take(&listener->rs.lock);
	if (!listener->read_shut)
		ret = rdmacm_stream_sleep(listener, rdmacm_rs_sleep_limit(deadline_us));
	cm_lock_drop(&listener->rs.lock);
	return ret;
}

/* Returns the time at which accepting gives up. The lock is needed because another thread may be
 * setting the limit. */
static int64_t accept_deadline(struct rs *rs)
{
	int64_t limit_us;

	cm_lock_take(&rs->lock);
	limit_us = rs->options.receive_limit_us;
	cm_lock_drop(&rs->lock);
	return rdmacm_rs_limit_over(limit_us);
}

int rdmacm_stream_accept(struct rs *rs, struct rs **out)
{
	struct stream *listener = to_stream(rs), *stream;
	int64_t deadline = accept_deadline(rs);
	int ret;

	for (;;) {
		if (is_not_listening(listener))
			return EINVAL;
		ret = accept_next(listener, &stream);
		if (ret != EAGAIN)
			break;
		if (rs_nonblocking(rs, 0))
			return EAGAIN;
		ret = await_request(listener, deadline);
		if (ret)
			return ret;
	}
	if (!ret)
		*out = &stream->rs;
	return ret == EIDRM ? EINVAL : ret;
}
