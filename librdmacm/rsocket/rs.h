/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rs.h - a socket of this library, apart from what its kind is: a stream, or of datagrams.
 *
 * The number of a socket is that of a descriptor that it has anyway (a stream's rdma_cm channel, a datagram socket's UDP
 * socket), so it is never that of another file. Inside, functions return 0 or a positive errno. Like a descriptor, a socket is not
 * closed while another thread is in a call on it; for that there is rshutdown().
 */
#ifndef RSOCKET_RS_H
#define RSOCKET_RS_H

#include "../cma.h"
#include "span.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct rs;

struct rs_options {
	int rx_size, tx_size; /* bytes of the rings */
	unsigned int sq_size, rq_size, inline_size;
	unsigned int mappings; /* that this side may make, so the other needs room for them */
	bool reuse_addr, v6_only, no_delay, oob_inline, keepalive;
	int keepalive_idle; /* seconds, 0 until keepalive is first on */
	struct linger linger;
	int ip_tos; /* -1: not set */
	void *route;
	size_t route_size;
};

/* What kinds of sockets do differently. SPAN is used up as far as the call gets. */
struct rs_kind {
	int (*bind)(struct rs *rs, const struct sockaddr *addr, socklen_t len);
	int (*listen)(struct rs *rs, int backlog);
	int (*accept)(struct rs *rs, struct rs **out);
	int (*connect)(struct rs *rs, const struct sockaddr *addr, socklen_t len);
	/* *done: bytes sent; with some, the error is not reported */
	int (*send)(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		    socklen_t len, size_t *done);
	int (*receive)(struct rs *rs, struct span *span, int *flags, struct sockaddr_storage *from,
		       size_t *done);
	int (*local_name)(struct rs *rs, struct sockaddr_storage *addr);
	int (*peer_name)(struct rs *rs, struct sockaddr_storage *addr);
	int (*shutdown)(struct rs *rs, int how);
	void (*close)(struct rs *rs);
	/* Events that are there now. SLEEP: the caller may sleep, so whatever comes next is to wake it. */
	short (*poll)(struct rs *rs, short events, bool sleep);
	/* Descriptors to sleep on: at most RS_WAKE_FDS, returns how many */
	int (*wake_fds)(struct rs *rs, struct pollfd *fds);
	/* One of them has woken the caller; FDS as poll() left them. */
	void (*woken)(struct rs *rs, const struct pollfd *fds, int count);
	/* Options changed that are not only kept; NULL: none */
	int (*option_set)(struct rs *rs, int level, int name);
	int (*error)(struct rs *rs);        /* SO_ERROR: the error, forgotten */
	int (*segment_size)(struct rs *rs); /* 0: not known yet; NULL: never */
	/* Whether there are queues, which only the process that made them can use; NULL: none */
	bool (*has_queues)(struct rs *rs);
};

enum { RS_WAKE_FDS = 8 };

/* Looking for a moment before sleeping pays where answers come soon, and where they do not, it keeps the processor from
 * those who are to answer. So each look that was for nothing makes the next ones rarer. */
struct rs_spin {
	unsigned int skip; /* so many waits begin without a look; */
	unsigned int left; /* of them, still to come */
};

enum { RS_MOST_SKIPPED = 63 };

static inline bool rs_spin_pays(struct rs_spin *spin)
{
	if (!spin->left)
		return true;
	spin->left--;
	return false;
}

static inline bool rs_spin_done(struct rs_spin *spin, bool found)
{
	spin->skip = found                          ? 0
		     : spin->skip < RS_MOST_SKIPPED ? 2 * spin->skip + 1
						    : RS_MOST_SKIPPED;
	spin->left = spin->skip;
	return found;
}

struct rs {
	const struct rs_kind *kind;
	int fd;
	int domain, type;
	int status_flags; /* O_NONBLOCK */
	bool is_shared; /* with a process that was forked: the kernel undoes it when all have closed it */
	struct rs_options options;
	struct rs_spin spin;
	pthread_mutex_t lock; /* of all state but what the I/O locks of a kind guard */
	uint64_t serial;      /* numbers of closed sockets come again, this does not */
	/* for those who report changes only: counts calls that found nothing to read, no room to write */
	uint32_t found_empty, found_full;
	uint32_t arrivals;
};

extern const struct rs_kind rdmacm_stream_kind, rdmacm_dgram_kind;

int rdmacm_stream_create(int domain, struct rs **rs);
int rdmacm_dgram_create(int domain, struct rs **rs);
void rdmacm_rs_init(struct rs *rs, const struct rs_kind *kind, int domain, int type);
void rdmacm_rs_fini(struct rs *rs);

static inline bool rs_nonblocking(const struct rs *rs, int msg_flags)
{
	return (rs->status_flags & O_NONBLOCK) || (msg_flags & MSG_DONTWAIT);
}

/* ---- table.c: sockets by number ---- */

int rdmacm_rs_table_add(struct rs *rs);
void rdmacm_rs_table_remove(struct rs *rs);
struct rs *rdmacm_rs_find(int fd); /* NULL: none of ours */
void rdmacm_rs_table_each(void (*call)(struct rs *rs));

/* ---- forked.c: after fork() ---- */

void rdmacm_rs_watch_forks(void);
/* In the child: what other threads of the parent were doing is not done here. */
void rdmacm_rs_table_forked(void);
void rdmacm_rs_keepalive_forked(void);
void rdmacm_rs_epoll_forked(void);

/* ---- config.c: defaults, which an administrator may change ---- */

struct rs_defaults {
	struct rs_options options;
	int polling_us; /* how long to look for data before sleeping */
	int wake_ms;    /* how long to sleep at most before looking again */
};

const struct rs_defaults *rdmacm_rs_defaults(void);

/* ---- poll.c: asleep on sockets and other descriptors (fds as poll() has them) ---- */

struct rs_sleepers;
struct rs_sleepers *rdmacm_rs_sleepers_alloc(nfds_t entries);
void rdmacm_rs_sleepers_free(struct rs_sleepers *sleepers);
/* Until something happens that may be an event; other descriptors' revents are set. How many have some, or -1 */
int rdmacm_rs_sleep(struct rs_sleepers *sleepers, struct pollfd *fds, nfds_t nfds, int timeout_ms);

/* ---- time ---- */

int64_t rdmacm_rs_now_us(void);

#endif
