/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dgram.c - creates, binds, connects and closes a datagram socket. The underlying UDP socket stores
 * the addresses, and detects the errors of those calls.
 */
#include "librdmacm/rsocket/dgram/dgram.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOSE_MS = 1000 };

static void dgram_free(struct dgram *dgram)
{
	struct dgram_link *link;

	rdmacm_rs_retire(&dgram->rs);
	while (!STAILQ_EMPTY(&dgram->messages))
		rdmacm_dgram_message_done(dgram, STAILQ_FIRST(&dgram->messages));
	rdmacm_dgram_peers_free(dgram);
	while ((link = LIST_FIRST(&dgram->links))) {
		LIST_REMOVE(link, entry);
		rdmacm_dgram_link_free(link);
	}
	if (dgram->channel)
		rdma_destroy_event_channel(dgram->channel);
	if (dgram->rs.fd >= 0)
		close(dgram->rs.fd);
	rdmacm_rs_fini(&dgram->rs);
	free(dgram);
}

int rdmacm_dgram_create(int domain, struct rs **rs)
{
	struct dgram *dgram = calloc(1, sizeof(*dgram));
	int ret;

	if (!dgram)
		return ENOMEM;
	rdmacm_rs_init(&dgram->rs, &rdmacm_dgram_kind, domain, SOCK_DGRAM);
	LIST_INIT(&dgram->links);
	STAILQ_INIT(&dgram->messages);
	TAILQ_INIT(&dgram->used_peers);
	dgram->rs.fd = socket(domain, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ret = dgram->rs.fd < 0 ? errno : rdmacm_rs_open_channel(&dgram->channel);
	if (!ret)
		ret = rdmacm_rs_table_add(&dgram->rs);
	if (ret)
		dgram_free(dgram);
	else
		*rs = &dgram->rs;
	return ret;
}

static int set_udp_option(struct dgram *dgram, int level, int name, int value)
{
	return setsockopt(dgram->rs.fd, level, name, &value, sizeof(value)) ? errno : 0;
}

/* Sets the options of the UDP socket before its first use: the system takes some of them only until
 * the socket is bound. */
int rdmacm_dgram_set_up(struct dgram *dgram)
{
	const struct rs_options *options = &dgram->rs.options;
	bool is_v6 = dgram->rs.domain == AF_INET6;
	int ret = 0;

	if (dgram->is_set_up)
		return 0;
	dgram->is_set_up = true;
	if (rs_flag(&dgram->rs.flags.reuse_addr))
		ret = set_udp_option(dgram, SOL_SOCKET, SO_REUSEADDR, 1);
	if (!ret && is_v6 && rs_flag(&dgram->rs.flags.v6_only))
		ret = set_udp_option(dgram, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (!ret && options->ip_tos >= 0)
		ret = is_v6 ? set_udp_option(dgram, IPPROTO_IPV6, IPV6_TCLASS, options->ip_tos)
			    : set_udp_option(dgram, IPPROTO_IP, IP_TOS, options->ip_tos);
	return ret;
}

static int bind_locked(struct dgram *dgram, const struct sockaddr *addr, socklen_t len)
{
	int ret = rdmacm_dgram_set_up(dgram);

	if (ret)
		return ret;
	return bind(dgram->rs.fd, addr, len) ? errno : 0;
}

static int dgram_bind(struct rs *rs, const struct sockaddr *addr, socklen_t len)
{
	int ret;

	cm_lock_take(&rs->lock);
	ret = bind_locked(to_dgram(rs), addr, len);
	cm_lock_drop(&rs->lock);
	return ret;
}

static void udp_disconnect(struct dgram *dgram)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	dgram->connected = NULL;
	connect(dgram->rs.fd, &none, sizeof(none));
}

static int connect_locked(struct dgram *dgram, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_storage copy = { 0 };
	int ret = rdmacm_dgram_set_up(dgram);

	if (ret)
		return ret;
	if (connect(dgram->rs.fd, addr, len))
		return errno;
	dgram->port = 0;
	dgram->connected = NULL;
	if (addr->sa_family == AF_UNSPEC)
		return 0;
	/* the kernel takes an IPv6 address without its last field, too */
	memcpy(&copy, addr, min_of(len, rdmacm_addr_len(addr)));
	ret = rdmacm_dgram_peer_get(dgram, &copy, &dgram->connected);
	if (ret)
		udp_disconnect(dgram);
	return ret;
}

static int dgram_connect(struct rs *rs, const struct sockaddr *addr, socklen_t len)
{
	int ret;

	cm_lock_take(&rs->lock);
	ret = connect_locked(to_dgram(rs), addr, len);
	cm_lock_drop(&rs->lock);
	return ret;
}

static int dgram_local_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_storage name = { 0 };
	socklen_t size = sizeof(name);

	if (getsockname(rs->fd, (struct sockaddr *)&name, &size))
		return errno;
	rdmacm_rs_hand_out(&name, addr, len);
	return 0;
}

static int dgram_peer_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_storage name = { 0 };
	socklen_t size = sizeof(name);

	if (getpeername(rs->fd, (struct sockaddr *)&name, &size))
		return errno;
	rdmacm_rs_hand_out(&name, addr, len);
	return 0;
}

/* Shuts down the datagram socket. The UDP socket stays open in both directions, because it carries
 * the control messages. */
static int dgram_shutdown(struct rs *rs, int how)
{
	struct dgram *dgram = to_dgram(rs);
	int ret = 0;

	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return EINVAL;
	cm_lock_take(&rs->lock);
	if (!dgram->connected)
		ret = ENOTCONN;
	else if (how != SHUT_WR)
		dgram->read_shut = true;
	if (!ret && how != SHUT_RD)
		dgram->write_shut = true;
	rs->arrivals++;
	rs_changed(rs);
	cm_lock_drop(&rs->lock);
	return ret;
}

static bool is_sending(struct dgram *dgram)
{
	struct dgram_link *link;

	LIST_FOREACH(link, &dgram->links, entry) {
		if (link->sq_put != link->sq_done)
			return true;
	}
	return false;
}

/* Waits for posted sends before it destroys the QP, which would drop them; not longer than
 * CLOSE_MS, as an adapter may be dead. */
static void dgram_close(struct rs *rs)
{
	struct dgram *dgram = to_dgram(rs);
	int64_t until = rdmacm_rs_now_us() + CLOSE_MS * 1000LL;

	cm_lock_take(&rs->lock);
	rdmacm_dgram_progress(dgram, true);
	while (is_sending(dgram) && rdmacm_rs_now_us() < until)
		rdmacm_dgram_progress(dgram, false);
	cm_lock_drop(&rs->lock);
	dgram_free(dgram);
}

static int dgram_error(struct rs *rs)
{
	struct dgram *dgram = to_dgram(rs);
	int error;

	cm_lock_take(&rs->lock);
	rdmacm_dgram_progress(dgram, true);
	error = rdmacm_dgram_take_error(dgram);
	cm_lock_drop(&rs->lock);
	return error;
}

/* Uses an atomic load, because socket options call this function without the lock. */
static bool dgram_has_queues(struct rs *rs)
{
	return __atomic_load_n(&to_dgram(rs)->link_count, __ATOMIC_RELAXED) > 0;
}

static void dgram_inherit(struct rs *rs)
{
	to_dgram(rs)->is_channel_of_parent = true;
}

const struct rs_kind rdmacm_dgram_kind = {
	.bind = dgram_bind,
	.connect = dgram_connect,
	.send = rdmacm_dgram_send,
	.receive = rdmacm_dgram_receive,
	.local_name = dgram_local_name,
	.peer_name = dgram_peer_name,
	.shutdown = dgram_shutdown,
	.close = dgram_close,
	.poll = rdmacm_dgram_poll,
	.wake_fds = rdmacm_dgram_wake_fds,
	.woken = rdmacm_dgram_woken,
	.error = dgram_error,
	.unread = rdmacm_dgram_unread,
	.has_queues = dgram_has_queues,
	.inherit = dgram_inherit,
};
