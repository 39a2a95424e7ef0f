/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener.h - a stream that listens: where its requests come from, in one process, or in several
 * that have it in common after fork() (share.h).
 */
#ifndef RSOCKET_LISTENER_H
#define RSOCKET_LISTENER_H

#include "librdmacm/rsocket/stream/stream.h"

#include <errno.h>

/* Returns 0 if there is a request or an accepted stream, EAGAIN if there is none, or EIDRM if there
 * will be none, as the listener has gone with the process that held it. Any other error keeps this
 * process from looking now. Takes rs.lock. */
int rdmacm_listener_look(struct stream *listener);
/* The same for who has rs.lock. */
int rdmacm_listener_look_locked(struct stream *listener);
/* Reads the next request. It returns EAGAIN if another thread or process was faster. CHANNELS are
 * what rdmacm_listener_fetch() wants after it, or rdmacm_share_close_channels(). */
int rdmacm_listener_take(struct stream *listener, struct rdma_ucm_event_resp *request,
			 struct rs_share_channels *channels);
/* Makes the id of the request, on CHANNEL, and closes CHANNELS. */
int rdmacm_listener_fetch(const struct stream *listener, const struct rdma_ucm_event_resp *request,
			  struct rs_share_channels *channels, struct rdma_event_channel *channel,
			  struct cm_id **id);
/* Where a request shows. */
int rdmacm_listener_fd(const struct stream *listener);
/* A stream has begun to listen. */
void rdmacm_listener_begin(struct stream *listener);

/* ---- accept.c: ahead of raccept(), as connect() of the other side waits for it ---- */

bool rdmacm_accept_has_room(const struct stream *listener);
/* Accepts all pending requests. */
void rdmacm_accept_ahead(struct stream *listener);
/* The listener ends, and with it what no raccept() has taken. */
void rdmacm_accept_close(struct stream *listener);

/* ---- fork(): in these handlers no lock is taken ---- */

/* The process is about to fork. */
void rdmacm_listener_share(struct stream *listener);
/* In the child. */
void rdmacm_listener_forked(struct stream *listener);

/* Returns whether ERROR says of an id that it is not on this channel, but on another one, or has
 * gone. */
static inline bool rs_is_elsewhere(int error)
{
	return error == ENOENT || error == EINVAL;
}

/* ---- a channel that this thread may use: rs.lock is held, they return 0 or an errno ---- */

/* Moves a stream that parent and child have in common, which has no queues, to such a channel: it
 * is of the one that uses it first. */
int rdmacm_stream_adopt(struct stream *stream);
/* Moves any stream but a listener there. Linux answers EACCES by the old one when the thread has
 * changed its user, or is not the one that did. */
int rdmacm_stream_renew(struct stream *stream);
/* The same for who has read an event of the stream's and not acknowledged it yet (struct
 * cm_renewal). */
int rdmacm_stream_renew_in_event(void *stream, uint32_t refused);
/* The same for who accepts the request whose id has NUMBER as a stream that nobody else knows. */
int rdmacm_stream_renew_for_request(struct stream *stream, uint32_t number, uint32_t refused);

#endif
