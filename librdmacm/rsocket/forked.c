/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forked.c - sockets after fork().
 *
 * A queue pair writes into the memory of the process that created it, so a connection stays with
 * the parent: in the child it only occupies its number, and closing it there does not affect the
 * peer. A socket without queues belongs to both processes. A listener is shared (share.h). A new or
 * bound socket belongs to the process that uses it first, which moves it to its own channel. The
 * kernel destroys what no process has open any more.
 */
#include "librdmacm/rsocket/rs.h"
#include "librdmacm/rsocket/service.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the parent's connections, in the child ---- */

/* Refuses a call on the parent's connection. Logs it once, since programs repeat such calls. */
static int refuse_parents(const struct rs *rs)
{
	static atomic_bool is_said;

	if (!atomic_exchange(&is_said, true))
		verbs_warn(
			"rsocket: socket %d: a connection is of the process that made it, not of "
			"its children after fork()",
			rs->fd);
	return ENOTCONN;
}

static int parent_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		       socklen_t len, size_t *done)
{
	(void)span, (void)flags, (void)to, (void)len;
	*done = 0;
	return refuse_parents(rs);
}

static int parent_receive(struct rs *rs, struct span *span, int *flags,
			  struct sockaddr_storage *from, size_t *done)
{
	(void)span, (void)flags, (void)from;
	*done = 0;
	return refuse_parents(rs);
}

static int parent_local_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	(void)rs, (void)addr, (void)len;
	return EOPNOTSUPP;
}

static int parent_peer_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	(void)rs, (void)addr, (void)len;
	return ENOTCONN;
}

static int parent_shutdown(struct rs *rs, int how)
{
	(void)rs, (void)how;
	return ENOTCONN;
}

/* Closes the child's descriptor and frees its struct, but nothing else: the connection's memory and
 * queues belong to the parent. */
static void parent_close(struct rs *rs)
{
	rdmacm_rs_retire(rs);
	close(rs->fd);
	free(rs);
}

/* Reports an error to a program that polls its parent's connection, so that it does not wait for
 * data that never comes. */
static short parent_poll(struct rs *rs, short events, bool sleep)
{
	(void)sleep;
	refuse_parents(rs);
	return POLLERR | POLLHUP | (events & (POLLIN | POLLOUT));
}

static int parent_wake_fds(struct rs *rs, struct pollfd *fds)
{
	(void)rs, (void)fds;
	return 0;
}

static void parent_woken(struct rs *rs, const struct pollfd *fds, int count)
{
	(void)rs, (void)fds, (void)count;
}

const struct rs_kind rdmacm_rs_of_parent_kind = {
	.send = parent_send,
	.receive = parent_receive,
	.local_name = parent_local_name,
	.peer_name = parent_peer_name,
	.shutdown = parent_shutdown,
	.close = parent_close,
	.poll = parent_poll,
	.wake_fds = parent_wake_fds,
	.woken = parent_woken,
};

static void prepare_socket(struct rs *rs)
{
	if (rs->kind->share)
		rs->kind->share(rs);
}

static void prepare_fork(void)
{
	rdmacm_rs_epoll_before_fork();
	rdmacm_rs_table_each(prepare_socket);
}

static bool has_queues(struct rs *rs)
{
	return rs->kind->has_queues && rs->kind->has_queues(rs);
}

/* Marks a socket without queues as shared with the child. A connection stays the parent's, but
 * keeps the mark that an earlier fork may have set. */
static void share_socket(struct rs *rs)
{
	rs->is_shared |= !has_queues(rs);
}

static void in_parent(void)
{
	rdmacm_rs_table_each(share_socket);
	rdmacm_rs_epoll_in_parent();
	rdmacm_service_kick();
}

/* Reinitialises the locks, which another thread of the parent may have held. A new serial removes
 * the parent's connections from sets, which identify sockets by serial. */
static void inherit_socket(struct rs *rs)
{
	cm_lock_init(&rs->lock);
	rdmacm_rs_waiters_inherit(&rs->waiters);
	if (has_queues(rs)) {
		rs->kind = &rdmacm_rs_of_parent_kind;
		rs->serial = 0;
		return;
	}
	rs->is_shared = true;
	if (rs->kind->inherit)
		rs->kind->inherit(rs);
}

static void in_child(void)
{
	rdmacm_rs_waiters_forked();
	rdmacm_rs_table_forked();
	rdmacm_rs_keepalive_forked();
	rdmacm_service_forked();
	rdmacm_rs_epoll_forked();
	rdmacm_rs_table_each(inherit_socket);
}

static void watch_forks(void)
{
	pthread_atfork(prepare_fork, in_parent, in_child);
}

void rdmacm_rs_watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
}
