/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener.c - where the requests to a listener come from.
 *
 * The events of its channel are requests. Alone, a process reads them when it accepts, and its
 * thread (service.h) accepts what has waited for a while. Once it has forked, the holder's thread
 * reads them for all processes that have the listener. When the holder goes, whoever notices first
 * moves the listener to a channel of its own and is the holder.
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

/* The id of a listener on one device's address is no use without the device. */
static int listener_lose_device(struct stream *listener)
{
	struct cm_device *device = to_cm_id(listener->id)->device;
	int ret = 0;

	if (device)
		rdmacm_device_remove(device);
	if (rs_share_is_open(&listener->share))
		ret = rdmacm_share_lose(&listener->share);
	if (ret)
		verbs_warn("rsocket: other processes wait for a listener in vain: %s",
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

/* ---- a channel of this process's ---- */

/* The channel gets the number that the stream's has. */
static int channel_replace(struct stream *stream, struct rdma_event_channel *channel)
{
	int ret = dup3(channel->fd, stream->rs.fd, O_CLOEXEC) < 0 ? errno : 0;

	rdma_destroy_event_channel(channel);
	return ret;
}

/* An id that goes to another channel. IN_HAND of its events are still to be acknowledged by who has
 * read them. That of a request, whose CM is not known here, has none before it is accepted. */
struct passenger {
	uint32_t number, in_hand;
	struct cm_id *cm;
};

static struct passenger passenger_of(const struct stream *stream, uint32_t in_hand)
{
	struct cm_id *cm = to_cm_id(stream->id);

	return (struct passenger){ cm->number, in_hand, cm };
}

/* Moves the id to CHANNEL from the channel with descriptor FROM. */
static int id_fetch(const struct passenger *id, int from, const struct rdma_event_channel *channel)
{
	uint32_t reported;
	int ret = rdmacm_id_fetch(id->number, from, channel, &reported);

	if (!ret && id->cm)
		id->cm->events_acked = reported - id->in_hand;
	return ret;
}

/* The user may change while the id moves, once for each call of a program that gives up its groups,
 * its group and its user. */
enum { MOST_CHANGES = 4 };

/* ID is NULL if none moves along. */
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

/* A process that has forked since may get no channel of its own: it goes on with the one before,
 * where the child may still take the id. */
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
		verbs_warn("rsocket: a socket of the parent's cannot be had after fork(): %s",
			   strerror(ret));
	return ret;
}

static int listener_renew_channel(struct stream *stream, uint32_t in_hand)
{
	int ret = move_with_id(stream, in_hand);

	if (ret && !stream->pause.until_us) /* what fails again and again is said once */
		verbs_warn("rsocket: socket %d cannot be had after a change of user: %s",
			   stream->rs.fd, strerror(ret));
	if (!ret)
		rs_pause_end(&stream->pause);
	rs_changed(&stream->rs); /* sleepers wait on the former channel */
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

/* What is refused may be the command that moves the id here. */
int rdmacm_stream_renew_for_request(struct stream *stream, uint32_t number, uint32_t refused)
{
	const struct passenger id = { .number = number };

	return move_here(stream, refused == RDMA_USER_CM_CMD_MIGRATE_ID ? NULL : &id);
}

/* ---- a channel of the holder's ---- */

/* The id of a request is on the listener's channel. Where nobody will find it, the other side is
 * told so. */
static void put_request(const struct stream *listener, const struct rdma_ucm_event_resp *request)
{
	int ret = rdmacm_share_put(&listener->share, request);

	if (ret)
		rdmacm_request_refuse(listener->channel->fd, request->id, strerror(ret));
}

/* The id of a request is on one of the channels, or on the listener's already. */
static void move_request(struct stream *listener, const struct rs_share_channels *channels,
			 const struct rdma_ucm_event_resp *request)
{
	uint32_t reported;
	int ret = EINVAL;

	for (int i = 0; i < channels->count && rs_is_elsewhere(ret); i++)
		ret = rdmacm_id_fetch(request->id, channels->fds[i], listener->channel, &reported);
	put_request(listener, request);
}

/* Moves the ids of pending requests off the channels of former holders, which may be closed: those
 * in the pipe, and those whose events arrived together with the listener. */
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

/* The listener is on one of the channels. A process that dies in between leaves it where the next
 * one finds it. */
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

/* Moves the listener to a channel of this process's from those that lie in the socket. A request
 * that cannot be moved stays on one of these, where the process that accepts it finds it. */
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

/* The thread that looks after the listener is somebody else to Linux when the process has changed
 * its user. */
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

/* Who sleeps since before the listener was shared, by fork() or by a change of user, is to look for
 * requests elsewhere now. */
static void share_announce(struct stream *listener)
{
	if (listener->share.is_known)
		return;
	listener->share.is_known = true;
	rs_changed(&listener->rs);
	if (!STAILQ_EMPTY(&listener->accepted))
		verbs_warn("rsocket: connections were made before fork(): no child can have them");
}

/* What the thread does for the program while the listener is this process's alone. */
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

/* Another process that has the listener takes over, or this one with a new channel. */
static void give_up(struct stream *listener, int error)
{
	verbs_warn("rsocket: a listener's requests cannot be read, another process is to: %s",
		   strerror(error));
	cm_lock_take(&listener->rs.lock);
	rdmacm_share_let_go(&listener->share);
	rs_changed(&listener->rs);
	cm_lock_drop(&listener->rs.lock);
}

/* Hands on what there is, as far as there is room. */
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

/* Returns whether a request has waited for long enough. */
static bool is_patience_over(struct stream *listener)
{
	int64_t now_us = rdmacm_rs_now_us();
	bool is_over, is_there;

	cm_lock_take(&listener->rs.lock);
	is_there = request_is_there(listener);
	is_over = is_there && listener->first_seen_us &&
		  now_us >= listener->first_seen_us + PATIENCE_US;
	if (!is_there || is_over) /* what cannot be accepted now is tried again later */
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

/* Without the thread a process that does not fork lacks nothing. */
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

/* Returns whether ERROR is gone when somebody closes or frees something. */
static bool is_passing(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

/* Returns 0 if there is a holder again, be it this process or another one. */
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

/* After a change of user each thread is another writer, and a channel that went from one to the
 * next would do so with each request. So the library's thread reads them for all, as it does for
 * forked processes. Returns EAGAIN, or why that cannot be. */
static int leave_to_thread(struct stream *listener)
{
	int ret = rdmacm_share_open(&listener->share, listener->rs.fd);

	if (ret)
		return ret;
	ret = rdmacm_service_add(&listener->rs, &care_of_listener);
	if (!ret)
		return EAGAIN;
	cm_lock_take(&listener->rs.lock); /* the next try begins with take_over() */
	rdmacm_share_let_go(&listener->share);
	cm_lock_drop(&listener->rs.lock);
	return ret;
}

static int read_alone(struct stream *listener, struct rdma_ucm_event_resp *request)
{
	int ret = read_request(listener, request);

	return ret == EACCES ? leave_to_thread(listener) : ret;
}

/* A request that was taken cannot be put back, so there is a number for each channel first. */
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

/* Where the id of a request may be: on the channels that were found before it was taken, or on
 * those of a holder since. */
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
	STAILQ_INIT(&listener->accepted); /* what was accepted is the parent's */
	listener->accepted_count = 0;
	rdmacm_share_forked(&listener->share);
}
