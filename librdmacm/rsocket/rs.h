/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rs.h - what streams and datagram sockets, the two kinds of sockets of this library, have in
 * common.
 *
 * The number of a socket is that of a descriptor that it has anyway (a stream's rdma_cm channel, a
 * datagram socket's UDP socket), so it is never that of another file. Inside, functions return 0 or
 * a positive errno. As with a descriptor, a program does not close a socket while another thread is
 * in a call on it; it uses rshutdown() for that.
 */
#ifndef RSOCKET_RS_H
#define RSOCKET_RS_H

#include "librdmacm/cma.h"
#include "librdmacm/lock.h"
#include "librdmacm/rsocket/span.h"
#include "librdmacm/rsocket/poll/waiter.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct rs;

struct rs_options {
	int rx_size, tx_size; /* bytes of the rings */
	unsigned int sq_size, rq_size, inline_size;
	/* mappings that the other side may make: this side has a table of so many */
	unsigned int mappings;
	bool reuse_addr, v6_only, no_delay, oob_inline, keepalive;
	int keepalive_idle; /* in seconds; 0 until keepalive is first on */
	struct linger linger;
	bool aborts; /* the program has set a linger of no time: a close waits for nothing */
	int ip_tos;  /* -1 if it was not set */
	/* microseconds that a call waits at most: 0 without a limit, -1 if it does not wait */
	int64_t receive_limit_us, send_limit_us;
	void *route;
	size_t route_size;
};

/* A flag may be set while another thread looks. */
static inline bool rs_flag(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/* Each kind of sockets has these calls of its own. A call uses SPAN up as far as it gets. */
struct rs_kind {
	int (*bind)(struct rs *rs, const struct sockaddr *addr, socklen_t len);
	int (*listen)(struct rs *rs, int backlog);
	int (*accept)(struct rs *rs, struct rs **out);
	int (*connect)(struct rs *rs, const struct sockaddr *addr, socklen_t len);
	/* *done becomes the number of bytes sent; if there are some, the error is not reported */
	int (*send)(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		    socklen_t len, size_t *done);
	int (*receive)(struct rs *rs, struct span *span, int *flags, struct sockaddr_storage *from,
		       size_t *done);
	/* Each hands out a name, and is no point where a thread may be cancelled. */
	int (*local_name)(struct rs *rs, struct sockaddr *addr, socklen_t *len);
	int (*peer_name)(struct rs *rs, struct sockaddr *addr, socklen_t *len);
	int (*shutdown)(struct rs *rs, int how);
	void (*close)(struct rs *rs);
	/* The call returns the events that are there now. With SLEEP the caller may go to sleep, so
	 * whatever comes next is to wake it. */
	short (*poll)(struct rs *rs, short events, bool sleep);
	/* As poll() without SLEEP, and no point where a thread may be cancelled. *LOOK_FD becomes
	 * the descriptor that is to be looked at, too, as rdma_cm's events come by it. NULL if
	 * poll() does what there is to do. */
	short (*glance)(struct rs *rs, short events, int *look_fd);
	/* The call fills in the descriptors to sleep on and returns how many there are, at most
	 * RS_WAKE_FDS. */
	int (*wake_fds)(struct rs *rs, struct pollfd *fds);
	/* The call is made when one of them has woken the caller; FDS are as poll() left them. */
	void (*woken)(struct rs *rs, const struct pollfd *fds, int count);
	/* The call is told of a changed option that does more than to be kept, and may refuse it.
	 * It is NULL if there is no such option. */
	int (*option_set)(struct rs *rs, int level, int name);
	int (*error)(struct rs *rs); /* returns SO_ERROR's error and forgets it */
	/* *BYTES becomes how many bytes wait to be read, of the first message if there are such */
	int (*unread)(struct rs *rs, int *bytes);
	bool (*is_listening)(struct rs *rs); /* NULL if it never is */
	/* returns 0 while it is not known; NULL if it never is */
	int (*segment_size)(struct rs *rs);
	/* The call returns whether there are queues, which only the process that made them can use.
	 * NULL if there never are. */
	bool (*has_queues)(struct rs *rs);
	/* The process is about to fork. NULL if there is nothing to prepare. */
	void (*share)(struct rs *rs);
	/* In the child, for a socket without queues. */
	void (*inherit)(struct rs *rs);
};

enum { RS_WAKE_FDS = 8 };

/* Looking for a moment before sleeping pays where answers come soon. Where they do not, it keeps
 * the processor from those who are to answer, so each look that was for nothing makes the next
 * ones rarer. */
struct rs_spin {
	unsigned int skip; /* how many waits begin without a look after one that was for nothing */
	unsigned int left; /* how many of those are still to come */
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
	/* shared with a forked process: the kernel destroys what it has when all have closed it */
	bool is_shared;
	struct rs_options options;
	struct rs_spin spin;
	struct cm_lock lock; /* guards all state but what the I/O locks of a kind guard */
	/* unlike the number, this never comes again after a socket was closed */
	uint64_t serial;
	struct rs_waiters waiters;
	/* for those who report changes only: how many calls found nothing to read (or were for a
	 * connection), no room to write */
	uint32_t found_empty, found_full;
	uint32_t arrivals;
};

extern const struct rs_kind rdmacm_stream_kind, rdmacm_dgram_kind;

int rdmacm_stream_create(int domain, struct rs **rs);
int rdmacm_dgram_create(int domain, struct rs **rs);
void rdmacm_rs_init(struct rs *rs, const struct rs_kind *kind, int domain, int type);
/* Comes before anything of the socket goes: threads that wait for several sockets have let go of
 * this one when it returns. The descriptor is still open, so its number is not taken. */
void rdmacm_rs_retire(struct rs *rs);
void rdmacm_rs_fini(struct rs *rs);

/* Copies as much of an address as a program has room for; *LEN becomes its full size. It does
 * nothing if the program does not ask, by ADDR or LEN NULL. */
void rdmacm_rs_hand_out(const struct sockaddr_storage *from, struct sockaddr *addr, socklen_t *len);
/* Does the same. Most names are IPv4's, and most programs have room for one. */
static inline void rs_hand_out(const struct sockaddr_storage *from, struct sockaddr *addr,
			       socklen_t *len)
{
	if (from->ss_family == AF_INET && addr && len && *len >= sizeof(struct sockaddr_in)) {
		memcpy(addr, from, sizeof(struct sockaddr_in));
		*len = sizeof(struct sockaddr_in);
		return;
	}
	rdmacm_rs_hand_out(from, addr, len);
}

/* Makes an rdma_cm channel, reading from which never waits. *CHANNEL is set even if that fails. */
int rdmacm_rs_open_channel(struct rdma_event_channel **channel);
/* Destroys an id whose channel is about to be closed. */
void rdmacm_rs_destroy_id(struct rdma_cm_id *id);

static inline bool rs_nonblocking(const struct rs *rs, int msg_flags)
{
	return (rs->status_flags & O_NONBLOCK) || (msg_flags & MSG_DONTWAIT);
}

/* Tells the other threads that sleep for the socket to ask again. rs->lock is held. */
static inline void rs_changed(struct rs *rs)
{
	rdmacm_rs_wake(&rs->waiters);
}

/* ---- table.c: sockets by number ---- */

enum { RS_PAGE_BITS = 10, RS_PAGE_SIZE = 1 << RS_PAGE_BITS, RS_PAGES = 1024 };

struct rs_page {
	struct rs *sockets[RS_PAGE_SIZE];
	int users[RS_PAGE_SIZE]; /* of each socket, by rdmacm_rs_get() */
};

extern struct rs_page *rdmacm_rs_pages[RS_PAGES];

static inline struct rs_page *rs_page_of(int fd)
{
	return (unsigned int)fd < RS_PAGES * RS_PAGE_SIZE
		       ? __atomic_load_n(&rdmacm_rs_pages[fd >> RS_PAGE_BITS], __ATOMIC_ACQUIRE)
		       : NULL;
}

static inline struct rs *rs_find(int fd)
{
	struct rs_page *page = rs_page_of(fd);

	return page ? __atomic_load_n(&page->sockets[fd & (RS_PAGE_SIZE - 1)], __ATOMIC_ACQUIRE)
		    : NULL;
}

static inline void rs_put_at(struct rs_page *page, int index)
{
	__atomic_sub_fetch(&page->users[index], 1, __ATOMIC_SEQ_CST);
}

/* Does what rdmacm_rs_get() does. */
static inline struct rs *rs_get(int fd)
{
	struct rs_page *page = rs_page_of(fd);
	int index = fd & (RS_PAGE_SIZE - 1);
	struct rs *rs;

	if (!page || !__atomic_load_n(&page->sockets[index], __ATOMIC_RELAXED))
		return NULL; /* most descriptors are none of ours */
	__atomic_add_fetch(&page->users[index], 1, __ATOMIC_SEQ_CST);
	rs = __atomic_load_n(&page->sockets[index], __ATOMIC_SEQ_CST);
	if (!rs)
		rs_put_at(page, index);
	return rs;
}

static inline void rs_put(int fd)
{
	rs_put_at(rs_page_of(fd), fd & (RS_PAGE_SIZE - 1));
}

/* Returns NULL if FD is none of our sockets. */
struct rs *rdmacm_rs_find(int fd);
int rdmacm_rs_table_add(struct rs *rs);
/* Returns when nobody has the socket any more by rdmacm_rs_get(). */
void rdmacm_rs_table_remove(struct rs *rs);
/* As rdmacm_rs_find(), and until rdmacm_rs_put() the socket stays, as who waits for several sockets
 * may see one that another thread closes. It is put before the caller sleeps. */
struct rs *rdmacm_rs_get(int fd);
void rdmacm_rs_put(int fd);
/* Calls for each socket, which stays until the call is over. */
void rdmacm_rs_table_each(void (*call)(struct rs *rs));

/* ---- forked.c: around fork() ---- */

void rdmacm_rs_watch_forks(void);
void rdmacm_rs_epoll_before_fork(void);
void rdmacm_rs_epoll_in_parent(void);
/* These are called in the child, where the parent's other threads are not. */
void rdmacm_rs_table_forked(void);
void rdmacm_rs_keepalive_forked(void);
void rdmacm_rs_epoll_forked(void);

/* ---- epoll.c ---- */

/* Closes the set FD. It returns EBADF if there is none. */
int rdmacm_rs_set_close(int fd);

/* ---- config.c: defaults, which an administrator may change ---- */

struct rs_defaults {
	struct rs_options options;
	int polling_us; /* how long to look for data before sleeping */
	int wake_ms;    /* how long to sleep at most before looking again */
};

const struct rs_defaults *rdmacm_rs_defaults(void);

/* ---- poll.c: asleep on sockets and other descriptors (fds as poll() has them) ---- */

struct rs_sleepers;
/* The descriptors are those that will be slept on. From then on whatever changes in a socket, or
 * where ALSO is woken, ends the next sleep. A thread that is cancelled there calls UNDO with OF,
 * which frees the sleepers. */
struct rs_sleepers *rdmacm_rs_sleepers_alloc(const struct pollfd *fds, nfds_t nfds,
					     struct rs_waiters *also, void (*undo)(void *of),
					     void *of);
void rdmacm_rs_sleepers_free(struct rs_sleepers *sleepers);
/* Sleeps until something happens that may be an event, and sets revents of those descriptors that
 * are no sockets of ours, or are none any more. It returns 0, or -1 with errno. */
int rdmacm_rs_sleep(struct rs_sleepers *sleepers, struct pollfd *fds, nfds_t nfds, int timeout_ms);

/* Sleeps as poll() does, or until another thread has changed the socket, whose lock is let go of
 * meanwhile. FDS has room for one more. It returns 0, or EINTR if a signal is to end the call. */
int rdmacm_rs_sleep_unlocked(struct rs *rs, struct pollfd *fds, int count, int timeout_ms);

/* ---- signals.c ---- */

enum { RS_USER_GROUPS = 32 };

/* The user that a thread is for the kernel. Of more groups than these only the number is known. */
struct rs_user {
	bool is_alone; /* no other thread changes the user, and the rest is not known */
	uid_t uids[3];
	gid_t gids[3], groups[RS_USER_GROUPS];
	int group_count;
};

void rdmacm_rs_who(struct rs_user *user);
/* Returns whether a call that a signal has interrupted is to go on; BEFORE is who the thread was
 * when it went to sleep. */
bool rdmacm_rs_restarts(const struct rs_user *before);
/* Starts a thread of the library's own, which gets none of the program's signals. It returns 0 or
 * an errno. */
int rdmacm_rs_start_thread(void *(*run)(void *unused));

/* ---- time ---- */

int64_t rdmacm_rs_now_us(void);
/* Returns the same time, up to a tick of the kernel (10 ms) late, for fewer instructions. */
int64_t rdmacm_rs_coarse_now_us(void);
/* Returns when TIMEOUT_MS from now are over, or -1, which means never, if it is below 0. */
int64_t rdmacm_rs_deadline(int timeout_ms);
/* Returns when the limit of rs_options is over, or -1 if there is none. */
int64_t rdmacm_rs_limit_over(int64_t limit_us);
/* Returns for how many milliseconds to sleep: until the deadline, if there is one, but no longer
 * than the time after which everything is looked at again. */
int rdmacm_rs_sleep_limit(int64_t deadline_us);

#endif
