/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io.c - sends and receives datagrams: by the UD QP if both sides know each other, otherwise over
 * UDP, which also carries the control messages.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/dgram/dgram.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORK_BATCH = 16, UDP_BATCH = 64, UDP_WAITING = 256, GRH = 40, LOOK_US = 500 };

static void queue_message(struct dgram *dgram, struct dgram_message *message)
{
	STAILQ_INSERT_TAIL(&dgram->messages, message, entry);
	dgram->rs.arrivals++;
	dgram->by_udp += !message->link;
	rs_changed(&dgram->rs);
}

/* ---- by UD ---- */

static bool is_wanted(const struct dgram *dgram, const struct sockaddr_storage *from)
{
	return !dgram->connected || rdmacm_dgram_same_address(&dgram->connected->addr, from);
}

static void message_arrived(struct dgram *dgram, struct dgram_link *link, const struct ibv_wc *wc)
{
	struct dgram_message *message = &link->received[wc->wr_id];
	size_t size = wc->byte_len < GRH ? 0 : wc->byte_len - GRH;
	uint8_t *bytes = link->memory + wc->wr_id * DGRAM_BUFFER + DGRAM_BUFFER - DGRAM_MAX_MESSAGE;
	size_t head = rdmacm_dgram_data_unpack(bytes, size, &message->from);

	rdmacm_dgram_complete_address(&message->from, link);
	if (!head || size > DGRAM_MAX_MESSAGE || !is_wanted(dgram, &message->from)) {
		rdmacm_dgram_link_post_receive(link, wc->wr_id);
		return;
	}
	message->data = bytes + head;
	message->size = size - head;
	queue_message(dgram, message);
}

static void work_completed(struct dgram *dgram, struct dgram_link *link, const struct ibv_wc *wc)
{
	if (wc->wr_id >= link->receives)
		link->sq_done++;
	else if (wc->status == IBV_WC_SUCCESS)
		message_arrived(dgram, link, wc);
	if (wc->status != IBV_WC_SUCCESS && !dgram->error)
		dgram->error = EIO;
}

static bool take_completions(struct dgram *dgram, struct dgram_link *link)
{
	struct ibv_wc wc[WORK_BATCH];
	int count = ibv_poll_cq(link->cq, WORK_BATCH, wc);

	for (int i = 0; i < count; i++)
		work_completed(dgram, link, &wc[i]);
	if (count > 0)
		rs_changed(&dgram->rs);
	return count > 0;
}

/* ---- by UDP ---- */

static int send_control(struct dgram *dgram, const struct dgram_peer *peer, enum dgram_control op,
			const struct iovec *data, size_t size)
{
	uint8_t head[DGRAM_MAX_CONTROL];
	struct iovec iov[2] = { { head, 0 } };
	struct msghdr msg = {
		.msg_name = (void *)(uintptr_t)&peer->addr,
		.msg_namelen = rdmacm_addr_len((const struct sockaddr *)&peer->addr),
		.msg_iov = iov,
		.msg_iovlen = data ? 2 : 1,
	};

	iov[0].iov_len =
		rdmacm_dgram_control_pack(head, op, peer->link->id->qp->qp_num, &peer->link->local);
	if (data)
		iov[1] = (struct iovec){ data->iov_base, size };
	return sendmsg(dgram->rs.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

static void queue_copy(struct dgram *dgram, const uint8_t *data, size_t size,
		       const struct sockaddr_storage *from)
{
	struct dgram_message *message = malloc(sizeof(*message) + size);

	if (!message) /* drop the message, as UDP may */
		return;
	*message = (struct dgram_message){ .data = (uint8_t *)(message + 1),
					   .size = size,
					   .from = *from };
	memcpy(message->data, data, size);
	queue_message(dgram, message);
}

/* Handles a control message. Data from a sender that no device reaches is queued, too, but not
 * answered. */
static void handle_control(struct dgram *dgram, const uint8_t *bytes, size_t size,
			   const struct sockaddr_storage *from)
{
	struct dgram_peer *peer = NULL;
	uint32_t qpn;
	uint8_t op;
	size_t head = rdmacm_dgram_control_unpack(bytes, size, &op, &qpn);

	if (!head || (op != CONTROL_DATA && op != CONTROL_ANSWER))
		return;
	if (!rdmacm_dgram_peer_get(dgram, from, &peer))
		rdmacm_dgram_peer_found(dgram, peer, qpn);
	if (op == CONTROL_ANSWER)
		return;
	if (peer)
		send_control(dgram, peer, CONTROL_ANSWER, NULL, 0);
	queue_copy(dgram, bytes + head, size - head, from);
}

static bool take_one_by_udp(struct dgram *dgram)
{
	uint8_t bytes[2 * DGRAM_MAX_MESSAGE];
	struct sockaddr_storage from = { 0 };
	socklen_t len = sizeof(from);
	ssize_t size = recvfrom(dgram->rs.fd, bytes, sizeof(bytes), MSG_DONTWAIT,
				(struct sockaddr *)&from, &len);

	if (size > 0)
		handle_control(dgram, bytes, size, &from);
	else if (size < 0 && errno != EAGAIN && errno != EINTR && !dgram->error)
		dgram->error = errno;
	return size >= 0 || dgram->error;
}

static bool poll_udp(struct dgram *dgram)
{
	struct pollfd fds[] = { { .fd = dgram->rs.fd, .events = POLLIN },
				{ .fd = rdmacm_dgram_channel_fd(dgram), .events = POLLIN } };
	const struct cm_renewal renewal = rdmacm_dgram_renewal(dgram), *before;
	int limit = UDP_BATCH;
	bool any = false;

	dgram->next_look_us = rdmacm_rs_now_us() + LOOK_US;
	if (poll(fds, 2, 0) <= 0)
		return false;
	before = rdmacm_cmd_set_renewal(&renewal);
	if (fds[1].revents)
		any = rdmacm_dgram_cm_events(dgram);
	while (fds[0].revents && limit-- && dgram->by_udp < UDP_WAITING && !dgram->error &&
	       take_one_by_udp(dgram))
		any = true;
	rdmacm_cmd_set_renewal(before);
	if (any)
		rs_changed(&dgram->rs);
	return any;
}

/* ---- both ---- */

bool rdmacm_dgram_progress(struct dgram *dgram, bool look_at_udp)
{
	struct dgram_link *link;
	bool any = false;

	LIST_FOREACH(link, &dgram->links, entry)
		any |= take_completions(dgram, link);
	if (look_at_udp || rdmacm_rs_now_us() >= dgram->next_look_us)
		any |= poll_udp(dgram);
	return any;
}

/* Arms all queues before sleeping. Returns false if something has happened meanwhile; then the
 * caller must not sleep. */
static bool dgram_arm(struct dgram *dgram)
{
	struct dgram_link *link;

	LIST_FOREACH(link, &dgram->links, entry) {
		if (!link->is_armed && ibv_req_notify_cq(link->cq, 0))
			dgram->error = EIO;
		link->is_armed = true;
	}
	return !rdmacm_dgram_progress(dgram, true);
}

int rdmacm_dgram_take_error(struct dgram *dgram)
{
	int error = dgram->error;

	dgram->error = 0;
	return error;
}

void rdmacm_dgram_message_done(struct dgram *dgram, struct dgram_message *message)
{
	STAILQ_REMOVE_HEAD(&dgram->messages, entry);
	if (message->link) {
		rdmacm_dgram_link_post_receive(message->link,
					       rdmacm_dgram_link_index(message->link, message));
		return;
	}
	dgram->by_udp--;
	free(message);
}

/* ---- sleeping ---- */

static int wake_fds(struct dgram *dgram, struct pollfd *fds)
{
	struct dgram_link *link;
	int count = 0;

	fds[count++] = (struct pollfd){ .fd = dgram->rs.fd,
					.events = dgram->by_udp < UDP_WAITING ? POLLIN : 0 };
	fds[count++] = (struct pollfd){ .fd = rdmacm_dgram_channel_fd(dgram), .events = POLLIN };
	LIST_FOREACH(link, &dgram->links, entry)
		fds[count++] = (struct pollfd){ .fd = link->completions->fd, .events = POLLIN };
	return count;
}

static void take_events(struct dgram *dgram)
{
	struct dgram_link *link;
	struct ibv_cq *cq;
	void *context;
	bool any = false;

	LIST_FOREACH(link, &dgram->links, entry) {
		if (!link->is_armed || ibv_get_cq_event(link->completions, &cq, &context))
			continue;
		link->is_armed = false;
		link->events++;
		any = true;
	}
	if (any)
		rs_changed(&dgram->rs); /* other sleepers must arm the queue again */
}

static int sleep_on_fds(struct dgram *dgram, int64_t deadline_us)
{
	struct pollfd fds[RS_WAKE_FDS + 1];
	int count = wake_fds(dgram, fds);
	int ret = rdmacm_rs_sleep_unlocked(&dgram->rs, fds, count,
					   rdmacm_rs_sleep_limit(deadline_us));

	take_events(dgram);
	rdmacm_dgram_progress(dgram, true);
	return ret;
}

typedef bool (*condition)(const struct dgram *dgram, const void *about);

static bool spin_until_ready(struct dgram *dgram, condition is_ready, const void *about)
{
	int64_t until;

	if (!rs_spin_pays(&dgram->rs.spin))
		return false;
	until = rdmacm_rs_now_us() + rdmacm_rs_defaults()->polling_us;
	do {
		rdmacm_dgram_progress(dgram, false);
		if (is_ready(dgram, about))
			return rs_spin_done(&dgram->rs.spin, true);
	} while (rdmacm_rs_now_us() < until);
	return rs_spin_done(&dgram->rs.spin, false);
}

/* Waits for IS_READY. As for sockets, a call that exceeds LIMIT_US fails like a nonblocking one. */
static int await_ready(struct dgram *dgram, condition is_ready, const void *about, bool nonblocking,
		       int64_t limit_us)
{
	int64_t deadline = rdmacm_rs_limit_over(nonblocking ? 0 : limit_us);
	int ret = 0;

	rdmacm_dgram_progress(dgram, false);
	if (is_ready(dgram, about))
		return 0;
	if (nonblocking)
		return EAGAIN;
	if (spin_until_ready(dgram, is_ready, about))
		return 0;
	while (!is_ready(dgram, about) && !ret) {
		if (deadline >= 0 && rdmacm_rs_now_us() >= deadline)
			return EAGAIN;
		if (dgram_arm(dgram))
			ret = sleep_on_fds(dgram, deadline);
	}
	return is_ready(dgram, about) ? 0 : ret;
}

/* ---- sending ---- */

static bool has_room(const struct dgram *dgram, const void *about)
{
	const struct dgram_link *link = about;

	return dgram->error || link->sq_put - link->sq_done < link->sends;
}

static bool learn_port(struct dgram *dgram)
{
	struct sockaddr_storage name = { 0 };
	socklen_t len = sizeof(name);

	if (!dgram->port && !getsockname(dgram->rs.fd, (struct sockaddr *)&name, &len))
		dgram->port = ((struct sockaddr_in6 *)&name)->sin6_port;
	return dgram->port;
}

/* Returns whether to use the UD QP. A message that exceeds the link's packet goes over UDP, because
 * a UD message is one packet. */
static bool goes_by_ud(struct dgram *dgram, const struct dgram_peer *peer, size_t size)
{
	return peer->ah && peer->qpn &&
	       rdmacm_dgram_data_size(dgram->rs.domain) + size <= peer->link->max_message &&
	       learn_port(dgram);
}

static int send_by_ud(struct dgram *dgram, struct dgram_peer *peer, struct span *span,
		      bool nonblocking)
{
	struct dgram_link *link = peer->link;
	struct sockaddr_storage self = link->local;
	size_t size = span->left, head;
	int ret = await_ready(dgram, has_room, link, nonblocking, dgram->rs.options.send_limit_us);
	uint8_t *bytes;

	if (ret == EAGAIN)
		dgram->rs.found_full++;
	if (!ret)
		ret = rdmacm_dgram_take_error(dgram);
	if (ret)
		return ret;
	((struct sockaddr_in6 *)&self)->sin6_port = dgram->port;
	bytes = rdmacm_dgram_link_send_buffer(link);
	head = rdmacm_dgram_data_pack(bytes, &self);
	rdmacm_span_read(span, bytes + head, size);
	return rdmacm_dgram_link_post_send(link, peer, head + size);
}

/* Waits for room in the UDP socket, unless another thread shuts the socket down. */
static int await_udp_room(struct dgram *dgram, int64_t deadline_us)
{
	struct pollfd fds[2] = { { .fd = dgram->rs.fd, .events = POLLOUT } };
	int ret;

	if (deadline_us >= 0 && rdmacm_rs_now_us() >= deadline_us)
		return EAGAIN;
	ret = rdmacm_rs_sleep_unlocked(&dgram->rs, fds, 1, rdmacm_rs_sleep_limit(deadline_us));
	return dgram->write_shut ? EPIPE : ret;
}

static int send_by_udp(struct dgram *dgram, const struct dgram_peer *peer, struct span *span,
		       bool nonblocking)
{
	uint8_t bytes[DGRAM_MAX_MESSAGE];
	struct iovec data = { bytes, span->left };
	int64_t deadline = rdmacm_rs_limit_over(dgram->rs.options.send_limit_us);
	int ret;

	rdmacm_span_read(span, bytes, data.iov_len);
	do {
		ret = send_control(dgram, peer, CONTROL_DATA, &data, data.iov_len);
		if (ret != EAGAIN || nonblocking)
			return ret;
		ret = await_udp_room(dgram, deadline);
	} while (!ret);
	return ret;
}

static int find_peer(struct dgram *dgram, const struct sockaddr *to, socklen_t len,
		     struct dgram_peer **peer)
{
	struct sockaddr_storage addr = { 0 };
	socklen_t size;

	*peer = dgram->connected;
	if (!to)
		return *peer ? 0 : EDESTADDRREQ;
	if (len < sizeof(to->sa_family))
		return EINVAL;
	if (to->sa_family != dgram->rs.domain)
		return EAFNOSUPPORT;
	size = rdmacm_addr_len(to);
	if (len < size)
		return EINVAL;
	memcpy(&addr, to, size);
	if (!((struct sockaddr_in6 *)&addr)->sin6_port)
		return EINVAL;
	return rdmacm_dgram_peer_get(dgram, &addr, peer);
}

static int send_locked(struct dgram *dgram, struct span *span, bool nonblocking,
		       const struct sockaddr *to, socklen_t len)
{
	struct dgram_peer *peer;
	int ret = dgram->write_shut ? EPIPE : rdmacm_dgram_set_up(dgram);

	if (ret)
		return ret;
	rdmacm_dgram_progress(dgram, false);
	ret = rdmacm_dgram_take_error(dgram);
	if (!ret)
		ret = find_peer(dgram, to, len, &peer);
	if (ret)
		return ret;
	if (span->left > DGRAM_MAX_MESSAGE - rdmacm_dgram_data_size(dgram->rs.domain))
		return EMSGSIZE;
	peer->senders++;
	ret = goes_by_ud(dgram, peer, span->left) ? send_by_ud(dgram, peer, span, nonblocking)
						  : send_by_udp(dgram, peer, span, nonblocking);
	peer->senders--;
	return ret;
}

int rdmacm_dgram_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		      socklen_t len, size_t *done)
{
	size_t size = span->left;
	int ret;

	rdmacm_rs_shield_sleep();
	cm_lock_take(&rs->lock);
	ret = send_locked(to_dgram(rs), span, rs_nonblocking(rs, flags), to, len);
	cm_lock_drop(&rs->lock);
	rdmacm_rs_unshield_sleep();
	*done = ret ? 0 : size;
	return ret;
}

/* ---- receiving ---- */

static bool is_readable(const struct dgram *dgram, const void *about)
{
	(void)about;
	return !STAILQ_EMPTY(&dgram->messages) || dgram->read_shut || dgram->error;
}

/* Copies the message to SPAN. The rest is lost, as in a UDP socket, and *FLAGS reports it. */
static size_t hand_over(struct dgram_message *message, struct span *span, int *flags)
{
	size_t size = message->size < span->left ? message->size : span->left;
	bool wants_all = *flags & MSG_TRUNC;

	*flags = size < message->size ? MSG_TRUNC : 0;
	rdmacm_span_write(span, message->data, size);
	return wants_all ? message->size : size;
}

static int receive_locked(struct dgram *dgram, struct span *span, int *flags,
			  struct sockaddr_storage *from, size_t *done)
{
	struct dgram_message *message;
	bool peek = *flags & MSG_PEEK;
	int ret = 0;

	if (STAILQ_EMPTY(&dgram->messages))
		ret = await_ready(dgram, is_readable, NULL, rs_nonblocking(&dgram->rs, *flags),
				  dgram->rs.options.receive_limit_us);
	if (ret == EAGAIN)
		dgram->rs.found_empty++;
	message = STAILQ_FIRST(&dgram->messages);
	if (!ret && !message)
		/* without an error the socket is shut down: 0 bytes */
		ret = rdmacm_dgram_take_error(dgram);
	if (ret || !message)
		return ret;
	*done = hand_over(message, span, flags);
	if (from)
		*from = message->from;
	if (!peek)
		rdmacm_dgram_message_done(dgram, message);
	return 0;
}

int rdmacm_dgram_receive(struct rs *rs, struct span *span, int *flags,
			 struct sockaddr_storage *from, size_t *done)
{
	int ret;

	rdmacm_rs_shield();
	cm_lock_take(&rs->lock);
	ret = receive_locked(to_dgram(rs), span, flags, from, done);
	cm_lock_drop(&rs->lock);
	rdmacm_rs_unshield();
	return ret;
}

int rdmacm_dgram_unread(struct rs *rs, int *bytes)
{
	struct dgram *dgram = to_dgram(rs);

	cm_lock_take(&rs->lock);
	rdmacm_dgram_progress(dgram, true);
	*bytes = STAILQ_EMPTY(&dgram->messages) ? 0 : (int)STAILQ_FIRST(&dgram->messages)->size;
	cm_lock_drop(&rs->lock);
	return 0;
}

/* ---- polling ---- */

static short events_now(const struct dgram *dgram)
{
	short events = 0;

	if (is_readable(dgram, NULL))
		events |= POLLIN | POLLRDNORM;
	if (dgram->read_shut)
		events |= dgram->write_shut ? POLLRDHUP | POLLHUP : POLLRDHUP;
	if (!dgram->connected || has_room(dgram, dgram->connected->link))
		events |= POLLOUT | POLLWRNORM;
	return dgram->error ? events | POLLERR : events;
}

/* Returns the events. With SLEEP, the queues are armed and drained even if there is an event, since
 * an edge-triggered set may still sleep. */
short rdmacm_dgram_poll(struct rs *rs, short events, bool sleep)
{
	struct dgram *dgram = to_dgram(rs);
	short wanted = events | POLLERR | POLLHUP;
	short now;

	cm_lock_take(&rs->lock);
	rdmacm_dgram_progress(dgram, false);
	while (sleep && !dgram_arm(dgram))
		;
	now = events_now(dgram) & wanted;
	cm_lock_drop(&rs->lock);
	return now;
}

int rdmacm_dgram_wake_fds(struct rs *rs, struct pollfd *fds)
{
	int count;

	cm_lock_take(&rs->lock);
	count = wake_fds(to_dgram(rs), fds);
	cm_lock_drop(&rs->lock);
	return count;
}

void rdmacm_dgram_woken(struct rs *rs, const struct pollfd *fds, int count)
{
	struct dgram *dgram = to_dgram(rs);

	(void)fds;
	(void)count;
	cm_lock_take(&rs->lock);
	take_events(dgram);
	rdmacm_dgram_progress(dgram, true);
	cm_lock_drop(&rs->lock);
}
