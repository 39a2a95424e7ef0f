/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener.c - reads the requests to a listener.
 *
 * The events on its channel are requests. A process without children reads them when it accepts,
 * and its service thread (service.h) accepts requests that have waited for a while. After fork(),
 * the service thread of one process, the holder, reads them for all processes that share the
 * listener. When the holder exits, the first process that notices moves the listener to its own
 * channel and becomes the holder.
 */
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/service.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_request(const struct rdma_ucm_event_resp *event)
{
	return event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
}

/* Handles device removal. A listener on the address of one device fails, because no request can
 * arrive there any more. */
static int listener_lose_device(struct stream *listener)
{
	struct cm_device *device = to_cm_id(listener->id)->device;
	int ret = 0;

	if (device)
		rdmacm_device_remove(device);
	if (rs_share_is_open(&listener->share))
		ret = rdmacm_share_lose(&listener->share);
	if (ret)
		verbs_warn("rsocket: cannot wake other processes that wait for a listener: %s",
			   strerror(ret));
	if (!__atomic_exchange_n(&listener->is_lost, true, __ATOMIC_RELAXED))
		verbs_warn("rsocket: socket %d: the device of the listener's address was removed",
			   listener->rs.fd);
	return EIDRM;
}

static int read_request(struct stream *listener, struct rdma_ucm_event_resp *request)
{
	int ret;

	do {
		ret = rdmacm_event_read(to_cm_id(listener->id), request);
		if (!ret && request->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			return listener_lose_device(listener);
	} while (!ret && !is_request(request));
	return ret;
}

/* ---- a channel of this process ---- */

/* Replaces the stream's channel by CHANNEL, under the same descriptor number, by which the program
 * and epoll sets know the stream. */
static int channel_replace(struct stream *stream, struct rdma_event_channel *channel)
{
	int ret = dup3(channel->fd, stream->rs.fd, O_CLOEXEC) < 0 ? errno : 0;

	rdma_destroy_event_channel(channel);
	return ret;
}

/* An id to move to another channel. IN_HAND of its events are read but not yet acknowledged. CM is
 * NULL for the id of a request, which has no memory here, and no events before the acceptance. */
struct passenger {
	uint32_t number, in_hand;
	struct cm_id *cm;
};

static struct passenger passenger_of(const struct stream *stream, uint32_t in_hand)
{
	struct cm_id *cm = to_cm_id(stream->id);

	return (struct passenger){ cm->number, in_hand, cm };
}

static int id_fetch(const struct passenger *id, int from, const struct rdma_event_channel *channel)
{
	uint32_t reported;
	int ret = rdmacm_id_fetch(id->number, from, channel, &reported);

	if (!ret && id->cm)
		id->cm->events_acked = reported - id->in_hand;
	return ret;
}

/* Limit of retries when the user changes during a move, at least 3, because a program may change
 * groups, group and user with one call each. */
enum { MOST_CHANGES = 4 };

static int move_here(struct stream *stream, const struct passenger *id)
{
	struct rdma_event_channel *channel;
	int ret;

	for (int i = 0; i < MOST_CHANGES; i++) {
		ret = rdmacm_rs_open_channel(&channel);
		if (!channel)
			return ret;
		if (!ret && id)
			ret = id_fetch(id, stream->rs.fd, channel);
		if (!ret) {
			stream->is_of_parent = stream->rs.is_shared = false;
			return channel_replace(stream, channel);
		}
		rdma_destroy_event_channel(channel);
		if (ret != EACCES)
			break;
	}
	return ret;
}

static int move_with_id(struct stream *stream, uint32_t in_hand)
{
	struct passenger id;

	if (!stream->id)
		return move_here(stream, NULL);
	id = passenger_of(stream, in_hand);
	return move_here(stream, &id);
}

/* Moves the listener away from a channel that a child shares. Without a new channel, the listener
 * stays, and the child may still take the id. */
static void keep_from_child(struct stream *stream)
{
	if (stream->rs.is_shared && stream->id && !move_with_id(stream, 0))
		rs_changed(&stream->rs);
}

int rdmacm_stream_adopt(struct stream *stream)
{
	int ret = 0;

	if (stream->is_of_parent)
		ret = move_with_id(stream, 0);
	else
		keep_from_child(stream);
	if (ret)
		verbs_warn("rsocket: cannot take over a socket of the parent after fork(): %s",
			   strerror(ret));
	return ret;
}

static int listener_renew_channel(struct stream *stream, uint32_t in_hand)
{
	int ret = move_with_id(stream, in_hand);

	if (ret && !stream->pause.until_us) /* log a repeated failure only once */
		verbs_warn("rsocket: socket %d is unusable after a change of user: %s",
			   stream->rs.fd, strerror(ret));
	if (!ret)
		rs_pause_end(&stream->pause);
	rs_changed(&stream->rs); /* sleepers poll the old channel, so they must look again */
	return ret;
}

int rdmacm_stream_renew(struct stream *stream)
{
	return listener_renew_channel(stream, 0);
}

int rdmacm_stream_renew_in_event(void *stream, uint32_t refused)
{
	(void)refused;
	return listener_renew_channel(stream, 1);
}

/* Renews the channel while accepting a request. Usually moves the request's id, too. If the refused
 * command was the id's move, does not move it, because the caller repeats that command. */
int rdmacm_stream_renew_for_request(struct stream *stream, uint32_t number, uint32_t refused)
{
	const struct passenger id = { .number = number };

	return move_here(stream, refused == RDMA_USER_CM_CMD_MIGRATE_ID ? NULL : &id);
}

/* ---- a channel of the holder ---- */

/* Passes a request to the accepting processes. If that fails, rejects it, so that the peer does not
 * wait. */
static void put_request(const struct stream *listener, const struct rdma_ucm_event_resp *request)
{
	int ret = rdmacm_share_put(&listener->share, request);

	if (ret)
		rdmacm_request_refuse(listener->channel->fd, request->id, strerror(ret));
}

static void move_request(struct stream *listener, const struct rs_share_channels *channels,
			 const struct rdma_ucm_event_resp *request)
{
	uint32_t reported;
	int ret = EINVAL;

	for (int i = 0; i < channels->count && rs_is_elsewhere(ret); i++)
		ret = rdmacm_id_fetch(request->id, channels->fds[i], listener->channel, &reported);
	put_request(listener, request);
}

/* Moves the ids of pending requests away from the channels of former holders, before those are
 * closed: requests in the pipe, and requests whose events moved with the listener. */
static void move_requests(struct stream *listener, const struct rs_share_channels *channels)
{
	struct rdma_ucm_event_resp request;

	for (unsigned int left = rdmacm_share_count(&listener->share); left; left--) {
		if (rdmacm_share_take(&listener->share, &request))
			break;
		move_request(listener, channels, &request);
	}
	while (rdmacm_share_has_room(&listener->share) && !read_request(listener, &request))
		move_request(listener, channels, &request);
}

/* Moves the listener from one of CHANNELS to CHANNEL. Lists both in the listener's socket: if this
 * process dies meanwhile, the next holder finds the listener on either. */
static int move_to(struct stream *listener, const struct rs_share_channels *channels,
		   struct rdma_event_channel *channel)
{
	const struct passenger id = passenger_of(listener, 0);
	int ret = listener->share.holds
			  ? rdmacm_share_set_channel(&listener->share, channel->fd, channels)
			  : 0;

	if (ret)
		return ret;
	ret = EINVAL;
	for (int i = 0; i < channels->count && rs_is_elsewhere(ret); i++)
		ret = id_fetch(&id, channels->fds[i], channel);
	return ret;
}

static int listener_move(struct stream *listener, const struct rs_share_channels *channels)
{
	struct rdma_event_channel *channel;
	int ret = EACCES;

	for (int i = 0; i < MOST_CHANGES && ret == EACCES; i++) {
		ret = rdmacm_rs_open_channel(&channel);
		if (!ret)
			ret = move_to(listener, channels, channel);
		if (!ret)
			return channel_replace(listener, channel);
		if (channel)
			rdma_destroy_event_channel(channel);
	}
	return ret;
}

/* Moves the listener to a channel of this process, from the channels listed in its socket. A
 * request that cannot be moved stays on its channel, where the accepting process finds it. */
static int listener_fetch(struct stream *listener)
{
	struct rs_share_channels channels;
	int ret = rdmacm_share_find_channels(&listener->share, &channels);

	if (!ret)
		ret = listener_move(listener, &channels);
	if (!ret)
		move_requests(listener, &channels);
	rdmacm_share_close_channels(&channels);
	return !ret && listener->is_lost ? EIDRM : ret;
}

/* Reads a request. Renews the channel after a change of user, because Linux refuses other
 * credentials than those that opened the channel. */
static int read_or_renew(struct stream *listener, struct rdma_ucm_event_resp *request)
{
	int ret = read_request(listener, request);

	if (ret != EACCES)
		return ret;
	cm_lock_take(&listener->rs.lock);
	ret = listener_fetch(listener);
	cm_lock_drop(&listener->rs.lock);
	return ret ? ret : read_request(listener, request);
}

/* ---- the thread ---- */

enum { PATIENCE_US = 100000 };

/* Wakes threads that have slept since before the listener was shared (by fork() or a change of
 * user), because requests now arrive in the pipe. */
static void share_announce(struct stream *listener)
{
	if (listener->share.is_known)
		return;
	listener->share.is_known = true;
	rs_changed(&listener->rs);
	if (!STAILQ_EMPTY(&listener->accepted))
		verbs_warn("rsocket: connections were made before fork(): no child can have them");
}

static void listener_run_requests(struct stream *listener, struct rs_alarm *alarm)
{
	if (!rdmacm_accept_has_room(listener))
		return;
	if (listener->first_seen_us)
		alarm->until_us = listener->first_seen_us + PATIENCE_US;
	else
		alarm->fd = (struct pollfd){ .fd = listener->rs.fd, .events = POLLIN };
}

static bool listener_await(struct rs *rs, struct rs_alarm *alarm)
{
	struct stream *listener = to_stream(rs);
	const struct rs_share *share = &listener->share;

	if (listener->state != STREAM_LISTENING || listener->read_shut)
		return false;
	if (!rs_share_is_open(share)) {
		listener_run_requests(listener, alarm);
		return true;
	}
	share_announce(listener);
	if (!share->holds)
		return false;
	if (rdmacm_share_has_room(share))
		alarm->fd = (struct pollfd){ .fd = rs->fd, .events = POLLIN };
	else
		alarm->fd = (struct pollfd){ .fd = share->requests[1], .events = POLLOUT };
	return true;
}

/* Gives up reading requests, so that another process becomes the holder, or this process with a new
 * channel. */
static void give_up(struct stream *listener, int error)
{
	verbs_warn("rsocket: cannot read a listener's requests, another process must: %s",
		   strerror(error));
	cm_lock_take(&listener->rs.lock);
	rdmacm_share_let_go(&listener->share);
	rs_changed(&listener->rs);
	cm_lock_drop(&listener->rs.lock);
}

/* Passes pending requests on, as far as the pipe has room. */
static void hand_on(struct stream *listener)
{
	struct rdma_ucm_event_resp request;
	int ret = 0;

	while (listener->share.holds && rdmacm_share_has_room(&listener->share)) {
		ret = read_or_renew(listener, &request);
		if (ret)
			break;
		put_request(listener, &request);
	}
	if (ret && ret != EAGAIN)
		give_up(listener, ret);
}

static bool request_is_there(const struct stream *listener)
{
	struct pollfd fd = { .fd = listener->rs.fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static bool is_patience_over(struct stream *listener)
{
	int64_t now_us = rdmacm_rs_now_us();
	bool is_over, is_there;

	cm_lock_take(&listener->rs.lock);
	is_there = request_is_there(listener);
	is_over = is_there && listener->first_seen_us &&
		  now_us >= listener->first_seen_us + PATIENCE_US;
	if (!is_there || is_over) /* retry later if it cannot be accepted now */
		listener->first_seen_us = 0;
	else if (!listener->first_seen_us)
		listener->first_seen_us = now_us;
	cm_lock_drop(&listener->rs.lock);
	return is_over;
}

static int listener_serve(struct rs *rs)
{
	struct stream *listener = to_stream(rs);

	if (rs_share_is_open(&listener->share))
		hand_on(listener);
	else if (is_patience_over(listener))
		rdmacm_accept_ahead(listener);
	return 0;
}

static const struct rs_care care_of_listener = { listener_await, listener_serve };

/* Starts the thread. If that fails, a process that does not fork still works. */
void rdmacm_listener_begin(struct stream *listener)
{
	int ret = rdmacm_service_add(&listener->rs, &care_of_listener);

	if (ret)
		verbs_warn("rsocket: no thread for a listener, children cannot accept: %s",
			   strerror(ret));
}

/* ---- the next holder ---- */

static int become_holder(struct stream *listener)
{
	int ret = listener_fetch(listener);

	return ret ? ret : rdmacm_service_add(&listener->rs, &care_of_listener);
}

/* Returns whether ERROR is temporary, a lack of descriptors or memory: a later call may succeed, so
 * the listener stays. */
static bool is_passing(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

/* Becomes the holder if there is none, because the former holder may have exited. Returns 0 if
 * there is a holder again, this process or another. */
static int take_over(struct stream *listener)
{
	int ret;

	if (!rdmacm_share_hold(&listener->share, &ret) && !ret)
		return 0;
	if (!ret)
		ret = become_holder(listener);
	if (!ret)
		return 0;
	rdmacm_share_let_go(&listener->share);
	if (is_passing(ret))
		return ret;
	verbs_warn("rsocket: a listener has gone with %s: %s",
		   ret == EIDRM ? "its device" : "the process that held it", strerror(ret));
	listener->is_lost = true;
	return EIDRM;
}

/* ---- requests ---- */

int rdmacm_listener_fd(const struct stream *listener)
{
	return rs_share_is_open(&listener->share) ? listener->share.requests[0] : listener->rs.fd;
}

int rdmacm_listener_look_locked(struct stream *listener)
{
	struct pollfd fd = { .fd = rdmacm_listener_fd(listener), .events = POLLIN };
	int ret = 0;

	if (!STAILQ_EMPTY(&listener->accepted))
		return 0;
	if (listener->is_lost)
		return EIDRM;
	if (poll(&fd, 1, 0) <= 0)
		return EAGAIN;
	if (fd.revents & POLLIN)
		return 0;
	if (rs_share_is_open(&listener->share))
		ret = take_over(listener);
	return ret ? ret : EAGAIN;
}

int rdmacm_listener_look(struct stream *listener)
{
	int ret;

	cm_lock_take(&listener->rs.lock);
	ret = rdmacm_listener_look_locked(listener);
	cm_lock_drop(&listener->rs.lock);
	return ret;
}

static bool is_of_other_holder(const struct stream *listener)
{
	return rs_share_is_open(&listener->share) && !listener->share.holds;
}

/* Lets the service thread read the requests, as for forked processes. After a change of user, Linux
 * lets only the thread that opened a channel use it, so threads that read in turns would renew the
 * channel for each request. Returns EAGAIN, or the errno of a failure. */
static int leave_to_thread(struct stream *listener)
{
	int ret = rdmacm_share_open(&listener->share, listener->rs.fd);

	if (ret)
		return ret;
	ret = rdmacm_service_add(&listener->rs, &care_of_listener);
	if (!ret)
		return EAGAIN;
	cm_lock_take(&listener->rs.lock); /* the next attempt begins with take_over() */
	rdmacm_share_let_go(&listener->share);
	cm_lock_drop(&listener->rs.lock);
	return ret;
}

static int read_alone(struct stream *listener, struct rdma_ucm_event_resp *request)
{
	int ret = read_request(listener, request);

	return ret == EACCES ? leave_to_thread(listener) : ret;
}

/* Takes a request. Duplicates the channels' descriptors first, because a taken request cannot be
 * put back. */
int rdmacm_listener_take(struct stream *listener, struct rdma_ucm_event_resp *request,
			 struct rs_share_channels *channels)
{
	int ret = 0;

	channels->count = 0;
	if (!rs_share_is_open(&listener->share))
		return read_alone(listener, request);
	if (is_of_other_holder(listener))
		ret = rdmacm_share_find_channels(&listener->share, channels);
	return ret ? ret : rdmacm_share_take(&listener->share, request);
}

/* Arguments of a search for a request's id. The id may be on a channel found before the request was
 * taken, or on the channel of a later holder. */
struct search {
	const struct stream *listener;
	const struct rdma_ucm_event_resp *request;
	struct rdma_event_channel *channel;
	struct cm_id **id;
};

static int search_in(const struct search *search, const int *fds, int count)
{
	int ret = ENOENT;

	for (int i = 0; i < count && rs_is_elsewhere(ret); i++)
		ret = rdmacm_request_fetch(to_cm_id(search->listener->id), search->request, fds[i],
					   search->channel, search->id);
	return ret;
}

static int search_anew(const struct search *search)
{
	struct rs_share_channels channels;
	int ret = rdmacm_share_find_channels(&search->listener->share, &channels);

	if (ret)
		return ret;
	ret = search_in(search, channels.fds, channels.count);
	rdmacm_share_close_channels(&channels);
	return ret;
}

int rdmacm_listener_fetch(const struct stream *listener, const struct rdma_ucm_event_resp *request,
			  struct rs_share_channels *channels, struct rdma_event_channel *channel,
			  struct cm_id **id)
{
	const struct search search = { listener, request, channel, id };
	int ret = search_in(&search, channels->fds, channels->count);

	rdmacm_share_close_channels(channels);
	if (rs_is_elsewhere(ret))
		ret = search_in(&search, &listener->rs.fd, 1);
	if (rs_is_elsewhere(ret) && rs_share_is_open(&listener->share))
		ret = search_anew(&search);
	return ret;
}

/* ---- fork() ---- */

void rdmacm_listener_share(struct stream *listener)
{
	int ret;

	if (rs_share_is_open(&listener->share) || listener->is_of_parent)
		return;
	ret = rdmacm_share_open(&listener->share, listener->rs.fd);
	if (ret)
		verbs_warn("rsocket: a listener is not shared with a child: %s", strerror(ret));
}

void rdmacm_listener_forked(struct stream *listener)
{
	listener->is_lost |= !rs_share_is_open(&listener->share);
	/* accepted streams belong to the parent, whose queues they have */
	STAILQ_INIT(&listener->accepted);
	listener->accepted_count = 0;
	rdmacm_share_forked(&listener->share);
}
