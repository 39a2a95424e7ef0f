/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rs.h - the common part of streams and datagram sockets, the two kinds of rsockets.
 *
 * An rsocket's number is a descriptor that it owns anyway (a stream's rdma_cm channel, a datagram
 * socket's UDP socket), so it never equals the number of another file. Internal functions
 * return 0 or a positive errno. As with descriptors, a program must not close a socket while
 * another thread uses it; rshutdown() is for that.
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
	unsigned int sq_size, rq_size, inline_size;
	unsigned int mappings;
	bool keepalive;
	int keepalive_idle; /* in seconds; 0 until keepalive is first enabled */
	struct linger linger;
	bool aborts; /* the program has changed the linger time to 0: close does not wait */
	int ip_tos;
	/* limit of a call's wait, in microseconds: 0: none; -1: do not wait */
	int64_t receive_limit_us, send_limit_us;
	void *route;
	size_t route_size;
};

/* Options that are set and read without a lock. They are copied one by one, not with rs_options. */
struct rs_flags {
	bool reuse_addr, v6_only, no_delay, oob_inline;
	int rx_size, tx_size;
};

static inline bool rs_flag(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static inline void rs_flag_set(bool *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

static inline int rs_number(const int *number)
{
	return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static inline void rs_number_set(int *number, int value)
{
	__atomic_store_n(number, value, __ATOMIC_RELAXED);
}

/* Functions of each kind of socket. A function with a SPAN advances it by the bytes transferred. */
struct rs_kind {
	int (*bind)(struct rs *rs, const struct sockaddr *addr, socklen_t len);
	int (*listen)(struct rs *rs, int backlog);
	int (*accept)(struct rs *rs, struct rs **out);
	int (*connect)(struct rs *rs, const struct sockaddr *addr, socklen_t len);
	/* sets *done to the bytes sent; the caller reports an error only if that is 0 */
	int (*send)(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		    socklen_t len, size_t *done);
	int (*receive)(struct rs *rs, struct span *span, int *flags, struct sockaddr_storage *from,
		       size_t *done);
	/* Return a name; never a cancellation point. */
	int (*local_name)(struct rs *rs, struct sockaddr *addr, socklen_t *len);
	int (*peer_name)(struct rs *rs, struct sockaddr *addr, socklen_t *len);
	int (*shutdown)(struct rs *rs, int how);
	void (*close)(struct rs *rs);
	/* Returns the current events. With SLEEP, the caller may go to sleep, so the next event
	 * must wake it. */
	short (*poll)(struct rs *rs, short events, bool sleep);
	/* Like poll() without SLEEP, and never a cancellation point. Sets *LOOK_FD to the
	 * descriptor of rdma_cm's events, if the caller must poll it. NULL: use poll(). */
	short (*glance)(struct rs *rs, short events, int *look_fd);
	/* Fills in the descriptors to sleep on, and returns their number, RS_WAKE_FDS at most. */
	int (*wake_fds)(struct rs *rs, struct pollfd *fds);
	void (*woken)(struct rs *rs, const struct pollfd *fds, int count);
	/* Called after a change of an option with effects beyond its stored value; may refuse the
	 * change. NULL: no option has such effects. */
	int (*option_set)(struct rs *rs, int level, int name);
	/* Returns the error for SO_ERROR and clears it. Not called while rs->is_sound. */
	int (*error)(struct rs *rs);
	int (*unread)(struct rs *rs, int *bytes);
	bool (*is_listening)(struct rs *rs);
	/* returns 0 if unknown; NULL: never known */
	int (*segment_size)(struct rs *rs);
	/* Returns whether the socket has queues, which only the process that created them can use.
	 * NULL: never. */
	bool (*has_queues)(struct rs *rs);
	/* Called before fork(). NULL: nothing to do. */
	void (*share)(struct rs *rs);
	/* Called in the child, for a socket without queues. */
	void (*inherit)(struct rs *rs);
};

enum { RS_WAKE_FDS = 8 };

/* Adaptive spinning. Polling for a moment before sleeping pays if answers come soon. Otherwise
 * polling takes the CPU from the answering process, so each useless spin makes spins rarer. */
struct rs_spin {
	/* number of waits that do not spin after a useless spin; each useless spin raises it */
	unsigned int skip;
	unsigned int left; /* how many of these waits remain */
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
	int status_flags;
	/* shared with a forked process. Neither process may end the connection: the kernel destroys
	 * its objects when both have closed the socket. */
	bool is_shared;
	struct rs_flags flags;
	/* SO_ERROR is 0, and reading it needs no look for events; written under the lock, read
	 * without it */
	bool is_sound;
	struct rs_options options;
	struct rs_spin spin;
	struct cm_lock lock;
	/* unique, whereas a descriptor may be reused */
	uint64_t serial;
	bool was_served;
	struct rs_waiters waiters;
	/* for edge-triggered sets: counts of calls that found nothing to read (or accept), or no
	 * room to write */
	uint32_t found_empty, found_full;
	uint32_t arrivals;
};

extern const struct rs_kind rdmacm_stream_kind, rdmacm_dgram_kind;

int rdmacm_stream_create(int domain, struct rs **rs);
int rdmacm_dgram_create(int domain, struct rs **rs);
void rdmacm_rs_init(struct rs *rs, const struct rs_kind *kind, int domain, int type);
/* First step of closing: when it returns, threads that wait for several sockets have released this
 * one. The descriptor stays open until then, so that its number is not reused. */
void rdmacm_rs_retire(struct rs *rs);
void rdmacm_rs_fini(struct rs *rs);

/* Copies as much of an address as fits, and sets *LEN to its full size, as getsockname() does. Does
 * nothing if ADDR or LEN is NULL. */
void rdmacm_rs_hand_out(const struct sockaddr_storage *from, struct sockaddr *addr, socklen_t *len);
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

/* Creates an rdma_cm channel in nonblocking mode. Sets *CHANNEL even on failure. */
int rdmacm_rs_open_channel(struct rdma_event_channel **channel);
/* Destroys an id whose channel is about to be closed. */
void rdmacm_rs_destroy_id(struct rdma_cm_id *id);

static inline bool rs_nonblocking(const struct rs *rs, int msg_flags)
{
	return (rs->status_flags & O_NONBLOCK) || (msg_flags & MSG_DONTWAIT);
}

/* Makes the other threads that sleep on the socket query it again. The caller holds rs->lock. */
static inline void rs_changed(struct rs *rs)
{
	rdmacm_rs_wake(&rs->waiters);
}

/* ---- table.c: sockets by number ---- */

enum { RS_PAGE_BITS = 10, RS_PAGE_SIZE = 1 << RS_PAGE_BITS, RS_PAGES = 1024 };

struct rs_page {
	struct rs *sockets[RS_PAGE_SIZE];
	/* counts of rdmacm_rs_get() references, per socket: closing waits until its count is 0 */
	int users[RS_PAGE_SIZE];
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

static inline struct rs *rs_get(int fd)
{
	struct rs_page *page = rs_page_of(fd);
	int index = fd & (RS_PAGE_SIZE - 1);
	struct rs *rs;

	if (!page || !__atomic_load_n(&page->sockets[index], __ATOMIC_RELAXED))
		return NULL; /* fast path: most descriptors are not rsockets */
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

/* Returns NULL if FD is not an rsocket. */
struct rs *rdmacm_rs_find(int fd);
int rdmacm_rs_table_add(struct rs *rs);
/* Waits until all references of rdmacm_rs_get() are released. */
void rdmacm_rs_table_remove(struct rs *rs);
/* Like rdmacm_rs_find(), but takes a reference, so that the socket stays until rdmacm_rs_put(). For
 * threads that wait for several sockets, one of which another thread may close. Release it before
 * sleeping. */
struct rs *rdmacm_rs_get(int fd);
void rdmacm_rs_put(int fd);
/* Calls CALL for each socket, which stays valid during the call. */
void rdmacm_rs_table_each(void (*call)(struct rs *rs));

/* ---- forked.c: around fork() ---- */

void rdmacm_rs_watch_forks(void);
void rdmacm_rs_epoll_before_fork(void);
void rdmacm_rs_epoll_in_parent(void);
/* Called in the child: resets locks and references, which the parent's other threads may have held
 * and do not release in the child. */
void rdmacm_rs_table_forked(void);
void rdmacm_rs_keepalive_forked(void);
void rdmacm_rs_epoll_forked(void);

/* ---- epoll.c ---- */

/* Closes the set FD. Returns EBADF if there is none. */
int rdmacm_rs_set_close(int fd);

/* ---- config.c: defaults that an administrator may change ---- */

struct rs_defaults {
	struct rs_options options;
	struct rs_flags flags;
	int polling_us; /* how long to poll for data before sleeping */
	int wake_ms;    /* maximal sleep before looking again */
};

const struct rs_defaults *rdmacm_rs_defaults(void);

/* ---- poll.c: sleeping on sockets and other descriptors (fds as for poll()) ---- */

struct rs_sleepers;
/* Prepares to sleep on FDS. From then on, a change of one of the sockets, or rdmacm_rs_wake() of
 * ALSO, ends the next sleep. If the thread is cancelled while it sleeps, UNDO(OF) is called, which
 * must free the sleepers. */
struct rs_sleepers *rdmacm_rs_sleepers_alloc(const struct pollfd *fds, nfds_t nfds,
					     struct rs_waiters *also, void (*undo)(void *of),
					     void *of);
void rdmacm_rs_sleepers_free(struct rs_sleepers *sleepers);
/* Sleeps until there may be an event. Sets revents of descriptors that are not (or no longer)
 * rsockets. Returns 0, or -1 with errno. */
int rdmacm_rs_sleep(struct rs_sleepers *sleepers, struct pollfd *fds, nfds_t nfds, int timeout_ms);

/* Sleeps like poll(), or until another thread has changed the socket; releases its lock meanwhile.
 * FDS has room for one more entry. Returns 0, or EINTR if a signal must end the call. */
int rdmacm_rs_sleep_unlocked(struct rs *rs, struct pollfd *fds, int count, int timeout_ms);

/* ---- signals.c ---- */

enum { RS_USER_GROUPS = 32 };

/* The thread's user in the kernel. If there are more groups than RS_USER_GROUPS, only their number
 * is stored. */
struct rs_user {
	bool is_alone; /* single-threaded: the user cannot change meanwhile, and is not stored */
	uid_t uids[3];
	gid_t gids[3], groups[RS_USER_GROUPS];
	int group_count;
};

void rdmacm_rs_who(struct rs_user *user);
/* Returns whether to restart a call interrupted by a signal. BEFORE is the thread's user before it
 * slept. */
bool rdmacm_rs_restarts(const struct rs_user *before);
/* Starts a thread of the library with all signals blocked, because a program's handlers must run in
 * its own threads. Returns 0 or an errno. */
int rdmacm_rs_start_thread(void *(*run)(void *unused));

/* ---- time ---- */

int64_t rdmacm_rs_now_us(void);
/* Returns the same time as rdmacm_rs_now_us(), up to one kernel tick (10 ms) old, in fewer
 * instructions. */
int64_t rdmacm_rs_coarse_now_us(void);
/* Returns the time TIMEOUT_MS from now, or -1 (never) if it is negative. */
int64_t rdmacm_rs_deadline(int timeout_ms);
/* Returns the time at which a limit of rs_options ends, or -1 if there is no limit. */
int64_t rdmacm_rs_limit_over(int64_t limit_us);
/* Returns the time to sleep in milliseconds: until the deadline, if there is one, but no longer
 * than wake_ms of rs_defaults, after which all descriptors are looked at again. */
int rdmacm_rs_sleep_limit(int64_t deadline_us);

#endif
