/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener.h - a listening stream: reads its requests, in one process, or in several that share it
 * after fork() (share.h).
 */
#ifndef RSOCKET_LISTENER_H
#define RSOCKET_LISTENER_H

#include "librdmacm/rsocket/stream/stream.h"

#include <errno.h>

/* Returns 0 if there is a request or an accepted stream, EAGAIN if there is none, or EIDRM if the
 * listener was lost with the process that held it. Any other error means that this process cannot
 * look now. Takes rs.lock. */
int rdmacm_listener_look(struct stream *listener);
int rdmacm_listener_look_locked(struct stream *listener);
/* Reads the next request. Returns EAGAIN if another thread or process was faster. Pass CHANNELS on
 * to rdmacm_listener_fetch() or rdmacm_share_close_channels(). */
int rdmacm_listener_take(struct stream *listener, struct rdma_ucm_event_resp *request,
			 struct rs_share_channels *channels);
int rdmacm_listener_fetch(const struct stream *listener, const struct rdma_ucm_event_resp *request,
			  struct rs_share_channels *channels, struct rdma_event_channel *channel,
			  struct cm_id **id);
int rdmacm_listener_fd(const struct stream *listener);
void rdmacm_listener_begin(struct stream *listener);

/* ---- accept.c: accepts before raccept(), because the peer's connect() waits for it ---- */

bool rdmacm_accept_has_room(const struct stream *listener);
void rdmacm_accept_ahead(struct stream *listener);
void rdmacm_accept_close(struct stream *listener);

/* ---- handlers of fork(), which take no lock ---- */

/* Called before fork(), after which parent and child both accept. */
void rdmacm_listener_share(struct stream *listener);
void rdmacm_listener_forked(struct stream *listener);

/* Returns whether ERROR means that an id is not on this channel any more. */
static inline bool rs_is_elsewhere(int error)
{
	return error == ENOENT || error == EINVAL;
}

/* ---- moves to a channel that this thread may use; rs.lock is held; return 0 or an errno ---- */

/* Moves a stream without queues, shared by parent and child, to a channel of this process, which
 * thereby becomes its owner. */
int rdmacm_stream_adopt(struct stream *stream);
/* Moves any stream except a listener to a new channel, after EACCES: the thread's user is not the
 * one that opened the old channel. */
int rdmacm_stream_renew(struct stream *stream);
int rdmacm_stream_renew_in_event(void *stream, uint32_t refused);
/* Moves a stream that no other thread knows to a new channel, while the stream is being made from
 * the request with id NUMBER. */
int rdmacm_stream_renew_for_request(struct stream *stream, uint32_t number, uint32_t refused);

#endif
