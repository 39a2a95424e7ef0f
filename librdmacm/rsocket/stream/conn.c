/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn.c - sets up and ends the connection of a stream.
 *
 * Each event of rdma_cm has a handler for the state in which it is expected. The handler starts the
 * next step, so a connection proceeds in any call that looks for events, and a blocking call keeps
 * looking. After a nonblocking call, the library's service thread looks for them.
 */
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/service.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

/* Resolution is retried, each time with twice the timeout, MOST_QUESTIONS times at most. */
enum { FIRST_RESOLVE_MS = 1000, MOST_QUESTIONS = 4, CLOSE_US = 120000000 };

/* Returns EINVAL if the address family is unknown to rdma_cm, or the address too short. */
static int check_addr(const struct sockaddr *addr, socklen_t len)
{
	socklen_t least;

	if (!addr)
		return EFAULT;
	if (len < sizeof(addr->sa_family))
		return EINVAL;
	least = rdmacm_addr_len(addr);
	return least && len >= least ? 0 : EINVAL;
}

static bool never_connected(const struct stream *stream)
{
	return stream->state == STREAM_OVER && !stream->remote.slots_addr;
}

/* ---- failure and end ---- */

static void stream_over(struct stream *stream)
{
	stream->state = STREAM_OVER;
	rs_flag_set(&stream->rs.is_sound, false);
	stream->peer_done = stream->peer_gone = true;
	stream->rs.arrivals++;
	rs_changed(&stream->rs);
}

/* Ends the connection with ERROR, which is reported once. Data that has arrived may still be
 * read. */
void rdmacm_stream_fail(struct stream *stream, int error)
{
	if (stream->state == STREAM_OVER)
		return;
	if (!stream->error && !stream->peer_gone)
		stream->error = error;
	stream_over(stream);
}

/* ---- events ---- */

static int ask_address(struct stream *stream)
{
	int limit_ms = FIRST_RESOLVE_MS << stream->questions++;

	return rdma_resolve_addr(stream->id, NULL, (struct sockaddr *)&stream->peer, limit_ms)
		       ? errno
		       : 0;
}

static int ask_route(struct stream *stream)
{
	return rdma_resolve_route(stream->id, FIRST_RESOLVE_MS << stream->questions++) ? errno : 0;
}

static void on_addr(struct stream *stream, const struct rdma_cm_event *event)
{
	const struct rs_options *options = &stream->rs.options;
	int ret;

	(void)event;
	stream->state = STREAM_ROUTE;
	stream->questions = 0;
	if (!options->route)
		ret = ask_route(stream);
	else
		ret = rdma_set_option(stream->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
				      options->route, options->route_size)
			      ? errno
			      : 0;
	if (ret)
		rdmacm_stream_fail(stream, ret);
}

size_t rdmacm_stream_request_header(const struct rdma_cm_id *id)
{
	return id->route.addr.src_addr.sa_family == AF_IB ? WIRE_IB_HEADER : 0;
}

int rdmacm_stream_say_hello(struct stream *stream, enum stream_state state,
			    int (*call)(struct rdma_cm_id *id, struct rdma_conn_param *param))
{
	size_t header = state == STREAM_ASKED ? rdmacm_stream_request_header(stream->id) : 0;
	uint8_t data[WIRE_IB_HEADER + sizeof(struct wire_hello)] = { 0 };
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = header + sizeof(struct wire_hello),
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct wire_hello hello;
	int ret = rdmacm_stream_equip(stream);

	if (ret)
		return ret;
	rdmacm_stream_hello(stream, &hello);
	memcpy(data + header, &hello, sizeof(hello));
	stream->state = state;
	if (state == STREAM_ACCEPTED)
		__atomic_store_n(&stream->has_peer, true, __ATOMIC_RELEASE);
	return call(stream->id, &param) ? errno : 0;
}

static void on_route(struct stream *stream, const struct rdma_cm_event *event)
{
	int ret = rdmacm_stream_say_hello(stream, STREAM_ASKED, rdma_connect);

	(void)event;
	if (ret)
		rdmacm_stream_fail(stream, ret);
}

void rdmacm_stream_established(struct stream *stream)
{
	stream->state = STREAM_CONNECTED;
	/* Until it ends, there is no error; the next call that handles events learns of the end. */
	rs_flag_set(&stream->rs.is_sound, true);
	__atomic_store_n(&stream->has_peer, true, __ATOMIC_RELEASE);
	stream->rs.arrivals++;
	rdmacm_stream_send_controls(stream);
}

static void on_answer(struct stream *stream, const struct rdma_cm_event *event)
{
	int ret = rdmacm_stream_meet(stream, &event->param.conn);

	if (ret) {
		verbs_warn("rsocket: the other side does not speak the protocol");
		rdma_disconnect(stream->id);
		rdmacm_stream_fail(stream, ret);
		return;
	}
	rdmacm_stream_established(stream);
}

static void on_confirmation(struct stream *stream, const struct rdma_cm_event *event)
{
	(void)event;
	rdmacm_stream_established(stream);
}

/* Ends the stream. Handles completions first: the peer's data has all arrived before its
 * disconnection. */
static void on_disconnect(struct stream *stream, const struct rdma_cm_event *event)
{
	(void)event;
	rdmacm_stream_progress(stream);
	stream_over(stream);
	rdma_disconnect(stream->id);
}

static void on_failure(struct stream *stream, const struct rdma_cm_event *event)
{
	int error = abs(event->status);

	if (event->event == RDMA_CM_EVENT_REJECTED)
		error = ECONNREFUSED;
	/* or its flushed requests report it first */
	else if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		error = stream->state == STREAM_CONNECTED ? ECONNRESET : ENODEV;
	rdmacm_stream_fail(stream, error ? error : EHOSTUNREACH);
}

/* Retries a resolution that has timed out, because a single lost packet (an ARP request, a path
 * query) must not fail the connection. */
static void on_no_answer(struct stream *stream, const struct rdma_cm_event *event)
{
	int ret = abs(event->status);

	if (ret == ETIMEDOUT && stream->questions < MOST_QUESTIONS)
		ret = stream->state == STREAM_ADDR ? ask_address(stream) : ask_route(stream);
	else if (!ret)
		ret = EHOSTUNREACH;
	if (ret)
		rdmacm_stream_fail(stream, ret);
}

typedef void (*event_handler)(struct stream *stream, const struct rdma_cm_event *event);

static event_handler handler_of(const struct stream *stream, enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return stream->state == STREAM_ADDR ? on_addr : NULL;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return stream->state == STREAM_ROUTE ? on_route : NULL;
	case RDMA_CM_EVENT_ADDR_ERROR:
		return stream->state == STREAM_ADDR ? on_no_answer : on_failure;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return stream->state == STREAM_ROUTE ? on_no_answer : on_failure;
	case RDMA_CM_EVENT_ESTABLISHED:
		return stream->state == STREAM_ASKED      ? on_answer
		       : stream->state == STREAM_ACCEPTED ? on_confirmation
							  : NULL;
	case RDMA_CM_EVENT_DISCONNECTED:
		return stream->state == STREAM_OVER ? NULL : on_disconnect;
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return NULL;
	default:
		return on_failure;
	}
}

static int handle_events(struct stream *stream)
{
	struct rdma_cm_event *event;
	event_handler handler;

	while (!rdma_get_cm_event(stream->channel, &event)) {
		handler = handler_of(stream, event->event);
		if (handler)
			handler(stream, event);
		rdma_ack_cm_event(event);
		rs_changed(&stream->rs);
	}
	return errno == EACCES ? EACCES : 0;
}

/* Handles pending events. A listener's events are requests, which stay on the channel until
 * raccept(); events of the parent's socket are not handled here. After a change of user, a step
 * begun by an event continues on a renewed channel. */
int rdmacm_stream_own_events(struct stream *stream)
{
	struct cm_renewal renewal = { stream->rs.fd, rdmacm_stream_renew_in_event, stream };
	int ret;

	if (stream->state == STREAM_LISTENING || stream->is_of_parent || !stream->channel)
		return 0;
	rdmacm_cmd_set_renewal(&renewal);
	ret = handle_events(stream);
	rdmacm_cmd_set_renewal(NULL);
	return ret;
}

/* Finds out without events whether the connection is complete or has ended. A complete one can
 * send. An RDMA WRITE of zero bytes to a dead peer completes with an error, and has no effect on a
 * living peer. */
static void ask_after_peer(struct stream *stream)
{
	stream->keepalive_due = true;
	if (stream->state == STREAM_ACCEPTED)
		rdmacm_stream_established(stream);
	else
		rdmacm_stream_send_controls(stream);
}

/* Stops reading events for a while, because an unreadable event would wake every sleep. An
 * established connection works without events until a channel becomes available; one being set up
 * fails. */
static void go_without_events(struct stream *stream, int error)
{
	if (stream->state < STREAM_ACCEPTED) {
		if (stream->state >= STREAM_ADDR)
			rdmacm_stream_fail(stream, error);
		return;
	}
	rs_pause_begin(&stream->pause);
	ask_after_peer(stream);
}

void rdmacm_stream_cm_events(struct stream *stream)
{
	int ret = rs_is_paused(&stream->pause) ? 0 : rdmacm_stream_own_events(stream);

	if (ret != EACCES)
		return;
	ret = rdmacm_stream_renew(stream);
	if (ret) {
		go_without_events(stream, ret);
		return;
	}
	rdmacm_stream_own_events(stream);
}

/* ---- a change of user ---- */

/* Runs STEP. After EACCES, renews the channel and repeats STEP, because the socket may have been
 * created as another user. If EACCES has another cause, STEP fails again. */
static int try_with_own_channel(struct stream *stream,
				int (*step)(struct stream *stream, const void *about),
				const void *about)
{
	int ret = step(stream, about);

	if (ret != EACCES)
		return ret;
	ret = rdmacm_stream_renew(stream);
	return ret ? ret : step(stream, about);
}

/* ---- binding and listening ---- */

static int set_id_options(struct stream *stream)
{
	const struct rs_options *options = &stream->rs.options;
	int on = 1;
	uint8_t tos = options->ip_tos;

	if (rs_flag(&stream->rs.flags.reuse_addr) &&
	    rdma_set_option(stream->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)))
		return errno;
	if (rs_flag(&stream->rs.flags.v6_only) &&
	    rdma_set_option(stream->id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)))
		return errno;
	if (options->ip_tos >= 0 &&
	    rdma_set_option(stream->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		return errno;
	return 0;
}

/* Binds a new id to the name that the socket had, because a new id has none. */
static int bind_again(struct stream *stream)
{
	int ret;

	if (!stream->bound.ss_family ||
	    !rdma_bind_addr(stream->id, (struct sockaddr *)&stream->bound))
		return 0;
	ret = errno;
	rdmacm_rs_destroy_id(stream->id);
	stream->id = NULL;
	return ret;
}

static int need_id(struct stream *stream)
{
	int ret = rdmacm_stream_adopt(stream);

	if (ret || stream->id)
		return ret;
	if (rdma_create_id(stream->channel, &stream->id, stream, RDMA_PS_TCP))
		return errno;
	stream->rs.is_shared = false; /* no other process has this id */
	ret = set_id_options(stream);
	return ret ? ret : bind_again(stream);
}

/* Takes as many bytes of ADDR as its family has. */
static int bind_id(struct stream *stream, const void *addr)
{
	int ret = need_id(stream);

	if (ret)
		return ret;
	if (rdma_bind_addr(stream->id, (struct sockaddr *)addr))
		return errno;
	stream->bound = stream->id->route.addr.src_storage;
	stream->state = STREAM_BOUND;
	return 0;
}

static int stream_bind(struct rs *rs, const struct sockaddr *addr, socklen_t len)
{
	struct stream *stream = to_stream(rs);
	int ret = check_addr(addr, len);

	if (ret)
		return ret;
	cm_lock_take(&rs->lock);
	ret = stream->state == STREAM_NEW ? try_with_own_channel(stream, bind_id, addr) : EINVAL;
	cm_lock_drop(&rs->lock);
	return ret;
}

static int bind_to_any(struct stream *stream)
{
	const struct sockaddr_storage any = { .ss_family = stream->rs.domain };

	return bind_id(stream, &any);
}

static int listen_with_id(struct stream *stream, const void *backlog)
{
	int ret = stream->state == STREAM_NEW ? bind_to_any(stream) : need_id(stream);

	if (ret)
		return ret;
	return rdma_listen(stream->id, *(const int *)backlog) ? errno : 0;
}

static int listen_locked(struct stream *stream, int backlog)
{
	int ret;

	if (stream->state == STREAM_LISTENING)
		return 0;
	if (stream->state != STREAM_NEW && stream->state != STREAM_BOUND)
		return EINVAL;
	ret = try_with_own_channel(stream, listen_with_id, &backlog);
	if (ret)
		return ret;
	stream->state = STREAM_LISTENING;
	stream->backlog = backlog;
	rdmacm_listener_begin(stream);
	return 0;
}

static int stream_listen(struct rs *rs, int backlog)
{
	int ret;

	cm_lock_take(&rs->lock);
	ret = listen_locked(to_stream(rs), backlog);
	cm_lock_drop(&rs->lock);
	return ret;
}

/* ---- connecting ---- */

static bool is_decided(struct stream *stream)
{
	return stream->state == STREAM_CONNECTED || stream->state == STREAM_OVER;
}

static int take_error(struct stream *stream)
{
	int error = stream->error;

	stream->error = 0;
	return error;
}

static int ask_with_id(struct stream *stream, const void *unused)
{
	int ret = need_id(stream);

	(void)unused;
	if (ret)
		return ret;
	stream->state = STREAM_ADDR;
	stream->questions = 0;
	return ask_address(stream);
}

static int start_connecting(struct stream *stream, const struct sockaddr *addr)
{
	int ret;

	memset(&stream->peer, 0, sizeof(stream->peer));
	memcpy(&stream->peer, addr, rdmacm_addr_len(addr));
	ret = try_with_own_channel(stream, ask_with_id, NULL);
	if (!ret || stream->state != STREAM_ADDR)
		return ret;
	rdmacm_stream_fail(stream, ret);
	return take_error(stream);
}

/* Destroys the id. If another process has moved the id to its own channel, only frees the memory
 * here, because the id's events arrive there. */
static int destroy_id(struct stream *stream, const void *unused)
{
	int ret = rdma_destroy_id(stream->id) ? errno : 0;

	(void)unused;
	if (!rs_is_elsewhere(ret))
		return ret;
	rdmacm_id_free(to_cm_id(stream->id));
	return 0;
}

/* Starts over after a failure. Destroys the id, because rdma_cm cannot reuse it. Fails if the id
 * cannot be destroyed, because its events could be mistaken for those of a new id. */
static int start_over(struct stream *stream)
{
	int ret = 0;

	rdmacm_stream_unequip(stream);
	if (stream->id)
		ret = try_with_own_channel(stream, destroy_id, NULL);
	if (ret)
		return ret;
	stream->id = NULL;
	rs_pause_end(&stream->pause); /* the connecting process reads the new id's events */
	stream->state = STREAM_NEW;
	__atomic_store_n(&stream->has_peer, false, __ATOMIC_RELAXED);
	stream->peer_done = stream->peer_gone = false;
	return 0;
}

/* ---- connecting in the background ---- */

static bool is_connecting(const struct stream *stream)
{
	return stream->state >= STREAM_ADDR && stream->state <= STREAM_ASKED;
}

static bool connection_await(struct rs *rs, struct rs_alarm *alarm)
{
	if (!is_connecting(to_stream(rs)))
		return false;
	alarm->fd = (struct pollfd){ .fd = rs->fd, .events = POLLIN };
	return true;
}

/* Handles events in the service thread. If that thread may not use the channel, the program's calls
 * handle the events. */
static int connection_serve(struct rs *rs)
{
	int ret = 0;

	cm_lock_take(&rs->lock);
	if (is_connecting(to_stream(rs)))
		ret = rdmacm_stream_own_events(to_stream(rs));
	cm_lock_drop(&rs->lock);
	return ret;
}

static const struct rs_care care_of_connection = { connection_await, connection_serve };

/* Adds the stream to the service thread. If that fails, the connection proceeds only in the
 * program's calls. */
static void proceed_without_calls(struct stream *stream)
{
	int ret = rdmacm_service_add(&stream->rs, &care_of_connection);

	if (ret)
		verbs_warn("rsocket: no thread for a connection: %s", strerror(ret));
}

/* Waits until the connection is established or has failed, or for the call's limit. After
 * EINPROGRESS or EINTR, connecting continues. */
static int await_decision(struct stream *stream)
{
	int64_t deadline = rdmacm_rs_limit_over(stream->rs.options.send_limit_us);
	int ret = EAGAIN;

	if (!rs_nonblocking(&stream->rs, 0))
		ret = rdmacm_stream_wait(stream, is_decided, false, deadline);
	stream->is_asked_for = ret;
	if (!ret)
		return 0;
	proceed_without_calls(stream);
	return ret == EINTR ? EINTR : EINPROGRESS;
}

/* Reports the connection to the first call after EINPROGRESS, as sockets do. */
static int tell_connected(struct stream *stream)
{
	bool is_news = stream->is_asked_for && stream->state == STREAM_CONNECTED;

	stream->is_asked_for = false;
	return is_news ? 0 : EISCONN;
}

static int connect_locked(struct stream *stream, const struct sockaddr *addr)
{
	int ret = 0;

	rdmacm_stream_cm_events(stream);
	if (never_connected(stream) && stream->error)
		/* an unreported error of the previous attempt */
		return take_error(stream);
	if (never_connected(stream))
		ret = start_over(stream);
	if (ret)
		return ret;
	if (stream->state == STREAM_NEW || stream->state == STREAM_BOUND)
		ret = start_connecting(stream, addr);
	else if (stream->state == STREAM_CONNECTED || stream->state == STREAM_ACCEPTED ||
		 stream->state == STREAM_OVER)
		return tell_connected(stream);
	else if (stream->state == STREAM_LISTENING)
		return EOPNOTSUPP;
	else if (rs_nonblocking(&stream->rs, 0))
		return EALREADY;
	if (ret)
		return ret;
	ret = await_decision(stream);
	return ret ? ret : take_error(stream);
}

static int stream_connect(struct rs *rs, const struct sockaddr *addr, socklen_t len)
{
	int ret = check_addr(addr, len);

	if (ret)
		return ret;
	cm_lock_take(&rs->lock);
	ret = connect_locked(to_stream(rs), addr);
	cm_lock_drop(&rs->lock);
	return ret;
}

/* ---- names ---- */

/* Hands out the name of an unbound socket: only its family, as TCP does. */
static int __attribute__((noinline))
unbound_name(const struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	const struct sockaddr_storage name = { .ss_family = rs->domain };

	rdmacm_rs_hand_out(&name, addr, len);
	return 0;
}

static int stream_local_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	const struct rdma_cm_id *id = to_stream(rs)->id;

	if (!id || !id->route.addr.src_storage.ss_family)
		return unbound_name(rs, addr, len);
	rs_hand_out(&id->route.addr.src_storage, addr, len);
	return 0;
}

static int stream_peer_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	struct stream *stream = to_stream(rs);

	if (!__atomic_load_n(&stream->has_peer, __ATOMIC_ACQUIRE))
		return ENOTCONN;
	rs_hand_out(&stream->id->route.addr.dst_storage, addr, len);
	return 0;
}

/* ---- shutdown and close ---- */

static bool is_quiet(struct stream *stream)
{
	return stream->state != STREAM_CONNECTED ||
	       (stream->sq_put == stream->sq_done && !stream->must_shutdown &&
		!stream->must_disconnect);
}

/* Waits until completions show that all data was delivered. Gives up after LIMIT_US, and a close
 * then cuts the connection. The transport detects a dead peer long before CLOSE_US, which is for
 * networks with much loss. */
static void flush_sends(struct stream *stream, int64_t limit_us)
{
	int64_t deadline = rdmacm_rs_now_us() + limit_us;

	rdmacm_stream_send_controls(stream);
	if (!limit_us)
		return;
	while (rdmacm_stream_wait(stream, is_quiet, false, deadline) == EINTR)
		;
}

static int64_t flush_limit(const struct stream *stream)
{
	const struct linger *linger = &stream->rs.options.linger;

	if (linger->l_onoff && linger->l_linger > 0)
		return linger->l_linger * 1000000LL;
	return CLOSE_US;
}

/* Returns the time limit of a close: 0 if the program has changed the linger time to 0. Unchanged,
 * {1, 0} means to wait, as in release 65.0. */
static int64_t close_limit(const struct stream *stream)
{
	return stream->rs.options.aborts ? 0 : flush_limit(stream);
}

static int disconnect_id(struct stream *stream, const void *unused)
{
	(void)unused;
	return rdma_disconnect(stream->id) ? errno : 0;
}

static bool is_confirmed(struct stream *stream)
{
	return stream->state != STREAM_ACCEPTED;
}

/* The kernel repeats its answer to a request every 4 seconds until the peer confirms the answer. */
enum { CONFIRM_US = 15000000 };

/* Waits until the peer has confirmed the acceptance of its request, because a disconnect before the
 * confirmation would reject the request. A peer that has gone never confirms. */
static void await_confirmation(struct stream *stream, int64_t limit_us)
{
	int64_t deadline;

	if (stream->state != STREAM_ACCEPTED)
		return;
	if (!limit_us) {
		rdmacm_stream_wait(stream, is_confirmed, true, -1);
		return;
	}
	deadline = rdmacm_rs_now_us() + (limit_us < CONFIRM_US ? limit_us : CONFIRM_US);
	while (rdmacm_stream_wait(stream, is_confirmed, false, deadline) == EINTR)
		;
}

static void say_disconnect(struct stream *stream, int64_t limit_us)
{
	await_confirmation(stream, limit_us);
	if (stream->state != STREAM_CONNECTED)
		return;
	stream->must_disconnect = !stream->peer_gone;
	/* data to a peer that receives no more may never complete */
	flush_sends(stream, stream->peer_gone ? 0 : limit_us);
	try_with_own_channel(stream, disconnect_id, NULL);
	stream_over(stream);
}

/* Ends sending and waits until all data was delivered, since the process may end without a close.
 * If the peer has not confirmed the connection yet, the end is announced after its confirmation. */
static void end_sending(struct stream *stream)
{
	stream->must_shutdown = !stream->peer_gone;
	rs_changed(&stream->rs);
	/* data to a peer that receives no more may never complete */
	flush_sends(stream, stream->peer_gone ? 0 : close_limit(stream));
}

static int shutdown_locked(struct stream *stream, int how)
{
	bool ends_sending;

	if (stream->state == STREAM_LISTENING) {
		stream->read_shut |= how != SHUT_WR;
		rs_changed(&stream->rs);
		return 0;
	}
	if (stream->state < STREAM_ACCEPTED)
		return ENOTCONN;
	if (how == SHUT_WR)
		await_confirmation(stream, close_limit(stream));
	if (how != SHUT_WR)
		stream->read_shut = true;
	ends_sending = how == SHUT_WR && !stream->write_shut && !stream->read_shut &&
		       stream->state != STREAM_OVER;
	if (how != SHUT_RD)
		stream->write_shut = true;
	if (ends_sending)
		end_sending(stream);
	else if (stream->read_shut && stream->write_shut)
		say_disconnect(stream, flush_limit(stream));
	stream->rs.arrivals++;
	rs_changed(&stream->rs);
	return 0;
}

static int stream_shutdown(struct rs *rs, int how)
{
	int ret;

	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return EINVAL;
	cm_lock_take(&rs->lock);
	ret = shutdown_locked(to_stream(rs), how);
	cm_lock_drop(&rs->lock);
	return ret;
}

static void stream_close(struct rs *rs)
{
	struct stream *stream = to_stream(rs);

	rdmacm_keepalive_set(stream, 0);
	cm_lock_take(&rs->lock);
	rdmacm_stream_progress(stream);
	say_disconnect(stream, close_limit(stream));
	cm_lock_drop(&rs->lock);
	rdmacm_stream_free(stream);
}

static int stream_error(struct rs *rs)
{
	struct stream *stream = to_stream(rs);
	int error;

	cm_lock_take(&rs->lock);
	rdmacm_stream_cm_events(stream);
	error = take_error(stream);
	cm_lock_drop(&rs->lock);
	return error;
}

static int change_id_options(struct stream *stream, const void *unused)
{
	int ret = need_id(stream);

	(void)unused;
	return ret ? ret : set_id_options(stream);
}

static int id_option_set(struct stream *stream)
{
	if (stream->state >= STREAM_LISTENING)
		return EINVAL;
	return stream->id ? try_with_own_channel(stream, change_id_options, NULL) : 0;
}

static int stream_option_set(struct rs *rs, int level, int name)
{
	struct stream *stream = to_stream(rs);
	int ret;

	if ((level == SOL_SOCKET && name == SO_KEEPALIVE) ||
	    (level == IPPROTO_TCP && name == TCP_KEEPIDLE))
		return rdmacm_keepalive_set(stream,
					    rs->options.keepalive ? rs->options.keepalive_idle : 0);
	cm_lock_take(&rs->lock);
	ret = id_option_set(stream);
	cm_lock_drop(&rs->lock);
	return ret;
}

static int stream_segment_size(struct rs *rs)
{
	struct stream *stream = to_stream(rs);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };
	int size = 0;

	cm_lock_take(&rs->lock);
	if (stream->state == STREAM_CONNECTED &&
	    !ibv_query_qp(stream->id->qp, &attr, IBV_QP_PATH_MTU, &init))
		size = 128 << attr.path_mtu;
	cm_lock_drop(&rs->lock);
	return size;
}

static bool stream_is_listening(struct rs *rs)
{
	return to_stream(rs)->state == STREAM_LISTENING;
}

/* Uses an atomic load, because socket options call this function without the lock. */
static bool stream_has_queues(struct rs *rs)
{
	return __atomic_load_n(&to_stream(rs)->state, __ATOMIC_RELAXED) > STREAM_LISTENING;
}

static void stream_share(struct rs *rs)
{
	if (to_stream(rs)->state == STREAM_LISTENING)
		rdmacm_listener_share(to_stream(rs));
}

static void stream_inherit(struct rs *rs)
{
	struct stream *stream = to_stream(rs);

	/* another thread of the parent may hold them, and does not exist here */
	cm_lock_init(&stream->rx_lock);
	cm_lock_init(&stream->tx_lock);
	if (stream->id)
		rdmacm_id_forked(to_cm_id(stream->id));
	if (stream->state == STREAM_LISTENING)
		rdmacm_listener_forked(stream);
	else
		stream->is_of_parent = true;
}

const struct rs_kind rdmacm_stream_kind = {
	.bind = stream_bind,
	.listen = stream_listen,
	.accept = rdmacm_stream_accept,
	.connect = stream_connect,
	.send = rdmacm_stream_send,
	.receive = rdmacm_stream_receive,
	.local_name = stream_local_name,
	.peer_name = stream_peer_name,
	.shutdown = stream_shutdown,
	.close = stream_close,
	.poll = rdmacm_stream_poll,
	.glance = rdmacm_stream_glance,
	.wake_fds = rdmacm_stream_rs_wake_fds,
	.woken = rdmacm_stream_rs_woken,
	.option_set = stream_option_set,
	.error = stream_error,
	.unread = rdmacm_stream_unread,
	.is_listening = stream_is_listening,
	.segment_size = stream_segment_size,
	.has_queues = stream_has_queues,
	.share = stream_share,
	.inherit = stream_inherit,
};

int rdmacm_stream_create(int domain, struct rs **rs)
{
	struct stream *stream;
	int ret = rdmacm_stream_alloc(domain, &stream);

	if (!ret)
		*rs = &stream->rs;
	return ret;
}
